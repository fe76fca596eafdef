#include "ui/monitor/curve_series.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace vitrine::ui {

double Smoother::next(double value) {
  if (!std::isfinite(value)) return std::numeric_limits<double>::quiet_NaN();
  mean_ = constant_ * mean_ + (1 - constant_) * value;
  weight_ = constant_ * weight_ + (1 - constant_);  // 1 - b^t
  return mean_ / weight_;
}

bool CurveSeries::append(const std::vector<MetricPoint>& points) {
  // A resumed run may go back to its checkpoint: what was there is superseded.
  if (!points.empty() && !value_.empty()) {
    const MetricPoint& first = points.front();
    if (static_cast<double>(first.step) <= step_.back()) return false;
  }
  for (const MetricPoint& point : points) {
    if (!value_.empty() && point.segment != lastSegment_) seams_.push_back(value_.size());
    if (!std::isfinite(point.value)) broken_.push_back(value_.size());
    step_.push_back(static_cast<double>(point.step));
    epoch_.push_back(point.epoch);
    time_.push_back(point.time);
    value_.push_back(point.value);
    lastSegment_ = point.segment;
    lastSequence_ = std::max(lastSequence_, point.sequence);
  }
  return true;
}

void CurveSeries::clear() { *this = CurveSeries(); }

std::span<const double> CurveSeries::x(XAxis axis) const {
  switch (axis) {
    case XAxis::Epoch:
      return epoch_;
    case XAxis::Time:
      return time_;
    case XAxis::Step:
      break;
  }
  return step_;
}

std::span<const double> CurveSeries::smoothed(double constant) const {
  if (!isSmoothed(constant)) return value_;
  if (smoother_.constant() != constant) {
    smoother_ = Smoother(constant);
    smooth_.clear();
  }
  smooth_.reserve(value_.capacity());
  for (std::size_t i = smooth_.size(); i < value_.size(); ++i)
    smooth_.push_back(smoother_.next(value_[i]));
  return smooth_;
}

std::ptrdiff_t CurveSeries::at(XAxis axis, double at) const {
  const auto xs = x(axis);
  if (xs.empty() || at < xs.front() || at > xs.back()) return -1;
  return std::upper_bound(xs.begin(), xs.end(), at) - xs.begin() - 1;
}

namespace {

template <typename Accept>
bool rangeOf(std::span<const double> x, std::span<const double> y, double from, double to,
             double& low, double& high, Accept accept) {
  const auto begin = std::lower_bound(x.begin(), x.end(), from) - x.begin();
  const auto end = std::upper_bound(x.begin(), x.end(), to) - x.begin();
  bool isFound = false;
  for (auto i = begin; i < end; ++i) {
    const double value = y[static_cast<std::size_t>(i)];
    if (!accept(value)) continue;
    low = isFound ? std::min(low, value) : value;
    high = isFound ? std::max(high, value) : value;
    isFound = true;
  }
  return isFound;
}

}  // namespace

bool CurveSeries::range(XAxis axis, double from, double to, double& low, double& high) const {
  return rangeOf(x(axis), value_, from, to, low, high, [](double v) { return std::isfinite(v); });
}

bool CurveSeries::positiveRange(XAxis axis, double from, double to, double& low,
                                double& high) const {
  return rangeOf(x(axis), value_, from, to, low, high,
                 [](double v) { return std::isfinite(v) && v > 0; });
}

std::vector<MetricPoint> meanOf(const std::vector<std::vector<MetricPoint>>& curves) {
  std::map<std::int64_t, std::pair<MetricPoint, std::size_t>> sums;
  for (const auto& curve : curves) {
    for (const MetricPoint& point : curve) {
      auto [place, isNew] = sums.try_emplace(point.step, point, 1);
      if (isNew) continue;
      auto& [sum, number] = place->second;
      sum.value += point.value;
      sum.sequence = std::max(sum.sequence, point.sequence);
      ++number;
    }
  }
  std::vector<MetricPoint> mean;
  for (auto& [step, entry] : sums) {
    auto& [sum, number] = entry;
    if (number != curves.size()) continue;
    sum.value /= static_cast<double>(number);
    mean.push_back(sum);
  }
  return mean;
}

}  // namespace vitrine::ui
