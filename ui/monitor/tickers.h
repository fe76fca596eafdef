// Axis numbers as the window writes them: few, round, thousands separated, never locale-dependent.
#pragma once

#include "ui/figures/chart_axis.h"
#include "ui/kit/custom_plot.h"

namespace vitrine::ui {

/// Linear axis. All labels have the same decimals; a range of small numbers is written as multiples
/// of a power of ten, which the card names.
class NumberTicker : public QCPAxisTicker {
 public:
  enum class Kind { Number, Duration };
  explicit NumberTicker(Kind kind) : kind_(kind) {}
  /// Labels show value / 10^exponent.
  void setExponent(int exponent) { exponent_ = exponent; }

 protected:
  double getTickStep(const QCPRange& range) override;
  int getSubTickCount(double) override { return 0; }
  QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;

 private:
  Kind kind_;
  int exponent_ = 0;
  double step_ = 1;
};

/// Seconds since 1970 as local time.
class DateTicker : public QCPAxisTicker {
 public:
  DateTicker() = default;

 protected:
  int getSubTickCount(double) override { return 0; }
  QVector<double> createTickVector(double step, const QCPRange& range) override;
  QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;

 private:
  ChartTicks ticks_;
};

/// Logarithmic axis: decades with 2 and 5 between them when there are few, decades alone when there
/// are many.
class LogTicker : public QCPAxisTicker {
 public:
  LogTicker() = default;

 protected:
  int getSubTickCount(double) override { return 0; }
  QVector<double> createTickVector(double step, const QCPRange& range) override;
  QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;
};

}  // namespace vitrine::ui
