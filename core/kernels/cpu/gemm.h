// Products of matrices that lie in a core's cache, by the calling thread alone, with the vectors of
// cpuPath(). A library's product costs a fork, a join and a packing per call. For the widths of a
// small encoder that is more than the product itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "core/engine_export.h"
#include "core/kernels/cpu/kernels.h"

namespace vitrine::cpu {

/// Memory that begins with a line of the cache.
template <class Value>
struct LineAllocator {
  using value_type = Value;
  LineAllocator() = default;
  template <class Other>
  LineAllocator(const LineAllocator<Other>&) noexcept {}
  Value* allocate(std::size_t count) {
    return static_cast<Value*>(::operator new(count * sizeof(Value), kLine));
  }
  void deallocate(Value* values, std::size_t) noexcept { ::operator delete(values, kLine); }
  bool operator==(const LineAllocator&) const noexcept { return true; }
  static constexpr std::align_val_t kLine{64};
};
/// Room for factors and results of products. A vector that lies on two lines takes two reads.
using AlignedFloats = std::vector<float, LineAllocator<float>>;

/// Type of the factors of a product; sums are float32 in both.
enum class Factor {
  Float32,   ///< as they are
  BFloat16,  ///< rounded to the nearest bfloat16, two neighbours along the depth in one word
};

/// Whether the processor multiplies bfloat16 pairs itself, and the path of cpuPath() uses it.
[[nodiscard]] VITRINE_ENGINE_EXPORT bool hasBFloat16Products() noexcept;

/// A matrix [rows, columns] anywhere in memory; strides in elements.
struct MatrixView {
  const float* values = nullptr;
  std::int64_t rowStride = 0;
  std::int64_t columnStride = 1;
};
inline MatrixView transposed(const MatrixView& m) {
  return {m.values, m.columnStride, m.rowStride};
}

/// Floats that packRight() writes.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::int64_t packedRightSize(Factor factor, std::int64_t depth,
                                                                 std::int64_t columns);
/// Packs a right factor [depth, columns]: panels of a few columns, the last one filled up with
/// zeros. \pre one of the two strides is 1
VITRINE_ENGINE_EXPORT void packRight(Factor factor, std::int64_t depth, std::int64_t columns,
                                     const MatrixView& right, float* packed);

/// Floats that packLeft() writes.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::int64_t packedLeftSize(Factor factor, std::int64_t rows,
                                                                std::int64_t depth);
/// The left factor [rows, depth] as gemm() needs it. Float32 is read where it is and `packed`
/// is not touched. \pre for BFloat16 one of the two strides is 1
[[nodiscard]] VITRINE_ENGINE_EXPORT MatrixView packLeft(Factor factor, std::int64_t rows,
                                                        std::int64_t depth, const MatrixView& left,
                                                        float* packed);

/// Start of the sums of a product: rows `stride` apart, 0 for one row for all; null for zero.
struct Start {
  const float* values = nullptr;
  std::int64_t stride = 0;
};

/// out[i][j] = start[i][j] + sum_k left[i][k] right[k][j]; `out` may be `start`. Each entry's sum
/// runs in the order of k, so it depends on nothing but its own row and column.
///
/// \param columns  may exceed those of the right factor up to the end of its last panel
/// \param left     of packLeft(); one of its strides is 1
/// \param right    of packRight()
VITRINE_ENGINE_EXPORT void gemm(Factor factor, std::int64_t rows, std::int64_t columns,
                                std::int64_t depth, const MatrixView& left, const float* right,
                                const Start& start, float* out, std::int64_t outStride,
                                const Triangle& triangle = {});

}  // namespace vitrine::cpu
