#include "app/vitrine/serve/own_image.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>

#include <array>
#include <cmath>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/base/luma.h"
#include "core/plugin/pipeline.h"

namespace vitrine::app {

namespace {

constexpr std::int64_t kOwnId = -1;

/// The image alone, in every split.
class OneImage final : public Dataset {
 public:
  OneImage(const OwnImage& image, DatasetInfo info) : image_(image), info_(std::move(info)) {}

  const DatasetInfo& info() const noexcept override { return info_; }
  std::int64_t size(Split) const override { return 1; }
  void read(Split split, std::int64_t id, Sample& sample) const override {
    requireSample(split, id);
    const std::int64_t count = image_.height * image_.width;
    const std::span<std::uint8_t> planes =
        sample["image"].resize<std::uint8_t>({info_.channels, image_.height, image_.width});
    for (std::int64_t pixel = 0; pixel < count; ++pixel) {
      const std::uint8_t* rgb = image_.pixels.data() + 3 * pixel;
      if (info_.channels == 1) {
        planes[static_cast<std::size_t>(pixel)] =
            static_cast<std::uint8_t>(std::lround(lumaOf(rgb[0], rgb[1], rgb[2])));
        continue;
      }
      for (std::int64_t channel = 0; channel < 3; ++channel)
        planes[static_cast<std::size_t>(channel * count + pixel)] = rgb[channel];
    }
    sample["label"].resize<std::int64_t>({})[0] = 0;
  }

 private:
  const OwnImage& image_;
  DatasetInfo info_;
};

}  // namespace

Batch batchOf(const OwnImage& image, const Registry& registry, const Json& config,
              const TaskSession& session) {
  DatasetInfo info = session.dataset();
  if (info.channels != 1 && info.channels != 3) {
    throw RefusedError(
        "an image can be given to runs whose images have 1 or 3 channels; those of "
        "this run have " +
        std::to_string(info.channels));
  }
  const bool isOfAnySize = info.height == 0 || info.width == 0;
  const std::int64_t height = isOfAnySize ? -1 : image.height;
  const std::int64_t width = isOfAnySize ? -1 : image.width;
  info.fields = labelledImageFields(info.channels, height, width);
  info.height = isOfAnySize ? 0 : image.height;
  info.width = isOfAnySize ? 0 : image.width;
  const auto pipeline =
      makePipeline(registry, Config(config), std::make_shared<const OneImage>(image, info), 0);
  const std::array<std::int64_t, 1> ids{0};
  Batch batch = pipeline->read(Split::Test, ids);
  batch.fields["label"] = at::full({1}, kOwnId, at::kLong);
  batch.sampleIds = {kOwnId};
  return batch;
}

}  // namespace vitrine::app
