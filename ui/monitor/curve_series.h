// One metric of one run, held for drawing: appended to while the run lives, smoothed as it grows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/base/curve_band.h"
#include "core/store/types.h"
#include "ui/figures/decimate.h"
#include "ui/figures/extremes.h"
#include "ui/monitor/smoothed_line.h"

namespace vitrine::ui {

enum class XAxis {
  Step,
  Epoch,
  Time,    ///< seconds of running time
  Wall,    ///< seconds since 1970
  Metric,  ///< the value of another metric at the same step
};

class CurveSeries {
 public:
  /// Fewer points than this are drawn as they are: a mean would trail far behind a young curve.
  static constexpr std::size_t kSmoothedFrom = 200;

  /// Adds newer points. Returns false, changing nothing, when one belongs to another segment than
  /// the last known point and goes back. The caller must then clear() and read the whole curve.
  bool append(const std::vector<store::MetricPoint>& points);
  void clear();
  /// Where the segments of the run began, seconds since 1970: what x(XAxis::Wall) is made of.
  void setSegmentStarts(std::map<std::int64_t, double> starts);
  /// The points in the order of another metric: x is its value at the same step, or the last one
  /// before. Points before its first value are left out.
  [[nodiscard]] CurveSeries over(const CurveSeries& other) const;
  /// A line that no run has measured, as a mean: values over places of an axis.
  /// \param like  a curve that has all of the places, which has their steps
  [[nodiscard]] static CurveSeries made(XAxis axis, const std::vector<double>& x,
                                        const std::vector<double>& y, const CurveSeries& like);
  /// The values over an axis, without points that have no place there.
  [[nodiscard]] RunCurve plain(XAxis axis) const;

  [[nodiscard]] std::size_t size() const { return value_.size(); }
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] std::int64_t lastSequence() const { return lastSequence_; }
  [[nodiscard]] std::span<const double> x(XAxis axis) const;
  [[nodiscard]] std::span<const double> y() const { return value_; }
  /// The smoothed curve; the raw one where isSmoothed() says no. Costs only the new points.
  [[nodiscard]] std::span<const double> smoothed(const Smoothing& smoothing) const;
  [[nodiscard]] bool isSmoothed(const Smoothing& smoothing) const {
    return smoothing.kind != Smoothing::Kind::None && smoothing.amount > 0 &&
           (!smoothing.isAuto || size() >= kSmoothedFrom);
  }
  /// Makes the data of drawing: on the thread that has read the points.
  void prepare(const Smoothing& smoothing) const {
    (void)extremes();
    (void)smoothedExtremes(smoothing);
  }
  /// Least and greatest of blocks of y, and of the smoothed curve last asked for.
  [[nodiscard]] const Extremes& extremes() const;
  [[nodiscard]] const Extremes& smoothedExtremes(const Smoothing& smoothing) const;
  /// Points and blocks of them that were looked at for means, extremes and clock times so far. A
  /// test counts that a longer curve costs no more.
  [[nodiscard]] std::uint64_t looked() const;
  /// So many points are smoothed where they are drawn; another smoothing of more takes longer than
  /// a frame.
  static constexpr std::size_t kSmoothedAtOnce = 50'000;
  /// Whether drawing with it has no more than that to do.
  [[nodiscard]] bool isReady(const Smoothing& smoothing) const;
  /// The smoothed line, for adopt(): on any thread, while the curve does not change.
  [[nodiscard]] SmoothedLine smoothedAgain(const Smoothing& smoothing) const;
  void adopt(SmoothedLine&& line) { smoothed_ = std::move(line); }
  /// Positions where a later segment begins.
  [[nodiscard]] const std::vector<std::size_t>& segmentStarts() const { return segmentStarts_; }
  /// Positions of values that are not finite.
  [[nodiscard]] const std::vector<std::size_t>& broken() const { return broken_; }
  /// Position of the last point at or before `at`; -1 before the first or past the last.
  [[nodiscard]] std::ptrdiff_t at(XAxis axis, double at) const;
  /// Where the first point at or after a step is. In the order of another metric it has to be that
  /// step.
  [[nodiscard]] std::optional<double> placeOf(std::int64_t step, XAxis axis) const;
  /// Least and greatest finite value with x in [from, to]; false if there is none.
  bool range(XAxis axis, double from, double to, double& low, double& high) const;
  /// The same among values above zero, for log axes.
  bool positiveRange(XAxis axis, double from, double to, double& low, double& high) const;
  /// The same of where the lines between points enter and leave [from, to], as they are drawn on
  /// these scales. False where no line does. False also for a curve of more points in there than
  /// kSparse, which has some at the edges.
  bool edges(XAxis axis, double from, double to, AxisScale across, AxisScale up, double& low,
             double& high) const;
  static constexpr std::ptrdiff_t kSparse = 16;
  /// Values below which a share of the finite ones with x in [from, to] lie, of at most some
  /// thousand that are spread evenly. False if there is none.
  bool shares(XAxis axis, double from, double to, double lowShare, double highShare, double& low,
              double& high) const;

 private:
  struct Piece {
    std::size_t begin = 0;
    std::int64_t segment = 0;
  };
  SmoothedLine& lineOf(const Smoothing& smoothing) const;

  std::vector<double> step_, epoch_, time_, value_, other_;
  std::vector<Piece> pieces_;
  std::map<std::int64_t, double> starts_;
  std::vector<std::size_t> segmentStarts_, broken_;
  std::int64_t lastSequence_ = 0, lastSegment_ = 0;
  mutable std::vector<double> wall_, wallFrom_;  ///< wallFrom_: where each piece begins
  mutable std::uint64_t looked_ = 0;
  mutable SmoothedLine smoothed_;  ///< the one last asked for
  mutable Extremes extremes_;
};

/// Curves of several runs as one: their mean and what lies around it.
struct GroupedCurve {
  CurveSeries centre, low, high;
  std::size_t number = 0;  ///< of the curves
};
/// \param curves  two and more  \param axis  one that runs share: not the clock, nor a metric
[[nodiscard]] GroupedCurve groupedCurve(const std::vector<const CurveSeries*>& curves, XAxis axis,
                                        Spread spread);

/// Mean of several curves with one clock (the heads of a layer): points whose step all of them
/// have.
[[nodiscard]] std::vector<store::MetricPoint> meanOf(
    const std::vector<std::vector<store::MetricPoint>>& curves);

}  // namespace vitrine::ui
