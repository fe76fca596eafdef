#include "ui/figures/chart_axis.h"

#include <QDateTime>
#include <QObject>
#include <algorithm>
#include <cmath>

#include "core/store/metrics/metric_format.h"
#include "ui/figures/painting.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {
namespace {

void chopZeros(QString& text) {
  if (!text.contains(QLatin1Char('.'))) return;
  while (text.endsWith(QLatin1Char('0'))) text.chop(1);
  if (text.endsWith(QLatin1Char('.'))) text.chop(1);
}

QString durationText(double seconds, bool hasFraction) {
  if (hasFraction) return number(seconds, 1);
  const auto whole = static_cast<long long>(std::llround(seconds));
  const auto pad = [](long long value) {
    return QStringLiteral("%1").arg(value, 2, 10, QLatin1Char('0'));
  };
  if (std::abs(whole) < 3600) return QStringLiteral("%1:%2").arg(whole / 60).arg(pad(whole % 60));
  return QStringLiteral("%1:%2:%3")
      .arg(whole / 3600)
      .arg(pad(std::abs(whole) / 60 % 60), pad(std::abs(whole) % 60));
}

QString dateText(double seconds, const char* format) {
  return QDateTime::fromMSecsSinceEpoch(std::llround(seconds * 1000))
      .toString(QLatin1String(format));
}

double niceTime(double span, int target) {
  for (const double nice : {1., 2., 5., 10., 15., 30., 60., 120., 300., 600., 900., 1800., 3600.,
                            7200., 14400., 21600., 43200., 86400.}) {
    if (nice * target >= span) return nice;
  }
  return 86400 * std::ceil(span / 86400 / target);
}

ChartTicks timeTicks(ChartAxis::Unit unit, std::array<double, 2> range, int target) {
  ChartTicks ticks;
  const double span = range[1] - range[0];
  const double step = niceTime(span, target);
  // Dates have their round hours in local time.
  const double shift =
      unit == ChartAxis::Unit::Date
          ? QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(range[0] * 1000)).offsetFromUtc()
          : 0;
  const char* format = step >= 86400 ? "d MMM" : span > 86400 ? "d MMM hh:mm" : "hh:mm";
  if (step < 60) format = "hh:mm:ss";
  for (double at = std::ceil((range[0] + shift) / step) * step - shift; at <= range[1];
       at += step) {
    ticks.values.push_back(at);
    ticks.labels << (unit == ChartAxis::Unit::Date ? dateText(at, format)
                                                   : durationText(at, step < 1));
  }
  return ticks;
}

bool isTimes100(ChartAxis::Unit unit) {
  return unit == ChartAxis::Unit::Percent || unit == ChartAxis::Unit::Points;
}

/// A number of an axis whose values are times 100.
QString shareText(ChartAxis::Unit unit, const QString& times100) {
  return unit == ChartAxis::Unit::Percent ? times100 + QStringLiteral("\u2009%") : times100;
}

ChartTicks logTicks(ChartAxis::Unit unit, std::array<double, 2> range, int target, int least) {
  ChartTicks ticks;
  const double decades = std::log10(range[1]) - std::log10(range[0]);
  if (decades < 0.7) {  // less than a factor of five: round numbers, evenly spaced
    for (const double value : niceTicks(range[0], range[1], target).values)
      if (value > 0) ticks.values.push_back(value);
  } else {
    const int every = std::max(1, static_cast<int>(std::ceil(decades / 6)));
    const bool hasParts = decades <= 3 || std::floor(decades) / every < least;
    const int first = static_cast<int>(std::floor(std::log10(range[0])));
    const int last = static_cast<int>(std::ceil(std::log10(range[1])));
    // More parts of a decade, until there are enough.
    const std::vector<double> parts[] = {
        {1, 2, 5}, {1, 2, 3, 5}, {1, 2, 3, 4, 6, 8}, {1, 2, 3, 4, 5, 6, 7, 8, 9}};
    const auto wanted = static_cast<std::size_t>(std::max(least, std::clamp(target, 2, 4)));
    for (const std::vector<double>& some : parts) {
      ticks.values.clear();
      for (int decade = first; decade <= last; ++decade) {
        if (every > 1 && decade % every != 0) continue;
        for (const double part : some) {
          if (part > 1 && !hasParts) break;
          const double tick = part * std::pow(10.0, decade);
          if (tick >= range[0] * 0.999 && tick <= range[1] * 1.001) ticks.values.push_back(tick);
        }
      }
      if (ticks.values.size() >= wanted) break;
    }
  }
  if (static_cast<int>(ticks.values.size()) < least) {
    ticks.values.clear();
    for (const double value : niceTicks(range[0], range[1], target).values)
      if (value > 0) ticks.values.push_back(value);
  }
  for (const double value : ticks.values) {
    ticks.labels << (isTimes100(unit) ? shareText(unit, compactNumber(value * 100, 3))
                                      : compactNumber(value, 3));
  }
  return ticks;
}

ChartTicks ticksFor(const ChartAxis& axis, std::array<double, 2> range, int target) {
  if (axis.scale == AxisScale::Log) return logTicks(axis.unit, range, target, axis.least);
  ChartTicks ticks;
  if (isTimes100(axis.unit)) {
    const Ticks nice = niceTicks(range[0] * 100, range[1] * 100, target);
    for (const double value : nice.values) {
      ticks.values.push_back(value / 100);
      ticks.labels << shareText(axis.unit, number(value, nice.decimals));
    }
    return ticks;
  }
  if (axis.unit != ChartAxis::Unit::Number) return timeTicks(axis.unit, range, target);
  const double largest = std::max(std::abs(range[0]), std::abs(range[1]));
  const bool isSmall = largest > 0 && largest < 0.0099;
  const bool isLarge = largest >= 1e9;
  const int exponent =
      !axis.format && (isSmall || isLarge) ? static_cast<int>(std::floor(std::log10(largest))) : 0;
  const double factor = std::pow(10.0, exponent);
  Ticks nice = niceTicks(range[0] / factor, range[1] / factor, target);
  while (axis.isWhole && nice.decimals > 0 && target > 1)
    nice = niceTicks(range[0] / factor, range[1] / factor, --target);
  for (const double value : nice.values) {
    ticks.values.push_back(value * factor);
    ticks.labels << (axis.format ? axis.format(value, nice.decimals)
                                 : number(value, nice.decimals));
  }
  if (exponent != 0) {
    ticks.factor = QStringLiteral("\u00d7\u20091e%1%2")
                       .arg(exponent < 0 ? QStringLiteral("\u2212") : QString())
                       .arg(std::abs(exponent));
  }
  return ticks;
}

}  // namespace

ChartAxis::Unit axisUnit(const store::MetricFormat& format) {
  if (!format.isPercent) return ChartAxis::Unit::Number;
  return format.arePoints ? ChartAxis::Unit::Points : ChartAxis::Unit::Percent;
}

std::array<double, 2> soundRange(std::array<double, 2> range, AxisScale scale) {
  if (!std::isfinite(range[0]) || !std::isfinite(range[1])) range = {0, 1};
  if (range[1] < range[0]) std::swap(range[0], range[1]);
  // Numbers that are closer to each other than this have no round ones between them.
  const double largest = std::max(std::abs(range[0]), std::abs(range[1]));
  const bool isPoint = !(range[1] - range[0] > 1e-12 * largest);
  if (scale == AxisScale::Log) {
    if (!(range[1] > 0)) return {0.1, 1};
    if (!(range[0] > 0)) range[0] = range[1] * 1e-6;
    if (isPoint) range = {range[0] * 0.9, range[1] * 1.1};
  } else if (isPoint) {
    const double room = largest == 0 ? 1 : largest * 0.1;
    range = {range[0] - room, range[1] + room};
  }
  return range;
}

QString compactNumber(double value, int digits) {
  if (!std::isfinite(value)) return number(value, 0);
  if (value == 0) return QStringLiteral("0");
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
  if (magnitude >= -4 && magnitude <= 8) {
    const int decimals = std::clamp(digits - 1 - magnitude, 0, 12);
    QString text = number(value, decimals);
    if (decimals > 0) chopZeros(text);
    return text;
  }
  QString text = QString::number(value / std::pow(10.0, magnitude), 'f', std::max(digits - 1, 0));
  chopZeros(text);
  return text + QLatin1Char('e') + QString::number(magnitude);
}

QString axisValue(ChartAxis::Unit unit, double value) {
  if (unit == ChartAxis::Unit::Duration) return durationText(value, std::abs(value) < 60);
  if (unit == ChartAxis::Unit::Date) return dateText(value, "d MMM hh:mm:ss");
  if (isTimes100(unit) && std::isfinite(value)) {
    const QString text = shareText(unit, compactNumber(value * 100, 4));
    return unit == ChartAxis::Unit::Points ? QObject::tr("%1 points").arg(text) : text;
  }
  return compactNumber(value, 6);
}

double shareOf(AxisScale scale, std::array<double, 2> range, double value) {
  if (scale == AxisScale::Linear) return (value - range[0]) / (range[1] - range[0]);
  return std::log(value / range[0]) / std::log(range[1] / range[0]);
}

double valueAtShare(AxisScale scale, std::array<double, 2> range, double share) {
  if (scale == AxisScale::Linear) return range[0] + share * (range[1] - range[0]);
  return range[0] * std::pow(range[1] / range[0], share);
}

ChartTicks chartTicks(const ChartAxis& axis, std::array<double, 2> range, int target) {
  constexpr int kMostMore = 6;  // round numbers come in jumps
  ChartTicks ticks = ticksFor(axis, range, target);
  for (int more = 1; more <= kMostMore && static_cast<int>(ticks.values.size()) < axis.least;
       ++more)
    ticks = ticksFor(axis, range, std::max(target, axis.least) + more);
  return ticks;
}

}  // namespace vitrine::ui
