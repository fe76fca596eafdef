#include "ui/figures/decimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace vitrine::ui {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

// One pixel column: positions of the four points that can be seen.
struct Column {
  std::size_t first = 0, last = 0, low = 0, high = 0;
};

}  // namespace

std::vector<QPointF> decimate(std::span<const double> x, std::span<const double> y,
                              const PlotWindow& window) {
  std::vector<QPointF> points;
  const std::size_t size = std::min(x.size(), y.size());
  if (size == 0 || !(window.upper >= window.lower) || window.columns < 1) return points;
  const auto end = x.begin() + static_cast<std::ptrdiff_t>(size);
  auto begin = static_cast<std::size_t>(std::lower_bound(x.begin(), end, window.lower) - x.begin());
  auto past = static_cast<std::size_t>(std::upper_bound(x.begin(), end, window.upper) - x.begin());
  if (begin > 0) --begin;
  if (past < size) ++past;

  const auto emit = [&points, x, y](std::size_t i) {
    points.emplace_back(x[i], std::isfinite(y[i]) ? y[i] : kNoValue);
  };
  if (past - begin <= 2 * static_cast<std::size_t>(window.columns)) {
    points.reserve(past - begin);
    for (std::size_t i = begin; i < past; ++i) emit(i);
    return points;
  }

  const bool isLog = window.scale == AxisScale::Log && window.lower > 0;
  const double low = isLog ? std::log(window.lower) : window.lower;
  const double high = isLog ? std::log(window.upper) : window.upper;
  const double perUnit = high > low ? window.columns / (high - low) : 0;
  const auto columnOf = [&](double value) {
    if (isLog && !(value > 0)) return -1L;
    const double place = ((isLog ? std::log(value) : value) - low) * perUnit;
    // The neighbours beyond the edges keep columns of their own.
    return static_cast<long>(std::floor(std::clamp(place, -1.0, window.columns + 1.0)));
  };

  points.reserve(4 * static_cast<std::size_t>(window.columns) + 8);
  Column column;
  bool isOpen = false;
  const auto close = [&] {
    if (!isOpen) return;
    isOpen = false;
    std::array<std::size_t, 4> order{column.first, column.low, column.high, column.last};
    std::sort(order.begin(), order.end());
    const auto unique = std::unique(order.begin(), order.end());
    std::for_each(order.begin(), unique, emit);
  };
  long current = std::numeric_limits<long>::min();
  bool isGap = false;
  for (std::size_t i = begin; i < past; ++i) {
    const long at = columnOf(x[i]);
    if (at != current) {
      close();
      current = at;
      isGap = false;
    }
    if (!std::isfinite(y[i])) {
      close();
      if (!isGap) emit(i);
      isGap = true;
      continue;
    }
    isGap = false;
    if (!isOpen) {
      column = {i, i, i, i};
      isOpen = true;
      continue;
    }
    column.last = i;
    if (y[i] < y[column.low]) column.low = i;
    if (y[i] > y[column.high]) column.high = i;
  }
  close();
  return points;
}

ColumnEdges::ColumnEdges(std::span<const double> x, const PlotWindow& window) {
  constexpr std::size_t kWorthwhile = 16;  // points per column from which searching beats looking
  const auto columns = static_cast<std::size_t>(std::max(window.columns, 1));
  if (!(window.upper > window.lower) || x.size() < kWorthwhile * columns) return;
  begin_ = static_cast<std::size_t>(std::lower_bound(x.begin(), x.end(), window.lower) - x.begin());
  past_ = static_cast<std::size_t>(std::upper_bound(x.begin(), x.end(), window.upper) - x.begin());
  if (past_ - begin_ < kWorthwhile * columns) return;
  const bool isLog = window.scale == AxisScale::Log && window.lower > 0;
  const double step = isLog ? std::log(window.upper / window.lower) / window.columns
                            : (window.upper - window.lower) / window.columns;
  ends_.reserve(columns);
  const double last = x[past_ - 1];
  std::size_t from = begin_;
  for (std::size_t column = 1; column < columns; ++column) {
    const double along = step * static_cast<double>(column);
    const double edge = isLog ? window.lower * std::exp(along) : window.lower + along;
    std::size_t to = past_;
    if (from < past_ && last >= edge) {
      // Steps are mostly even: the place is guessed, then searched for around it.
      const double rest = last - x[from];
      const double share = rest > 0 ? std::clamp((edge - x[from]) / rest, 0.0, 1.0) : 0;
      const auto guess =
          from + static_cast<std::size_t>(share * static_cast<double>(past_ - 1 - from) + 0.5);
      const auto isAt = [&](std::size_t at) {
        return x[at] >= edge && (at == from || x[at - 1] < edge);
      };
      if (isAt(guess)) {
        to = guess;
      } else {
        std::size_t low = from, high = past_;
        for (std::size_t reach = 4; reach < past_ - from; reach *= 8) {
          const std::size_t left = guess > from + reach ? guess - reach : from;
          const std::size_t right = std::min(guess + reach, past_ - 1);
          if ((left == from || x[left] < edge) && (right == past_ - 1 || x[right] >= edge)) {
            low = left;
            high = right + 1;
            break;
          }
        }
        to = static_cast<std::size_t>(
            std::lower_bound(x.begin() + static_cast<std::ptrdiff_t>(low),
                             x.begin() + static_cast<std::ptrdiff_t>(high), edge) -
            x.begin());
      }
    }
    ends_.push_back(to);
    from = to;
  }
  ends_.push_back(past_);
}

std::vector<QPointF> decimate(std::span<const double> x, std::span<const double> y,
                              const PlotWindow& window, const CurveIndex& index) {
  return decimate(x, y, window, index, ColumnEdges(x.first(std::min(x.size(), y.size())), window));
}

std::vector<QPointF> decimate(std::span<const double> x, std::span<const double> y,
                              const PlotWindow& window, const CurveIndex& index,
                              const ColumnEdges& edges) {
  const std::size_t size = std::min(x.size(), y.size());
  if (!edges.isWorthwhile()) return decimate(x, y, window);
  std::vector<QPointF> points;
  points.reserve(4 * static_cast<std::size_t>(window.columns) + 8);
  const auto emit = [&](std::size_t i) {
    points.emplace_back(x[i], std::isfinite(y[i]) ? y[i] : kNoValue);
  };
  std::size_t from = edges.begin();
  if (from > 0) emit(from - 1);
  auto broken = std::lower_bound(index.broken.begin(), index.broken.end(), from);
  for (const std::size_t to : edges.ends()) {
    if (to == from) continue;
    if (broken != index.broken.end() && *broken < to) {
      // A gap in the column: looked at piece by piece.
      bool isGap = false;
      std::size_t piece = from;
      const auto close = [&](std::size_t at) {
        const auto found = index.extremes.find(y, piece, at);
        if (!found.isAny) return;
        std::array<std::size_t, 4> order{piece, found.low, found.high, at - 1};
        std::sort(order.begin(), order.end());
        std::for_each(order.begin(), std::unique(order.begin(), order.end()), emit);
      };
      for (; broken != index.broken.end() && *broken < to; ++broken) {
        if (*broken > piece) {
          close(*broken);
          isGap = false;
        }
        if (!isGap) emit(*broken);
        isGap = true;
        piece = *broken + 1;
      }
      if (piece < to) close(to);
    } else {
      // So many points are one stroke from the least to the greatest. Where it begins and ends
      // inside the column cannot be seen, and to look it up misses every cache.
      const auto found = index.extremes.bounds(y, from, to);
      const bool isRising = y[from] <= y[to - 1];
      points.emplace_back(x[from], isRising ? found.least : found.greatest);
      if (found.least < found.greatest)
        points.emplace_back(x[to - 1], isRising ? found.greatest : found.least);
    }
    from = to;
  }
  if (edges.past() < size) emit(edges.past());
  return points;
}

std::vector<std::vector<QPointF>> bandOutlines(std::span<const double> x,
                                               std::span<const double> low,
                                               std::span<const double> high,
                                               const ReduceEdge& reduce) {
  std::vector<std::vector<QPointF>> outlines;
  const auto isGap = [&](std::size_t at) {
    return !std::isfinite(low[at]) || !std::isfinite(high[at]);
  };
  for (std::size_t i = 0; i < low.size();) {
    while (i < low.size() && isGap(i)) ++i;
    const std::size_t from = i;
    while (i < low.size() && !isGap(i)) ++i;
    if (i == from) continue;
    std::vector<QPointF> outline = reduce(x.subspan(from, i - from), high.subspan(from, i - from));
    const std::vector<QPointF> back =
        reduce(x.subspan(from, i - from), low.subspan(from, i - from));
    outline.insert(outline.end(), back.rbegin(), back.rend());
    if (outline.size() > 1) outlines.push_back(std::move(outline));
  }
  return outlines;
}

}  // namespace vitrine::ui
