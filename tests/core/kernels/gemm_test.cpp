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
                     const at::Tensor& start, const Triangle& triangle = {}) {
  const std::int64_t rows = left.size(0), depth = left.size(1), columns = right.size(1);
  const at::Tensor packedLeft = at::empty({packedLeftSize(factor, rows, depth)}),
                   packedRight = at::full({packedRightSize(factor, depth, columns)}, NAN),
                   out = at::full({rows, columns}, NAN);
  packRight(factor, depth, columns, viewOf(right), packedRight.data_ptr<float>());
  const MatrixView view = packLeft(factor, rows, depth, viewOf(left), packedLeft.data_ptr<float>());
  const Start from{start.defined() ? start.const_data_ptr<float>() : nullptr,
                   start.defined() && start.dim() == 2 ? start.stride(0) : 0};
  gemm(factor, rows, columns, depth, view, packedRight.const_data_ptr<float>(), from,
       out.data_ptr<float>(), columns, triangle);
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

void expectTriangles() {
  constexpr double kTolerance = 5e-5;
  const auto product = [](const at::Tensor& a, const at::Tensor& b) {
    return at::matmul(a.to(at::kDouble), b.to(at::kDouble));
  };
  for (const std::int64_t rows : {1, 5, 13, 50, 131}) {
    for (const std::int64_t first : {0, 3, 48}) {
      for (const std::int64_t columns : {7, 33, 100}) {
        SCOPED_TRACE(c10::str(rows, " rows, first ", first, ", ", columns, " columns"));
        const std::int64_t depth = rows + first;
        const at::Tensor lower = randomFloats({rows, depth}, 1).tril(first),
                         right = randomFloats({depth, columns}, 2),
                         other = randomFloats({rows, columns}, 3),
                         start = randomFloats({columns}, 4);
        EXPECT_LT(largestDifference(
                      productOf(Factor::Float32, lower, right, start, {Triangle::LeftRows, first}),
                      product(lower, right) + start),
                  kTolerance);
        EXPECT_LT(largestDifference(productOf(Factor::Float32, lower.t(), other, start,
                                              {Triangle::LeftColumns, first}),
                                    product(lower.t(), other) + start),
                  kTolerance);
        const at::Tensor wanted = at::ones({rows, depth}, at::kBool).tril(first),
                         result = productOf(Factor::Float32, other, right.t().contiguous(), {},
                                            {Triangle::Result, first});
        EXPECT_LT(
            largestDifference(at::where(wanted, result, 0), product(other, right.t()).tril(first)),
            kTolerance);
      }
    }
  }
}

TEST(Gemm, OfATriangleIsTheProductOnEveryPath) { testing::onEveryCpuPath(expectTriangles); }

// Zero times NaN is NaN: what is left out can be seen.
TEST(Gemm, LeavesOutWhatATriangleDoesNotCount) {
  testing::onEveryCpuPath([] {
    constexpr std::int64_t kRows = 4, kDepth = 40, kFirst = 8;
    const at::Tensor lower = randomFloats({kRows, kDepth}, 1).tril(kFirst);
    at::Tensor right = randomFloats({kDepth, 20}, 2);
    right.slice(0, kRows + kFirst).fill_(NAN);
    EXPECT_FALSE(productOf(Factor::Float32, lower, right, {}, {Triangle::LeftRows, kFirst})
                     .isnan()
                     .any()
                     .item<bool>());
    // Rows from 30 on have nothing before the word 30 - kFirst.
    const at::Tensor upper = randomFloats({kDepth, kDepth}, 5).triu(-kFirst).t().contiguous().t();
    at::Tensor late = randomFloats({kDepth, 20}, 6);
    late.slice(0, 0, 10).fill_(NAN);
    EXPECT_FALSE(productOf(Factor::Float32, upper, late, {}, {Triangle::LeftColumns, kFirst})
                     .slice(0, 30)
                     .isnan()
                     .any()
                     .item<bool>());
    const at::Tensor out = productOf(Factor::Float32, randomFloats({kRows, 3}, 3),
                                     randomFloats({3, 400}, 4), {}, {Triangle::Result, 0});
    EXPECT_TRUE(out.slice(1, 64).isnan().all().item<bool>());  // as they were
  });
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
