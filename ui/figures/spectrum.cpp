// Attention rank spectra: the cumulative normalised singular values of every head, one panel per
// layer, and the first index at which they reach 80 %. As in Wang et al. 2024 (arXiv:2404.06773,
// figure 4), these are values, not their squares.
#include <QFontMetricsF>
#include <QObject>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/figures/chart_frame.h"
#include "ui/figures/kinds.h"
#include "ui/figures/painting.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

constexpr int kMostLines = 6;  // more heads than this are drawn as mean and band

class SpectrumFigure final : public Figure {
 public:
  SpectrumFigure(const Json& meta, const std::vector<std::byte>& data, FigureStyle style)
      : Figure(std::move(style)), meta_(meta) {
    const ArrayView view = arrayOf(meta, data);
    if (view.shape.size() != 3)
      throw FileError("a spectrum needs the shape [layers, heads, values]");
    share_ = std::clamp(stateNumber(meta, "threshold", share_), 0.0, 1.0);
    for (const Json& layer : stateList(meta, "layers"))
      layerNames_ << QString::fromStdString(layer.dump());
    const std::vector<int> sides = sidesOf(view, {1024, 1024, 65'536});
    layers_ = sides[0];
    while (layerNames_.size() < layers_) layerNames_ << QString::number(layerNames_.size());
    heads_ = sides[1];
    size_ = sides[2];
    cumulative_.resize(static_cast<std::size_t>(view.count()));
    values_.resize(cumulative_.size());
    for (std::size_t row = 0;
         row < static_cast<std::size_t>(layers_) * static_cast<std::size_t>(heads_); ++row) {
      const std::size_t from = row * static_cast<std::size_t>(size_);
      double sum = 0;
      for (int k = 0; k < size_; ++k) {
        values_[from + static_cast<std::size_t>(k)] = view.at(static_cast<std::int64_t>(from) + k);
        sum += values_[from + static_cast<std::size_t>(k)];
      }
      double running = 0;
      for (int k = 0; k < size_; ++k) {
        running += values_[from + static_cast<std::size_t>(k)];
        cumulative_[from + static_cast<std::size_t>(k)] = sum > 0 ? running / sum : std::nan("");
      }
    }
  }

  QSize sizeHint() const override { return {760, 460}; }

  QString summary() const override {
    QStringList ranks;
    for (int layer = 0; layer < layers_; ++layer) ranks << shortNumber(meanRank(layer));
    return QObject::tr("Singular value spectra of %1 layers with %2 heads; %3 by layer: %4")
        .arg(layers_)
        .arg(heads_)
        .arg(rankWord(), ranks.join(QStringLiteral(", ")));
  }

  QString csv() const override {
    QString text = QStringLiteral("layer,head,index,singular_value,cumulative\n");
    for (int layer = 0; layer < layers_; ++layer) {
      for (int head = 0; head < heads_; ++head) {
        for (int k = 0; k < size_; ++k) {
          text += csvText(layerNames_[layer]) + QLatin1Char(',');
          text += QStringLiteral("%1,%2,%3,%4\n")
                      .arg(head)
                      .arg(k + 1)
                      .arg(csvNumber(values_[at(layer, head, k)]),
                           csvNumber(cumulative_[at(layer, head, k)]));
        }
      }
    }
    return text;
  }

  double leastHeight(double width) const override {
    const double room = width - 2 * kMargin;
    const int across =
        std::clamp(static_cast<int>((room + 16) / (kLeastPanel + 16)), 1, std::max(1, layers_));
    const int down = (std::max(1, layers_) + across - 1) / across;
    return 2 * kMargin + headerHeight(room, title(), about()) + keyPlaces(room).height + 6 +
           96 * down + 12 * (down - 1);
  }

  int layerCount() const override { return layers_; }
  int headCount() const override { return heads_; }

 private:
  std::size_t at(int layer, int head, int k) const {
    return (static_cast<std::size_t>(layer) * static_cast<std::size_t>(heads_) +
            static_cast<std::size_t>(head)) *
               static_cast<std::size_t>(size_) +
           static_cast<std::size_t>(k);
  }

  /// 1-based first index at which the cumulative curve reaches the threshold; NaN for a spectrum of
  /// zeros.
  double rank(int layer, int head) const {
    // The analysis may have averaged curves over images, which mean values cannot tell.
    const Json& told = stateList(meta_, "rank");
    const auto row = static_cast<std::size_t>(layer), column = static_cast<std::size_t>(head);
    if (row < told.size() && told[row].is_array() && column < told[row].size() &&
        told[row][column].is_number())
      return told[row][column].get<double>();
    for (int k = 0; k < size_; ++k) {
      const double reached = cumulative_[at(layer, head, k)];
      if (reached >= share_ - 1e-9) return k + 1;
    }
    return std::nan("");
  }

  /// "rank at 80 %"
  QString rankWord() const {
    return QObject::tr("rank at %1 %").arg(QString::fromStdString(formatReal(100 * share_, 4)));
  }

  static QString title() { return QObject::tr("Attention rank spectrum"); }
  QString about() const {
    return QObject::tr("cumulative share of singular values \u00b7 %1 tokens%2")
        .arg(size_)
        .arg(heads_ > kMostLines ? QObject::tr(" \u00b7 mean and range of %1 heads").arg(heads_)
                                 : QString());
  }

  double meanRank(int layer) const {
    double sum = 0;
    int heads = 0;
    for (int head = 0; head < heads_; ++head) {
      const double one = rank(layer, head);
      if (std::isnan(one)) continue;
      sum += one;
      ++heads;
    }
    return heads > 0 ? sum / heads : std::nan("");
  }

  void draw(QPainter& painter, const QRectF& area) override {
    QRectF body = drawHeader(painter, area, title(), about());
    if (layers_ == 0 || heads_ == 0 || size_ == 0) {
      drawNothing(painter, body, QObject::tr("No singular values."));
      return;
    }
    const double key = drawKey(painter, body);
    body.adjust(0, 0, 0, -key);
    int across = 1;
    double best = -1;
    for (int columns = 1; columns <= layers_; ++columns) {
      const int down = (layers_ + columns - 1) / columns;
      const double width = body.width() / columns, height = body.height() / down;
      if (columns > 1 && width < kLeastPanel) break;
      const double score = std::min(width / 1.35, height) - 0.001 * columns;
      if (score > best) {
        best = score;
        across = columns;
      }
    }
    const int down = (layers_ + across - 1) / across;
    const double width = (body.width() - 16.0 * (across - 1)) / across;
    const double height = (body.height() - 12.0 * (down - 1)) / down;
    for (int layer = 0; layer < layers_; ++layer) {
      const QRectF panel(body.left() + (layer % across) * (width + 16),
                         body.top() + (layer / across) * (height + 12), width, height);
      drawLayer(painter, panel, layer);
    }
  }

  QColor headColor(int head) const { return seriesColor(head + 1); }

  void drawLayer(QPainter& painter, const QRectF& panel, int layer) {
    painter.setFont(smallLetters());
    painter.setPen(themeColors().text);
    const QString name = (QObject::tr("layer ") + layerNames_[layer]);
    const double nameWidth = QFontMetricsF(painter.font()).horizontalAdvance(name) + 4;
    drawLine(painter, QRectF(panel.left(), panel.top(), nameWidth, 18),
             Qt::AlignLeft | Qt::AlignVCenter, name);
    painter.setPen(themeColors().muted);
    const double mean = meanRank(layer);
    QString rankText = rankWord() + QLatin1Char(' ') +
                       (std::isnan(mean) ? QStringLiteral("\u2013") : number(mean, 1));
    if (QFontMetricsF(painter.font()).horizontalAdvance(rankText) > panel.width() - nameWidth - 8)
      rankText = std::isnan(mean) ? QStringLiteral("\u2013") : number(mean, 1);
    drawLine(painter,
             QRectF(panel.left() + nameWidth + 8, panel.top(), panel.width() - nameWidth - 8, 18),
             Qt::AlignRight | Qt::AlignVCenter, rankText);
    const ChartFrame axes(panel.adjusted(0, 20, 0, 0),
                          {.range = {{0, static_cast<double>(size_)}},
                           .target = std::clamp(static_cast<int>(panel.width() / 60), 2, 6)},
                          {.range = {{0, 1}},
                           .format = [](double value, int) { return percent(value, 0); },
                           .target = std::clamp(static_cast<int>(panel.height() / 36), 2, 5)},
                          {.font = axisLetters()});
    axes.draw(painter, themeColors());
    painter.setPen(QPen(themeColors().muted, 1, Qt::DashLine));
    painter.drawLine(axes.at(0, share_), axes.at(size_, share_));
    if (heads_ > kMostLines) {
      drawBand(painter, axes, layer);
    } else {
      for (int head = 0; head < heads_; ++head) drawHead(painter, axes, layer, head);
    }
    if (!std::isnan(mean)) {
      painter.setPen(QPen(themeColors().text, 1, Qt::DotLine));
      painter.drawLine(axes.at(mean, 0), axes.at(mean, share_));
      painter.setBrush(themeColors().text);
      painter.setPen(QPen(themeColors().panel, 1));
      painter.drawEllipse(axes.at(mean, share_), 3.5, 3.5);
      painter.setBrush(Qt::NoBrush);
    }
    addRegion(axes.plot, [this, axes, layer](const QPointF& point) {
      const int k = std::clamp(static_cast<int>(std::lround(axes.x.valueAt(point.x()))), 1, size_);
      QStringList lines{QObject::tr("layer %1, first %2 of %3 singular values")
                            .arg(layerNames_[layer], QString::number(k),
                                 QString::number(size_))};
      for (int head = 0; head < std::min(heads_, 12); ++head) {
        lines << QObject::tr("head %1: %2, %3 %4")
                     .arg(head)
                     .arg(percent(cumulative_[at(layer, head, k - 1)], 1), rankWord(),
                          shortNumber(rank(layer, head)));
      }
      return lines.join(QLatin1Char('\n'));
    });
    addTarget(panel, FigureTarget{.layer = layer});
  }

  void drawHead(QPainter& painter, const ChartFrame& axes, int layer, int head) const {
    QPainterPath path(axes.at(0, 0));
    for (int k = 0; k < size_; ++k) {
      const double reached = cumulative_[at(layer, head, k)];
      if (std::isfinite(reached)) path.lineTo(axes.at(k + 1, reached));
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(headColor(head), 1));
    painter.drawPath(path);
  }

  void drawBand(QPainter& painter, const ChartFrame& axes, int layer) const {
    QPolygonF upper{axes.at(0, 0)}, lower{axes.at(0, 0)};
    QPainterPath mean(axes.at(0, 0));
    for (int k = 0; k < size_; ++k) {
      double low = 2, high = -1, sum = 0;
      int finite = 0;
      for (int head = 0; head < heads_; ++head) {
        const double reached = cumulative_[at(layer, head, k)];
        if (!std::isfinite(reached)) continue;
        low = std::min(low, reached);
        high = std::max(high, reached);
        sum += reached;
        ++finite;
      }
      if (finite == 0) continue;
      upper << axes.at(k + 1, high);
      lower << axes.at(k + 1, low);
      mean.lineTo(axes.at(k + 1, sum / finite));
    }
    std::reverse(lower.begin(), lower.end());
    QColor band = seriesOrAccent();
    band.setAlphaF(0.28F);
    painter.setPen(Qt::NoPen);
    painter.setBrush(band);
    painter.drawPolygon(upper + lower);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(seriesOrAccent(), 1));
    painter.drawPath(mean);
  }

  static constexpr double kLeastPanel = 110;  // width of a layer's
  static constexpr double kRow = 16, kSign = 22;

  struct Key {
    QStringList texts;
    std::vector<QPointF> places;
    double height = 0;
  };
  Key keyPlaces(double room) const {
    constexpr double kBetween = 14;
    const QFontMetricsF metrics(axisLetters());
    Key key;
    key.texts << rankWord() + QObject::tr(", mean over heads");
    for (int head = 0; head < heads_ && heads_ <= kMostLines; ++head)
      key.texts << QObject::tr("head %1").arg(head);
    // Entries that do not fit continue in the next row: no head is left without a name.
    double x = 0, y = 0;
    for (const QString& text : key.texts) {
      const double width = kSign + metrics.horizontalAdvance(text) + 2;
      if (x > 0 && x + width > room) {
        x = 0;
        y += kRow;
      }
      key.places.emplace_back(x, y);
      x += width + kBetween;
    }
    key.height = y + kRow;
    return key;
  }

  /// The heads' colours and the marker, along the bottom; returns its height.
  double drawKey(QPainter& painter, const QRectF& body) const {
    constexpr double kGap = 6;
    painter.setFont(axisLetters());
    const auto [texts, places, height] = keyPlaces(body.width());
    for (qsizetype i = 0; i < texts.size(); ++i) {
      const QPointF at =
          QPointF(body.left(), body.bottom() - height) + places[static_cast<std::size_t>(i)];
      const QPointF left = at + QPointF(0, kRow / 2);
      if (i == 0) {
        painter.setPen(QPen(themeColors().panel, 1));
        painter.setBrush(themeColors().text);
        painter.drawEllipse(left + QPointF(8, 0), 3.5, 3.5);
        painter.setBrush(Qt::NoBrush);
      } else {
        painter.setPen(QPen(headColor(static_cast<int>(i) - 1), 2));
        painter.drawLine(left, left + QPointF(16, 0));
      }
      painter.setPen(themeColors().muted);
      painter.drawText(QRectF(at.x() + kSign, at.y(), body.right() - at.x() - kSign, kRow),
                       Qt::AlignLeft | Qt::AlignVCenter, texts[i]);
    }
    return height + kGap;
  }

  Json meta_;
  int layers_ = 0, heads_ = 0, size_ = 0;
  std::vector<double> values_, cumulative_;
  double share_ = 0.8;  ///< of the sum that the rank must hold
  QStringList layerNames_;
};

}  // namespace

std::unique_ptr<Figure> makeSpectrum(const Json& meta, std::vector<std::byte> data,
                                     FigureStyle style) {
  return std::make_unique<SpectrumFigure>(meta, data, std::move(style));
}

}  // namespace vitrine::ui
