// The products of the CPU kernels against those of LibTorch in double precision.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/util/StringUtil.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/kernels/cpu/gemm.h"
#include "tests/core/nn/tensors.h"
#include "tests/support/every_cpu_path.h"

namespace vitrine::cpu {
namespace {

using nn::largestDifference, nn::randomFloats;

MatrixView viewOf(const at::Tensor& matrix) {
  return {matrix.const_data_ptr<float>(), matrix.stride(0), matrix.stride(1)};
}

at::Tensor productOf(Factor factor, const at::Tensor& left, const at::Tensor& right,
                     const at::Tensor& start) {
  const std::int64_t rows = left.size(0), depth = left.size(1), columns = right.size(1);
  const at::Tensor packedLeft = at::empty({packedLeftSize(factor, rows, depth)}),
                   packedRight = at::full({packedRightSize(factor, depth, columns)}, NAN),
                   out = at::full({rows, columns}, NAN);
  packRight(factor, depth, columns, viewOf(right), packedRight.data_ptr<float>());
  const MatrixView view = packLeft(factor, rows, depth, viewOf(left), packedLeft.data_ptr<float>());
  const Start from{start.defined() ? start.const_data_ptr<float>() : nullptr,
                   start.defined() && start.dim() == 2 ? start.stride(0) : 0};
  gemm(factor, rows, columns, depth, view, packedRight.const_data_ptr<float>(), from,
       out.data_ptr<float>(), columns);
  return out;
}

void expectProducts() {
  std::vector<Factor> factors{Factor::Float32};
  if (hasBFloat16Products()) factors.push_back(Factor::BFloat16);
  for (const Factor factor : factors) {
    for (const std::int64_t rows : {1, 5, 6, 7, 12, 13, 29}) {
      for (const std::int64_t columns : {1, 4, 7, 8, 9, 16, 17, 32, 47, 70}) {
        for (const std::int64_t depth : {1, 2, 7, 64}) {
          SCOPED_TRACE(c10::str(rows, " x ", columns, " x ", depth));
          at::Tensor left = randomFloats({rows, depth}, 1);
          at::Tensor right = randomFloats({depth, columns}, 2);
          if (factor == Factor::BFloat16) {  // exact then, but for the order of the sum
            left = left.to(at::kBFloat16).to(at::kFloat);
            right = right.to(at::kBFloat16).to(at::kFloat);
          }
          const at::Tensor wanted = at::matmul(left.to(at::kDouble), right.to(at::kDouble));
          const at::Tensor row = randomFloats({columns}, 3);
          const at::Tensor start = randomFloats({rows, columns}, 4);
          for (const bool isLeftTurned : {false, true}) {
            for (const bool isRightTurned : {false, true}) {
              const at::Tensor a = isLeftTurned ? left.t().contiguous().t() : left,
                               b = isRightTurned ? right.t().contiguous().t() : right;
              EXPECT_LT(largestDifference(productOf(factor, a, b, {}), wanted), 2e-5);
              EXPECT_LT(largestDifference(productOf(factor, a, b, row), wanted + row), 2e-5);
              EXPECT_LT(largestDifference(productOf(factor, a, b, start), wanted + start), 2e-5);
            }
          }
        }
      }
    }
  }
}

TEST(Gemm, IsTheProductOnEveryPathWhateverTheSizesAndHoweverTheFactorsLie) {
  testing::onEveryCpuPath(expectProducts);
}

TEST(GemmBFloat16, RoundsFactorsToTheNearestBFloat16) {
  if (!hasBFloat16Products()) GTEST_SKIP() << "this machine multiplies no bfloat16";
  const at::Tensor left = randomFloats({9, 33}, 1), right = randomFloats({33, 20}, 2);
  const auto rounded = [](const at::Tensor& x) { return x.to(at::kBFloat16).to(at::kDouble); };
  const at::Tensor wanted = at::matmul(rounded(left), rounded(right));
  EXPECT_LT(largestDifference(productOf(Factor::BFloat16, left, right, {}), wanted), 1e-5);
  EXPECT_GT(largestDifference(at::matmul(left, right), wanted), 1e-3);
}

}  // namespace
}  // namespace vitrine::cpu
