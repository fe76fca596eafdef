// Reliability diagram: accuracy against confidence per bin, the gap between them, and how many
// samples each bin holds (DeGroot and Fienberg 1983). The expected calibration error is that of Guo
// et al. 2017 (arXiv:1706.04599, equation 3).
#include <QFontMetricsF>
#include <QObject>
#include <algorithm>
#include <cmath>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "ui/figures/chart_frame.h"
#include "ui/figures/kinds.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {

namespace {

class ReliabilityFigure final : public Figure {
 public:
  struct Bin {
    double lower, upper, count, confidence, accuracy;
  };

  ReliabilityFigure(const Json& meta, const std::vector<std::byte>& data, FigureStyle style)
      : Figure(std::move(style)), meta_(meta) {
    const ArrayView view = arrayOf(meta, data);
    if (view.shape.size() != 2 || view.shape[1] != 5)
      throw FileError("reliability bins need the shape [bins, 5]");
    static_cast<void>(sidesOf(view, {65'536}));
    for (std::int64_t i = 0; i < view.shape[0]; ++i) {
      bins_.push_back({view.at(5 * i), view.at(5 * i + 1), view.at(5 * i + 2), view.at(5 * i + 3),
                       view.at(5 * i + 4)});
      if (bins_.back().count > 0) samples_ += bins_.back().count;
    }
    for (const Bin& bin : bins_) {
      if (bin.count > 0) ece_ += bin.count / samples_ * std::abs(bin.accuracy - bin.confidence);
    }
  }

  QSize sizeHint() const override { return {520, 520}; }

  QString summary() const override {
    return QObject::tr("Reliability diagram, %1 bins, %2 samples, expected calibration error %3")
        .arg(bins_.size())
        .arg(count(static_cast<std::int64_t>(samples_)), percent(ece_, 2));
  }

  QString csv() const override {
    QString text = QStringLiteral("lower,upper,count,confidence,accuracy\n");
    for (const Bin& bin : bins_) {
      QStringList cells;
      for (const double value : {bin.lower, bin.upper, bin.count, bin.confidence, bin.accuracy})
        cells << csvNumber(value);
      text += cells.join(QLatin1Char(',')) + QLatin1Char('\n');
    }
    return text;
  }

  double leastHeight(double /*width*/) const override { return 280; }

 private:
  void draw(QPainter& painter, const QRectF& area) override {
    // In a small diagram, or where bars are high at its left, the number would lie on the bars.
    const bool isSmall = std::min(area.width(), area.height() - 28) < kLeastWithKey ||
                         isUnderKey(std::min(area.width(), 0.84 * (area.height() - 28)) - 50);
    const QString split = metaText(meta_, "split");
    const QRectF body = drawHeader(painter, area,
                                   split.isEmpty() ? QObject::tr("Reliability")
                                                   : QObject::tr("Reliability, %1").arg(split),
                                   (isSmall ? eceText() + QStringLiteral(" \u00b7 ") : QString()) +
                                       QObject::tr("%1%2 samples \u00b7 %3 bins")
                                           .arg(style().title.isEmpty() || split.isEmpty()
                                                    ? QString()
                                                    : split + QStringLiteral(" \u00b7 "),
                                                count(static_cast<std::int64_t>(samples_)),
                                                QString::number(bins_.size())));
    const double stripHeight = std::clamp(body.height() * 0.16, 24.0, 80.0);
    const double side = std::max(60.0, std::min(body.width(), body.height() - stripHeight - 24));
    const QRectF square(body.left() + std::max(0.0, (body.width() - side) / 2), body.top(),
                        std::min(side, body.width()), side + 12);
    const auto tenths = [](double value, int) { return number(value, 1); };
    const ChartAxis shares{.range = {{0, 1}}, .format = tenths, .target = 5};
    const ChartFrame axes(square, shares, shares,
                          {.font = axisLetters(),
                           .xTitle = QObject::tr("confidence"),
                           .yTitle = QObject::tr("accuracy")});
    axes.draw(painter, themeColors());
    const QColor fill = seriesOrAccent();
    const QColor gapColor = themeColors().warn;
    double most = 0;
    for (const Bin& bin : bins_) most = std::max(most, bin.count);
    const QRectF strip(axes.plot.left(), square.bottom() + 10, axes.plot.width(), stripHeight - 6);
    for (const Bin& bin : bins_) {
      if (!(bin.count > 0)) continue;
      const QRectF bar(axes.at(bin.lower, bin.accuracy), axes.at(bin.upper, 0));
      painter.fillRect(bar.adjusted(0.5, 0, -0.5, 0), fill);
      const QRectF gap = QRectF(axes.at(bin.lower, std::max(bin.accuracy, bin.confidence)),
                                axes.at(bin.upper, std::min(bin.accuracy, bin.confidence)))
                             .adjusted(0.5, 0, -0.5, 0);
      drawHatch(painter, gap, gapColor);
      const double height = strip.height() * bin.count / most;
      const QRectF tally(bar.left() + 0.5, strip.bottom() - height, bar.width() - 1, height);
      painter.fillRect(tally, themeColors().muted);
      const auto describe = [bin](const QPointF&) {
        return QObject::tr(
                   "Confidence %1 to %2\n%3 samples\nmean confidence %4\naccuracy %5\ngap %6")
            .arg(number(bin.lower, 3), number(bin.upper, 3),
                 count(static_cast<std::int64_t>(bin.count)), percent(bin.confidence, 1),
                 percent(bin.accuracy, 1), percent(bin.accuracy - bin.confidence, 1));
      };
      addRegion(QRectF(bar.left(), axes.plot.top(), bar.width(), axes.plot.height()), describe);
      addRegion(QRectF(bar.left(), strip.top(), bar.width(), strip.height()), describe);
    }
    painter.setPen(QPen(themeColors().text, 1, Qt::DashLine));
    painter.drawLine(axes.at(0, 0), axes.at(1, 1));
    if (!isSmall) drawKey(painter, axes.plot, fill, gapColor);
    painter.setFont(axisLetters());
    painter.setPen(QPen(themeColors().line, 1));
    painter.drawLine(QPointF(strip.left(), strip.bottom() + 0.5),
                     QPointF(strip.right(), strip.bottom() + 0.5));
    painter.setPen(themeColors().muted);
    drawLine(painter, QRectF(square.left(), strip.top(), strip.left() - square.left() - 6, 14),
             Qt::AlignRight | Qt::AlignVCenter, shortCount(most));
  }

  void drawHatch(QPainter& painter, const QRectF& rect, const QColor& color) const {
    QColor pale = themeColors().panel;
    pale.setAlpha(150);
    painter.fillRect(rect, pale);
    drawHatchLines(painter, rect, color);
    painter.drawRect(rect);
  }

  /// \param side  about that of the plot, pixels
  [[nodiscard]] bool isUnderKey(double side) const {
    const double right = (14 + kKeyWidth) / side, bottom = 1 - 66 / side;
    return std::any_of(bins_.begin(), bins_.end(), [&](const Bin& bin) {
      return bin.count > 0 && bin.lower < right && std::max(bin.accuracy, bin.confidence) > bottom;
    });
  }

  /// The most a strip shows, short enough for the axis column: "6.1k".
  static QString shortCount(double value) {
    return value >= 10000 ? number(value / 1000, 1) + QLatin1Char('k')
                          : count(static_cast<std::int64_t>(value));
  }

  void drawKey(QPainter& painter, const QRectF& plot, const QColor& fill,
               const QColor& gapColor) const {
    const QFont titleType = titleLetters();
    const QFont keyType = axisLetters();
    const QString ece = eceText();
    double y = plot.top() + 8;
    const double x = plot.left() + 10;
    const double width = std::max(QFontMetricsF(titleType).horizontalAdvance(ece) + 4, kKeyWidth);
    painter.setFont(titleType);
    painter.setPen(themeColors().text);
    painter.drawText(QRectF(x, y, width, 18), Qt::AlignLeft | Qt::AlignVCenter, ece);
    if (plot.width() < 200) return;  // the bars need the room
    y += 22;
    painter.setFont(keyType);
    painter.fillRect(QRectF(x, y + 2, 10, 10), fill);
    painter.setPen(themeColors().muted);
    painter.drawText(QRectF(x + 16, y, width, 14), Qt::AlignLeft | Qt::AlignVCenter,
                     QObject::tr("accuracy"));
    y += 16;
    drawHatch(painter, QRectF(x + 0.5, y + 2.5, 9, 9), gapColor);
    painter.setPen(themeColors().muted);
    painter.drawText(QRectF(x + 16, y, width, 14), Qt::AlignLeft | Qt::AlignVCenter,
                     QObject::tr("gap"));
  }

  QString eceText() const { return QObject::tr("ECE %1").arg(percent(ece_, 2)); }

  static constexpr double kLeastWithKey = 230;  // side of the diagram
  static constexpr double kKeyWidth = 96;

  Json meta_;
  std::vector<Bin> bins_;
  double samples_ = 0;
  double ece_ = 0;
};

}  // namespace

std::unique_ptr<Figure> makeReliability(const Json& meta, std::vector<std::byte> data,
                                        FigureStyle style) {
  return std::make_unique<ReliabilityFigure>(meta, data, std::move(style));
}

}  // namespace vitrine::ui
