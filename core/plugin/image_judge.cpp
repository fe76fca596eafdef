#include "core/plugin/image_judge.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <array>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/config/config.h"
#include "core/data/pipeline_plan.h"
#include "core/model/model_device.h"

namespace vitrine {

ImageJudge::ImageJudge(const AuxiliaryNetwork& network, const DatasetInfo& data)
    : name_(network.name),
      sha256_(network.sha256),
      model_(network.model),
      classifier_(&requireCapability<ImageClassifier>(*network.model, "aux." + network.name)),
      classes_(static_cast<std::int64_t>(data.classes.size())) {
  if (!network.config.contains("data")) {
    throw ConfigError("a judge is shown pixels as in its own training, which [aux." + name_ +
                      "] weights = FILE does not contain; name its run instead: run = UUID");
  }
  const Config config(network.config);
  const std::array<std::int64_t, 2> size = config.has("model.image_size")
                                               ? config.size("model.image_size")
                                               : std::array<std::int64_t, 2>{0, 0};
  const std::optional<PixelScale> found =
      pixelScaleOf(pipelinePlan(config.table("data"), data, size).at("evaluate"), data);
  if (!found) {
    throw ConfigError("the run behind [aux." + name_ +
                      "] does not normalise its images, so this task cannot show it any");
  }
  pixels_ = *found;
}

ImageJudge::Look ImageJudge::look(const at::Tensor& bytes, at::Device device) const {
  const auto perChannel = [&](const std::vector<double>& values) {
    return at::tensor(values, at::kFloat).view({1, -1, 1, 1}).to(device);
  };
  const at::Tensor images = (bytes.to(device).to(at::kFloat) / 255 - perChannel(pixels_.mean)) /
                            perChannel(pixels_.deviation);
  const at::Tensor features = classifier_->features(images);
  const at::Tensor logits = classifier_->head(features);
  if (logits.size(1) != classes_) {
    throw ConfigError("the judge [aux." + name_ + "] knows " + std::to_string(logits.size(1)) +
                      " classes and the data have " + std::to_string(classes_) +
                      "; take a classifier of the same data");
  }
  return {features.to(at::kCPU, at::kFloat), logits.to(at::kCPU, at::kFloat)};
}

void ImageJudge::requireImages(const std::vector<std::int64_t>& image) const {
  const at::NoGradGuard noGradient;
  try {
    (void)look(at::zeros({1, image.at(0), image.at(1), image.at(2)}, at::kByte), deviceOf(*model_));
  } catch (const ShapeError& error) {
    throw ConfigError("the judge [aux." + name_ + "] cannot look at these images: " + error.what() +
                      "; take a classifier of the same data");
  }
}

}  // namespace vitrine
