// Bars over their bins.
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

class HistogramFigure final : public Figure {
 public:
  struct Bin {
    double lower, upper, count;
  };

  HistogramFigure(const Json& meta, const std::vector<std::byte>& data, FigureStyle style)
      : Figure(std::move(style)), meta_(meta) {
    const ArrayView view = arrayOf(meta, data);
    if (view.shape.size() != 2 || view.shape[1] != 3)
      throw FileError("a histogram needs the shape [bins, 3]");
    static_cast<void>(sidesOf(view, {65'536}));
    for (std::int64_t i = 0; i < view.shape[0]; ++i)
      bins_.push_back({view.at(3 * i), view.at(3 * i + 1), view.at(3 * i + 2)});
  }

  QString summary() const override {
    double total = 0;
    for (const Bin& bin : bins_) total += bin.count;
    return QObject::tr("Histogram of %1 bins, %2 values").arg(bins_.size()).arg(shortNumber(total));
  }

  QString csv() const override {
    QString text = QStringLiteral("lower,upper,count\n");
    for (const Bin& bin : bins_) {
      text += csvNumber(bin.lower) + QLatin1Char(',') + csvNumber(bin.upper) + QLatin1Char(',') +
              csvNumber(bin.count) + QLatin1Char('\n');
    }
    return text;
  }

 private:
  void draw(QPainter& painter, const QRectF& area) override {
    const QString title = metaText(meta_, "title");
    const QRectF body = drawHeader(
        painter, area, title.isEmpty() ? QObject::tr("Histogram") : title, metaAbout(meta_));
    if (bins_.empty()) {
      drawNothing(painter, body, QObject::tr("No bins."));
      return;
    }
    double x0 = bins_.front().lower, x1 = bins_.front().upper, top = 0;
    for (const Bin& bin : bins_) {
      x0 = std::min(x0, bin.lower);
      x1 = std::max(x1, bin.upper);
      if (std::isfinite(bin.count)) top = std::max(top, bin.count);
    }
    if (!(x1 > x0)) x1 = x0 + 1;
    const ChartFrame axes(
        body, {.range = {{x0, x1}}, .target = 6},
        {.range = {{0, top > 0 ? top * 1.05 : 1}}, .target = 5},
        {.font = axisLetters(), .xTitle = metaText(meta_, "unit"), .yTitle = QObject::tr("count")});
    axes.draw(painter, themeColors());
    QColor fill = seriesOrAccent();
    painter.setPen(QPen(themeColors().panel, 1));
    for (const Bin& bin : bins_) {
      if (!std::isfinite(bin.count)) continue;
      const QRectF bar(axes.at(bin.lower, bin.count), axes.at(bin.upper, 0));
      painter.fillRect(bar.adjusted(0.5, 0, -0.5, 0), fill);
      const QRectF column(bar.left(), axes.plot.top(), bar.width(), axes.plot.height());
      addRegion(column, [bin](const QPointF&) {
        return QObject::tr("%1 to %2: %3")
            .arg(shortNumber(bin.lower), shortNumber(bin.upper), shortNumber(bin.count));
      });
    }
  }

  Json meta_;
  std::vector<Bin> bins_;
};

}  // namespace

std::unique_ptr<Figure> makeHistogram(const Json& meta, std::vector<std::byte> data,
                                      FigureStyle style) {
  return std::make_unique<HistogramFigure>(meta, data, std::move(style));
}

}  // namespace vitrine::ui
