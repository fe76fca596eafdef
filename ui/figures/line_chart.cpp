// Ranges, decimation, and everything about a chart that can be said in text.
#include "ui/figures/line_chart.h"

#include <QObject>
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/text.h"
#include "ui/figures/line_chart_parts.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {
namespace {

constexpr std::size_t kMostSymbolPoints = 60;
constexpr std::size_t kSymbolsOnTheWay = 8;
constexpr double kRoomAround = 0.04;

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void take(double value, AxisScale scale) {
    if (!std::isfinite(value) || (scale == AxisScale::Log && value <= 0)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] bool isEmpty() const { return !(low <= high); }
};

std::array<double, 2> withRoom(const Extent& extent, AxisScale scale, double room) {
  if (extent.isEmpty())
    return scale == AxisScale::Log ? std::array{0.1, 1.0} : std::array{0.0, 1.0};
  if (scale == AxisScale::Log) {
    const double factor = std::max(std::pow(extent.high / extent.low, room), 1.0001);
    return soundRange({extent.low / factor, extent.high * factor}, scale);
  }
  const double more = (extent.high - extent.low) * room;
  return soundRange({extent.low - more, extent.high + more}, scale);
}

}  // namespace

ChartSymbol seriesSymbol(std::int64_t run) {
  constexpr std::int64_t kNumber = 7;  // as many as there are colours
  return static_cast<ChartSymbol>(std::max<std::int64_t>(run - 1, 0) % kNumber);
}

LineChartFigure::LineChartFigure(LineChart chart, FigureStyle style)
    : Figure(std::move(style)), chart_(std::move(chart)) {
  for (ChartSeries& series : chart_.series) {
    series.y.resize(series.x.size(), std::nan(""));
    for (auto* values : {&series.low, &series.high, &series.raw}) {
      if (!values->empty()) values->resize(series.x.size(), std::nan(""));
    }
    if (series.low.empty() || series.high.empty()) {
      series.low.clear();
      series.high.clear();
    }
    if (!series.labels.empty()) series.labels.resize(series.x.size());
  }
  findRanges();
}

LineChartFigure::~LineChartFigure() = default;

void LineChartFigure::setStyle(const FigureStyle& style) {
  const bool isOther = style.range != this->style().range;
  Figure::setStyle(style);
  if (isOther) findRanges();
}

void LineChartFigure::findRanges() {
  if (chart_.x.range) {
    xRange_ = soundRange(*chart_.x.range, chart_.x.scale);
  } else {
    Extent extent;
    for (const ChartSeries& series : chart_.series)
      for (const double x : series.x) extent.take(x, chart_.x.scale);
    bool hasPoints = false;
    for (const ChartSeries& series : chart_.series)
      hasPoints = hasPoints || series.draw != ChartSeries::Draw::Line;
    xRange_ = withRoom(extent, chart_.x.scale, hasPoints ? kRoomAround : 0.008);
  }
  if (const auto fixed = chart_.y.range ? chart_.y.range : style().range) {
    yRange_ = soundRange(*fixed, chart_.y.scale);
    return;
  }
  Extent extent;
  for (const ChartSeries& series : chart_.series) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!(series.x[i] >= xRange_[0] && series.x[i] <= xRange_[1])) continue;
      extent.take(series.y[i], chart_.y.scale);
      if (!series.low.empty()) {
        extent.take(series.low[i], chart_.y.scale);
        extent.take(series.high[i], chart_.y.scale);
      }
      if (!series.raw.empty()) extent.take(series.raw[i], chart_.y.scale);
    }
  }
  for (const ChartRule& rule : chart_.rules) {
    if (rule.direction == Qt::Horizontal) extent.take(rule.at, chart_.y.scale);
  }
  const double low = extent.low, high = extent.high;
  yRange_ = withRoom(extent, chart_.y.scale, kRoomAround);
  // What starts at zero or only just above stands on it.
  if (!extent.isEmpty() && chart_.y.scale == AxisScale::Linear && low >= 0 &&
      low < 0.12 * (high - low))
    yRange_[0] = 0;
}

double LineChartFigure::xUnit(double value) const {
  return shareOf(chart_.x.scale, xRange_, value);
}
double LineChartFigure::yUnit(double value) const {
  return shareOf(chart_.y.scale, yRange_, value);
}

bool LineChartFigure::hasFloor() const {
  if (chart_.y.scale != AxisScale::Log) return false;
  return std::any_of(chart_.series.begin(), chart_.series.end(), [this](const ChartSeries& series) {
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (series.y[i] <= 0 && std::isfinite(series.y[i]) && series.x[i] >= xRange_[0] &&
          series.x[i] <= xRange_[1])
        return true;
    }
    return false;
  });
}

LineChartFigure::Drawn LineChartFigure::drawnOf(const ChartSeries& series, int columns) const {
  Drawn drawn;
  const bool isLogY = chart_.y.scale == AxisScale::Log;
  const bool isLogX = chart_.x.scale == AxisScale::Log;
  const PlotWindow window{xRange_[0], xRange_[1], std::max(columns, 1), chart_.x.scale};
  const bool isAscending = std::is_sorted(series.x.begin(), series.x.end());
  const auto floored = [&](QPointF point) {
    if (isLogY && point.y() <= 0) point.setY(yRange_[0]);
    return point;
  };
  const auto reduced = [&](std::span<const double> x, std::span<const double> y) {
    std::vector<QPointF> points;
    if (isAscending) {
      points = decimate(x, y, window);
    } else {
      for (std::size_t i = 0; i < x.size(); ++i)
        points.emplace_back(x[i], std::isfinite(y[i]) ? y[i] : std::nan(""));
    }
    std::erase_if(points, [&](const QPointF& point) {
      return !std::isfinite(point.x()) || (isLogX && point.x() <= 0);
    });
    for (QPointF& point : points) point = floored(point);
    return points;
  };
  const bool isLine = series.draw != ChartSeries::Draw::Points;
  if (isLine) {
    drawn.line = reduced(series.x, series.y);
    if (!series.raw.empty()) drawn.raw = reduced(series.x, series.raw);
  }
  drawn.bands = bandOutlines(series.x, series.low, series.high, reduced);

  const double pixel = 1.0 / std::max(columns, 1);
  double lastEdge = -1e9;
  std::vector<std::size_t> seen;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const double x = series.x[i], y = series.y[i];
    if (!(x >= xRange_[0] && x <= xRange_[1])) continue;
    const bool isFloored = isLogY && y <= 0;
    if (std::isfinite(y) && !isFloored) {
      seen.push_back(i);
      continue;
    }
    const double share = xUnit(x);
    if (share - lastEdge < 2 * pixel) continue;
    lastEdge = share;
    drawn.edges.push_back({x, std::isnan(y)   ? ChartMark::NotANumber
                              : std::isinf(y) ? (y > 0 ? ChartMark::Above : ChartMark::Below)
                                              : ChartMark::Floor});
  }
  const bool isEvery = !isLine || series.draw == ChartSeries::Draw::LineAndPoints ||
                       seen.size() <= kMostSymbolPoints;
  if (isLine && style().markerEvery > 0) {
    // Of the points of the line, whatever part of it is in sight.
    for (const std::size_t at : seen) {
      if (at % static_cast<std::size_t>(style().markerEvery) == 0)
        drawn.symbols.emplace_back(series.x[at], series.y[at]);
    }
  } else {
    const std::size_t stride =
        isEvery ? 1 : std::max<std::size_t>(seen.size() / kSymbolsOnTheWay, 1);
    const bool isMarked = isEvery || series.run > 0;
    for (std::size_t i = isEvery ? 0 : stride / 2; isMarked && i < seen.size(); i += stride)
      drawn.symbols.emplace_back(series.x[seen[i]], series.y[seen[i]]);
  }
  for (const double start : series.segmentStarts) {
    if (start >= xRange_[0] && start <= xRange_[1]) drawn.segmentStarts.push_back(start);
  }
  return drawn;
}

QColor LineChartFigure::colorOf(const ChartSeries& series) const {
  if (series.color.isValid()) return series.color;
  return series.run > 0 ? seriesColor(series.run, style().theme) : seriesOrAccent();
}

QString LineChartFigure::nameOf(const ChartSeries& series) const {
  const QString own = style().seriesNames.value(&series - chart_.series.data());
  return own.isEmpty() ? series.name : own;
}

QPen LineChartFigure::penOf(const ChartSeries& series) const {
  return {colorOf(series), series.width, series.dash.value_or(seriesDash(series.run)), Qt::FlatCap,
          Qt::RoundJoin};
}

QString LineChartFigure::summary() const {
  if (chart_.series.empty()) return chart_.emptyText;
  QString text =
      QStringLiteral("%1: %2").arg(chart_.title.isEmpty() ? QObject::tr("Chart") : chart_.title,
                                   counted(static_cast<std::int64_t>(chart_.series.size()),
                                           QObject::tr("series"), QObject::tr("series")));
  for (const ChartSeries& series : chart_.series) {
    Extent extent;
    for (const double y : series.y) extent.take(y, AxisScale::Linear);
    const auto last =
        std::find_if(series.y.rbegin(), series.y.rend(), [](double y) { return std::isfinite(y); });
    if (extent.isEmpty()) continue;
    text += QObject::tr("; %1from %2 to %3, last %4")
                .arg(series.name.isEmpty() ? QString() : series.name + QLatin1Char(' '),
                     shortNumber(extent.low), shortNumber(extent.high),
                     shortNumber(last == series.y.rend() ? std::nan("") : *last));
  }
  return text;
}

std::optional<std::array<double, 2>> LineChartFigure::valueRange() const { return yRange_; }

QString LineChartFigure::csv() const {
  bool hasBand = false, hasRaw = false, hasLabel = false;
  for (const ChartSeries& series : chart_.series) {
    hasBand = hasBand || !series.low.empty();
    hasRaw = hasRaw || !series.raw.empty();
    hasLabel = hasLabel || !series.labels.empty();
  }
  const auto named = [](const QString& title, const char* otherwise) {
    return csvText(title.isEmpty() ? QLatin1String(otherwise) : title);
  };
  QString text = QStringLiteral("series,") + named(chart_.x.title, "x") + QLatin1Char(',') +
                 named(chart_.y.title.isEmpty() ? chart_.title : chart_.y.title, "y");
  if (hasBand) text += QStringLiteral(",low,high");
  if (hasRaw) text += QStringLiteral(",raw");
  if (hasLabel) text += QStringLiteral(",label");
  text += QLatin1Char('\n');
  // A value that is not finite is drawn as a mark, and written as what it is.
  const auto written = [](double value) { return QString::fromStdString(formatReal(value)); };
  for (const ChartSeries& series : chart_.series) {
    const QString name = csvText(series.name) + QLatin1Char(',');
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!(series.x[i] >= xRange_[0] && series.x[i] <= xRange_[1])) continue;
      text += name + written(series.x[i]) + QLatin1Char(',') + written(series.y[i]);
      const auto cell = [&](const std::vector<double>& values) {
        text += QLatin1Char(',') + (values.empty() ? QString() : csvNumber(values[i]));
      };
      if (hasBand) {
        cell(series.low);
        cell(series.high);
      }
      if (hasRaw) cell(series.raw);
      if (hasLabel)
        text += QLatin1Char(',') + (series.labels.empty() ? QString() : csvText(series.labels[i]));
      text += QLatin1Char('\n');
    }
  }
  return text;
}

QString LineChartFigure::yText(double value) const {
  return chart_.y.unit == ChartAxis::Unit::Number ? compactNumber(value, 5)
                                                  : axisValue(chart_.y.unit, value);
}

QString LineChartFigure::describe(const QRectF& plot, const QPointF& point) const {
  const double x = valueAtShare(chart_.x.scale, xRange_,
                                (point.x() - plot.left()) / std::max(plot.width(), 1.0));
  QStringList lines;
  // A cloud of points names the nearest one, lines all values at that place.
  const ChartSeries* nearestSeries = nullptr;
  std::size_t nearestPoint = 0;
  double nearestWay = 12 * 12;  // logical pixels, squared
  for (const ChartSeries& series : chart_.series) {
    if (series.draw != ChartSeries::Draw::Points) continue;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      const QPointF at(plot.left() + xUnit(series.x[i]) * plot.width(),
                       plot.bottom() - yUnit(series.y[i]) * plot.height());
      const QPointF way = at - point;
      const double length = QPointF::dotProduct(way, way);
      if (!(length < nearestWay)) continue;
      nearestWay = length;
      nearestSeries = &series;
      nearestPoint = i;
    }
  }
  if (nearestSeries != nullptr) {
    const QString label =
        nearestSeries->labels.empty() ? QString() : nearestSeries->labels[nearestPoint];
    lines << (label.isEmpty() ? nearestSeries->name : label);
    const auto named = [](const QString& title, const char* otherwise) {
      return title.isEmpty() ? QString::fromLatin1(otherwise) : title;
    };
    lines << QStringLiteral("%1: %2").arg(named(chart_.x.title, "x"),
                                          axisValue(chart_.x.unit, nearestSeries->x[nearestPoint]));
    lines << QStringLiteral("%1: %2").arg(named(chart_.y.title, "y"),
                                          axisValue(chart_.y.unit, nearestSeries->y[nearestPoint]));
    return lines.join(QLatin1Char('\n'));
  }
  for (const ChartSeries& series : chart_.series) {
    if (series.draw == ChartSeries::Draw::Points || series.x.empty()) continue;
    const auto after = std::upper_bound(series.x.begin(), series.x.end(), x);
    if (after == series.x.begin()) continue;
    const auto i = static_cast<std::size_t>(after - series.x.begin()) - 1;
    // Smoothing never changes a value that is read out.
    const double value = series.raw.empty() ? series.y[i] : series.raw[i];
    QString line = std::isnan(value) ? QStringLiteral("NaN") : yText(value);
    if (!series.name.isEmpty()) line.prepend(series.name + QStringLiteral(": "));
    if (!series.low.empty())
      line += QStringLiteral(" [%1, %2]").arg(yText(series.low[i]), yText(series.high[i]));
    lines << line;
  }
  if (lines.isEmpty()) return {};
  lines.prepend(
      QStringLiteral("%1 %2").arg(chart_.x.title.isEmpty() ? QStringLiteral("x") : chart_.x.title,
                                  axisValue(chart_.x.unit, x)));
  return lines.join(QLatin1Char('\n'));
}

std::unique_ptr<LineChartFigure> makeLineChart(LineChart chart, FigureStyle style) {
  return std::make_unique<LineChartFigure>(std::move(chart), std::move(style));
}

}  // namespace vitrine::ui
