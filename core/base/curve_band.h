// Several curves as one line with a band: the places that all of them have, and their values there.
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "core/base/statistics.h"
#include "core/foundation_export.h"

namespace vitrine {

/// A curve on one axis: ascending x, one value each.
struct RunCurve {
  std::vector<double> x, y;
  /// Leaves out a place that is not finite. Of two values at one place the later one counts. Time
  /// never goes back within a segment, and what does would not be a function of x.
  void add(double place, double value) {
    if (!std::isfinite(place)) return;
    if (x.empty() || place > x.back()) {
      x.push_back(place);
      y.push_back(value);
    } else if (place == x.back()) {
      y.back() = value;
    }
  }
};

/// The places where all of `curves` have a value. These are every x of any of them from where the
/// last one begins to where the first one ends. Empty where they do not overlap.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<double> commonPlaces(
    const std::vector<const RunCurve*>& curves);
/// The curve at ascending places: its own value where it has one, else on the line between its
/// neighbours. NaN outside and next to a value that is not finite.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<double> valuesAt(
    const RunCurve& curve, const std::vector<double>& places);

/// The end of ascending places: from so much of their length before the last one, that place
/// included. \param share  above 0; from 1 all of them
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<double> lastShare(
    const std::vector<double>& places, double share);
/// Mean height of the curve between the first and the last of `places`, by trapezoids; of one place
/// the value there. NaN of none and where valuesAt() has one. The difference of two such means over
/// common places is the area between the curves, divided by its length.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT double meanOver(const RunCurve& curve,
                                                        const std::vector<double>& places);
/// The first place where the curve, straight between its points, is at `target` or beyond it: above
/// it, with Direction::Lower below. Nothing where it never is; at the earliest its first point.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::optional<double> placeReaching(const RunCurve& curve,
                                                                            double target,
                                                                            Direction direction);

/// A line over common places and what lies around it.
struct CurveBand {
  std::vector<double> x, centre;
  std::vector<double> lower, upper;  ///< empty without a spread and of a single curve
};
[[nodiscard]] VITRINE_FOUNDATION_EXPORT CurveBand bandOver(const std::vector<RunCurve>& curves,
                                                           Centre centre, Spread spread);

}  // namespace vitrine
