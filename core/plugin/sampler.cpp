#include "core/plugin/sampler.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include "core/base/random.h"

namespace vitrine {

Sampler::Fit Sampler::fit(TaskSession&) const { return Fit::Possible; }
bool Sampler::makesTexts(const Config&) const { return false; }

Json recipeOf(const SampleRequest& request, const std::string& sampler, std::uint64_t seed) {
  Json recipe = request.origin;
  recipe["sampler"] = sampler;
  for (const auto& [key, value] : request.config.json().items()) {
    if (key != "seed" && key != "count") recipe["settings"][key] = value;
  }
  recipe["seed"] = seed;
  recipe["device"] = request.device.str();
  return recipe;
}

Field previewsField() {
  constexpr std::int64_t kMostPreviews = 100000;
  return integerField("previews", 0,
                      "previews of the clean images that the network predicts, at most one a step")
      .titled("Previews")
      .range(0, kMostPreviews);
}

bool PreviewClock::isDue(double share) {
  constexpr double kRounding = 1e-6;
  const auto reached =
      static_cast<std::int64_t>(share * static_cast<double>(previews_) + kRounding);
  if (reached <= shown_) return false;
  shown_ = reached;
  return true;
}

Artifact previewOf(const std::string& sampler, const at::Tensor& images, double time,
                   std::uint64_t firstSeed) {
  const at::Tensor pixels = images.permute({0, 2, 3, 1}).contiguous().cpu();
  Artifact preview{sampler, "preview", artifact_kind::kImageGrid};
  setUint8(preview,
           {pixels.const_data_ptr<std::uint8_t>(), static_cast<std::size_t>(pixels.numel())},
           pixels.sizes().vec(), {"image", "row", "column", "channel"});
  preview.meta["time"] = time;
  preview.meta["first_seed"] = firstSeed;
  return preview;
}

std::string notFinite(const at::Tensor& images, std::span<const std::uint64_t> seeds) {
  const at::Tensor isFinite = images.flatten(1).isfinite().all(1).cpu();
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    if (isFinite.const_data_ptr<bool>()[i]) continue;
    return "the image of seed " + std::to_string(seeds[i]) +
           " has values that are not finite; take less guidance, more steps or another checkpoint";
  }
  return "";
}

at::Tensor sampleNoise(std::uint64_t seed, at::IntArrayRef shape, std::uint64_t draw) {
  const RandomStream stream(seed, "sample");
  at::Tensor noise = at::empty(shape, at::kFloat);
  float* values = noise.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < noise.numel(); ++i)
    values[i] = static_cast<float>(stream.normal(draw, static_cast<std::uint64_t>(i)));
  return noise;
}

}  // namespace vitrine
