// Ticks of an axis and their texts: linear, logarithmic, durations, dates.
#pragma once

#include <QString>
#include <QStringList>
#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "ui/figures/decimate.h"

namespace vitrine::store {
struct MetricFormat;
}

namespace vitrine::ui {

struct ChartAxis {
  enum class Unit {
    Number,
    Duration,  ///< seconds, written as h:mm:ss
    Date,      ///< seconds since 1970, written as local time
    Percent,   ///< a fraction, written times 100 with "%"
    Points,    ///< a difference of fractions, written times 100
  };
  QString title = {};
  AxisScale scale = AxisScale::Linear;
  /// None: that of the style, for y, or everything that is finite, with some room.
  std::optional<std::array<double, 2>> range = {};
  Unit unit = Unit::Number;
  std::function<QString(double value, int decimals)> format = {};  ///< empty: as `unit` says
  int target = 0;        ///< about so many numbers; 0: as many as have room
  int least = 0;         ///< so many at least, where there are round ones
  bool isWhole = false;  ///< counts something: numbers without decimals
};

/// Of the values of a metric.
[[nodiscard]] ChartAxis::Unit axisUnit(const store::MetricFormat& format);

struct ChartTicks {
  std::vector<double> values;
  QStringList labels;  ///< of the length of `values`
  QString factor;      ///< "× 1e−4": what all labels are multiples of; mostly empty
};

/// \param range   ascending; above zero on a logarithmic axis
/// \param target  about so many numbers
[[nodiscard]] ChartTicks chartTicks(const ChartAxis& axis, std::array<double, 2> range, int target);

/// A range that can be drawn: finite, ascending, longer than rounding errors, above zero on a
/// logarithmic axis.
[[nodiscard]] std::array<double, 2> soundRange(std::array<double, 2> range, AxisScale scale);

/// 2.5e-5 as "2.5e-5", 4000 as "4,000": at most `digits` significant digits.
[[nodiscard]] QString compactNumber(double value, int digits);
/// A value of the axis as a read-out says it: "1,200", "2:04:10", "21 Nov 14:05:10".
[[nodiscard]] QString axisValue(ChartAxis::Unit unit, double value);
/// `value` as a share of `range`; may lie outside [0, 1]. NaN where a logarithm has no value.
[[nodiscard]] double shareOf(AxisScale scale, std::array<double, 2> range, double value);
/// The value at a share of `range`: the inverse.
[[nodiscard]] double valueAtShare(AxisScale scale, std::array<double, 2> range, double share);

}  // namespace vitrine::ui
