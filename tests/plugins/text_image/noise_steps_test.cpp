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

TEST(NoiseSteps, TheErrorOfTheVelocityIsThatOfTheNoiseOverTheShareOfTheImage) {
  const double kept = 0.3;
  const at::Tensor image = at::tensor({0.3, -0.5}, at::kDouble),
                   noise = at::tensor({1.0, -2.0}, at::kDouble);
  const at::Tensor now = std::sqrt(kept) * image + std::sqrt(1 - kept) * noise;
  const auto velocityOf = [&](const at::Tensor& predicted) {
    const at::Tensor clean = (now - std::sqrt(1 - kept) * predicted) / std::sqrt(kept);
    return std::sqrt(kept) * predicted - std::sqrt(1 - kept) * clean;
  };
  const at::Tensor predicted = noise + at::tensor({0.1, 0.2}, at::kDouble);
  const at::Tensor wanted = (velocityOf(predicted) - velocityOf(noise)).square();
  const at::Tensor errors =
      velocityErrors((predicted - noise).square().to(at::kFloat), at::full({2}, kept, at::kDouble));
  EXPECT_TRUE(at::allclose(errors, wanted.to(at::kFloat)));
}

}  // namespace
}  // namespace vitrine::text_image
