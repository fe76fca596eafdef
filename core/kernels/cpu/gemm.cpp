#include "core/kernels/cpu/gemm.h"

#include <algorithm>

#include "core/kernels/cpu/kernels.h"

namespace vitrine::cpu {

namespace {

constexpr std::int64_t wordsOf(Factor factor, std::int64_t depth) {
  return factor == Factor::BFloat16 ? (depth + 1) / 2 : depth;
}

}  // namespace

bool hasBFloat16Products() noexcept { return kernels().pairs != nullptr; }

std::int64_t packedRightSize(Factor factor, std::int64_t depth, std::int64_t columns) {
  const std::int64_t panel = kernels().panel;
  return (columns + panel - 1) / panel * panel * wordsOf(factor, depth);
}

void packRight(Factor factor, std::int64_t depth, std::int64_t columns, const MatrixView& right,
               float* packed) {
  const Kernels& loops = kernels();
  const bool isDense = right.columnStride == 1, isHalf = factor == Factor::BFloat16;
  const auto packRows = isHalf ? loops.pairs->packRows : loops.packRows;
  const auto packColumns = isHalf ? loops.pairs->packColumns : loops.packColumns;
  for (std::int64_t j = 0; j < columns; j += loops.panel) {
    const PanelSource source{right.values + j * right.columnStride,
                             isDense ? right.rowStride : right.columnStride, depth,
                             std::min(loops.panel, columns - j)};
    (isDense ? packRows : packColumns)(source, packed + j * wordsOf(factor, depth));
  }
}

std::int64_t packedLeftSize(Factor factor, std::int64_t rows, std::int64_t depth) {
  return factor == Factor::BFloat16 ? rows * wordsOf(factor, depth) : 0;
}

MatrixView packLeft(Factor factor, std::int64_t rows, std::int64_t depth, const MatrixView& left,
                    float* packed) {
  if (factor == Factor::Float32) return left;
  const PairKernels& pairs = *kernels().pairs;
  if (left.columnStride == 1) {
    pairs.packLeftRows(rows, depth, left.values, left.rowStride, packed);
    return {packed, wordsOf(factor, depth), 1};
  }
  pairs.packLeftColumns(rows, depth, left.values, left.columnStride, packed);
  return {packed, 1, rows};
}

void gemm(Factor factor, std::int64_t rows, std::int64_t columns, std::int64_t depth,
          const MatrixView& left, const float* right, const Start& start, float* out,
          std::int64_t outStride, const Triangle& triangle) {
  const Kernels& loops = kernels();
  const Product product{
      rows,  columns,      wordsOf(factor, depth), left.values, left.rowStride, left.columnStride,
      right, start.values, start.stride,           out,         outStride,      triangle};
  (factor == Factor::BFloat16 ? loops.pairs->multiply : loops.multiply)(product);
}

}  // namespace vitrine::cpu
