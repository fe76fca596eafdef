// Large blocks of CPU memory that are used again. glibc gives each block above 32 MiB back to the
// system when it is freed. The system then clears it again page by page in the next step.
#pragma once

#include <c10/core/Allocator.h>

#include <cstddef>
#include <list>
#include <mutex>

#include "core/engine_export.h"

namespace vitrine::train {

/// Keeps freed blocks for allocations of the same size. Blocks in use and kept ones together never
/// exceed the most bytes that were in use at once: the process does not grow by it. Small blocks go
/// to the allocator below. Thread-safe.
class VITRINE_ENGINE_EXPORT BlockCache final : public c10::Allocator {
 public:
  static constexpr std::size_t kLeastBytes = std::size_t{32} << 20;

  /// \param below  LibTorch's own, or one whose blocks are freed as LibTorch's; outlives this
  explicit BlockCache(c10::Allocator& below) : below_(below) {}
  /// \throws c10::OutOfMemoryError  the allocator below has no memory left for a large block
  c10::DataPtr allocate(std::size_t bytes) override;
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* to, const void* from, std::size_t bytes) const override;

  struct Counts {
    std::size_t inUse = 0, kept = 0;  ///< bytes of large blocks
    std::size_t reused = 0;           ///< allocations that a kept block served
  };
  [[nodiscard]] Counts counts() const;
  /// Takes a block back that was lent.
  void take(std::size_t bytes, c10::DataPtr block);

 private:
  struct FreeBlock {
    std::size_t bytes;
    c10::DataPtr block;
  };
  /// Of the allocator below, after whose first refusal every kept block is freed.
  [[nodiscard]] c10::DataPtr fresh(std::size_t bytes);
  void dropOldest(std::list<FreeBlock>& dropped);

  c10::Allocator& below_;
  mutable std::mutex mutex_;
  std::list<FreeBlock> kept_;  ///< the one that was freed first in front
  std::size_t most_ = 0;  ///< bytes that were in use at once
  Counts counts_;
};

/// Of every CPU tensor of the process from now on. Called before the first model is made.
VITRINE_ENGINE_EXPORT void reuseLargeBlocks();

}  // namespace vitrine::train
