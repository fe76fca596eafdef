#include "plugins/tasks/text_image/draw.h"

#include <ATen/ATen.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/diffusion/guidance.h"
#include "core/kernels/cpu/cpu_layers.h"
#include "core/plugin/sampler.h"
#include "plugins/tasks/text_image/noise_steps.h"
#include "plugins/tasks/text_image/sequences.h"

namespace vitrine::text_image {

namespace {

/// A cache of BOS, a caption and BOI, once for each image.
std::unique_ptr<LanguageModel::Cache> captionCache(const TextImageModel::Sizes& sizes,
                                                   LanguageModel& language,
                                                   const text::TokenIds& caption,
                                                   std::int64_t images, at::Device device) {
  const text::TokenIds tokens = prompted(caption, sizes);
  const std::int64_t context = language.contextLength();
  const std::int64_t wanted = std::ssize(tokens) + sizes.imageTokens;
  if (context > 0 && wanted > context) {
    throw ConfigError("a prompt of " + std::to_string(caption.size()) + " tokens and an image of " +
                      std::to_string(sizes.imageTokens) + " need a context of " +
                      std::to_string(wanted) + ", the model's is " + std::to_string(context) +
                      "; shorten the prompt");
  }
  auto cache = language.makeCache(images);
  (void)language.next(at::tensor(tokens, at::kLong).to(device).expand({images, -1}), cache.get(),
                      LanguageModel::Rows::Last);
  return cache;
}

}  // namespace

CaptionedSession::~CaptionedSession() = default;

double guidanceOf(std::optional<double> asked, double captionDrop) {
  if (captionDrop > 0) return asked.value_or(kGuidance);
  if (asked.value_or(1) == 1) return 1;
  throw ConfigError("guidance = " + formatReal(*asked) +
                    " needs a model that also learned without captions, and this one was trained "
                    "with caption_drop = 0; set guidance = 1, or train with caption drop");
}

at::Tensor drawnImages(TextImageModel& model, LanguageModel& language, const text::TokenIds& prompt,
                       std::span<const std::uint64_t> seeds, const DrawSettings& settings,
                       at::Device device, const std::function<bool(const DrawStep&)>& goesOn) {
  const TextImageModel::Sizes sizes = model.textImageSizes();
  const std::vector<NoiseStep> steps = noiseSteps(model.keptShares(), settings.steps);
  const std::int64_t count = std::ssize(seeds);
  const std::vector<std::int64_t> shape{1, sizes.channels, sizes.height, sizes.width};
  const auto noiseOf = [&](std::uint64_t draw) {
    std::vector<at::Tensor> all;
    for (const std::uint64_t seed : seeds) all.push_back(sampleNoise(seed, shape, draw));
    return at::cat(all).to(device);
  };
  const auto conditional = captionCache(sizes, language, prompt, count, device);
  std::unique_ptr<LanguageModel::Cache> unconditional;
  if (settings.guidance != 1) unconditional = captionCache(sizes, language, {}, count, device);
  at::Tensor x = noiseOf(0);
  std::uint64_t number = 0;
  const cpu::ConstantParameters constant;
  for (const NoiseStep& step : steps) {
    const at::Tensor time = at::full({count}, step.time, x.options().dtype(at::kLong));
    const auto predicted = [&](LanguageModel::Cache& cache) {
      return model.noiseAfter(cache, x, time, TextImageModel::Keep::No);
    };
    const at::Tensor plain = unconditional ? predicted(*unconditional) : at::Tensor();
    at::Tensor noise = predicted(*conditional);
    if (plain.defined()) noise = diffusion::guided(noise, plain, settings.guidance);
    const SteppedDown down = stepDown(step, x, noise, settings.clip);
    x = down.mean;
    ++number;
    if (step.variance > 0) x = x + std::sqrt(step.variance) * noiseOf(number);
    const double share = static_cast<double>(number) / static_cast<double>(steps.size());
    if (goesOn && !goesOn({share, static_cast<double>(step.time), down.clean})) return {};
  }
  return x;
}

at::Tensor bytesOf(const at::Tensor& images) {
  return (images.to(at::kCPU, at::kFloat) * 127.5 + 127.5).round().clamp(0, 255).to(at::kByte);
}

}  // namespace vitrine::text_image
