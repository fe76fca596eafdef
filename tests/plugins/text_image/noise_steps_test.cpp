#include "plugins/tasks/text_image/noise_steps.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace vitrine::text_image {
namespace {

TEST(NoiseSteps, AnExactPredictionLeadsBackToTheImage) {
  const at::Tensor shares = at::linspace(0.999, 0.01, 50, at::kDouble);
  const at::Tensor image = at::tensor({0.3, -0.5, 0.9}, at::kDouble);
  at::Tensor x = at::tensor({1.0, -2.0, 0.5}, at::kDouble);
  for (const NoiseStep& step : noiseSteps(shares, 10)) {
    const at::Tensor noise = (x - std::sqrt(step.kept) * image) / std::sqrt(1 - step.kept);
    x = stepDown(step, x, noise, {}).mean;
  }
  EXPECT_LT((x - image).abs().max().item<double>(), 1e-9);
}

}  // namespace
}  // namespace vitrine::text_image
