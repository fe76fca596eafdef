#include "core/plugin/pixel_map.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <string>

#include "core/base/error.h"

namespace vitrine {

bool PixelScale::isHalf() const {
  const auto areHalf = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return value == 0.5; });
  };
  return areHalf(mean) && areHalf(deviation);
}

std::optional<PixelScale> pixelScaleOf(const Json& plan, const DatasetInfo& data) {
  const auto channels = static_cast<std::size_t>(data.channels);
  for (const Json& stage : plan) {
    if (stage.value("name", "") != "normalize") continue;
    const std::string by = stage.value("by", "dataset");
    PixelScale scale;
    if (by == "half") {
      scale.mean.assign(channels, 0.5);
      scale.deviation.assign(channels, 0.5);
    } else if (by == "values") {
      scale.mean = stage.value("mean", std::vector<double>{});
      scale.deviation = stage.value("deviation", std::vector<double>{});
    } else if (by != "none") {
      scale = {data.mean, data.deviation};
    }
    if (scale.mean.empty()) scale.mean.assign(channels, 0);
    if (scale.deviation.empty()) scale.deviation.assign(channels, 1);
    return scale;
  }
  return std::nullopt;
}

PixelMap::PixelMap(const Pipeline& pipeline, double low, double high) {
  const SampleField& image = pipeline.field("image");
  if (image.type != at::kFloat || image.isRagged() || image.shape.size() != 3) {
    throw ConfigError(
        "images must come as floats of one size; end data.pipeline with resize or center_crop and "
        "normalize");
  }
  const std::optional<PixelScale> scale =
      pixelScaleOf(pipeline.plan().at("evaluate"), pipeline.info());
  if (!scale) {
    throw ConfigError(
        "the images of data.pipeline do not say what black and white are; end it with normalize");
  }
  std::vector<double> factor, offset;
  isIdentity_ = true;
  for (std::size_t c = 0; c < static_cast<std::size_t>(image.shape[0]); ++c) {
    factor.push_back(scale->deviation.at(c) * (high - low));
    offset.push_back(scale->mean.at(c) * (high - low) + low);
    isIdentity_ = isIdentity_ && factor[c] == 1 && offset[c] == 0;
  }
  const std::vector<std::int64_t> shape{image.shape[0], 1, 1};
  factor_ = at::tensor(factor, at::kFloat).view(shape);
  offset_ = at::tensor(offset, at::kFloat).view(shape);
}

at::Tensor PixelMap::forward(const at::Tensor& images) const {
  if (isIdentity_) return images;
  return images * factor_.to(images.device()) + offset_.to(images.device());
}

}  // namespace vitrine
