// Small spectra of all heads.
#include <QFontMetricsF>
#include <QObject>
#include <algorithm>
#include <cmath>
#include <map>

#include "ui/figures/painting.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/value_text.h"
#include "ui/spectra/spectra_figures.h"

namespace vitrine::ui {

namespace {

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
    const QFontMetricsF metrics(painter.font());
    double left = 44;
    const double above = 16;
    for (int layer = 0; layer < layers_; ++layer)
      left = std::max(left, metrics.horizontalAdvance(layerName(numberOf(layer))) + 4);
    const double width = (body.width() - left) / heads_;
    const double height = (body.height() - above) / layers_;
    const QRectF first(body.left() + left, body.top() + (above - metrics.height()) / 2, width,
                       metrics.height());
    drawHeadTitles(painter, themeColors(), first, 0, heads_, picture_.head);
    for (int layer = 0; layer < layers_; ++layer) {
      const double top = body.top() + above + layer * height;
      painter.setPen(layer == picture_.layer ? themeColors().text : themeColors().muted);
      drawLine(painter, QRectF(body.left(), top, left - 4, height),
               Qt::AlignLeft | Qt::AlignVCenter, layerName(numberOf(layer)));
      for (int head = 0; head < heads_; ++head) {
        drawHead(painter, QRectF(body.left() + left + head * width, top, width, height), layer,
                 head);
      }
    }
  }

  /// On paper, where no list of runs stands beside it, with what is left above them.
  QRectF drawNames(QPainter& painter, const QRectF& body) const {
    if (!style().isOnPaper() || picture_.runs.size() < 2) return body;
    constexpr double kLine = 20, kGap = 6;
    painter.setFont(axisLetters());
    QStringList names;
    for (const DrawnSpectrum& one : picture_.runs) names << one.name;
    const std::vector<QRectF> places = namePlaces(names, kLine + kGap, body.width());
    const double height = places.back().bottom();
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

}  // namespace

std::unique_ptr<Figure> makeHeadGridFigure(HeadGridPicture picture, FigureStyle style) {
  return std::make_unique<HeadGridFigure>(std::move(picture), std::move(style));
}

}  // namespace vitrine::ui
