#include "core/data/resample.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "core/base/error.h"
#include "core/base/text.h"

namespace vitrine {

namespace {

constexpr std::int32_t kHalf = 1 << (ResampleAxis::kBits - 1);

double support(ResampleFilter filter) {
  switch (filter) {
    case ResampleFilter::Nearest:
      return 0;
    case ResampleFilter::Box:
      return 0.5;
    case ResampleFilter::Bilinear:
    case ResampleFilter::Hamming:
      return 1;
    case ResampleFilter::Bicubic:
      return 2;
    case ResampleFilter::Lanczos:
      return 3;
  }
  return 0;
}

double sinc(double x) {
  return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

double weightAt(ResampleFilter filter, double x) {
  const double distance = std::abs(x);
  switch (filter) {
    case ResampleFilter::Nearest:
      return 1;
    case ResampleFilter::Box:
      return x > -0.5 && x <= 0.5 ? 1 : 0;
    case ResampleFilter::Bilinear:
      return std::max(0.0, 1 - distance);
    case ResampleFilter::Hamming:
      return distance < 1 ? sinc(x) * (0.54 + 0.46 * std::cos(std::numbers::pi * x)) : 0;
    case ResampleFilter::Bicubic: {
      constexpr double a = -0.5;
      if (distance < 1) return ((a + 2) * distance - (a + 3)) * distance * distance + 1;
      if (distance < 2) return (((distance - 5) * distance + 8) * distance - 4) * a;
      return 0;
    }
    case ResampleFilter::Lanczos:
      return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
  }
  return 0;
}

std::uint8_t rounded(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> ResampleAxis::kBits, 0, 255));
}

const ResampleBox& checked(std::int64_t fromHeight, std::int64_t fromWidth, const ResampleBox& box,
                           std::int64_t toHeight, std::int64_t toWidth) {
  if (fromHeight <= 0 || fromWidth <= 0 || toHeight <= 0 || toWidth <= 0) {
    throw ConfigError("an image of " + formatSides(fromHeight, fromWidth) +
                      " px cannot be resized to " + formatSides(toHeight, toWidth) +
                      " px: give sizes above 0");
  }
  const bool isInside = box.top >= 0 && box.left >= 0 &&
                        box.bottom <= static_cast<double>(fromHeight) &&
                        box.right <= static_cast<double>(fromWidth);
  if (!isInside || !(box.top < box.bottom) || !(box.left < box.right)) {
    throw ConfigError("rows " + std::to_string(box.top) + " to " + std::to_string(box.bottom) +
                      " and columns " + std::to_string(box.left) + " to " +
                      std::to_string(box.right) + " are not a part of an image of " +
                      formatSides(fromHeight, fromWidth) + " px");
  }
  return box;
}

}  // namespace

ResampleAxis::ResampleAxis(ResampleFilter filter, std::int64_t from, double start, double end,
                           std::int64_t to)
    : isIdentity_(from == to && start == 0 && end == static_cast<double>(from)) {
  const double scale = (end - start) / static_cast<double>(to);
  const double stretch = std::max(scale, 1.0);
  const double radius = support(filter) * stretch;
  width_ = std::min(from, 2 * static_cast<std::int64_t>(std::ceil(radius)) + 1);
  weights_.assign(static_cast<std::size_t>(to * width_), 0);
  first_.reserve(static_cast<std::size_t>(to));
  count_.reserve(static_cast<std::size_t>(to));
  std::vector<double> raw(static_cast<std::size_t>(width_));
  double walked = start + 0.5 * scale;  // Nearest adds up its steps, as the reference does it
  for (std::int64_t i = 0; i < to; ++i, walked += scale) {
    const double center = start + (static_cast<double>(i) + 0.5) * scale;
    // Conversion cuts towards zero, as the reference does it.
    std::int64_t first = std::min(static_cast<std::int64_t>(walked), from - 1), last = first + 1;
    if (filter != ResampleFilter::Nearest) {
      first = std::max<std::int64_t>(0, static_cast<std::int64_t>(center - radius + 0.5));
      last = std::min(from, static_cast<std::int64_t>(center + radius + 0.5));
    }
    double sum = 0;
    for (std::int64_t j = first; j < last; ++j) {
      const double weight = weightAt(filter, (static_cast<double>(j) - center + 0.5) / stretch);
      raw[static_cast<std::size_t>(j - first)] = weight;
      sum += weight;
    }
    for (std::int64_t k = 0; k < last - first; ++k) {
      const double weight = raw[static_cast<std::size_t>(k)] / (sum != 0 ? sum : 1) * (1 << kBits);
      weights_[static_cast<std::size_t>(i * width_ + k)] =
          static_cast<std::int32_t>(weight < 0 ? weight - 0.5 : weight + 0.5);
    }
    first_.push_back(first);
    count_.push_back(last - first);
  }
}

ResampleAxis::Taps ResampleAxis::taps(std::int64_t output) const& noexcept {
  const auto i = static_cast<std::size_t>(output);
  return {first_[i], std::span(weights_).subspan(i * static_cast<std::size_t>(width_),
                                                 static_cast<std::size_t>(count_[i]))};
}

Resampler::Resampler(ResampleFilter filter, std::int64_t fromHeight, std::int64_t fromWidth,
                     std::int64_t toHeight, std::int64_t toWidth)
    : Resampler(filter, fromHeight, fromWidth,
                ResampleBox{0, 0, static_cast<double>(fromHeight), static_cast<double>(fromWidth)},
                toHeight, toWidth) {}

Resampler::Resampler(ResampleFilter filter, std::int64_t fromHeight, std::int64_t fromWidth,
                     const ResampleBox& box, std::int64_t toHeight, std::int64_t toWidth)
    : fromHeight_(fromHeight),
      fromWidth_(fromWidth),
      toHeight_(toHeight),
      toWidth_(toWidth),
      rows_(filter, fromHeight, checked(fromHeight, fromWidth, box, toHeight, toWidth).top,
            box.bottom, toHeight),
      columns_(filter, fromWidth, box.left, box.right, toWidth) {
  if (!columns_.isIdentity()) narrowed_.resize(static_cast<std::size_t>(fromHeight * toWidth));
  if (!rows_.isIdentity()) sums_.resize(static_cast<std::size_t>(toWidth));
}

void Resampler::apply(std::int64_t channels, std::span<const std::uint8_t> image,
                      std::span<std::uint8_t> out) {
  if (static_cast<std::int64_t>(image.size()) != channels * fromHeight_ * fromWidth_ ||
      static_cast<std::int64_t>(out.size()) != channels * toHeight_ * toWidth_) {
    throw ShapeError(
        std::to_string(channels) + " channels of " + formatSides(fromHeight_, fromWidth_) +
        " px become " + formatSides(toHeight_, toWidth_) + " px; got room for " +
        std::to_string(image.size()) + " and " + std::to_string(out.size()) + " bytes");
  }
  for (std::int64_t c = 0; c < channels; ++c) {
    const std::uint8_t* plane = image.data() + c * fromHeight_ * fromWidth_;
    if (!columns_.isIdentity()) {
      for (std::int64_t y = 0; y < fromHeight_; ++y) {
        const std::uint8_t* row = plane + y * fromWidth_;
        std::uint8_t* narrow = narrowed_.data() + y * toWidth_;
        for (std::int64_t x = 0; x < toWidth_; ++x) {
          const ResampleAxis::Taps taps = columns_.taps(x);
          std::int32_t sum = kHalf;
          for (std::size_t k = 0; k < taps.weights.size(); ++k)
            sum += taps.weights[k] * row[static_cast<std::size_t>(taps.first) + k];
          narrow[x] = rounded(sum);
        }
      }
      plane = narrowed_.data();
    }
    std::uint8_t* result = out.data() + c * toHeight_ * toWidth_;
    if (rows_.isIdentity()) {
      std::copy_n(plane, toHeight_ * toWidth_, result);
      continue;
    }
    for (std::int64_t y = 0; y < toHeight_; ++y) {
      const ResampleAxis::Taps taps = rows_.taps(y);
      std::fill(sums_.begin(), sums_.end(), kHalf);
      for (std::size_t k = 0; k < taps.weights.size(); ++k) {
        const std::int32_t weight = taps.weights[k];
        const std::uint8_t* row = plane + (taps.first + static_cast<std::int64_t>(k)) * toWidth_;
        for (std::int64_t x = 0; x < toWidth_; ++x)
          sums_[static_cast<std::size_t>(x)] += weight * row[x];
      }
      std::transform(sums_.begin(), sums_.end(), result + y * toWidth_, rounded);
    }
  }
}

}  // namespace vitrine
