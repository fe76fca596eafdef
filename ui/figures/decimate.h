// Reduces a curve to what its pixels can show: at most four points per pixel column, none of the
// extremes lost.
#pragma once

#include <QPointF>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "ui/figures/extremes.h"

namespace vitrine::ui {

enum class AxisScale { Linear, Log };

/// The part of a curve that is on the screen.
struct PlotWindow {
  double lower = 0, upper = 1;  ///< of x
  int columns = 1;              ///< pixels across
  AxisScale scale = AxisScale::Linear;
};

/// The points to draw, in the order of `x`. Each pixel column has the first, the smallest, the
/// largest and the last value, each at its own x. There is one point more on either side, so that a
/// line continues beyond the edge. A value that is not finite stays as one point with NaN, which is
/// a gap.
///
/// \param x  ascending, finite  \param y  of the length of `x`
[[nodiscard]] std::vector<QPointF> decimate(std::span<const double> x, std::span<const double> y,
                                            const PlotWindow& window);

/// The outlines of a band, a closed one for each part in which both edges are finite: along `high`
/// and back along `low`.
/// \param reduce  decimates the edge of such a part
using ReduceEdge =
    std::function<std::vector<QPointF>(std::span<const double> x, std::span<const double> y)>;
[[nodiscard]] std::vector<std::vector<QPointF>> bandOutlines(std::span<const double> x,
                                                             std::span<const double> low,
                                                             std::span<const double> high,
                                                             const ReduceEdge& reduce);

/// Where the columns of pixels begin among ascending `x`: the same for every curve over that x.
class ColumnEdges {
 public:
  ColumnEdges(std::span<const double> x, const PlotWindow& window);
  /// Positions of the points in the window: [begin, past).
  [[nodiscard]] std::size_t begin() const { return begin_; }
  [[nodiscard]] std::size_t past() const { return past_; }
  /// Whether there are so many points in a column that searching beats looking at them.
  [[nodiscard]] bool isWorthwhile() const { return !ends_.empty(); }
  /// By column: the position after its last point. Empty where it is not worthwhile.
  [[nodiscard]] const std::vector<std::size_t>& ends() const { return ends_; }

 private:
  std::size_t begin_ = 0, past_ = 0;
  std::vector<std::size_t> ends_;
};

/// Facts about a long curve: with them a picture costs as much as it has columns.
struct CurveIndex {
  const Extremes& extremes;             ///< of y
  std::span<const std::size_t> broken;  ///< positions of values that are not finite, ascending
};
/// The same picture, found with the index: of a column with many points the least and the greatest,
/// somewhere in their column.
[[nodiscard]] std::vector<QPointF> decimate(std::span<const double> x, std::span<const double> y,
                                            const PlotWindow& window, const CurveIndex& index);
/// With the edges of (x, window), where they are known already.
[[nodiscard]] std::vector<QPointF> decimate(std::span<const double> x, std::span<const double> y,
                                            const PlotWindow& window, const CurveIndex& index,
                                            const ColumnEdges& edges);

}  // namespace vitrine::ui
