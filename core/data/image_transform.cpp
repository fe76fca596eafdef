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

ResizeAxis::ResizeAxis(std::int64_t from, std::int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double radius = std::max(scale, 1.0);
  width_ = std::min(from, static_cast<std::int64_t>(std::ceil(2 * radius)) + 1);
  weights_.assign(static_cast<std::size_t>(to * width_), 0.0f);
  std::vector<double> raw(static_cast<std::size_t>(width_));
  for (std::int64_t i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    // Inputs whose centre j + 1/2 lies inside the triangle.
    const std::int64_t first =
        std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(center - radius + 0.5)));
    const std::int64_t end =
        std::min(from, static_cast<std::int64_t>(std::floor(center + radius + 0.5)));
    double sum = 0;
    for (std::int64_t j = first; j < end; ++j) {
      const double weight =
          std::max(0.0, 1 - std::abs(static_cast<double>(j) + 0.5 - center) / radius);
      raw[static_cast<std::size_t>(j - first)] = weight;
      sum += weight;
    }
    for (std::int64_t k = 0; k < end - first; ++k) {
      weights_[static_cast<std::size_t>(i * width_ + k)] =
          static_cast<float>(raw[static_cast<std::size_t>(k)] / sum);
    }
    first_.push_back(first);
    count_.push_back(end - first);
  }
}

ResizeAxis::Taps ResizeAxis::taps(std::int64_t output) const& noexcept {
  const auto i = static_cast<std::size_t>(output);
  return {first_[i], std::span(weights_).subspan(i * static_cast<std::size_t>(width_),
                                                 static_cast<std::size_t>(count_[i]))};
}

ImageTransform::ImageTransform(const DatasetInfo& info, std::int64_t height, std::int64_t width,
                               std::span<const double> mean, std::span<const double> deviation)
    : channels_(info.channels),
      storedHeight_(info.height),
      storedWidth_(info.width),
      height_(height > 0 ? height : info.height),
      width_(width > 0 ? width : info.width),
      mean_(mean.begin(), mean.end()),
      deviation_(deviation.begin(), deviation.end()),
      isResizing_(height_ != storedHeight_ || width_ != storedWidth_),
      rows_(storedHeight_, height_),
      columns_(storedWidth_, width_) {
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
  if (isResizing_) {
    narrowed_.resize(static_cast<std::size_t>(storedHeight_ * width_));
    resized_.resize(static_cast<std::size_t>(outputSize()));
  }
}

std::int64_t ImageTransform::inputSize() const noexcept {
  return channels_ * storedHeight_ * storedWidth_;
}
std::int64_t ImageTransform::outputSize() const noexcept { return channels_ * height_ * width_; }

void ImageTransform::resize(std::span<const std::uint8_t> image) {
  for (std::int64_t c = 0; c < channels_; ++c) {
    const std::uint8_t* plane = image.data() + c * storedHeight_ * storedWidth_;
    for (std::int64_t x = 0; x < width_; ++x) {
      const ResizeAxis::Taps taps = columns_.taps(x);
      for (std::int64_t y = 0; y < storedHeight_; ++y) {
        const std::uint8_t* from = plane + y * storedWidth_ + taps.first;
        float sum = 0;
        for (std::size_t k = 0; k < taps.weights.size(); ++k)
          sum += taps.weights[k] * static_cast<float>(from[k]);
        narrowed_[static_cast<std::size_t>(y * width_ + x)] = sum;
      }
    }
    float* out = resized_.data() + c * height_ * width_;
    for (std::int64_t y = 0; y < height_; ++y) {
      const ResizeAxis::Taps taps = rows_.taps(y);
      for (std::int64_t x = 0; x < width_; ++x) {
        const float* from = narrowed_.data() + taps.first * width_ + x;
        float sum = 0;
        for (std::size_t k = 0; k < taps.weights.size(); ++k) {
          sum += taps.weights[k] * from[static_cast<std::int64_t>(k) * width_];
        }
        out[y * width_ + x] = sum;
      }
    }
  }
}

template <class Pixel, class Normalise>
void ImageTransform::place(const Pixel* plane, const Placement& placement, float* out,
                           const Normalise& normalise) const {
  const float black = normalise(Pixel{0});
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
    const Pixel* from = plane + sourceRow * width_ + placement.left;
    if (placement.isMirrored) {
      float* last = row + width_ - 1;
      for (std::int64_t x = 0; x < begin; ++x) last[-x] = black;
      for (std::int64_t x = begin; x < end; ++x) last[-x] = normalise(from[x]);
      for (std::int64_t x = end; x < width_; ++x) last[-x] = black;
    } else {
      std::fill(row, row + begin, black);
      for (std::int64_t x = begin; x < end; ++x) row[x] = normalise(from[x]);
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
  if (isResizing_) resize(image);
  for (std::int64_t c = 0; c < channels_; ++c) {
    const auto channel = static_cast<std::size_t>(c);
    float* plane = out.data() + c * height_ * width_;
    if (isResizing_) {
      const double mean = mean_[channel], deviation = deviation_[channel];
      place(resized_.data() + c * height_ * width_, placement, plane,
            [mean, deviation](float value) {
              return static_cast<float>((static_cast<double>(value) / 255 - mean) / deviation);
            });
    } else {
      const std::array<float, 256>& table = table_[channel];
      place(image.data() + c * height_ * width_, placement, plane,
            [&table](std::uint8_t value) { return table[value]; });
    }
  }
}

}  // namespace vitrine
