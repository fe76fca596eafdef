// Attention of one patch while images are drawn: the attention of the network's last evaluation.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <vector>

#include "core/model/capabilities.h"

namespace vitrine::generation {

/// Listens to the attention of a model as long as it lives.
class PatchAttention {
 public:
  /// \param source  has no other tap; outlives this object
  /// \param patch   row and column
  /// \param images  that are drawn together; of a guided pass the first half, with the condition
  PatchAttention(AttentionSource& source, std::array<std::int64_t, 2> patch, std::int64_t images);
  ~PatchAttention();
  PatchAttention(const PatchAttention&) = delete;
  PatchAttention& operator=(const PatchAttention&) = delete;

  [[nodiscard]] std::array<std::int64_t, 2> patch() const noexcept { return patch_; }
  /// Of one image: [layers, heads, 1, keys] float32 on the CPU, rows of the softmax.
  [[nodiscard]] at::Tensor ofImage(std::int64_t image) const;
  /// Rows and columns of the keys, [keys, 2] int64.
  [[nodiscard]] const at::Tensor& keys() const noexcept { return keys_; }

 private:
  /// \throws ConfigError  the patch lies outside of the grid
  void receive(const AttentionRecord& record);

  AttentionSource& source_;
  std::array<std::int64_t, 2> patch_;
  std::int64_t images_;
  std::int64_t query_ = -1;         ///< among the tokens; -1: not seen yet
  std::vector<at::Tensor> layers_;  ///< of each layer [images, heads, keys]
  at::Tensor keys_;
};

}  // namespace vitrine::generation
