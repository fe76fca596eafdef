#include "ui/monitor/curve_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/figures/painting.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kRawOpacity = 0.28;
constexpr std::size_t kDottedUpTo = 60;  // so few points are shown as points too
constexpr double kWidth = 1.5;           // logical pixels, of lines with few points
constexpr std::size_t kMostWide = 8;     // curves in a plot whose means are wide whatever they do
constexpr double kCalm = 12;             // heights that a wide line may run up and down in all
constexpr double kDense = 1.5;           // points a pixel from which a line is drawn by columns
constexpr std::size_t kMostCorners = 9000;  // of all paths of a plot: one takes a microsecond

AxisScale plotScale(bool isLog) { return isLog ? AxisScale::Log : AxisScale::Linear; }

/// A line that goes up and down in every column has too many corners for a wide pen.
bool isCalm(const std::vector<QPointF>& points) {
  double low = std::numeric_limits<double>::infinity(), high = -low, way = 0, last = kNaN;
  for (const QPointF& point : points) {
    if (std::isnan(point.y())) continue;
    low = std::min(low, point.y());
    high = std::max(high, point.y());
    if (!std::isnan(last)) way += std::abs(point.y() - last);
    last = point.y();
  }
  return way <= kCalm * (high - low);
}

}  // namespace

CurvePlot::CurvePlot(QWidget* parent) : QWidget(parent) {
  setMinimumSize(px(160), px(120));
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAttribute(Qt::WA_OpaquePaintEvent);
}

void CurvePlot::setAxesShown(bool isShown) {
  if (isShown == hasAxes_) return;
  hasAxes_ = isShown;
  isStale_ = true;
  update();
}

void CurvePlot::setCurves(std::vector<PlottedCurve> curves) { curves_ = std::move(curves); }

void CurvePlot::setNotes(std::vector<CurveNote> notes) {
  notes_ = std::move(notes);
  update();
}

void CurvePlot::setSettings(const PlotSettings& settings) {
  if (settings.isLogY != settings_.isLogY || settings.x != settings_.x ||
      settings.isClipped != settings_.isClipped)
    isYChosen_ = false;
  settings_ = settings;
  frame_.x.scale = plotScale(settings.isLogX);
  frame_.y.scale = plotScale(settings.isLogY);
  frame_.x.setRange(frame_.x.lower, frame_.x.upper);
  frame_.y.setRange(frame_.y.lower, frame_.y.upper);
}

void CurvePlot::setFormat(const store::MetricFormat& format) {
  if (format == format_) return;
  format_ = format;
  refresh();
}

void CurvePlot::layOut() {
  ChartAxis x, y;
  x.scale = frame_.x.scale;
  x.range = {{frame_.x.lower, frame_.x.upper}};
  if (settings_.x == XAxis::Time) x.unit = ChartAxis::Unit::Duration;
  if (settings_.x == XAxis::Wall) x.unit = ChartAxis::Unit::Date;
  y.scale = frame_.y.scale;
  y.unit = axisUnit(format_);
  y.range = {{frame_.y.lower, frame_.y.upper}};
  y.target = 6;
  // The plots of a column begin and end at one place, whatever their numbers are, and do not move
  // with every new point.
  const QFontMetrics metrics(axisFont());
  const bool isClock = settings_.x == XAxis::Wall && !settings_.isLogX;
  const QString widest = isClock ? QStringLiteral("00 Mmm 00:00") : QStringLiteral("000,000");
  frame_ = ChartFrame(rect(), x, y,
                      {.xTitle = settings_.x == XAxis::Metric ? settings_.xTitle : QString(),
                       .least = QMarginsF(px(44), metrics.height() / 2 + 2,
                                          metrics.horizontalAdvance(widest) / 2 + 4, 0),
                       .below = 8,
                       .hasFactor = false});
  // Columns of pixels begin at a pixel.
  const QPointF corner(std::ceil(frame_.plot.left()), std::ceil(frame_.plot.top()));
  frame_.setPlot(
      QRectF(corner, QPointF(std::max(std::floor(frame_.plot.right()), corner.x() + 1),
                             std::max(std::floor(frame_.plot.bottom()), corner.y() + 1))));
  if (frame_.yTicks.factor == factor_) return;
  factor_ = frame_.yTicks.factor;
  Q_EMIT factorChanged(factor_);
}

bool CurvePlot::extent(double& from, double& to, bool isLog) const {
  bool isFound = false;
  for (const PlottedCurve& curve : curves_) {
    const auto x = curve.series->x(settings_.x);
    if (x.empty()) continue;
    double first = x.front();
    if (isLog) {
      const auto positive = std::upper_bound(x.begin(), x.end(), 0.0);
      if (positive == x.end()) continue;
      first = *positive;
    }
    from = isFound ? std::min(from, first) : first;
    to = isFound ? std::max(to, x.back()) : x.back();
    isFound = true;
  }
  return isFound;
}

void CurvePlot::fit(double from, double to) {
  isYChosen_ = false;
  showRange(from, to);
}

void CurvePlot::showRange(double from, double to) {
  if (!(to > from)) {  // one point: a little room on both sides
    const double room = std::max(std::abs(from) * 0.1, 0.5);
    to = from + room;
    from = settings_.isLogX ? from * 0.9 : from - room;
  }
  // The range of a linear plot may begin below what a logarithmic axis can show.
  double first = 0, last = 0;
  if (settings_.isLogX && from <= 0 && extent(first, last, true) && first < to) from = first;
  frame_.x.setRange(from, to);
  refresh();
}

void CurvePlot::chooseY(double from, double to) {
  if (!(to > from) || (settings_.isLogY && !(from > 0))) return;
  frame_.y.setRange(from, to);
  isYChosen_ = true;
  refresh();
}

void CurvePlot::fitY() {
  const PlotAxis& x = frame_.x;
  double low = 0, high = 1;
  bool isFound = false;
  std::vector<const CurveSeries*> all;
  for (const PlottedCurve& curve : curves_) {
    all.push_back(curve.series);
    if (curve.group) all.insert(all.end(), {&curve.group->low, &curve.group->high});
  }
  for (const CurveSeries* series : all) {
    double a = 0, b = 0;
    bool has = settings_.isLogY ? series->positiveRange(settings_.x, x.lower, x.upper, a, b)
                                : series->range(settings_.x, x.lower, x.upper, a, b);
    // What the shares leave out of a log axis is at its lower end at most.
    double c = a, d = b;
    if (has && settings_.isClipped &&
        series->shares(settings_.x, x.lower, x.upper, PlotSettings::kLowShare,
                       PlotSettings::kHighShare, c, d)) {
      if (c > a) a = c;
      if (d < b && d > a) b = d;
    }
    if (series->edges(settings_.x, x.lower, x.upper, plotScale(settings_.isLogX),
                      plotScale(settings_.isLogY), c, d)) {
      a = has ? std::min(a, c) : c;
      b = has ? std::max(b, d) : d;
      has = true;
    }
    if (!has) continue;
    low = isFound ? std::min(low, a) : a;
    high = isFound ? std::max(high, b) : b;
    isFound = true;
  }
  if (!isFound) {
    low = settings_.isLogY ? 0.1 : 0;
    high = 1;
  }
  if (settings_.isLogY) {
    const double room = std::max(std::pow(high / low, 0.04), 1.02);
    frame_.y.setRange(low / room, high * room);
    return;
  }
  double room = (high - low) * 0.04;
  if (room <= 0) room = high == 0 ? 1 : std::abs(high) * 0.05;
  // What starts at zero or only just above stands on it.
  const bool touchesZero = low >= 0 && low <= 0.12 * (high - low);
  frame_.y.setRange(touchesZero ? 0 : low - room, high + room);
}

void CurvePlot::drawPicture(double ratio) {
  ++drawings_;
  isStale_ = false;
  const QSize size = (QSizeF(this->size()) * ratio).toSize();
  if (picture_.size() != size) picture_ = QImage(size, QImage::Format_RGB32);
  picture_.setDevicePixelRatio(ratio);
  picture_.fill(themeColors().panel);
  const int columns = std::max(static_cast<int>(frame_.plot.width() * ratio), 1);
  fillLines(columns);
  fillBands(columns);
  QPainter painter(&picture_);
  if (hasAxes_) frame_.draw(painter, themeColors());
  painter.setRenderHint(QPainter::Antialiasing);
  drawBands(painter);
  CurveSheet sheet(painter, frame_, ratio);
  for (const DrawnLine& line : lines_) sheet.draw(line);
  sheet.show();
}

void CurvePlot::fillLines(int columns) {
  const PlotAxis& range = frame_.x;
  const int width = std::max(static_cast<int>(frame_.plot.width()), 1);
  const PlotWindow fine{range.lower, range.upper, columns, range.scale};
  const PlotWindow coarse{range.lower, range.upper, std::max(width / 2, 1), range.scale};
  lines_.clear();
  std::size_t corners = 0;  // of all paths
  // A curve and its mean have the same columns.
  std::vector<ColumnEdges> edges;
  edges.reserve(curves_.size());
  for (const PlottedCurve& curve : curves_) edges.emplace_back(curve.series->x(settings_.x), fine);
  const auto fill = [&](std::size_t at, std::span<const double> y, const Extremes& extremes,
                        QPen pen, Line line, bool isDotted) {
    const PlottedCurve& curve = curves_[at];
    const auto x = curve.series->x(settings_.x);
    const CurveIndex index{extremes, curve.series->broken()};
    // A wide line has room for half as many columns, and many of them cost too much.
    const bool mayBeWide = curves_.size() <= kMostWide;
    const bool isCoarse = line == Line::Smoothed && mayBeWide;
    std::vector<QPointF> points =
        isCoarse ? decimate(x, y, coarse, index) : decimate(x, y, fine, index, edges[at]);
    if (isCoarse) {
      pen.setWidthF(kWidth);
    } else if (line != Line::Faint && isCalm(points)) {
      pen.setWidthF(kWidth);
      if (mayBeWide) points = decimate(x, y, coarse, index);
    }
    std::erase_if(points, [&](const QPointF& point) { return settings_.isLogX && point.x() <= 0; });
    for (QPointF& point : points)
      if (settings_.isLogY && point.y() <= 0) point.setY(frame_.y.lower);
    DrawnLine drawn{std::move(points), pen};
    // A stroke in every column is as smooth, at a fraction of the cost.
    const bool isDense = static_cast<double>(drawn.points.size()) > kDense * width &&
                         (pen.widthF() <= 0 || !mayBeWide);
    if (isDense) drawn.drawing = DrawnLine::Drawing::Columns;
    if (!isDense) corners += drawn.points.size();
    if (isDotted) drawn.symbol = seriesSymbol(curve.run);
    lines_.push_back(std::move(drawn));
  };
  // All raw lines first: no noise of one run lies over the mean of another.
  for (std::size_t c = 0; c < curves_.size(); ++c) {
    const PlottedCurve& curve = curves_[c];
    if (!curve.series->isSmoothed(settings_.smoothing)) continue;
    QColor faint = seriesColor(seriesOf(curve.run));
    faint.setAlphaF(kRawOpacity);
    fill(c, curve.series->y(), curve.series->extremes(), QPen(faint, 0), Line::Faint, false);
  }
  for (std::size_t c = 0; c < curves_.size(); ++c) {
    const PlottedCurve& curve = curves_[c];
    QPen pen(seriesColor(seriesOf(curve.run)), 0, seriesDash(seriesOf(curve.run)));
    const bool isDotted = curve.series->size() <= kDottedUpTo;
    const bool isSmoothed = curve.series->isSmoothed(settings_.smoothing);
    fill(c, curve.series->smoothed(settings_.smoothing),
         curve.series->smoothedExtremes(settings_.smoothing), pen,
         isSmoothed ? Line::Smoothed : Line::Plain, isDotted);
  }
  if (corners <= kMostCorners) return;
  for (DrawnLine& line : lines_)
    if (!line.symbol) line.drawing = DrawnLine::Drawing::Columns;
}

void CurvePlot::fillBands(int columns) {
  bands_.clear();
  const auto grouped = std::count_if(curves_.begin(), curves_.end(),
                                     [](const PlottedCurve& curve) { return !!curve.group; });
  const PlotAxis& range = frame_.x;
  const PlotWindow window{range.lower, range.upper, columns, range.scale};
  const auto reduce = [&](std::span<const double> x, std::span<const double> y) {
    std::vector<QPointF> points = decimate(x, y, window);
    std::erase_if(points, [&](const QPointF& point) { return settings_.isLogX && point.x() <= 0; });
    for (QPointF& point : points)
      if (settings_.isLogY && point.y() <= 0) point.setY(frame_.y.lower);
    return points;
  };
  for (const PlottedCurve& curve : curves_) {
    if (!curve.group) continue;
    const auto x = curve.series->x(settings_.x);
    // One point more on either side, so that the band continues to the edge.
    auto begin = std::lower_bound(x.begin(), x.end(), range.lower) - x.begin();
    auto end = std::upper_bound(x.begin(), x.end(), range.upper) - x.begin();
    begin = std::max<std::ptrdiff_t>(begin - 1, 0);
    end = std::min(end + 1, static_cast<std::ptrdiff_t>(x.size()));
    const auto part = [&](std::span<const double> values) {
      return values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    };
    QColor fill = seriesColor(seriesOf(curve.run));
    fill.setAlphaF(static_cast<float>(bandShade(grouped)));
    bands_.push_back({bandOutlines(part(x), part(curve.group->low.smoothed(settings_.smoothing)),
                                   part(curve.group->high.smoothed(settings_.smoothing)), reduce),
                      fill});
  }
}

void CurvePlot::drawBands(QPainter& painter) const {
  painter.save();
  painter.setClipRect(frame_.plot);
  for (const DrawnBand& band : bands_) {
    for (const auto& outline : band.outlines) {
      QPolygonF shape;
      for (const QPointF& point : outline) shape << frame_.at(point.x(), point.y());
      // Of a point alone, which has no ground.
      const bool isBar = shape.size() == 2;
      painter.setPen(isBar ? QPen(band.fill, kWidth) : QPen(Qt::NoPen));
      painter.setBrush(band.fill);
      painter.drawPolygon(shape);
    }
  }
  painter.restore();
}

bool CurvePlot::hasGroups() const {
  return std::any_of(curves_.begin(), curves_.end(),
                     [](const PlottedCurve& curve) { return !!curve.group; });
}

void CurvePlot::refresh() {
  if (!isYChosen_) fitY();
  layOut();
  isStale_ = true;
  update();
  if (isPointed_) pointCursor();  // another x may be under the mouse now
}

double CurvePlot::valueAt(const PlottedCurve& curve, XAxis axis, double x) {
  const std::ptrdiff_t place = curve.series->at(axis, x);
  return place < 0 ? std::nan("") : curve.series->y()[static_cast<std::size_t>(place)];
}

void CurvePlot::setCursor(std::optional<double> x, bool hasReadout) {
  isPointed_ = false;
  if (x == cursor_ && hasReadout == hasReadout_) return;
  cursor_ = x;
  hasReadout_ = hasReadout;
  update();  // the curves are in a picture: the line is drawn over it
}

void CurvePlot::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  refresh();
}

}  // namespace vitrine::ui
