#include "ui/monitor/curve_plot.h"

#include <QApplication>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/kit/theme.h"
#include "ui/monitor/curve_line.h"

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
constexpr qint64 kLongestTapMs = 400;       // of X or Y; longer is holding it

bool isTextInput(const QWidget* widget) {
  return qobject_cast<const QLineEdit*>(widget) != nullptr ||
         qobject_cast<const QPlainTextEdit*>(widget) != nullptr;
}

enum class Line { Faint, Smoothed, Plain };

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

/// Half of the last number on the x axis and of the first on the y axis reach beyond the curves.
void fitMargins(QCPAxisRect& rect, const PlotSettings& settings) {
  const QFontMetrics metrics(axisFont());
  const bool isClock = settings.x == XAxis::Wall && !settings.isLogX;
  const QString widest = isClock ? QStringLiteral("00 Mmm 00:00") : QStringLiteral("000,000");
  rect.setMinimumMargins(
      QMargins(px(44), metrics.height() / 2 + 2, metrics.horizontalAdvance(widest) / 2 + 4, 0));
  rect.setMargins(rect.minimumMargins());
}

}  // namespace

CurvePlot::CurvePlot(QWidget* parent)
    : QCustomPlot(parent),
      yTicker_(new NumberTicker(NumberTicker::Kind::Number)),
      xTicker_(new NumberTicker(NumberTicker::Kind::Number)),
      durationTicker_(new NumberTicker(NumberTicker::Kind::Duration)),
      logTicker_(new LogTicker),
      dateTicker_(new DateTicker) {
  setMinimumSize(px(160), px(120));
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setNoAntialiasingOnDrag(true);
  plotLayout()->setMargins(QMargins(0, 0, 0, 0));
  axisRect()->setAutoMargins(QCP::msLeft | QCP::msBottom | QCP::msTop);
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->setBasePen(Qt::NoPen);
    axis->setTickPen(Qt::NoPen);
    axis->setSubTickPen(Qt::NoPen);
    axis->setTickLength(0, 0);
  }
  xAxis->grid()->setVisible(false);
  yAxis->grid()->setZeroLinePen(Qt::NoPen);
  yTicker_->setTickCount(5);
  xTicker_->setTickCount(6);
  addLayer(QStringLiteral("strokes"), layer(QStringLiteral("main")), QCustomPlot::limAbove);
  sheet_ = new CurveSheet(this, QStringLiteral("strokes"));
  // Only now is it known how many columns of pixels there are; and many wheels and moves of the
  // mouse that come at once are one drawing.
  connect(this, &QCustomPlot::afterLayout, this, [this] {
    if (columns() != filledColumns_) fillGraphs();
  });
  applyTheme();
}

void CurvePlot::applyTheme() {
  const ThemeColors& t = themeColors();
  setBackground(QBrush(t.panel));
  yAxis->grid()->setPen(QPen(t.grid, 1));
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->setTickLabelFont(axisFont());
    axis->setTickLabelColor(t.muted);
    axis->setTickLabelPadding(px(6));
  }
  yAxis->setPadding(px(2));
  fitMargins(*axisRect(), settings_);
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
  setScales();
}

void CurvePlot::setScales() {
  fitMargins(*axisRect(), settings_);
  xAxis->setScaleType(settings_.isLogX ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  yAxis->setScaleType(settings_.isLogY ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  if (settings_.isLogX) {
    xAxis->setTicker(logTicker_);
  } else if (settings_.x == XAxis::Time) {
    xAxis->setTicker(durationTicker_);
  } else if (settings_.x == XAxis::Wall) {
    xAxis->setTicker(dateTicker_);
  } else {
    xAxis->setTicker(xTicker_);
  }
  if (settings_.isLogY) {
    yAxis->setTicker(logTicker_);
  } else {
    yAxis->setTicker(yTicker_);
  }
}

bool CurvePlot::extent(double& from, double& to) const {
  bool isFound = false;
  for (const PlottedCurve& curve : curves_) {
    const auto x = curve.series->x(settings_.x);
    if (x.empty()) continue;
    double first = x.front();
    if (settings_.isLogX) {
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
  xAxis->setRange(from, to);
  refresh();
}

void CurvePlot::chooseY(double from, double to) {
  if (!(to > from) || (settings_.isLogY && !(from > 0))) return;
  yAxis->setRange(from, to);
  isYChosen_ = true;
  refresh();
}

int CurvePlot::columns() const {
  return std::max(static_cast<int>(axisRect()->width() * bufferDevicePixelRatio()), 1);
}

double CurvePlot::floorOfLog() const { return yAxis->range().lower; }

void CurvePlot::fitY() {
  const QCPRange x = xAxis->range();
  double low = 0, high = 1;
  bool isFound = false;
  for (const PlottedCurve& curve : curves_) {
    double a = 0, b = 0;
    bool has = settings_.isLogY ? curve.series->positiveRange(settings_.x, x.lower, x.upper, a, b)
                                : curve.series->range(settings_.x, x.lower, x.upper, a, b);
    // What the shares leave out of a log axis is at its lower end at most.
    double c = a, d = b;
    if (has && settings_.isClipped &&
        curve.series->shares(settings_.x, x.lower, x.upper, PlotSettings::kLowShare,
                             PlotSettings::kHighShare, c, d)) {
      if (c > a) a = c;
      if (d < b && d > a) b = d;
    }
    if (curve.series->edges(settings_.x, x.lower, x.upper, plotScale(settings_.isLogX),
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
    yAxis->setRange(low / room, high * room);
    return;
  }
  double room = (high - low) * 0.04;
  if (room <= 0) room = std::max(std::abs(high) * 0.05, 1e-12);
  // What starts at zero or only just above stands on it.
  const bool touchesZero = low >= 0 && low < 0.12 * (high - low);
  yAxis->setRange(touchesZero ? 0 : low - room, high + room);
}

void CurvePlot::fillGraphs() {
  ++drawings_;
  filledColumns_ = columns();
  const QCPRange range = xAxis->range();
  const int width = std::max(axisRect()->width(), 1);
  const AxisScale scale = plotScale(settings_.isLogX);
  const PlotWindow fine{range.lower, range.upper, filledColumns_, scale};
  const PlotWindow coarse{range.lower, range.upper, std::max(width / 2, 1), scale};
  const double floorValue = settings_.isLogY ? floorOfLog() : 0;
  std::size_t used = 0;
  const auto graphAt = [this, &used] {
    while (static_cast<std::size_t>(graphCount()) <= used) {
      auto* made = new CurveLine(xAxis, yAxis, *sheet_);  // the plot owns it
      made->setAdaptiveSampling(false);                   // done already, and better
    }
    return static_cast<CurveLine*>(graph(static_cast<int>(used++)));
  };
  std::size_t corners = 0;  // of all paths
  // A curve and its mean have the same columns.
  std::vector<ColumnEdges> edges;
  edges.reserve(curves_.size());
  for (const PlottedCurve& curve : curves_) edges.emplace_back(curve.series->x(settings_.x), fine);
  const auto fill = [&](std::size_t at, std::span<const double> y, const Extremes& extremes,
                        QPen pen, Line line, bool isDotted) {
    const PlottedCurve& curve = curves_[at];
    CurveLine* target = graphAt();
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
    QVector<QCPGraphData> drawn;
    drawn.reserve(static_cast<qsizetype>(points.size()));
    for (const QPointF& point : points) {
      if (settings_.isLogX && !(point.x() > 0)) continue;
      const double value = settings_.isLogY && point.y() <= 0 ? floorValue : point.y();
      drawn.append(QCPGraphData(point.x(), value));
    }
    target->data()->set(drawn, true);
    target->setPen(pen);
    // A stroke in every column is as smooth, at a fraction of the cost.
    const bool isDense =
        points.size() > kDense * static_cast<double>(width) && (pen.widthF() <= 0 || !mayBeWide);
    target->setDrawing(isDense ? CurveLine::Drawing::Columns : CurveLine::Drawing::Path);
    if (!isDense) corners += points.size();
    target->setAntialiased(true);
    target->setScatterStyle(
        isDotted ? QCPScatterStyle(QCPScatterStyle::ssDisc, pen.color(), pen.color(), px(4))
                 : QCPScatterStyle());
    target->setVisible(true);
  };
  // All raw lines first: no noise of one run lies over the mean of another.
  for (std::size_t c = 0; c < curves_.size(); ++c) {
    const PlottedCurve& curve = curves_[c];
    if (!curve.series->isSmoothed(settings_.smoothing)) continue;
    QColor faint = seriesColor(curve.run);
    faint.setAlphaF(kRawOpacity);
    fill(c, curve.series->y(), curve.series->extremes(), QPen(faint, 0), Line::Faint, false);
  }
  for (std::size_t c = 0; c < curves_.size(); ++c) {
    const PlottedCurve& curve = curves_[c];
    QPen pen(seriesColor(curve.run), 0, seriesDash(curve.run));
    const bool isDotted = curve.series->size() <= kDottedUpTo;
    const bool isSmoothed = curve.series->isSmoothed(settings_.smoothing);
    fill(c, curve.series->smoothed(settings_.smoothing),
         curve.series->smoothedExtremes(settings_.smoothing), pen,
         isSmoothed ? Line::Smoothed : Line::Plain, isDotted);
  }
  while (static_cast<std::size_t>(graphCount()) > used) removeGraph(graphCount() - 1);
  if (corners <= kMostCorners) return;
  for (int g = 0; g < graphCount(); ++g) {
    if (graph(g)->scatterStyle().isNone())
      static_cast<CurveLine*>(graph(g))->setDrawing(CurveLine::Drawing::Columns);
  }
}

void CurvePlot::refresh() {
  if (!isYChosen_) fitY();
  const QCPRange y = yAxis->range();
  const double largest = std::max(std::abs(y.lower), std::abs(y.upper));
  const bool isSmall = !settings_.isLogY && largest > 0 && largest < 0.0099;
  const int exponent = isSmall ? static_cast<int>(std::floor(std::log10(largest))) : 0;
  if (exponent != exponent_) {
    exponent_ = exponent;
    yTicker_->setExponent(exponent);
    Q_EMIT exponentChanged(exponent);
  }
  filledColumns_ = 0;
  replot(QCustomPlot::rpQueuedReplot);
}

double CurvePlot::valueAt(const PlottedCurve& curve, XAxis axis, double x) {
  const std::ptrdiff_t place = curve.series->at(axis, x);
  return place < 0 ? std::nan("") : curve.series->y()[static_cast<std::size_t>(place)];
}

void CurvePlot::setCursor(std::optional<double> x, bool hasReadout) {
  if (x == cursor_ && hasReadout == hasReadout_) return;
  cursor_ = x;
  hasReadout_ = hasReadout;
  update();  // the curves are in a buffer: this draws them as they are, with the new line on top
}

void CurvePlot::resizeEvent(QResizeEvent* event) {
  QCustomPlot::resizeEvent(event);
  if (!curves_.empty()) refresh();
}

void CurvePlot::zoomAxis(QCPAxis* axis, double factor, double center) {
  QCPRange range = axis->range();
  if (axis->scaleType() == QCPAxis::stLogarithmic) {
    if (!(center > 0)) return;
    range.lower = center * std::pow(range.lower / center, factor);
    range.upper = center * std::pow(range.upper / center, factor);
  } else {
    range.lower = center + (range.lower - center) * factor;
    range.upper = center + (range.upper - center) * factor;
  }
  if (QCPRange::validRange(range)) axis->setRange(range);
}

void CurvePlot::wheelEvent(QWheelEvent* event) {
  if (curves_.empty()) return event->ignore();
  isTap_ = false;
  const double factor = std::pow(0.85, event->angleDelta().y() / 120.0);
  if (!isYHeld_) zoomAxis(xAxis, factor, xAxis->pixelToCoord(event->position().x()));
  if (!isXHeld_) {
    zoomAxis(yAxis, factor, yAxis->pixelToCoord(event->position().y()));
    isYChosen_ = true;
  }
  event->accept();
  refresh();
  if (!isYHeld_) Q_EMIT rangeChosen(xAxis->range().lower, xAxis->range().upper);
}

void CurvePlot::mousePressEvent(QMouseEvent* event) {
  isTap_ = false;
  pressed_ = now_ = event->position().toPoint();
  pressedX_ = xAxis->range();
  pressedY_ = yAxis->range();
  if (event->button() == Qt::RightButton) {
    Q_EMIT menuRequested(event->globalPosition().toPoint());
  } else if (event->button() == Qt::MiddleButton) {
    drag_ = Drag::Pan;
  } else if (event->button() == Qt::LeftButton) {
    drag_ = Drag::Zoom;
  }
  event->accept();
}

void CurvePlot::mouseMoveEvent(QMouseEvent* event) {
  now_ = event->position().toPoint();
  if (drag_ == Drag::Pan) {
    for (QCPAxis* axis : {xAxis, yAxis}) {
      const bool isX = axis == xAxis;
      if ((isX && isYHeld_) || (!isX && isXHeld_)) continue;
      const QCPRange start = isX ? pressedX_ : pressedY_;
      axis->setRange(start);
      const double from = axis->pixelToCoord(isX ? pressed_.x() : pressed_.y());
      const double to = axis->pixelToCoord(isX ? now_.x() : now_.y());
      if (axis->scaleType() == QCPAxis::stLogarithmic) {
        axis->setRange(start.lower * from / to, start.upper * from / to);
      } else {
        axis->setRange(start.lower + from - to, start.upper + from - to);
      }
    }
    isYChosen_ = true;
    refresh();
    Q_EMIT rangeChosen(xAxis->range().lower, xAxis->range().upper);
    return;
  }
  if (drag_ == Drag::Zoom) update();
  const QRect inside = axisRect()->rect();
  if (now_.x() >= inside.left() && now_.x() <= inside.right()) {
    Q_EMIT cursorMoved(xAxis->pixelToCoord(now_.x()));
  } else {
    Q_EMIT cursorLeft();
  }
}

void CurvePlot::mouseReleaseEvent(QMouseEvent* event) {
  const Drag ended = drag_;
  drag_ = Drag::None;
  if (ended != Drag::Zoom) return;
  const QRect box = QRect(pressed_, event->position().toPoint()).normalized();
  if (box.width() < px(6) && box.height() < px(6)) {
    update();
    if (axisRect()->rect().contains(pressed_)) Q_EMIT picked(xAxis->pixelToCoord(pressed_.x()));
    return;
  }
  const bool isX = !isYHeld_ && box.width() >= px(6);
  const bool isY = !isXHeld_ && box.height() >= px(6);
  const double x1 = xAxis->pixelToCoord(box.left()), x2 = xAxis->pixelToCoord(box.right());
  const double y1 = yAxis->pixelToCoord(box.bottom()), y2 = yAxis->pixelToCoord(box.top());
  if (isX) xAxis->setRange(x1, x2);
  if (isY) {
    yAxis->setRange(y1, y2);
    isYChosen_ = true;
  }
  refresh();
  if (isX) Q_EMIT rangeChosen(x1, x2);
}

void CurvePlot::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) {
    drag_ = Drag::None;
    isYChosen_ = false;
    Q_EMIT fitRequested();
  }
}

void CurvePlot::keyPressEvent(QKeyEvent* event) {
  const int key = event->key();
  const bool isPlain =
      (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) == 0;
  if ((key == Qt::Key_X || key == Qt::Key_Y) && isPlain) {
    (key == Qt::Key_X ? isXHeld_ : isYHeld_) = true;
    if (event->isAutoRepeat()) return;
    isTap_ = isXHeld_ != isYHeld_;
    sinceKey_.start();
  } else if (!moveByKey(event->key())) {
    QCustomPlot::keyPressEvent(event);
  }
}

bool CurvePlot::moveByKey(int key) {
  if (curves_.empty()) return false;
  constexpr double kZoom = 0.7, kShare = 0.15;
  const auto shift = [](QCPAxis* axis, int direction) {
    const double span = axis->axisRect()->width() * kShare * direction;
    const bool isX = axis->orientation() == Qt::Horizontal;
    const QRect inside = axis->axisRect()->rect();
    const double low = isX ? inside.left() : inside.bottom();
    const double high = isX ? inside.right() : inside.top();
    axis->setRange(axis->pixelToCoord(low + (isX ? span : -span)),
                   axis->pixelToCoord(high + (isX ? span : -span)));
  };
  const QPointF center = axisRect()->center();
  switch (key) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
    case Qt::Key_Minus: {
      const double factor = key == Qt::Key_Minus ? 1 / kZoom : kZoom;
      zoomAxis(xAxis, factor, xAxis->pixelToCoord(center.x()));
      break;
    }
    case Qt::Key_Left:
      shift(xAxis, -1);
      break;
    case Qt::Key_Right:
      shift(xAxis, 1);
      break;
    case Qt::Key_Up:
    case Qt::Key_Down:
      shift(yAxis, key == Qt::Key_Up ? 1 : -1);
      isYChosen_ = true;
      refresh();
      return true;
    case Qt::Key_Home:
      isYChosen_ = false;
      Q_EMIT fitRequested();
      return true;
    default:
      return false;
  }
  refresh();
  Q_EMIT rangeChosen(xAxis->range().lower, xAxis->range().upper);
  return true;
}

void CurvePlot::keyReleaseEvent(QKeyEvent* event) {
  if (event->isAutoRepeat()) return;
  const int key = event->key();
  if (key != Qt::Key_X && key != Qt::Key_Y) return QCustomPlot::keyReleaseEvent(event);
  bool& isHeld = key == Qt::Key_X ? isXHeld_ : isYHeld_;
  // Held for a wheel or a drag that did not come is not a tap.
  const bool isTap = isHeld && isTap_ && sinceKey_.elapsed() < kLongestTapMs;
  isHeld = isTap_ = false;
  if (isTap) Q_EMIT logRequested(key == Qt::Key_X ? Qt::Horizontal : Qt::Vertical);
}

void CurvePlot::enterEvent(QEnterEvent* event) {
  // X and Y are to act on the plot under the mouse, but never to be taken from a user who is
  // typing.
  if (!isTextInput(QApplication::focusWidget())) setFocus(Qt::MouseFocusReason);
  QCustomPlot::enterEvent(event);
}

void CurvePlot::focusInEvent(QFocusEvent* event) {
  isRinged_ = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason ||
              event->reason() == Qt::ShortcutFocusReason;
  QCustomPlot::focusInEvent(event);
  update();
}

void CurvePlot::leaveEvent(QEvent* event) {
  isXHeld_ = isYHeld_ = isTap_ = false;
  Q_EMIT cursorLeft();
  QCustomPlot::leaveEvent(event);
}

}  // namespace vitrine::ui
