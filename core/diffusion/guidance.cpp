#include "core/diffusion/guidance.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"

namespace vitrine::diffusion {

at::Tensor guided(const at::Tensor& conditional, const at::Tensor& unconditional, double scale,
                  std::int64_t channels) {
  const std::int64_t all = conditional.size(1);
  const std::int64_t count = channels == 0 ? all : std::min(channels, all);
  const at::Tensor c = conditional.narrow(1, 0, count), u = unconditional.narrow(1, 0, count);
  const at::Tensor moved = u + scale * (c - u);
  return count == all ? moved : at::cat({moved, conditional.narrow(1, count, all - count)}, 1);
}

void requireGuidable(double labelDrop, const Guidance& guidance) {
  if (guidance.scale == 1 || labelDrop > 0) return;
  throw ConfigError("guidance = " + formatReal(guidance.scale) +
                    " needs a model that also learned without labels, and the label drop of this "
                    "one is 0; set guidance = 1, or train with label drop");
}

at::Tensor guidedPrediction(Denoiser& network, const GuidedDenoiser& drop, const at::Tensor& state,
                            double time, const at::Tensor& labels, const Guidance& guidance) {
  requireGuidable(drop.labelDrop(), guidance);
  const std::int64_t batch = state.size(0);
  const auto times = [&](std::int64_t count) {
    return at::full({count}, time, at::TensorOptions(at::kFloat).device(state.device()));
  };
  Condition condition{.label = labels};
  if (guidance.scale == 1) return network.denoise(state, times(batch), condition);
  const Denoiser::Sizes sizes = network.denoiserSizes();
  condition.label = at::cat({labels, at::full_like(labels, sizes.classes)});
  const at::Tensor both = network.denoise(at::cat({state, state}), times(2 * batch), condition);
  // The variance that follows the state's channels is never guided.
  const std::int64_t channels =
      guidance.channels == 0 ? sizes.channels : std::min(guidance.channels, sizes.channels);
  return guided(both.narrow(0, 0, batch), both.narrow(0, batch, batch), guidance.scale, channels);
}

}  // namespace vitrine::diffusion
