// Linear maps of rows against their definition in double precision.
#include "core/kernels/linear.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/base/cpu_path.h"
#include "tests/core/nn/tensors.h"
#include "tests/support/every_cpu_path.h"

namespace vitrine::kernels {
namespace {

using nn::randomFloats;

struct LinearCase {
  std::int64_t rows, in, out;
  bool hasBias, isStrided;
};

/// y and the gradients of x, weight and bias; only y without a gradient.
std::vector<at::Tensor> results(const LinearCase& c, at::ScalarType type, bool hasGradient) {
  const std::int64_t width = c.isStrided ? 2 * c.in : c.in;
  const at::Tensor x = randomFloats({c.rows, width}, 1)
                           .narrow(1, 0, c.in)
                           .to(type)
                           .detach()
                           .requires_grad_(hasGradient);
  const at::Tensor weight = randomFloats({c.out, c.in}, 2).to(type).requires_grad_(hasGradient);
  const at::Tensor bias =
      c.hasBias ? randomFloats({c.out}, 3).to(type).requires_grad_(hasGradient) : at::Tensor();
  const at::Tensor y = linear(x, weight, bias);
  if (!hasGradient) return {y};
  (y * randomFloats({c.rows, c.out}, 4).to(type)).sum().backward();
  std::vector<at::Tensor> all{y.detach(), x.grad(), weight.grad()};
  if (c.hasBias) all.push_back(bias.grad());
  return all;
}

void expectNear(const std::vector<at::Tensor>& ours, const std::vector<at::Tensor>& wanted,
                double tolerance = 2e-6) {
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double scale = std::max(1.0, wanted[i].abs().max().item<double>());
    EXPECT_LT((ours[i].to(at::kDouble) - wanted[i]).abs().max().item<double>(), tolerance * scale)
        << i;
  }
}

TEST(LinearKernel, AgreesWithItsDefinitionWhateverTheSizesOnEveryCpuPath) {
  for (const std::int64_t rows : {1, 4, 5, 31, 32, 100, 700}) {
    for (const std::int64_t in : {1, 7, 64, 520}) {
      for (const std::int64_t out : {1, 10, 33, 300}) {
        const LinearCase c{rows, in, out, (rows + in + out) % 2 == 0, (rows + out) % 3 == 0};
        SCOPED_TRACE(c10::str(rows, " rows, ", in, " to ", out));
        const auto wanted = results(c, at::kDouble, true);
        testing::onEveryCpuPath([&] {
          expectNear(results(c, at::kFloat, true), wanted);
          expectNear(results(c, at::kFloat, false), wanted);
        });
      }
    }
  }
}

TEST(LinearKernel, SumsAFewRowsThroughASmallMapInDouble) {
  for (const bool hasGradient : {false, true}) {
    const LinearCase c{24, 28, 112, true, false};
    const at::Tensor wanted = results(c, at::kDouble, false)[0];
    testing::onEveryCpuPath([&] {
      if (cpuPath() != CpuPath::Avx2 && cpuPath() != CpuPath::Avx512) return;
      const at::Tensor ours = results(c, at::kFloat, hasGradient)[0];
      EXPECT_TRUE(at::equal(ours, wanted.to(at::kFloat))) << hasGradient;
    });
  }
}

TEST(LinearKernel, TakesFactorsInSlices) {
  const LinearCase c{40, 4200, 2100, true, false};
  const auto wanted = results(c, at::kDouble, true);
  testing::onEveryCpuPath([&] { expectNear(results(c, at::kFloat, true), wanted, 1e-5); });
}

TEST(LinearKernel, GivesTheSameBitsOnAnyNumberOfThreads) {
  const int before = at::get_num_threads();
  testing::onEveryCpuPath([&] {
    if (cpuPath() == CpuPath::Reference || cpuPath() == CpuPath::Baseline) return;
    std::vector<at::Tensor> first;
    for (const int threads : {1, 2, 3}) {
      at::set_num_threads(threads);
      const auto now = results({500, 300, 270, true, false}, at::kFloat, true);
      if (first.empty()) first = now;
      for (std::size_t i = 0; i < now.size(); ++i) EXPECT_TRUE(at::equal(now[i], first[i])) << i;
    }
    at::set_num_threads(before);
  });
}

TEST(LinearKernel, GivesNoGradientThatIsNotAskedFor) {
  const at::Tensor x = randomFloats({40, 8}, 1), weight = randomFloats({6, 8}, 2).requires_grad_(),
                   bias = randomFloats({6}, 3);
  linear(x, weight, bias).sum().backward();
  EXPECT_FALSE(x.grad().defined());
  EXPECT_FALSE(bias.grad().defined());
  EXPECT_LT((weight.grad() - x.sum(0).expand({6, 8})).abs().max().item<double>(), 1e-4);
}

}  // namespace
}  // namespace vitrine::kernels
