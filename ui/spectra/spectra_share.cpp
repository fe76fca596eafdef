// One head large: the share of its sum that the first singular values hold, or the values.
#include <QFontMetricsF>
#include <QObject>
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "ui/figures/chart_frame.h"
#include "ui/figures/painting.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/value_text.h"
#include "ui/spectra/spectra_figures.h"

namespace vitrine::ui {

namespace {

constexpr double kSign = 22;     // of a line before its name
constexpr double kNamesGap = 4;  // above names below the chart

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
  double leastHeight(double width) const override { return 205 + namesHeight(width - 2 * kMargin); }

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
    QRectF body = drawHeader(painter, area, picture_.title, picture_.about);
    if (size_ == 0) return;
    ChartFrame axes = frameIn(body);
    const std::optional<QRectF> corner = freeCorner(axes);
    if (!corner) {
      const double below = namesHeight(body.width());
      drawNames(painter, namePlaces(names(), kSign, body.width()),
                {body.left(), body.bottom() - below + kNamesGap});
      body.setBottom(body.bottom() - below);
      axes = frameIn(body);
    }
    axes.draw(painter, themeColors());
    for (const SharePicture::Line& line : picture_.lines) drawRun(painter, axes, line);
    if (corner) {
      std::vector<QRectF> rows;
      for (std::size_t i = 0; i < picture_.lines.size(); ++i)
        rows.emplace_back(0, kNameRow * static_cast<double>(i), corner->width() - 4, kNameRow);
      drawNames(painter, rows, corner->topLeft());
    }
    if (!picture_.isValues) drawThreshold(painter, axes, corner.value_or(QRectF()));
    addRegion(axes.plot, [this, axes](const QPointF& point) { return describe(axes, point); });
    addTarget(axes.plot, [axes](const QPointF& point) {
      return FigureTarget{.queryAt = {{axes.y.valueAt(point.y()), axes.x.valueAt(point.x())}}};
    });
  }

  ChartFrame frameIn(const QRectF& body) const {
    const double last = std::max<double>(2, static_cast<double>(size_));
    const ChartAxis across{.range = {{1, last}}, .isWhole = true};
    const ChartAxis share{.range = {{0, 1}},
                          .format = [](double value, int) { return percent(value, 0); },
                          .target = 4};
    const ChartAxis value{.scale = AxisScale::Log, .range = {{low_, high_ * 1.1}}, .target = 4};
    return ChartFrame(body, across, picture_.isValues ? value : share,
                      {.font = axisLetters(),
                       .xTitle = QStringLiteral("k"),
                       .yTitle = picture_.isValues ? QObject::tr("singular value")
                                                   : QObject::tr("share of the first k")});
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

  /// \param corner  of names in the plot; empty where they stand below it
  void drawThreshold(QPainter& painter, const ChartFrame& axes, const QRectF& corner) const {
    constexpr double kHalfHandle = 10;
    const double y = axes.y.pixelOf(picture_.threshold);
    painter.setFont(axisLetters());
    const QFontMetricsF metrics(painter.font());
    // Lines end before names that they would run through.
    QRectF key;
    if (!corner.isEmpty()) {
      key = corner.adjusted(-2, -3, 0, 3);
      key.setWidth(kSign + 4 + longestName());
    }
    const bool isBesideKey = y + kHalfHandle > key.top() && y - kHalfHandle < key.bottom();
    const double right = isBesideKey ? key.left() : axes.plot.right();
    painter.setPen(QPen(themeColors().accent, 1, Qt::DashLine));
    painter.drawLine(QPointF(axes.plot.left(), y), QPointF(right, y));
    const auto ranks = std::count_if(picture_.lines.begin(), picture_.lines.end(),
                                     [](const auto& line) { return !line.isControl; });
    // Below the threshold, and within the plot.
    double free = std::min(y + 5, axes.plot.bottom() - 18 * static_cast<double>(ranks));
    for (const SharePicture::Line& line : picture_.lines) {
      const double rank = rankAt(line.head.shares, picture_.threshold);
      if (line.isControl || std::isnan(rank)) continue;
      const QColor color = seriesColor(seriesOf(line.run), style().theme);
      const double x = axes.x.pixelOf(rank);
      painter.setPen(QPen(color, 1, Qt::DotLine));
      const bool isAboveKey = x > key.left() && x < key.right();
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
    const QString share = percent(picture_.threshold, 0);
    const QString text = style().isOnPaper() ? share : QStringLiteral("\u2195 ") + share;
    const double width = metrics.horizontalAdvance(text) + 12;
    const QRectF handle(right - width - 6, y - kHalfHandle, width, 2 * kHalfHandle);
    painter.setPen(QPen(themeColors().accent, 1));
    painter.setBrush(themeColors().selection);
    painter.drawRoundedRect(handle, 4, 4);
    painter.setPen(themeColors().text);
    painter.drawText(handle, Qt::AlignCenter, text);
  }

  QStringList names() const {
    QStringList all;
    for (const SharePicture::Line& line : picture_.lines) all << line.name;
    return all;
  }
  double longestName() const {
    const QFontMetricsF metrics(axisLetters());
    double longest = 0;
    for (const SharePicture::Line& line : picture_.lines)
      longest = std::max(longest, metrics.horizontalAdvance(line.name));
    return longest;
  }
  /// Of the names below the chart.
  double namesHeight(double width) const {
    const std::vector<QRectF> places = namePlaces(names(), kSign, width);
    return places.empty() ? 0 : places.back().bottom() + kNamesGap;
  }

  /// A corner of the plot for the names that no curve runs through.
  std::optional<QRectF> freeCorner(const ChartFrame& axes) const {
    constexpr double kAir = 6;
    const QRectF& plot = axes.plot;
    const QSizeF size(std::min(plot.width() * 0.6, 210.0),
                      kNameRow * static_cast<double>(picture_.lines.size()));
    if (longestName() + kSign + 4 > size.width() || size.height() + 10 > plot.height())
      return std::nullopt;
    const double right = plot.right() - size.width(), low = plot.bottom() - size.height() - 4;
    // Shares rise; values fall.
    std::vector<QRectF> corners{QRectF(QPointF(right, low), size)};
    if (picture_.isValues)
      corners = {QRectF(QPointF(right, plot.top() + kAir), size),
                 QRectF(QPointF(plot.left() + kAir, low), size)};
    for (const SharePicture::Line& line : picture_.lines) {
      const std::vector<QPointF> points = pointsOf(axes, line);
      for (std::size_t k = 1; k < points.size(); ++k) {
        std::erase_if(corners, [&](const QRectF& box) {
          QPointF from = points[k - 1], to = points[k];
          return cutLine(box.adjusted(-kAir, -kAir, kAir, kAir), from, to);
        });
      }
    }
    return corners.empty() ? std::nullopt : std::optional(corners.front());
  }

  /// \param places  from `corner`, of each line
  void drawNames(QPainter& painter, const std::vector<QRectF>& places, const QPointF& corner) {
    painter.setFont(axisLetters());
    for (std::size_t i = 0; i < places.size(); ++i) {
      const SharePicture::Line& line = picture_.lines[i];
      const QRectF place = places[i].translated(corner);
      painter.setPen(QPen(seriesColor(seriesOf(line.run), style().theme), line.isControl ? 1 : 1.6,
                          line.isControl ? Qt::DashLine : seriesDash(seriesOf(line.run))));
      painter.drawLine(QPointF(place.left(), place.top() + 8),
                       QPointF(place.left() + 16, place.top() + 8));
      painter.setPen(themeColors().muted);
      drawLine(painter, place.adjusted(kSign, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
               line.name);
      addRegion(place, [name = line.name](const QPointF&) { return name; });
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
