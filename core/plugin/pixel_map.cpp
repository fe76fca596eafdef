#include "core/plugin/pixel_map.h"

#include <ATen/ATen.h>

#include <vector>

#include "core/base/error.h"

namespace vitrine {

PixelMap::PixelMap(const Pipeline& pipeline, double low, double high) {
  const SampleField& image = pipeline.field("image");
  if (image.type != at::kFloat || image.isRagged() || image.shape.size() != 3) {
    throw ConfigError(
        "images must come as floats of one size; end data.pipeline with resize or center_crop and "
        "normalize");
  }
  const auto channels = static_cast<std::size_t>(image.shape[0]);
  Json settings;
  for (const Json& stage : pipeline.plan().at("evaluate")) {
    if (stage.at("name") == "normalize") settings = stage;
  }
  if (settings.is_null()) {
    throw ConfigError(
        "the images of data.pipeline do not say what black and white are; end it with normalize");
  }
  const auto by = settings.at("by").get<std::string>();
  std::vector<double> mean, deviation;
  if (by == "dataset") {
    mean = pipeline.info().mean;
    deviation = pipeline.info().deviation;
  } else if (by == "half") {
    mean.assign(channels, 0.5);
    deviation.assign(channels, 0.5);
  } else if (by == "values") {
    mean = settings.at("mean").get<std::vector<double>>();
    deviation = settings.at("deviation").get<std::vector<double>>();
  }
  mean.resize(channels, 0);
  deviation.resize(channels, 1);
  std::vector<double> factor, offset;
  isIdentity_ = true;
  for (std::size_t c = 0; c < channels; ++c) {
    factor.push_back(deviation[c] * (high - low));
    offset.push_back(mean[c] * (high - low) + low);
    isIdentity_ = isIdentity_ && factor[c] == 1 && offset[c] == 0;
  }
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(channels), 1, 1};
  factor_ = at::tensor(factor, at::kFloat).view(shape);
  offset_ = at::tensor(offset, at::kFloat).view(shape);
}

at::Tensor PixelMap::forward(const at::Tensor& images) const {
  if (isIdentity_) return images;
  return images * factor_.to(images.device()) + offset_.to(images.device());
}

at::Tensor PixelMap::inverse(const at::Tensor& images) const {
  if (isIdentity_) return images;
  return (images - offset_.to(images.device())) / factor_.to(images.device());
}

}  // namespace vitrine
