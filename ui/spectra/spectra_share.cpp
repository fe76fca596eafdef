// One head large: the share of its sum that the first singular values hold, or the values.
#include <QFontMetricsF>
#include <QObject>
#include <algorithm>
#include <cmath>

#include "ui/figures/chart_frame.h"
#include "ui/figures/painting.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/value_text.h"
#include "ui/spectra/spectra_figures.h"

namespace vitrine::ui {

namespace {

class ShareFigure final : public Figure {
 public:
  ShareFigure(SharePicture picture, FigureStyle style)
      : Figure(std::move(style)), picture_(std::move(picture)) {
    for (const SharePicture::Line& line : picture_.lines) {
      size_ = std::max(size_, line.head.values.size());
      for (const float value : line.head.values) {
        if (!(value > 0)) continue;
        low_ = std::min<double>(low_, value);
        high_ = std::max<double>(high_, value);
      }
    }
    low_ = std::max(std::min(low_, high_ / 10), high_ * kDarkest);
  }

  QSize sizeHint() const override { return {420, 340}; }
  double leastHeight(double) const override { return 220; }

  QString summary() const override {
    QStringList lines;
    for (const SharePicture::Line& line : picture_.lines)
      lines << QObject::tr("%1: rank %2").arg(line.name, rankText(line));
    return QObject::tr("%1, %2, threshold %3; %4")
        .arg(picture_.title, picture_.about, percent(picture_.threshold, 0),
             lines.join(QStringLiteral(", ")));
  }
  QString csv() const override {
    QString text = QStringLiteral("run,index,singular_value,share\n");
    for (const SharePicture::Line& line : picture_.lines) {
      for (std::size_t k = 0; k < line.head.values.size(); ++k) {
        text += QStringLiteral("%1,%2,%3,%4\n")
                    .arg(csvText(line.name), QString::number(k + 1),
                         csvNumber(line.head.values[k]), csvNumber(line.head.shares[k]));
      }
    }
    return text;
  }

 private:
  QString rankText(const SharePicture::Line& line) const {
    const double rank = rankAt(line.head.shares, picture_.threshold);
    return std::isnan(rank) ? QStringLiteral("\u2013") : number(rank, 0);
  }

  void draw(QPainter& painter, const QRectF& area) override {
    const QRectF body = drawHeader(painter, area, picture_.title, picture_.about);
    if (size_ == 0) return;
    const double last = std::max<double>(2, static_cast<double>(size_));
    const ChartAxis across{.range = {{1, last}}, .isWhole = true};
    const ChartAxis share{.range = {{0, 1}},
                          .format = [](double value, int) { return percent(value, 0); },
                          .target = 4};
    const ChartAxis value{.scale = AxisScale::Log, .range = {{low_, high_ * 1.1}}, .target = 4};
    const ChartFrame axes(body, across, picture_.isValues ? value : share,
                          {.font = axisLetters(),
                           .xTitle = QStringLiteral("k"),
                           .yTitle = picture_.isValues ? QObject::tr("singular value")
                                                       : QObject::tr("share of the first k")});
    axes.draw(painter, themeColors());
    for (const SharePicture::Line& line : picture_.lines) drawRun(painter, axes, line);
    drawKey(painter, axes);
    if (!picture_.isValues) drawThreshold(painter, axes);
    addRegion(axes.plot, [this, axes](const QPointF& point) { return describe(axes, point); });
    addTarget(axes.plot, [axes](const QPointF& point) {
      FigureTarget target;
      target.queryAt = {{axes.y.valueAt(point.y()), axes.x.valueAt(point.x())}};
      return target;
    });
  }

  std::vector<QPointF> pointsOf(const ChartFrame& axes, const SharePicture::Line& line) const {
    std::vector<QPointF> points;
    for (std::size_t k = 0; k < line.head.values.size(); ++k) {
      const double y =
          picture_.isValues ? std::max<double>(line.head.values[k], low_) : line.head.shares[k];
      points.push_back(axes.at(static_cast<double>(k + 1), y));
    }
    return points;
  }

  void drawRun(QPainter& painter, const ChartFrame& axes, const SharePicture::Line& line) const {
    const std::vector<QPointF> points = pointsOf(axes, line);
    painter.save();
    painter.setOpacity(line.isControl ? 0.6 : 1);
    painter.setPen(QPen(seriesColor(seriesOf(line.run), style().theme), line.isControl ? 1 : 1.6,
                        line.isControl ? Qt::DashLine : seriesDash(seriesOf(line.run))));
    painter.setBrush(Qt::NoBrush);
    drawPolyline(painter, axes.plot, points);
    painter.restore();
  }

  void drawThreshold(QPainter& painter, const ChartFrame& axes) const {
    constexpr double kHalfHandle = 10;
    const double y = axes.y.pixelOf(picture_.threshold);
    // Lines end before names that they would run through.
    const QRectF key = keyBox(axes).adjusted(-2, -3, 0, 3);
    const bool isBesideKey = y + kHalfHandle > key.top() && y - kHalfHandle < key.bottom();
    const double right = isBesideKey ? key.left() : axes.plot.right();
    painter.setPen(QPen(themeColors().accent, 1, Qt::DashLine));
    painter.drawLine(QPointF(axes.plot.left(), y), QPointF(right, y));
    painter.setFont(axisLetters());
    const QFontMetricsF metrics(painter.font());
    double named = key.left();  // where the longest name ends
    for (const SharePicture::Line& line : picture_.lines)
      named = std::max(named, key.left() + 26 + metrics.horizontalAdvance(line.name));
    double free = y + 5;  // below the threshold: names stand in the lower corner
    for (const SharePicture::Line& line : picture_.lines) {
      const double rank = rankAt(line.head.shares, picture_.threshold);
      if (line.isControl || std::isnan(rank)) continue;
      const QColor color = seriesColor(seriesOf(line.run), style().theme);
      const double x = axes.x.pixelOf(rank);
      painter.setPen(QPen(color, 1, Qt::DotLine));
      const bool isAboveKey = x > key.left() && x < named;
      const double foot = isAboveKey ? key.top() : axes.plot.bottom();
      if (foot > y) painter.drawLine(QPointF(x, y), QPointF(x, foot));
      painter.setPen(QPen(themeColors().panel, 1));
      painter.setBrush(color);
      painter.drawEllipse(QPointF(x, y), 3.5, 3.5);
      const QString text = rankText(line);
      const double width = metrics.horizontalAdvance(text) + 10;
      const double left = std::min(x + 4, axes.plot.right() - width);
      const QRectF box(left, free, width, 16);
      painter.setPen(QPen(color, 1));
      painter.setBrush(themeColors().panel);
      painter.drawRoundedRect(box, 3, 3);
      painter.setPen(themeColors().text);
      painter.drawText(box, Qt::AlignCenter, text);
      free += 18;
    }
    const QString text = QStringLiteral("\u2195 ") + percent(picture_.threshold, 0);
    const double width = metrics.horizontalAdvance(text) + 12;
    const QRectF handle(right - width - 6, y - kHalfHandle, width, 2 * kHalfHandle);
    painter.setPen(QPen(themeColors().accent, 1));
    painter.setBrush(themeColors().selection);
    painter.drawRoundedRect(handle, 4, 4);
    painter.setPen(themeColors().text);
    painter.drawText(handle, Qt::AlignCenter, text);
  }

  /// The corner that rising curves leave free; of falling ones that with fewer of their points.
  QRectF keyBox(const ChartFrame& axes) const {
    const QRectF& plot = axes.plot;
    const double width = std::min(plot.width() * 0.6, 210.0);
    const double height = 15 * static_cast<double>(picture_.lines.size());
    const double right = plot.right() - width, top = plot.top() + 6;
    const double low = std::max(top, plot.bottom() - height - 4);
    if (!picture_.isValues) return {right, low, width, height};
    const QRectF above(right, top, width, height), below(plot.left() + 6, low, width, height);
    int inAbove = 0, inBelow = 0;
    for (const SharePicture::Line& line : picture_.lines) {
      for (const QPointF& point : pointsOf(axes, line)) {
        inAbove += above.adjusted(-6, -6, 6, 6).contains(point) ? 1 : 0;
        inBelow += below.adjusted(-6, -6, 6, 6).contains(point) ? 1 : 0;
      }
    }
    return inBelow < inAbove ? below : above;
  }

  void drawKey(QPainter& painter, const ChartFrame& axes) const {
    painter.setFont(axisLetters());
    const QRectF& plot = axes.plot;
    const QRectF box = keyBox(axes);
    const double left = box.left(), width = box.width();
    double y = box.top();
    for (const SharePicture::Line& line : picture_.lines) {
      if (y + 15 > plot.bottom()) break;
      painter.setPen(QPen(seriesColor(seriesOf(line.run), style().theme), line.isControl ? 1 : 1.6,
                          line.isControl ? Qt::DashLine : seriesDash(seriesOf(line.run))));
      painter.drawLine(QPointF(left, y + 8), QPointF(left + 16, y + 8));
      painter.setPen(themeColors().muted);
      drawLine(painter, QRectF(left + 22, y, width - 26, 15), Qt::AlignLeft | Qt::AlignVCenter,
               line.name);
      y += 15;
    }
  }

  QString describe(const ChartFrame& axes, const QPointF& point) const {
    const auto k = static_cast<std::size_t>(
        std::clamp<double>(std::round(axes.x.valueAt(point.x())), 1, static_cast<double>(size_)));
    QStringList lines{QStringLiteral("k = %1").arg(k)};
    for (const SharePicture::Line& line : picture_.lines) {
      if (k > line.head.values.size()) continue;
      lines << QObject::tr("%1: \u03c3 %2, share %3, rank %4")
                   .arg(line.name, shortNumber(line.head.values[k - 1]),
                        percent(line.head.shares[k - 1], 1), rankText(line));
    }
    return lines.join(QLatin1Char('\n'));
  }

  SharePicture picture_;
  std::size_t size_ = 0;
  double low_ = 1, high_ = 1e-9;
};

}  // namespace

std::unique_ptr<Figure> makeShareFigure(SharePicture picture, FigureStyle style) {
  return std::make_unique<ShareFigure>(std::move(picture), std::move(style));
}

}  // namespace vitrine::ui
