#include "core/plugin/sampler.h"

#include <ATen/ops/empty.h>

#include "core/base/random.h"

namespace vitrine {

Sampler::Fit Sampler::fit(TaskSession&) const { return Fit::Possible; }

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

at::Tensor sampleNoise(std::uint64_t seed, at::IntArrayRef shape, std::uint64_t draw) {
  const RandomStream stream(seed, "sample");
  at::Tensor noise = at::empty(shape, at::kFloat);
  float* values = noise.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < noise.numel(); ++i)
    values[i] = static_cast<float>(stream.normal(draw, static_cast<std::uint64_t>(i)));
  return noise;
}

}  // namespace vitrine
