#include "core/base/curve_band.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace vitrine {

std::vector<double> commonPlaces(const std::vector<const RunCurve*>& curves) {
  double from = -std::numeric_limits<double>::infinity();
  double to = std::numeric_limits<double>::infinity();
  for (const RunCurve* curve : curves) {
    if (curve->x.empty()) return {};
    from = std::max(from, curve->x.front());
    to = std::min(to, curve->x.back());
  }
  if (from > to) return {};
  std::vector<double> places, joined;
  for (const RunCurve* curve : curves) {
    const auto first = std::lower_bound(curve->x.begin(), curve->x.end(), from);
    const auto last = std::upper_bound(first, curve->x.end(), to);
    joined.clear();
    std::set_union(places.begin(), places.end(), first, last, std::back_inserter(joined));
    places.swap(joined);
  }
  return places;
}

std::vector<double> valuesAt(const RunCurve& curve, const std::vector<double>& places) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values(places.size(), kNone);
  std::size_t next = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    while (next < curve.x.size() && curve.x[next] < places[i]) ++next;
    if (next == curve.x.size()) break;
    if (curve.x[next] == places[i]) {
      values[i] = curve.y[next];
    } else if (next > 0) {
      const double share = (places[i] - curve.x[next - 1]) / (curve.x[next] - curve.x[next - 1]);
      values[i] = curve.y[next - 1] + share * (curve.y[next] - curve.y[next - 1]);
      if (!std::isfinite(values[i])) values[i] = kNone;
    }
  }
  return values;
}

std::vector<double> lastShare(const std::vector<double>& places, double share) {
  if (places.empty() || share >= 1) return places;
  const double from = places.back() - share * (places.back() - places.front());
  std::vector<double> kept{from};
  kept.insert(kept.end(), std::upper_bound(places.begin(), places.end(), from), places.end());
  return kept;
}

double meanOver(const RunCurve& curve, const std::vector<double>& places) {
  if (places.empty()) return std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> values = valuesAt(curve, places);
  const double length = places.back() - places.front();
  if (length == 0) return values.front();
  double area = 0;
  for (std::size_t i = 1; i < places.size(); ++i)
    area += (places[i] - places[i - 1]) * (values[i] + values[i - 1]) / 2;
  return area / length;
}

std::optional<double> placeReaching(const RunCurve& curve, double target, Direction direction) {
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    const double value = curve.y[i];
    if (!(direction == Direction::Lower ? value <= target : value >= target)) continue;
    if (i == 0 || !std::isfinite(value) || !std::isfinite(curve.y[i - 1])) return curve.x[i];
    const double share = (target - curve.y[i - 1]) / (value - curve.y[i - 1]);
    return curve.x[i - 1] + share * (curve.x[i] - curve.x[i - 1]);
  }
  return std::nullopt;
}

CurveBand bandOver(const std::vector<RunCurve>& curves, Centre centre, Spread spread) {
  std::vector<const RunCurve*> all;
  for (const RunCurve& curve : curves) all.push_back(&curve);
  CurveBand made;
  if (all.empty()) return made;
  made.x = commonPlaces(all);
  std::vector<std::vector<double>> values;
  for (const RunCurve& curve : curves) values.push_back(valuesAt(curve, made.x));
  const bool hasBand = spread != Spread::None && curves.size() > 1;
  std::vector<double> sample(values.size());
  for (std::size_t i = 0; i < made.x.size(); ++i) {
    for (std::size_t k = 0; k < values.size(); ++k) sample[k] = values[k][i];
    const Band band = bandOf(sample, centre, spread);
    made.centre.push_back(band.centre);
    if (!hasBand) continue;
    made.lower.push_back(band.lower);
    made.upper.push_back(band.upper);
  }
  return made;
}

}  // namespace vitrine
