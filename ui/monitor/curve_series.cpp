#include "ui/monitor/curve_series.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace vitrine::ui {

bool CurveSeries::append(const std::vector<store::MetricPoint>& points) {
  // A resumed run may go back to its checkpoint: what was there is superseded.
  if (!points.empty() && !value_.empty()) {
    const store::MetricPoint& first = points.front();
    if (static_cast<double>(first.step) <= step_.back()) return false;
  }
  for (const store::MetricPoint& point : points) {
    if (!value_.empty() && point.segment != lastSegment_) segmentStarts_.push_back(value_.size());
    if (value_.empty() || point.segment != lastSegment_)
      pieces_.push_back({value_.size(), point.segment});
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

void CurveSeries::setSegmentStarts(std::map<std::int64_t, double> starts) {
  if (starts == starts_) return;
  starts_ = std::move(starts);
  wall_.clear();
  wallFrom_.clear();
}

CurveSeries CurveSeries::over(const CurveSeries& other) const {
  struct Joined {
    double x;
    std::size_t at;
  };
  std::vector<Joined> joined;
  joined.reserve(size());
  std::size_t next = 0;
  double last = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < size(); ++i) {
    while (next < other.size() && other.step_[next] <= step_[i]) {
      if (std::isfinite(other.value_[next])) last = other.value_[next];
      ++next;
    }
    if (!std::isnan(last)) joined.push_back({last, i});
  }
  std::stable_sort(joined.begin(), joined.end(),
                   [](const Joined& a, const Joined& b) { return a.x < b.x; });
  CurveSeries made;
  for (const auto& [x, i] : joined) {
    if (!std::isfinite(value_[i])) made.broken_.push_back(made.value_.size());
    made.step_.push_back(step_[i]);
    made.epoch_.push_back(epoch_[i]);
    made.time_.push_back(time_[i]);
    made.value_.push_back(value_[i]);
    made.other_.push_back(x);
  }
  made.lastSequence_ = lastSequence_;
  return made;
}

RunCurve CurveSeries::plain(XAxis axis) const {
  const auto places = x(axis);
  RunCurve curve;
  curve.x.reserve(size());
  curve.y.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) curve.add(places[i], value_[i]);
  return curve;
}

CurveSeries CurveSeries::made(XAxis axis, const std::vector<double>& x,
                              const std::vector<double>& y, const CurveSeries& like) {
  const auto along = [&](XAxis other) {
    if (other == axis) return x;
    RunCurve known;
    const auto from = like.x(axis), to = like.x(other);
    for (std::size_t i = 0; i < like.size(); ++i) known.add(from[i], to[i]);
    return valuesAt(known, x);
  };
  CurveSeries made;
  made.step_ = along(XAxis::Step);
  made.epoch_ = along(XAxis::Epoch);
  made.time_ = along(XAxis::Time);
  made.value_ = y;
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!std::isfinite(y[i])) made.broken_.push_back(i);
  return made;
}

GroupedCurve groupedCurve(const std::vector<const CurveSeries*>& curves, XAxis axis,
                          Spread spread) {
  std::vector<RunCurve> plain;
  for (const CurveSeries* curve : curves) plain.push_back(curve->plain(axis));
  const CurveBand band = bandOver(plain, Centre::Mean, spread);
  const CurveSeries& like = *curves.front();
  return {CurveSeries::made(axis, band.x, band.centre, like),
          CurveSeries::made(axis, band.x, band.lower, like),
          CurveSeries::made(axis, band.x, band.upper, like), curves.size()};
}

std::size_t CurveSeries::bytes() const {
  std::size_t numbers = 0;
  const std::initializer_list<const std::vector<double>*> columns = {&step_,  &epoch_, &time_,
                                                                     &value_, &other_, &wall_};
  for (const std::vector<double>* column : columns) numbers += column->capacity();
  return numbers * sizeof(double) + extremes_.bytes() + smoothed_.bytes();
}

std::uint64_t CurveSeries::looked() const {
  return looked_ + extremes_.looked() + smoothed_.looked();
}

std::span<const double> CurveSeries::x(XAxis axis) const {
  switch (axis) {
    case XAxis::Epoch:
      return epoch_;
    case XAxis::Time:
      return time_;
    case XAxis::Wall:
      wall_.reserve(value_.capacity());
      for (std::size_t p = 0; p < pieces_.size(); ++p) {
        const std::size_t end = p + 1 < pieces_.size() ? pieces_[p + 1].begin : value_.size();
        if (end <= wall_.size()) continue;
        const std::size_t begin = pieces_[p].begin;
        // Running time continues where the segment before it stopped.
        const double before = begin == 0 ? 0 : time_[begin - 1];
        if (wallFrom_.size() <= p) {
          const auto start = starts_.find(pieces_[p].segment);
          const double from = start == starts_.end() ? before : start->second;
          wallFrom_.push_back(wall_.empty() ? from : std::max(from, wall_.back()));
        }
        looked_ += end - wall_.size();
        for (std::size_t i = wall_.size(); i < end; ++i)
          wall_.push_back(wallFrom_[p] + time_[i] - before);
      }
      return wall_;
    case XAxis::Metric:
      return other_;
    case XAxis::Step:
      break;
  }
  return step_;
}

const Extremes& CurveSeries::extremes() const {
  if (extremes_.size() != value_.size()) extremes_.update(value_, extremes_.size());
  return extremes_;
}

SmoothedLine& CurveSeries::lineOf(const Smoothing& smoothing) const {
  if (smoothed_.smoothing() != smoothing) smoothed_ = SmoothedLine(smoothing);
  smoothed_.follow(value_);
  return smoothed_;
}

std::span<const double> CurveSeries::smoothed(const Smoothing& smoothing) const {
  return isSmoothed(smoothing) ? lineOf(smoothing).values() : value_;
}

const Extremes& CurveSeries::smoothedExtremes(const Smoothing& smoothing) const {
  return isSmoothed(smoothing) ? lineOf(smoothing).extremes() : extremes();
}

bool CurveSeries::isReady(const Smoothing& smoothing) const {
  if (!isSmoothed(smoothing)) return true;
  const bool isIts = smoothed_.smoothing() == smoothing;
  return size() - (isIts ? smoothed_.values().size() : 0) <= kSmoothedAtOnce;
}

SmoothedLine CurveSeries::smoothedAgain(const Smoothing& smoothing) const {
  SmoothedLine line(smoothing);
  line.follow(value_);
  (void)line.extremes();
  return line;
}

std::ptrdiff_t CurveSeries::at(XAxis axis, double at) const {
  const auto xs = x(axis);
  if (xs.empty() || at < xs.front() || at > xs.back()) return -1;
  return std::upper_bound(xs.begin(), xs.end(), at) - xs.begin() - 1;
}

std::optional<double> CurveSeries::placeOf(std::int64_t step, XAxis axis) const {
  const auto at = static_cast<double>(step);
  // In the order of another metric steps are not ascending.
  const auto found = axis == XAxis::Metric ? std::find(step_.begin(), step_.end(), at)
                                           : std::lower_bound(step_.begin(), step_.end(), at);
  if (found == step_.end()) return std::nullopt;
  return x(axis)[static_cast<std::size_t>(found - step_.begin())];
}

bool CurveSeries::range(XAxis axis, double from, double to, double& low, double& high) const {
  const auto xs = x(axis);
  const auto begin = std::lower_bound(xs.begin(), xs.end(), from) - xs.begin();
  const auto end = std::upper_bound(xs.begin(), xs.end(), to) - xs.begin();
  if (begin >= end) return false;
  const auto found =
      extremes().find(value_, static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
  if (!found.isAny) return false;
  low = value_[found.low];
  high = value_[found.high];
  return true;
}

bool CurveSeries::positiveRange(XAxis axis, double from, double to, double& low,
                                double& high) const {
  if (!range(axis, from, to, low, high) || !(high > 0)) return false;
  if (low > 0) return true;
  const auto xs = x(axis);
  const auto begin = std::lower_bound(xs.begin(), xs.end(), from) - xs.begin();
  const auto end = std::upper_bound(xs.begin(), xs.end(), to) - xs.begin();
  low = extremes().leastPositive(value_, static_cast<std::size_t>(begin),
                                 static_cast<std::size_t>(end));
  return true;
}

bool CurveSeries::edges(XAxis axis, double from, double to, AxisScale across, AxisScale up,
                        double& low, double& high) const {
  const auto xs = x(axis);
  const auto upTo = [&](double at) {
    return std::upper_bound(xs.begin(), xs.end(), at) - xs.begin();
  };
  const std::ptrdiff_t first = upTo(from), last = upTo(to);
  if (last - first > kSparse) return false;
  const auto scaled = [](AxisScale scale, double at) {
    return scale == AxisScale::Log ? std::log(at) : at;  // NaN where there is no place for it
  };
  bool isFound = false;
  for (const auto& [edge, next] : {std::pair(from, first), std::pair(to, last)}) {
    if (next <= 0 || next >= static_cast<std::ptrdiff_t>(xs.size())) continue;
    const auto i = static_cast<std::size_t>(next);
    const double left = scaled(across, xs[i - 1]), right = scaled(across, xs[i]);
    const double share = (scaled(across, edge) - left) / (right - left);
    const double y1 = scaled(up, value_[i - 1]), y2 = scaled(up, value_[i]);
    double value = y1 + (y2 - y1) * share;
    if (up == AxisScale::Log) value = std::exp(value);
    if (!std::isfinite(value)) continue;
    low = isFound ? std::min(low, value) : value;
    high = isFound ? std::max(high, value) : value;
    isFound = true;
  }
  return isFound;
}

bool CurveSeries::shares(XAxis axis, double from, double to, double lowShare, double highShare,
                         double& low, double& high) const {
  constexpr std::ptrdiff_t kMostLooked = 8192;
  const auto xs = x(axis);
  const auto begin = std::lower_bound(xs.begin(), xs.end(), from) - xs.begin();
  const auto end = std::upper_bound(xs.begin(), xs.end(), to) - xs.begin();
  std::vector<double> seen;
  const std::ptrdiff_t stride = std::max<std::ptrdiff_t>((end - begin) / kMostLooked, 1);
  for (auto i = begin; i < end; i += stride) {
    const double value = value_[static_cast<std::size_t>(i)];
    if (std::isfinite(value)) seen.push_back(value);
  }
  if (seen.empty()) return false;
  const auto at = [&seen](double share) {
    // Outwards: of a hundred values or fewer none is left out.
    const double exact = share * static_cast<double>(seen.size() - 1);
    const auto place =
        static_cast<std::ptrdiff_t>(share < 0.5 ? std::floor(exact) : std::ceil(exact));
    std::nth_element(seen.begin(), seen.begin() + place, seen.end());
    return seen[static_cast<std::size_t>(place)];
  };
  low = at(lowShare);
  high = at(highShare);
  return true;
}

std::vector<store::MetricPoint> meanOf(const std::vector<std::vector<store::MetricPoint>>& curves) {
  std::map<std::int64_t, std::pair<store::MetricPoint, std::size_t>> sums;
  for (const auto& curve : curves) {
    for (const store::MetricPoint& point : curve) {
      auto [place, isNew] = sums.try_emplace(point.step, point, 1);
      if (isNew) continue;
      auto& [sum, number] = place->second;
      sum.value += point.value;
      sum.sequence = std::max(sum.sequence, point.sequence);
      ++number;
    }
  }
  std::vector<store::MetricPoint> mean;
  for (auto& [step, entry] : sums) {
    auto& [sum, number] = entry;
    if (number != curves.size()) continue;
    sum.value /= static_cast<double>(number);
    mean.push_back(sum);
  }
  return mean;
}

}  // namespace vitrine::ui
