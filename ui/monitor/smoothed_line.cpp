#include "ui/monitor/smoothed_line.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace vitrine::ui {

double Smoother::next(double value) {
  if (!std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
  mean_ = constant_ * mean_ + (1 - constant_) * value;
  weight_ = constant_ * weight_ + (1 - constant_);  // 1 - b^t
  return mean_ / weight_;
}

// The mean over the finite values of a window with the point in its middle, shorter at the ends.
void SmoothedLine::centre(std::span<const double> values) {
  const auto window = static_cast<std::size_t>(smoothing_.amount);
  const std::size_t half = std::max<std::size_t>(window / 2, 1);
  const std::size_t known = values_.size();
  std::size_t i = known > half ? known - half : 0;  // their windows have grown
  values_.resize(values.size());
  looked_ += values.size() - i;
  std::size_t begin = i > half ? i - half : 0, end = begin, finite = 0;
  double sum = 0;
  for (; i < values.size(); ++i) {
    const std::size_t wantedEnd = std::min(i + half + 1, values.size());
    for (; end < wantedEnd; ++end) {
      if (!std::isfinite(values[end])) continue;
      sum += values[end];
      ++finite;
    }
    const std::size_t wantedBegin = i > half ? i - half : 0;
    for (; begin < wantedBegin; ++begin) {
      if (!std::isfinite(values[begin])) continue;
      sum -= values[begin];
      --finite;
    }
    values_[i] = std::isfinite(values[i]) && finite > 0 ? sum / static_cast<double>(finite)
                                                        : std::numeric_limits<double>::quiet_NaN();
  }
}

void SmoothedLine::follow(std::span<const double> values) {
  if (values_.size() == values.size()) return;
  if (values_.empty()) values_.reserve(values.size());
  if (smoothing_.kind == Smoothing::Kind::Centred) return centre(values);
  looked_ += values.size() - values_.size();
  for (std::size_t i = values_.size(); i < values.size(); ++i)
    values_.push_back(smoother_.next(values[i]));
}

const Extremes& SmoothedLine::extremes() {
  if (extremes_.size() == values_.size()) return extremes_;
  // The last windows have grown.
  const auto half = smoothing_.kind == Smoothing::Kind::Centred
                        ? static_cast<std::size_t>(smoothing_.amount) / 2 + 1
                        : 0;
  const std::size_t known = extremes_.size();
  extremes_.update(values_, known > half ? known - half : 0);
  return extremes_;
}

}  // namespace vitrine::ui
