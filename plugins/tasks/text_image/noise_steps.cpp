#include "plugins/tasks/text_image/noise_steps.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/diffusion/noise_schedule.h"

namespace vitrine::text_image {

namespace {

/// Share of the clean image below which the error of the velocity is not weighted higher.
constexpr double kLeastShare = 1e-3;

}  // namespace

std::vector<NoiseStep> noiseSteps(const at::Tensor& shares, std::int64_t count) {
  const std::int64_t steps = shares.size(0);
  if (count < 1 || count > steps) {
    throw ConfigError("a diffusion of " + std::to_string(steps) + " steps cannot be sampled in " +
                      std::to_string(count) + "; use 1 to " + std::to_string(steps));
  }
  const at::Tensor table = shares.to(at::kCPU, at::kDouble).contiguous();
  const double* share = table.const_data_ptr<double>();
  std::vector<NoiseStep> all;
  double before = 1;
  for (const std::int64_t time : diffusion::respacedSteps(steps, std::to_string(count))) {
    NoiseStep step{.time = time};
    step.kept = share[step.time];
    const double alpha = step.kept / before, beta = 1 - alpha;
    step.cleanPart = beta * std::sqrt(before) / (1 - step.kept);
    step.nowPart = (1 - before) * std::sqrt(alpha) / (1 - step.kept);
    step.variance = beta * (1 - before) / (1 - step.kept);
    before = step.kept;
    all.push_back(step);
  }
  std::reverse(all.begin(), all.end());
  return all;
}

SteppedDown stepDown(const NoiseStep& step, const at::Tensor& image, const at::Tensor& noise,
                     std::optional<double> clip) {
  SteppedDown out{.clean = (image - std::sqrt(1 - step.kept) * noise) / std::sqrt(step.kept)};
  if (clip) out.clean = out.clean.clamp(-*clip, *clip);
  out.mean = step.cleanPart * out.clean + step.nowPart * image;
  return out;
}

at::Tensor velocityErrors(const at::Tensor& errors, const at::Tensor& shares) {
  return errors * shares.clamp_min(kLeastShare).reciprocal().to(errors.device(), at::kFloat);
}

}  // namespace vitrine::text_image
