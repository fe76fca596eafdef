#include "ui/figures/cues/cue_picture.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "ui/figures/chart_marks.h"
#include "ui/figures/kinds.h"
#include "ui/figures/line_chart.h"
#include "ui/figures/painting.h"
#include "ui/kit/series/run_series.h"

namespace vitrine::ui {

namespace {

constexpr double kCueRow = 18, kCueLegend = 16, kCueAxis = 34;

class CueFigure final : public Figure {
 public:
  CueFigure(CuePicture picture, FigureStyle style)
      : Figure(std::move(style)), picture_(std::move(picture)) {
    std::size_t categories = 0;
    for (const CuePicture::Run& run : picture_.runs)
      categories = std::max(categories, run.decisions.categories.size());
    order_.resize(categories);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [this](std::size_t a, std::size_t b) { return shareOf(a) > shareOf(b); });
  }

  QSize sizeHint() const override { return {420, 420}; }
  double leastHeight(double) const override {
    return 2 * kMargin + 28 + kCueRow * static_cast<double>(order_.size()) + kCueAxis +
           kCueLegend * static_cast<double>(picture_.runs.size());
  }
  QString summary() const override {
    QStringList runs;
    for (const CuePicture::Run& run : picture_.runs) runs << lineOf(run);
    return QStringLiteral("%1; %2").arg(picture_.title, runs.join(QStringLiteral("; ")));
  }
  QString csv() const override {
    // An artifact alone does not know its run.
    const bool hasRuns = !picture_.runs.empty() && picture_.runs.front().run != 0;
    QString text = hasRuns ? QStringLiteral("run,") : QString();
    text += QStringLiteral("category,images,shape,texture,shape_share\n");
    for (const CuePicture::Run& run : picture_.runs) {
      for (std::size_t i = 0; i < run.decisions.categories.size(); ++i) {
        const CueCounts& one = run.decisions.categories[i];
        if (hasRuns) text += csvText(run.name) + QLatin1Char(',');
        text += QStringLiteral("%1,%2,%3,%4,%5\n")
                    .arg(csvText(nameOf(i)), csvNumber(one.images), csvNumber(one.shape),
                         csvNumber(one.texture), csvNumber(one.shapeShare()));
      }
    }
    return text;
  }

 private:
  std::int64_t seriesIn(const CuePicture::Run& run) const {
    return run.run != 0 ? seriesOf(run.run) : std::max<std::int64_t>(style().run, 1);
  }
  QString nameOf(std::size_t category) const {
    for (const CuePicture::Run& run : picture_.runs) {
      if (static_cast<qsizetype>(category) < run.decisions.names.size())
        return run.decisions.names[static_cast<qsizetype>(category)];
    }
    return QString::number(category);
  }
  /// Of the first run; categories that decided nothing come last.
  double shareOf(std::size_t category) const {
    const std::vector<CueCounts>& first = picture_.runs.front().decisions.categories;
    const double share = category < first.size() ? first[category].shapeShare() : std::nan("");
    return std::isnan(share) ? -1 : share;
  }
  static QString lineOf(const CuePicture::Run& run) {
    const CueCounts sum = run.decisions.sum();
    if (!(sum.either() > 0)) return QObject::tr("%1: no decision for either cue").arg(run.name);
    return QObject::tr("%1: %2 by shape, %3 of %4 images for either cue")
        .arg(run.name, percent(sum.shapeShare(), 1), count(std::llround(sum.either())),
             count(std::llround(sum.images)));
  }

  void draw(QPainter& painter, const QRectF& area) override {
    const QRectF body = drawHeader(painter, area, picture_.title, picture_.about);
    if (order_.empty()) return;
    painter.setFont(axisLetters());
    const QFontMetricsF metrics(painter.font());
    double widest = 0;
    for (const std::size_t category : order_)
      widest = std::max(widest, metrics.horizontalAdvance(nameOf(category)));
    const double names = std::min(widest + 10, body.width() * 0.4);
    const double legend = kCueLegend * static_cast<double>(picture_.runs.size());
    const QRectF plot(body.left() + names, body.top() + 4, body.width() - names - 8,
                      body.height() - kCueAxis - legend - 4);
    const double row = plot.height() / static_cast<double>(order_.size());
    const auto xOf = [&](double share) { return plot.left() + share * plot.width(); };
    for (const double tick : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      painter.setPen(QPen(themeColors().grid, 1));
      painter.drawLine(QPointF(xOf(tick), plot.top()), QPointF(xOf(tick), plot.bottom()));
      painter.setPen(themeColors().muted);
      painter.drawText(QRectF(xOf(tick) - 24, plot.bottom() + 2, 48, 14), Qt::AlignCenter,
                       percent(tick, 0));
    }
    drawLine(painter, QRectF(plot.left(), plot.bottom() + 16, plot.width(), 14), Qt::AlignLeft,
             QObject::tr("all by texture"));
    drawLine(painter, QRectF(plot.left(), plot.bottom() + 16, plot.width(), 14), Qt::AlignRight,
             QObject::tr("all by shape"));
    for (std::size_t place = 0; place < order_.size(); ++place) {
      const double y = plot.top() + (static_cast<double>(place) + 0.5) * row;
      // Where rows are lower than letters, every other name.
      if (row >= metrics.height() * 0.8 || place % 2 == 0) {
        painter.setPen(themeColors().muted);
        drawLine(painter, QRectF(body.left(), y - 8, names - 8, 16),
                 Qt::AlignRight | Qt::AlignVCenter, nameOf(order_[place]));
      }
      painter.setPen(QPen(themeColors().grid, 1));
      painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
    }
    double below = plot.bottom() + kCueAxis;
    for (const CuePicture::Run& run : picture_.runs) {
      drawRun(painter, plot, row, run);
      drawSeriesKey(painter, QRectF(body.left(), below, 24, kCueLegend), seriesIn(run),
                    style().theme);
      painter.setFont(axisLetters());
      painter.setPen(themeColors().text);
      drawLine(painter, QRectF(body.left() + 30, below, body.width() - 30, kCueLegend),
               Qt::AlignLeft | Qt::AlignVCenter, lineOf(run));
      below += kCueLegend;
    }
  }

  void drawRun(QPainter& painter, const QRectF& plot, double row, const CuePicture::Run& run) {
    const QColor color = seriesColor(seriesIn(run), style().theme);
    const double mean = run.decisions.sum().shapeShare();
    if (std::isfinite(mean)) {
      const double x = plot.left() + mean * plot.width();
      painter.setPen(QPen(color, 1, Qt::DashLine));
      painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
    }
    for (std::size_t place = 0; place < order_.size(); ++place) {
      if (order_[place] >= run.decisions.categories.size()) continue;
      const CueCounts& one = run.decisions.categories[order_[place]];
      const double share = one.shapeShare();
      if (!std::isfinite(share)) continue;
      const QPointF at(plot.left() + share * plot.width(),
                       plot.top() + (static_cast<double>(place) + 0.5) * row);
      drawSymbol(painter, seriesSymbol(seriesIn(run)), at, color, themeColors().panel, 4);
      const QString text = QObject::tr("%1, %2: %3 by shape, %4 by texture, %5 of neither")
                               .arg(run.name, nameOf(order_[place]), count(std::llround(one.shape)),
                                    count(std::llround(one.texture)),
                                    count(std::llround(one.images - one.either())));
      addRegion(QRectF(at - QPointF(7, 7), QSizeF(14, 14)),
                [text](const QPointF&) { return text; });
    }
  }

  CuePicture picture_;
  std::vector<std::size_t> order_;
};

}  // namespace

double CueCounts::shapeShare() const {
  return either() > 0 ? shape / either() : std::numeric_limits<double>::quiet_NaN();
}

CueCounts CueDecisions::sum() const {
  CueCounts all;
  for (const CueCounts& one : categories) {
    all.images += one.images;
    all.shape += one.shape;
    all.texture += one.texture;
  }
  return all;
}

CueDecisions readCueDecisions(const Json& meta, std::span<const std::byte> data) {
  const ArrayView view = arrayOf(meta, data);
  if (view.shape.size() != 2 || view.shape[1] != 3)
    throw FileError("decisions between cues need the shape [classes, 3]");
  CueDecisions decisions;
  for (std::int64_t i = 0; i < view.shape[0]; ++i) {
    const CueCounts one{view.at(3 * i), view.at(3 * i + 1), view.at(3 * i + 2)};
    if (!(one.shape >= 0) || !(one.texture >= 0) || !(one.either() <= one.images))
      throw FileError("decisions between cues are more than the images, or fewer than none");
    decisions.categories.push_back(one);
  }
  decisions.names = metaTexts(meta, {"class_names"});
  return decisions;
}

std::unique_ptr<Figure> makeCueFigure(CuePicture picture, FigureStyle style) {
  return std::make_unique<CueFigure>(std::move(picture), std::move(style));
}

std::unique_ptr<Figure> makeCueDecisions(const Json& meta, std::vector<std::byte> data,
                                         FigureStyle style) {
  CuePicture picture{.title = QObject::tr("Shape or texture"), .about = metaAbout(meta)};
  picture.runs.push_back({0, QObject::tr("all categories"), readCueDecisions(meta, data)});
  return makeCueFigure(std::move(picture), std::move(style));
}

}  // namespace vitrine::ui
