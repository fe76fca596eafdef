// Paints the layer over the curves with every repaint of the widget: marks, notes, cursor,
// read-out, rubber band.
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/figures/chart_marks.h"
#include "ui/figures/painting.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/monitor/curve_plot.h"
#include "ui/monitor/value_bars.h"

namespace vitrine::ui {
namespace {

constexpr int kReadoutPad = 5, kReadoutLine = 17;  // above and below all lines; of a line

}  // namespace

void CurvePlot::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  if (hasOneValue()) {
    painter.save();
    painter.scale(designScale(), designScale());
    bars({}, {})->paint(painter, QRectF(QPointF(0, 0), QSizeF(size()) / designScale()));
    painter.restore();
    return drawRing(painter);
  }
  const double ratio = painter.device()->devicePixelRatioF();
  if (isStale_ || picture_.size() != (QSizeF(size()) * ratio).toSize()) drawPicture(ratio);
  painter.drawImage(QPointF(0, 0), picture_);
  painter.setRenderHint(QPainter::Antialiasing);
  drawMarks(painter);
  if (settings_.isClipped || isYChosen_) drawClipped(painter);
  drawNotes(painter);
  drawCursor(painter);
  if (drag_ == Drag::Zoom && (now_ - pressed_).manhattanLength() >= px(6)) {
    drawRubberBand(painter);
  } else if (hasReadout_ && cursor_) {
    drawReadout(painter);
  }
  if (!curves_.empty() && settings_.x != XAxis::Metric) drawXName(painter);
  drawRing(painter);
}

void CurvePlot::drawRing(QPainter& painter) const {
  if (!hasFocus() || !isRinged_ || drag_ != Drag::None) return;
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(themeColors().accent, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
}

bool CurvePlot::hasOneValue() const {
  const auto isShort = [](const PlottedCurve& curve) { return curve.series->size() <= 1; };
  const auto isEmpty = [](const PlottedCurve& curve) { return curve.series->size() == 0; };
  return std::all_of(curves_.begin(), curves_.end(), isShort) &&
         !std::all_of(curves_.begin(), curves_.end(), isEmpty);
}

std::unique_ptr<Figure> CurvePlot::bars(const QString& title, const QString& about) const {
  std::vector<ValueBar> values;
  for (const PlottedCurve& curve : curves_) {
    if (curve.series->size() == 0) continue;
    ValueBar bar{curve.name, curve.run, curve.series->y().front()};
    if (curve.group) bar.around = {{curve.group->low.y().front(), curve.group->high.y().front()}};
    values.push_back(std::move(bar));
  }
  return std::make_unique<ValueBars>(title, about, std::move(values), format_);
}

void CurvePlot::drawRubberBand(QPainter& painter) const {
  const QRect inside = plotRect();
  QRect box = QRect(pressed_, now_).normalized() & inside;
  if (isXHeld_) box = QRect(box.left(), inside.top(), box.width(), inside.height());
  if (isYHeld_) box = QRect(inside.left(), box.top(), inside.width(), box.height());
  QColor fill = themeColors().accent;
  painter.setPen(QPen(fill, 1));
  fill.setAlpha(40);
  painter.setBrush(fill);
  painter.drawRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5));
}

// What x counts, in the free corner under the y numbers. Where that is too small for the word, it
// is at the foot of the plot. A metric, whose name is longer, has a line of the frame.
void CurvePlot::drawXName(QPainter& painter) const {
  static const char* const kNames[] = {"step", "epoch", "time", "clock"};
  painter.setFont(axisFont());
  painter.setPen(themeColors().muted);
  const QFontMetrics metrics(axisFont());
  const QRect inside = plotRect();
  const QString name = tr(kNames[static_cast<int>(settings_.x)]);
  const int free =
      static_cast<int>(std::min<double>(inside.left(), frame_.firstNumberAt())) - px(8);
  if (metrics.horizontalAdvance(name) + px(2) <= free) {
    painter.drawText(QRectF(0, frame_.numbersTop(), free, metrics.height()),
                     Qt::AlignRight | Qt::AlignVCenter, name);
    return;
  }
  QRect box(0, 0, metrics.horizontalAdvance(name) + px(8), metrics.height());
  box.moveBottomRight(inside.bottomRight() - QPoint(0, px(2)));
  QColor paper = themeColors().panel;
  paper.setAlpha(215);
  painter.fillRect(box, paper);
  painter.drawText(box, Qt::AlignCenter, name);
}

void CurvePlot::drawMarks(QPainter& painter) const {
  const QRect inside = plotRect();
  const PlotAxis &x = frame_.x, &y = frame_.y;
  const double size = px(4);
  bool hasFloor = false;
  painter.save();
  painter.setClipRect(inside.adjusted(-1, -1, 2, 2));
  for (const PlottedCurve& curve : curves_) {
    const CurveSeries& series = *curve.series;
    const auto xs = series.x(settings_.x);
    const auto ys = series.y();
    const QColor color = seriesColor(seriesOf(curve.run));
    for (const std::size_t i : series.segmentStarts()) {
      if (xs[i] < x.lower || xs[i] > x.upper) continue;
      const double at = frame_.x.pixelOf(xs[i]);
      drawSegmentStart(painter, frame_.plot, at, color, px(kSegmentHeight));
    }
    // A cross for NaN at the bottom, an arrow at the edge an infinite value lies beyond. There is
    // one for each two pixels, however many there are.
    const auto isBefore = [&xs](std::size_t i, double at) { return xs[i] < at; };
    const auto& broken = series.broken();
    for (auto next = std::lower_bound(broken.begin(), broken.end(), x.lower, isBefore);
         next != broken.end() && xs[*next] <= x.upper;) {
      const double at = frame_.x.pixelOf(xs[*next]), value = ys[*next];
      drawMark(painter,
               std::isnan(value) ? ChartMark::NotANumber
               : value > 0       ? ChartMark::Above
                                 : ChartMark::Below,
               frame_.plot, at, color, size);
      next = std::lower_bound(next + 1, broken.end(), frame_.x.valueAt(at + 2), isBefore);
    }
    double low = 0, high = 0;
    if (!settings_.isLogY || !series.range(settings_.x, x.lower, x.upper, low, high) || low > 0)
      continue;
    hasFloor = true;
    constexpr int kApart = 3;
    for (int pixel = inside.left(); pixel <= inside.right(); pixel += kApart) {
      const auto placeOf = [&](int at) {
        const double edge = std::clamp(frame_.x.valueAt(at), x.lower, x.upper);
        return static_cast<std::size_t>(std::lower_bound(xs.begin(), xs.end(), edge) - xs.begin());
      };
      const std::size_t from = placeOf(pixel), to = placeOf(pixel + kApart);
      const auto found = series.extremes().find(ys, from, to);
      if (found.isAny && ys[found.low] <= 0)
        drawMark(painter, ChartMark::Floor, frame_.plot, frame_.x.pixelOf(xs[found.low]), color,
                 size);
    }
  }
  if (hasFloor) {
    painter.setPen(themeColors().muted);
    painter.setFont(axisFont());
    painter.drawText(
        inside.adjusted(px(4), 0, 0, -px(8)), Qt::AlignLeft | Qt::AlignBottom,
        tr("\u25bc values at or below zero, shown at the floor %1").arg(compactNumber(y.lower, 2)));
  }
  painter.restore();
}

// An arrow where a line leaves the plot: no spike is out of sight without a sign.
void CurvePlot::drawClipped(QPainter& painter) const {
  const QRect inside = plotRect();
  const PlotAxis &x = frame_.x, &y = frame_.y;
  const double size = px(3);
  painter.save();
  painter.setClipRect(inside.adjusted(-1, -1, 2, 2));
  for (const DrawnLine& line : lines_) {
    double lastUp = -1e9, lastDown = -1e9;
    QColor color = line.pen.color();
    color.setAlpha(255);
    for (const QPointF& point : line.points) {
      const bool isUp = point.y() > y.upper;
      if (!isUp && !(point.y() < y.lower)) continue;
      if (!(point.x() >= x.lower && point.x() <= x.upper)) continue;
      const double pixel = x.pixelOf(point.x());
      double& last = isUp ? lastUp : lastDown;
      if (pixel - last < 3 * size) continue;
      last = pixel;
      drawMark(painter, isUp ? ChartMark::Above : ChartMark::Below, frame_.plot, pixel, color,
               size);
    }
  }
  painter.restore();
}

void CurvePlot::drawNotes(QPainter& painter) const {
  if (notes_.empty() || curves_.empty()) return;
  const QRect inside = plotRect();
  painter.save();
  painter.setClipRect(inside.adjusted(-1, -1, 2, 2));
  painter.setFont(axisFont());
  const QFontMetrics metrics(axisFont());
  int row = 0;
  for (const CurveNote& note : notes_) {
    for (const PlottedCurve& curve : curves_) {
      if (curve.run != note.run) continue;
      const auto place = curve.series->placeOf(note.step, settings_.x);
      if (!place) continue;
      const double at = frame_.x.pixelOf(*place);
      if (!(at >= inside.left() && at <= inside.right())) continue;
      painter.setPen(QPen(seriesColor(seriesOf(note.run)), 1, Qt::DashLine));
      painter.drawLine(QPointF(at, inside.top()), QPointF(at, inside.bottom()));
      const QSizeF size(metrics.horizontalAdvance(note.text) + px(8), metrics.height());
      drawNoteWords(painter,
                    noteBox(frame_.plot, at, noteTop(frame_.plot, row++, size.height()), size),
                    note.text, themeColors());
    }
  }
  painter.restore();
}

void CurvePlot::drawCursor(QPainter& painter) const {
  if (!cursor_ || curves_.empty()) return;
  const QRect inside = plotRect();
  const double at = frame_.x.pixelOf(*cursor_);
  if (!(at >= inside.left() - 1 && at <= inside.right() + 1)) return;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing, false);
  QPen pen(themeColors().muted, 1, Qt::CustomDashLine);
  pen.setDashPattern({3, 3});
  painter.setPen(pen);
  const int line = qRound(at);
  painter.drawLine(line, inside.top(), line, inside.bottom());
  painter.setRenderHint(QPainter::Antialiasing);
  for (const PlottedCurve& curve : curves_) {
    const double value = valueAt(curve, settings_.x, *cursor_);
    if (!std::isfinite(value) || (settings_.isLogY && value <= 0)) continue;
    const double height = frame_.y.pixelOf(value);
    if (height < inside.top() || height > inside.bottom()) continue;
    // On the point whose value is read, which a rare metric has well before the line.
    const auto place = static_cast<std::size_t>(curve.series->at(settings_.x, *cursor_));
    const double along = frame_.x.pixelOf(curve.series->x(settings_.x)[place]);
    if (!(along >= inside.left() - 1)) continue;
    painter.setPen(QPen(themeColors().panel, 1));
    painter.setBrush(seriesColor(seriesOf(curve.run)));
    painter.drawEllipse(QPointF(std::min(along, line + 0.5), height), px(3), px(3));
  }
  painter.restore();
}

QString CurvePlot::valueText(double value) const {
  return std::isnan(value) ? QStringLiteral("NaN") : metricText(format_, value);
}

std::size_t CurvePlot::mostReadoutRows() const {
  const int lines = (rect().bottom() - plotRect().top() - 2 * px(kReadoutPad)) / px(kReadoutLine);
  const auto all = static_cast<int>(curves_.size());
  // Below the title; a last line tells how many are left out.
  const int most = all < lines ? all : std::max(lines - 2, 1);
  return std::min(static_cast<std::size_t>(most), kMostReadoutRows);
}

std::vector<CurvePlot::ReadoutRow> CurvePlot::readout() const {
  if (!cursor_) return {};
  struct Found {
    const PlottedCurve* curve;
    std::ptrdiff_t place;
    double value;  ///< NaN: none
  };
  std::vector<Found> found;
  for (const PlottedCurve& curve : curves_) {
    const std::ptrdiff_t place = curve.series->at(settings_.x, *cursor_);
    found.push_back({&curve, place,
                     place < 0 ? std::numeric_limits<double>::quiet_NaN()
                               : curve.series->y()[static_cast<std::size_t>(place)]});
  }
  const auto isNearer = [this](const Found& a, const Found& b) {
    const auto distance = [this](double value) {
      const bool hasPlace = std::isfinite(value) && (!settings_.isLogY || value > 0);
      return hasPlace ? std::abs(frame_.y.pixelOf(value) - now_.y())
                      : std::numeric_limits<double>::infinity();
    };
    return distance(a.value) < distance(b.value);
  };
  if (const std::size_t most = mostReadoutRows(); found.size() > most) {
    std::stable_sort(found.begin(), found.end(), isNearer);
    found.resize(most);
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    if (std::isnan(a.value) || std::isnan(b.value))
      return !std::isnan(a.value) && std::isnan(b.value);
    return a.value > b.value;
  });
  std::vector<ReadoutRow> rows;
  for (const auto& [curve, place, value] : found) {
    QString text = QStringLiteral("\u2013");
    if (place >= 0) {
      const auto at = static_cast<std::size_t>(place);
      text = valueText(value);
      if (curve->group)
        text +=
            QStringLiteral(" [%1, %2]")
                .arg(valueText(curve->group->low.y()[at]), valueText(curve->group->high.y()[at]));
    }
    rows.push_back({curve->run, curve->name, text});
  }
  return rows;
}

QString CurvePlot::readoutTitle() const {
  if (!cursor_) return {};
  switch (settings_.x) {
    case XAxis::Step:
      return tr("step %1").arg(count(std::llround(*cursor_)));
    case XAxis::Epoch:
      return tr("epoch %1").arg(number(*cursor_, 2));
    case XAxis::Time:
      return axisValue(ChartAxis::Unit::Duration, *cursor_);
    case XAxis::Wall:
      return axisValue(ChartAxis::Unit::Date, *cursor_);
    case XAxis::Metric:
      return settings_.xTitle + QLatin1Char(' ') + compactNumber(*cursor_, 5);
  }
  return {};
}

QString CurvePlot::readoutNote() const {
  const bool isSmoothed = std::any_of(
      curves_.begin(), curves_.end(),
      [this](const PlottedCurve& curve) { return curve.series->isSmoothed(settings_.smoothing); });
  return isSmoothed ? tr("not smoothed") : QString();
}

void CurvePlot::drawReadout(QPainter& painter) const {
  if (curves_.empty()) return;
  const ThemeColors& t = themeColors();
  const QFont font = axisFont();
  QFont bold = font;
  bold.setWeight(QFont::DemiBold);
  const QFontMetrics metrics(font);
  const QRect inside = plotRect();

  const std::vector<ReadoutRow> rows = readout();
  int nameWidth = 0, valueWidth = 0;
  const int widest = std::max(inside.width() / 2, px(120));
  for (const ReadoutRow& row : rows) {
    // One more than its own width, which is rounded: a name that fits is not to be cut.
    nameWidth = std::max(nameWidth, metrics.horizontalAdvance(row.name) + 1);
    valueWidth = std::max(valueWidth, metrics.horizontalAdvance(row.value));
  }
  const int more = static_cast<int>(curves_.size()) - static_cast<int>(rows.size());
  const QString title = readoutTitle(), note = readoutNote();
  const int pad = px(8), square = px(14), gap = px(12), height = px(kReadoutLine);
  const int at = qRound(frame_.x.pixelOf(*cursor_));
  // Names have the room of the wider side, so that the line stays in sight.
  const int room =
      std::max(at, rect().right() - at) - px(10) - (2 * pad + square + gap + valueWidth);
  nameWidth = std::min({nameWidth, widest, std::max(room, px(60))});
  const int width = std::max(2 * pad + square + nameWidth + gap + valueWidth,
                             2 * pad + QFontMetrics(bold).horizontalAdvance(title) +
                                 (note.isEmpty() ? 0 : gap + metrics.horizontalAdvance(note)));
  const int lines = 1 + static_cast<int>(rows.size()) + (more > 0 ? 1 : 0);
  QRect box(0, 0, width, 2 * px(kReadoutPad) + lines * height);
  // Next to the line, on the side with more room; always inside the widget.
  box.moveLeft(at + px(10));
  if (box.right() > rect().right()) box.moveRight(at - px(10));
  if (box.left() < 0) box.moveLeft(0);
  box.moveTop(std::clamp(now_.y() - box.height() / 2, inside.top(),
                         std::max(inside.top(), inside.bottom() - box.height())));

  painter.setPen(QPen(t.line, 1));
  painter.setBrush(t.raised);
  painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), px(6), px(6));
  QRect line(box.left() + pad, box.top() + px(kReadoutPad), box.width() - 2 * pad, height);
  painter.setFont(bold);
  painter.setPen(t.text);
  painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, title);
  painter.setFont(font);
  painter.setPen(t.muted);
  painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, note);
  for (const ReadoutRow& row : rows) {
    line.translate(0, height);
    painter.setPen(Qt::NoPen);
    painter.setBrush(seriesColor(seriesOf(row.run)));
    painter.drawRoundedRect(QRectF(line.left(), line.center().y() - px(3), px(7), px(7)), 2, 2);
    painter.setPen(t.muted);
    painter.drawText(line.adjusted(square, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(row.name, Qt::ElideMiddle, nameWidth));
    painter.setPen(t.text);
    painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, row.value);
  }
  if (more > 0) {
    line.translate(0, height);
    painter.setPen(t.muted);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, tr("and %1 more").arg(more));
  }
}

QString CurvePlot::plotSummary() const {
  return tr("%1 over x from %2 to %3")
      .arg(counted(static_cast<std::int64_t>(curves_.size()), tr("curve"), tr("curves")),
           shortNumber(frame_.x.lower), shortNumber(frame_.x.upper));
}

DescribedPlot::Table CurvePlot::plotTable() const {
  Table table;
  table.columns = {tr("run"), tr("points"), tr("last"), tr("visible minimum"),
                   tr("visible maximum")};
  for (const PlottedCurve& curve : curves_) {
    const CurveSeries& series = *curve.series;
    QStringList row{curve.name, count(static_cast<std::int64_t>(series.size()))};
    double low = 0, high = 0;
    const bool isInSight = series.range(settings_.x, frame_.x.lower, frame_.x.upper, low, high);
    const double none = std::numeric_limits<double>::quiet_NaN();
    row << metricText(format_, series.size() == 0 ? none : series.y().back())
        << metricText(format_, isInSight ? low : none)
        << metricText(format_, isInSight ? high : none);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace vitrine::ui
