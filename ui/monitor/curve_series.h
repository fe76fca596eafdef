// One metric of one run, held for drawing: appended to while the run lives, smoothed as it grows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/store/types.h"

namespace vitrine::ui {

enum class XAxis { Step, Epoch, Time };

/// Exponential moving average without the pull towards zero at the start:
///   m_t = b m_{t-1} + (1 - b) y_t,   s_t = m_t / (1 - b^t)
/// Values that are not finite leave it where it is and give NaN at their place.
class Smoother {
 public:
  explicit Smoother(double constant = 0) : constant_(constant) {}
  [[nodiscard]] double constant() const { return constant_; }
  double next(double value);

 private:
  double constant_ = 0, mean_ = 0, weight_ = 0;
};

class CurveSeries {
 public:
  /// Fewer points than this are drawn as they are: a mean would trail far behind a young curve.
  static constexpr std::size_t kSmoothedFrom = 200;

  /// Adds newer points. Returns false, changing nothing, when one belongs to another segment than
  /// the last known point and goes back: the caller must then clear() and read the whole curve.
  bool append(const std::vector<MetricPoint>& points);
  void clear();

  [[nodiscard]] std::size_t size() const { return value_.size(); }
  [[nodiscard]] std::int64_t lastSequence() const { return lastSequence_; }
  [[nodiscard]] std::span<const double> x(XAxis axis) const;
  [[nodiscard]] std::span<const double> y() const { return value_; }
  /// The smoothed curve; the raw one with constant 0 or below kSmoothedFrom points. Costs only the
  /// new points.
  [[nodiscard]] std::span<const double> smoothed(double constant) const;
  [[nodiscard]] bool isSmoothed(double constant) const {
    return constant > 0 && size() >= kSmoothedFrom;
  }
  /// Positions where a later segment begins.
  [[nodiscard]] const std::vector<std::size_t>& seams() const { return seams_; }
  /// Positions of values that are not finite.
  [[nodiscard]] const std::vector<std::size_t>& broken() const { return broken_; }
  /// Position of the last point at or before `at`; -1 before the first or past the last.
  [[nodiscard]] std::ptrdiff_t at(XAxis axis, double at) const;
  /// Least and greatest finite value with x in [from, to]; false if there is none.
  bool range(XAxis axis, double from, double to, double& low, double& high) const;
  /// The same among values above zero, for log axes.
  bool positiveRange(XAxis axis, double from, double to, double& low, double& high) const;

 private:
  std::vector<double> step_, epoch_, time_, value_;
  std::vector<std::size_t> seams_, broken_;
  std::int64_t lastSequence_ = 0, lastSegment_ = 0;
  mutable std::vector<double> smooth_;
  mutable Smoother smoother_;
};

/// Mean of several curves with one clock (the heads of a layer): points whose step all of them
/// have.
[[nodiscard]] std::vector<MetricPoint> meanOf(const std::vector<std::vector<MetricPoint>>& curves);

}  // namespace vitrine::ui
