#include "plugins/tasks/generation/pixels.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace vitrine::generation {

bool Normalisation::isHalf() const {
  const auto areHalf = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return value == 0.5; });
  };
  return areHalf(mean) && areHalf(deviation);
}

std::optional<Normalisation> normalisationOf(const Json& plan, const DatasetInfo& data) {
  for (const Json& stage : plan) {
    if (stage.value("name", "") != "normalize") continue;
    const auto channels = static_cast<std::size_t>(data.channels);
    const std::string by = stage.value("by", "dataset");
    const auto all = [channels](double mean, double deviation) {
      return Normalisation{std::vector<double>(channels, mean),
                           std::vector<double>(channels, deviation)};
    };
    if (by == "half") return all(0.5, 0.5);
    if (by == "none") return all(0, 1);
    Normalisation found = by == "values"
                              ? Normalisation{stage.value("mean", std::vector<double>{}),
                                              stage.value("deviation", std::vector<double>{})}
                              : Normalisation{data.mean, data.deviation};
    if (found.mean.empty()) found.mean.assign(channels, 0);
    if (found.deviation.empty()) found.deviation.assign(channels, 1);
    return found;
  }
  return std::nullopt;
}

at::Tensor bytesOf(const at::Tensor& images) {
  return (images.to(at::kFloat) * 127.5 + 128).clamp(0, 255).to(at::kByte);
}

at::Tensor normalised(const at::Tensor& bytes, const Normalisation& by) {
  const auto perChannel = [&](const std::vector<double>& values) {
    return at::tensor(values, at::kFloat).view({1, -1, 1, 1}).to(bytes.device());
  };
  return (bytes.to(at::kFloat) / 255 - perChannel(by.mean)) / perChannel(by.deviation);
}

}  // namespace vitrine::generation
