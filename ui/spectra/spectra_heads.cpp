// Small spectra of all heads, and one head large.
#include <QFontMetricsF>
#include <QObject>
#include <algorithm>
#include <cmath>
#include <map>

#include "ui/figures/chart_frame.h"
#include "ui/figures/line_chart.h"
#include "ui/figures/painting.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/value_text.h"
#include "ui/spectra/spectra_figures.h"

namespace vitrine::ui {

namespace {

constexpr double kDarkest = 1e-5;  // of the largest singular value: less is drawn as this

class HeadGridFigure final : public Figure {
 public:
  HeadGridFigure(HeadGridPicture picture, FigureStyle style)
      : Figure(std::move(style)), picture_(std::move(picture)) {
    std::vector<const Spectrum*> all;
    for (const DrawnSpectrum& one : picture_.runs) {
      all.push_back(one.spectrum.get());
      layers_ = std::max(layers_, static_cast<int>(one.spectrum->layers.size()));
      for (const LayerSpectrum& layer : one.spectrum->layers)
        heads_ = std::max(heads_, static_cast<int>(layer.heads.size()));
    }
    range_ = rangeOf(all, kDarkest);
    if (picture_.isSameScale) return;
    // Every run fills its charts.
    for (const DrawnSpectrum& one : picture_.runs)
      ranges_[one.run] = rangeOf({one.spectrum.get()}, kDarkest);
  }

  QSize sizeHint() const override { return {420, 340}; }
  double leastHeight(double) const override { return 180; }
  int layerCount() const override { return layers_; }
  int headCount() const override { return heads_; }

  QString summary() const override {
    QStringList runs;
    for (const DrawnSpectrum& one : picture_.runs) {
      QStringList ranks;
      for (const LayerSpectrum& layer : one.spectrum->layers)
        ranks << shortNumber(rankOver(layer, picture_.threshold).mean);
      runs << QObject::tr("%1, mean rank by layer: %2")
                  .arg(one.name, ranks.join(QStringLiteral(", ")));
    }
    return QStringLiteral("%1, %2; %3")
        .arg(picture_.title, picture_.about, runs.join(QStringLiteral("; ")));
  }

  QString csv() const override {
    std::size_t most = 0;
    for (const DrawnSpectrum& one : picture_.runs) {
      for (const LayerSpectrum& layer : one.spectrum->layers) {
        for (const HeadSpectrum& head : layer.heads) most = std::max(most, head.values.size());
      }
    }
    QString text = QStringLiteral(
        "run,step,layer,head,rank,effective_rank_of_mean,stable_rank_of_mean,largest");
    for (std::size_t k = 1; k <= most; ++k) text += QStringLiteral(",value_%1").arg(k);
    text += QLatin1Char('\n');
    for (const DrawnSpectrum& one : picture_.runs) {
      for (const LayerSpectrum& layer : one.spectrum->layers) {
        for (std::size_t h = 0; h < layer.heads.size(); ++h) {
          const HeadSpectrum& head = layer.heads[h];
          const double largest = head.values.empty() ? std::nan("") : head.values.front();
          text += QStringLiteral("%1,%2,%3,%4,%5,%6,%7,%8")
                      .arg(csvText(one.name), QString::number(one.spectrum->step),
                           QString::number(layer.layer), QString::number(h),
                           csvNumber(rankAt(head.shares, picture_.threshold)),
                           csvNumber(effectiveRankOf(head.values)),
                           csvNumber(stableRankOf(head.values)), csvNumber(largest));
          for (std::size_t k = 0; k < most; ++k) {
            text += QLatin1Char(',');
            if (k < head.values.size()) text += csvNumber(head.values[k]);
          }
          text += QLatin1Char('\n');
        }
      }
    }
    return text;
  }

 private:
  void draw(QPainter& painter, const QRectF& area) override {
    const QRectF inside = drawHeader(painter, area, picture_.title, picture_.about);
    if (layers_ == 0 || heads_ == 0) return;
    const QRectF body = drawNames(painter, inside);
    painter.setFont(axisLetters());
    const double left = 44, above = 16;
    const double width = (body.width() - left) / heads_;
    const double height = (body.height() - above) / layers_;
    const QFontMetricsF metrics(painter.font());
    const auto word = [&](const QRectF& rect, int flags, const QString& text, bool isChosen) {
      painter.setPen(isChosen ? themeColors().text : themeColors().muted);
      drawLine(painter, rect, flags, text);
    };
    for (int head = 0; head < heads_; ++head) {
      const QString name = width > 52 ? headName(head) : QString::number(head);
      word(QRectF(body.left() + left + head * width, body.top(), width, above), Qt::AlignCenter,
           name, head == picture_.head);
    }
    for (int layer = 0; layer < layers_; ++layer) {
      const double top = body.top() + above + layer * height;
      word(QRectF(body.left(), top, left - 4, height), Qt::AlignLeft | Qt::AlignVCenter,
           layerName(numberOf(layer)), layer == picture_.layer);
      for (int head = 0; head < heads_; ++head) {
        drawHead(painter, QRectF(body.left() + left + head * width, top, width, height), layer,
                 head);
      }
    }
  }

  /// On paper, where no list of runs stands beside it, with what is left above them.
  QRectF drawNames(QPainter& painter, const QRectF& body) const {
    if (!style().isOnPaper() || picture_.runs.size() < 2) return body;
    constexpr double kLine = 20, kGap = 6, kApart = 14, kRow = 15;
    painter.setFont(axisLetters());
    const QFontMetricsF metrics(painter.font());
    std::vector<QRectF> places;
    double x = 0, y = 0;
    for (const DrawnSpectrum& one : picture_.runs) {
      const double width =
          std::min(kLine + kGap + metrics.horizontalAdvance(one.name) + 2, body.width());
      if (x > 0 && x + width > body.width()) {
        x = 0;
        y += kRow;
      }
      places.emplace_back(x, y, width, kRow);
      x += width + kApart;
    }
    const double height = y + kRow;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const DrawnSpectrum& one = picture_.runs[i];
      const QRectF place = places[i].translated(body.left(), body.bottom() - height);
      painter.setPen(
          QPen(seriesColor(seriesOf(one.run), style().theme), 1.2, seriesDash(seriesOf(one.run))));
      painter.drawLine(QPointF(place.left(), place.center().y()),
                       QPointF(place.left() + kLine, place.center().y()));
      painter.setPen(themeColors().text);
      drawLine(painter, place.adjusted(kLine + kGap, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
               one.name);
    }
    return body.adjusted(0, 0, 0, -height - kGap);
  }

  std::int64_t numberOf(int layer) const {
    for (const DrawnSpectrum& one : picture_.runs) {
      const auto at = static_cast<std::size_t>(layer);
      if (at < one.spectrum->layers.size()) return one.spectrum->layers[at].layer;
    }
    return layer;
  }
  static const HeadSpectrum* headOf(const DrawnSpectrum& one, int layer, int head) {
    const auto l = static_cast<std::size_t>(layer), h = static_cast<std::size_t>(head);
    if (l >= one.spectrum->layers.size() || h >= one.spectrum->layers[l].heads.size())
      return nullptr;
    return &one.spectrum->layers[l].heads[h];
  }

  struct Curve {
    std::vector<QPointF> points;
    QColor color;
    QString rank;
  };

  /// One below the other at the upper right, or at the lower left where fewer curves run.
  static void drawRanks(QPainter& painter, const QRectF& box, const std::vector<Curve>& curves) {
    constexpr double kRow = 13, kAir = 2.5;  // of a row, above and below its digits
    if (box.width() <= 40) return;
    const QFontMetricsF metrics(painter.font());
    std::size_t rows = 0;
    double width = 0;
    while (rows < curves.size() && 16 + kRow * static_cast<double>(rows) < box.height())
      width = std::max(width, metrics.horizontalAdvance(curves[rows++].rank));
    const QSizeF size(width, kRow * static_cast<double>(rows));
    const QRectF above(QPointF(box.right() - 4 - width, box.top() + 2), size);
    const QRectF below(QPointF(box.left() + 4, box.bottom() - 2 - size.height()), size);
    const auto crossings = [&curves](const QRectF& digits) {
      int lines = 0;
      for (const Curve& curve : curves) {
        for (std::size_t k = 1; k < curve.points.size(); ++k) {
          QPointF from = curve.points[k - 1], to = curve.points[k];
          lines += cutLine(digits.adjusted(0, kAir, 0, -kAir), from, to) ? 1 : 0;
        }
      }
      return lines;
    };
    const bool isBelow = crossings(below) < crossings(above);
    const QRectF& place = isBelow ? below : above;
    for (std::size_t i = 0; i < rows; ++i) {
      painter.setPen(curves[i].color);
      const double y = place.top() + kRow * static_cast<double>(i);
      drawLine(painter, QRectF(box.left() + 4, y, box.width() - 8, kRow),
               (isBelow ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter, curves[i].rank);
    }
  }

  void drawHead(QPainter& painter, const QRectF& cell, int layer, int head) {
    const double gap = std::min(cell.width(), cell.height()) > 24 ? 3 : 1;
    const QRectF box = cell.adjusted(gap, gap, -gap, -gap);
    painter.fillRect(box, themeColors().raised);
    const bool isChosen = layer == picture_.layer && (picture_.head < 0 || head == picture_.head);
    QStringList lines{headName(numberOf(layer), head)};
    std::vector<Curve> curves;
    for (const DrawnSpectrum& one : picture_.runs) {
      const HeadSpectrum* spectrum = headOf(one, layer, head);
      if (spectrum == nullptr) continue;
      const std::size_t size = spectrum->values.size();
      const auto own = ranges_.find(one.run);
      const std::pair<double, double>& range = own == ranges_.end() ? range_ : own->second;
      const double low = std::log(range.first), high = std::log(range.second);
      std::vector<QPointF> points;
      for (std::size_t k = 0; k < size; ++k) {
        const double x = size > 1 ? static_cast<double>(k) / static_cast<double>(size - 1) : 0;
        const double value = std::max<double>(spectrum->values[k], range.first);
        const double share = picture_.isLog
                                 ? (high > low ? (std::log(value) - low) / (high - low) : 0)
                                 : spectrum->values[k] / range.second;
        points.emplace_back(box.left() + 2 + x * (box.width() - 4),
                            box.bottom() - 2 - std::clamp(share, 0.0, 1.0) * (box.height() - 4));
      }
      const QColor color = seriesColor(seriesOf(one.run), style().theme);
      painter.setPen(QPen(color, 1.2, seriesDash(seriesOf(one.run))));
      painter.setBrush(Qt::NoBrush);
      drawPolyline(painter, box, points);
      const double rank = rankAt(spectrum->shares, picture_.threshold);
      const QString text = std::isnan(rank) ? QStringLiteral("\u2013") : number(rank, 0);
      lines << QObject::tr("%1: rank %2, effective rank %3, largest %4")
                   .arg(one.name, text, shortNumber(effectiveRankOf(spectrum->values)),
                        shortNumber(size > 0 ? spectrum->values.front() : std::nan("")));
      curves.push_back({std::move(points), color, text});
    }
    drawRanks(painter, box, curves);
    if (isChosen) drawOutline(painter, box);
    addRegion(cell, [text = lines.join(QLatin1Char('\n'))](const QPointF&) { return text; });
    addTarget(cell, FigureTarget{.layer = layer, .head = head});
  }

  HeadGridPicture picture_;
  int layers_ = 0, heads_ = 0;
  std::pair<double, double> range_{1e-3, 1};
  std::map<std::int64_t, std::pair<double, double>> ranges_;  ///< by run, without a common scale
};

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

std::unique_ptr<Figure> makeHeadGridFigure(HeadGridPicture picture, FigureStyle style) {
  return std::make_unique<HeadGridFigure>(std::move(picture), std::move(style));
}

std::unique_ptr<Figure> makeShareFigure(SharePicture picture, FigureStyle style) {
  return std::make_unique<ShareFigure>(std::move(picture), std::move(style));
}

}  // namespace vitrine::ui
