#include "core/data/image_transform.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"

namespace vitrine {

Placement drawPlacement(const RandomStream& augment, std::uint64_t epoch, std::int64_t sample,
                        const Augmentation& augmentation) {
  const auto id = static_cast<std::uint64_t>(sample);
  Placement placement;
  placement.isMirrored = augmentation.flip > 0 && augment.uniform(epoch, id, 0) < augmentation.flip;
  if (const std::int64_t padding = augmentation.cropPadding; padding > 0) {
    const auto places = static_cast<std::uint64_t>(2 * padding + 1);
    placement.top = static_cast<std::int64_t>(augment.below(places, epoch, id, 1)) - padding;
    placement.left = static_cast<std::int64_t>(augment.below(places, epoch, id, 2)) - padding;
  }
  return placement;
}

ImageTransform::ImageTransform(const DatasetInfo& info, std::int64_t height, std::int64_t width,
                               std::span<const double> mean, std::span<const double> deviation)
    : channels_(info.channels),
      storedHeight_(info.height),
      storedWidth_(info.width),
      height_(height > 0 ? height : info.height),
      width_(width > 0 ? width : info.width),
      mean_(mean.begin(), mean.end()),
      deviation_(deviation.begin(), deviation.end()) {
  const auto channels = static_cast<std::size_t>(channels_);
  if (mean_.empty()) mean_.assign(channels, 0.0);
  if (deviation_.empty()) deviation_.assign(channels, 1.0);
  if (mean_.size() != channels || deviation_.size() != channels) {
    throw ConfigError("normalising takes one mean and one deviation per channel: " +
                      std::to_string(mean_.size()) + " and " + std::to_string(deviation_.size()) +
                      " are given for " + std::to_string(channels_) + " channels");
  }
  for (const double value : deviation_) {
    if (!(value > 0))
      throw ConfigError("a deviation to normalise by must be above 0, not " +
                        std::to_string(value));
  }
  table_.resize(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      table_[c][byte] =
          static_cast<float>((static_cast<double>(byte) / 255 - mean_[c]) / deviation_[c]);
    }
  }
  if (height_ != storedHeight_ || width_ != storedWidth_) {
    resampler_.emplace(ResampleFilter::Bilinear, storedHeight_, storedWidth_, height_, width_);
    resized_.resize(static_cast<std::size_t>(outputSize()));
  }
}

std::int64_t ImageTransform::inputSize() const noexcept {
  return channels_ * storedHeight_ * storedWidth_;
}
std::int64_t ImageTransform::outputSize() const noexcept { return channels_ * height_ * width_; }

void ImageTransform::place(const std::uint8_t* plane, const Placement& placement,
                           const std::array<float, 256>& table, float* out) const {
  const float black = table[0];
  // Columns [begin, end) of the crop lie inside the image.
  const std::int64_t begin = std::clamp<std::int64_t>(-placement.left, 0, width_);
  const std::int64_t end = std::clamp<std::int64_t>(width_ - placement.left, begin, width_);
  for (std::int64_t y = 0; y < height_; ++y) {
    float* row = out + y * width_;
    const std::int64_t sourceRow = y + placement.top;
    if (sourceRow < 0 || sourceRow >= height_) {
      std::fill_n(row, width_, black);
      continue;
    }
    const std::uint8_t* from = plane + sourceRow * width_ + placement.left;
    if (placement.isMirrored) {
      float* last = row + width_ - 1;
      for (std::int64_t x = 0; x < begin; ++x) last[-x] = black;
      for (std::int64_t x = begin; x < end; ++x) last[-x] = table[from[x]];
      for (std::int64_t x = end; x < width_; ++x) last[-x] = black;
    } else {
      std::fill(row, row + begin, black);
      for (std::int64_t x = begin; x < end; ++x) row[x] = table[from[x]];
      std::fill(row + end, row + width_, black);
    }
  }
}

void ImageTransform::apply(std::span<const std::uint8_t> image, const Placement& placement,
                           std::span<float> out) {
  if (static_cast<std::int64_t>(image.size()) != inputSize() ||
      static_cast<std::int64_t>(out.size()) != outputSize()) {
    throw ShapeError("an image of " + std::to_string(inputSize()) + " bytes becomes " +
                     std::to_string(outputSize()) + " floats; got room for " +
                     std::to_string(image.size()) + " and " + std::to_string(out.size()));
  }
  if (resampler_) {
    resampler_->apply(channels_, image, resized_);
    image = resized_;
  }
  for (std::int64_t c = 0; c < channels_; ++c) {
    const std::int64_t offset = c * height_ * width_;
    place(image.data() + offset, placement, table_[static_cast<std::size_t>(c)],
          out.data() + offset);
  }
}

}  // namespace vitrine
