// The reliability diagram of several runs: bars of the current one, a line for each.
#include <QFontMetricsF>
#include <QObject>
#include <algorithm>

#include "ui/calibration/calibration_figures.h"
#include "ui/figures/chart_frame.h"
#include "ui/figures/chart_marks.h"
#include "ui/figures/painting.h"
#include "ui/kit/series/run_series.h"

namespace vitrine::ui {

namespace {

class ReliabilityOverlay final : public Figure {
 public:
  ReliabilityOverlay(ReliabilityPicture picture, FigureStyle style)
      : Figure(std::move(style)), picture_(std::move(picture)) {}

  QSize sizeHint() const override { return {460, 380}; }
  double leastHeight(double width) const override {
    return 2 * kMargin + headerHeight(width - 2 * kMargin, title(), picture_.about) + 220;
  }

  QString summary() const override {
    QStringList runs;
    for (const ReliabilityPicture::Line& line : picture_.lines) {
      runs << QObject::tr("%1 at T %2: calibration error %3")
                  .arg(line.name, number(line.temperature, 2),
                       percent(calibrationError(line.bins, samplesOf(line)), 2));
    }
    return QStringLiteral("%1, %2; %3")
        .arg(title(), picture_.about, runs.join(QStringLiteral("; ")));
  }

  QString csv() const override {
    QString text = QStringLiteral("run,temperature,bin,lower,upper,count,confidence,accuracy\n");
    for (const ReliabilityPicture::Line& line : picture_.lines) {
      for (std::size_t i = 0; i < line.bins.size(); ++i) {
        const ReliabilityBin& bin = line.bins[i];
        QStringList cells{csvText(line.name),     csvNumber(line.temperature),
                          QString::number(i + 1), csvNumber(bin.lower),
                          csvNumber(bin.upper),   QString::number(bin.count)};
        const double missing = std::nan("");
        cells << csvNumber(bin.count > 0 ? bin.confidence : missing)
              << csvNumber(bin.count > 0 ? bin.accuracy : missing);
        text += cells.join(QLatin1Char(',')) + QLatin1Char('\n');
      }
    }
    return text;
  }

  int imageCount() const override {
    return picture_.lines.empty() ? 0 : static_cast<int>(picture_.lines.front().bins.size());
  }

 private:
  static std::size_t samplesOf(const ReliabilityPicture::Line& line) {
    std::size_t sum = 0;
    for (const ReliabilityBin& bin : line.bins) sum += static_cast<std::size_t>(bin.count);
    return sum;
  }

  QString title() const { return style().title.isEmpty() ? picture_.title : style().title; }

  void draw(QPainter& painter, const QRectF& area) override {
    QRectF body = drawHeader(painter, area, picture_.title, picture_.about);
    const auto tenths = [](double value, int) { return number(value, 1); };
    const ChartAxis shares{.range = {{0, 1}}, .format = tenths, .target = 5};
    constexpr double kCounts = 22;
    const QRectF plotArea = body.adjusted(0, 0, 0, -kCounts);
    const ChartFrame axes(
        plotArea, shares, shares,
        {.font = axisLetters(), .xTitle = picture_.quantity, .yTitle = QObject::tr("accuracy")});
    if (picture_.lines.empty()) return axes.draw(painter, themeColors());
    const auto current = static_cast<std::size_t>(
        std::clamp(picture_.current, 0, static_cast<int>(picture_.lines.size()) - 1));
    const ReliabilityPicture::Line& main = picture_.lines[current];
    drawChosen(painter, axes, main, body.bottom());
    axes.draw(painter, themeColors());
    drawBars(painter, axes, main);
    painter.setPen(QPen(themeColors().text, 1, Qt::DashLine));
    painter.drawLine(axes.at(0, 0), axes.at(1, 1));
    if (!picture_.before.empty())
      drawRun(painter, axes, picture_.before, main.run, Qt::DotLine, 0.6);
    for (std::size_t i = 0; i < picture_.lines.size(); ++i) {
      if (i != current)
        drawRun(painter, axes, picture_.lines[i].bins, picture_.lines[i].run, Qt::SolidLine, 1);
    }
    drawRun(painter, axes, main.bins, main.run, Qt::SolidLine, 1);
    drawKey(painter, axes.plot, main);
    drawCounts(painter, axes, main, body);
    for (std::size_t i = 0; i < main.bins.size(); ++i) addBin(axes, i, body.bottom());
  }

  QColor runColor(std::int64_t run) const { return seriesColor(seriesOf(run), style().theme); }

  void drawChosen(QPainter& painter, const ChartFrame& axes, const ReliabilityPicture::Line& line,
                  double bottom) const {
    if (picture_.bin < 0 || picture_.bin >= static_cast<int>(line.bins.size())) return;
    const ReliabilityBin& bin = line.bins[static_cast<std::size_t>(picture_.bin)];
    const QRectF column(QPointF(axes.x.pixelOf(bin.lower), axes.plot.top()),
                        QPointF(axes.x.pixelOf(bin.upper), bottom));
    painter.fillRect(column, themeColors().selection);
    drawOutline(painter, column);
  }

  void drawBars(QPainter& painter, const ChartFrame& axes,
                const ReliabilityPicture::Line& line) const {
    for (const ReliabilityBin& bin : line.bins) {
      if (bin.count == 0) continue;
      const QRectF bar =
          QRectF(axes.at(bin.lower, bin.accuracy), axes.at(bin.upper, 0)).adjusted(1, 0, -1, 0);
      const bool isPale = bin.count < kFewSamples;
      QColor fill = runColor(line.run);
      fill.setAlphaF(isPale ? 0.10F : 0.28F);
      painter.fillRect(bar, fill);
      QColor edge = runColor(line.run);
      edge.setAlphaF(isPale ? 0.4F : 1.0F);
      painter.setPen(QPen(edge, 1));
      painter.drawLine(bar.topLeft(), bar.topRight());
      if (!picture_.hasGap) continue;
      const double high = std::max(bin.accuracy, bin.confidence);
      const double low = std::min(bin.accuracy, bin.confidence);
      edge.setAlphaF(isPale ? 0.25F : 0.55F);
      const QRectF gap(axes.at(bin.lower, high), axes.at(bin.upper, low));
      drawHatchLines(painter, gap.adjusted(1, 0, -1, 0), edge);
    }
  }

  void drawRun(QPainter& painter, const ChartFrame& axes, const std::vector<ReliabilityBin>& bins,
               std::int64_t run, Qt::PenStyle pen, double opacity) const {
    std::vector<QPointF> points;
    for (const ReliabilityBin& bin : bins) {
      if (bin.count > 0) points.push_back(axes.at(bin.confidence, bin.accuracy));
    }
    painter.save();
    painter.setOpacity(opacity);
    painter.setPen(pen == Qt::SolidLine ? QPen(runColor(run), 1.5, seriesDash(seriesOf(run)))
                                        : QPen(runColor(run), 1, pen));
    drawPolyline(painter, axes.plot, points);
    if (pen == Qt::SolidLine) {
      for (const QPointF& point : points)
        drawSymbol(painter, seriesSymbol(seriesOf(run)), point, runColor(run), themeColors().panel);
    }
    painter.restore();
  }

  void drawKey(QPainter& painter, const QRectF& plot, const ReliabilityPicture::Line& main) const {
    struct Entry {
      QString text;
      std::int64_t run = 0;  // 0: the gap, -1: T = 1
    };
    std::vector<Entry> entries;
    for (const ReliabilityPicture::Line& line : picture_.lines)
      entries.push_back(
          {line.name + QStringLiteral(", T ") + number(line.temperature, 2), line.run});
    if (picture_.hasGap) entries.push_back({QObject::tr("gap to the confidence"), 0});
    if (!picture_.before.empty()) entries.push_back({QObject::tr("the same at T 1.00"), -1});
    painter.setFont(axisLetters());
    const double width = std::min(plot.width() * 0.55, 230.0);
    double y = plot.top() + 6;
    for (const Entry& entry : entries) {
      if (y + 16 > plot.top() + plot.height() * 0.45) break;  // the bars need the room
      const QRectF sign(plot.left() + 8, y, 18, 14);
      if (entry.run > 0) {
        drawSeriesKey(painter, sign, seriesOf(entry.run), style().theme);
      } else if (entry.run == 0) {
        drawHatchLines(painter, sign.adjusted(2, 1, -2, -1), runColor(main.run));
      } else {
        painter.setPen(QPen(runColor(main.run), 1, Qt::DotLine));
        painter.drawLine(QPointF(sign.left(), sign.center().y()),
                         QPointF(sign.right(), sign.center().y()));
      }
      painter.setPen(themeColors().text);
      drawLine(painter, QRectF(sign.right() + 6, y, width - 24, 14),
               Qt::AlignLeft | Qt::AlignVCenter, entry.text);
      y += 16;
    }
  }

  void drawCounts(QPainter& painter, const ChartFrame& axes, const ReliabilityPicture::Line& line,
                  const QRectF& body) const {
    painter.setFont(axisLetters());
    const QFontMetricsF metrics(painter.font());
    const double top = body.bottom() - 18;
    painter.setPen(themeColors().muted);
    painter.drawText(QRectF(body.left(), top, axes.plot.left() - body.left() - 6, 16),
                     Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("n"));
    double free = axes.plot.left() - 8;
    for (std::size_t i = 0; i < line.bins.size(); ++i) {
      const ReliabilityBin& bin = line.bins[i];
      const QString text = bin.count == 0 ? QStringLiteral("\u2013") : count(bin.count);
      const double width = metrics.horizontalAdvance(text) + 2;
      const double middle = axes.x.pixelOf((bin.lower + bin.upper) / 2);
      if (middle - width / 2 < free + 4) continue;  // the tool tip says it
      const bool isChosen = static_cast<int>(i) == picture_.bin;
      painter.setPen(isChosen ? themeColors().text : themeColors().muted);
      painter.drawText(QRectF(middle - width / 2, top, width, 16), Qt::AlignCenter, text);
      free = middle + width / 2;
    }
  }

  void addBin(const ChartFrame& axes, std::size_t i, double bottom) {
    const ReliabilityBin& own =
        picture_
            .lines[static_cast<std::size_t>(
                std::clamp(picture_.current, 0, static_cast<int>(picture_.lines.size()) - 1))]
            .bins[i];
    const QRectF column(QPointF(axes.x.pixelOf(own.lower), axes.plot.top()),
                        QPointF(axes.x.pixelOf(own.upper), bottom));
    QStringList lines{QObject::tr("%1 above %2 up to %3")
                          .arg(picture_.quantity, number(own.lower, 3), number(own.upper, 3))};
    for (const ReliabilityPicture::Line& line : picture_.lines) {
      if (i >= line.bins.size()) continue;
      const ReliabilityBin& bin = line.bins[i];
      lines << (bin.count == 0 ? QObject::tr("%1: no images").arg(line.name)
                               : QObject::tr("%1: n %2, confidence %3, accuracy %4, gap %5")
                                     .arg(line.name, count(bin.count), percent(bin.confidence, 1),
                                          percent(bin.accuracy, 1),
                                          percent(bin.accuracy - bin.confidence, 1)));
    }
    addRegion(column, [text = lines.join(QLatin1Char('\n'))](const QPointF&) { return text; });
    addTarget(column, FigureTarget{.image = static_cast<int>(i)});
  }

  ReliabilityPicture picture_;
};

}  // namespace

std::unique_ptr<Figure> makeReliabilityFigure(ReliabilityPicture picture, FigureStyle style) {
  return std::make_unique<ReliabilityOverlay>(std::move(picture), std::move(style));
}

}  // namespace vitrine::ui
