#include "ui/monitor/tickers.h"

#include <algorithm>
#include <cmath>

#include "ui/kit/theme.h"

namespace vitrine::ui {

double NumberTicker::getTickStep(const QCPRange& range) {
  step_ = QCPAxisTicker::getTickStep(range);
  if (kind_ == Kind::Duration) {
    for (const double nice : {1., 2., 5., 10., 15., 30., 60., 120., 300., 600., 900., 1800., 3600.,
                              7200., 14400., 43200., 86400.}) {
      if (nice * 5 >= range.size()) {
        step_ = nice;
        break;
      }
    }
  }
  return step_;
}

QString NumberTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
  if (kind_ == Kind::Duration) {
    const auto seconds = static_cast<long long>(std::llround(tick));
    const auto pad = [](long long value) {
      return QStringLiteral("%1").arg(value, 2, 10, QLatin1Char('0'));
    };
    if (step_ < 1) return number(tick, 1);
    if (seconds < 3600) return QStringLiteral("%1:%2").arg(seconds / 60).arg(pad(seconds % 60));
    return QStringLiteral("%1:%2:%3")
        .arg(seconds / 3600)
        .arg(pad(seconds / 60 % 60), pad(seconds % 60));
  }
  const double factor = std::pow(10.0, exponent_);
  const double step = step_ / factor;
  int decimals = 0;
  for (double rest = step; decimals < 9 && std::abs(rest - std::round(rest)) > 1e-6 * rest;
       rest *= 10)
    ++decimals;
  return number(tick / factor, decimals);
}

QVector<double> DateTicker::createTickVector(double, const QCPRange& range) {
  ChartAxis axis;
  axis.unit = ChartAxis::Unit::Date;
  ticks_ = chartTicks(axis, {range.lower, range.upper}, 5);
  return {ticks_.values.begin(), ticks_.values.end()};
}

QString DateTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
  const auto found = std::find(ticks_.values.begin(), ticks_.values.end(), tick);
  return found == ticks_.values.end() ? QString() : ticks_.labels[found - ticks_.values.begin()];
}

QVector<double> LogTicker::createTickVector(double, const QCPRange& range) {
  QVector<double> ticks;
  if (!(range.lower > 0)) return ticks;
  const double decades = std::log10(range.upper / range.lower);
  if (decades < 0.7) {  // less than a factor of five: round numbers, evenly spaced
    const double step = QCPAxisTicker::getTickStep(range);
    for (double tick = std::ceil(range.lower / step) * step; tick <= range.upper; tick += step) {
      if (tick > 0) ticks << tick;
    }
    return ticks;
  }
  const int every = std::max(1, static_cast<int>(std::ceil(decades / 6)));
  const int first = static_cast<int>(std::floor(std::log10(range.lower)));
  const int last = static_cast<int>(std::ceil(std::log10(range.upper)));
  for (int decade = first; decade <= last; ++decade) {
    if (every > 1 && decade % every != 0) continue;
    for (const double part : {1., 2., 5.}) {
      if (part > 1 && decades > 3) break;
      const double tick = part * std::pow(10.0, decade);
      if (tick >= range.lower * 0.999 && tick <= range.upper * 1.001) ticks << tick;
    }
  }
  return ticks;
}

QString LogTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
  return compactNumber(tick, 3);
}

}  // namespace vitrine::ui
