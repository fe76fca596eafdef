// A curve of an analysis: a chart of one line.
#include <QObject>
#include <cmath>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "ui/figures/kinds.h"
#include "ui/figures/line_chart.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {
namespace {

class CurveFigure final : public LineChartFigure {
 public:
  CurveFigure(LineChart chart, std::vector<QPointF> points, FigureStyle style)
      : LineChartFigure(std::move(chart), std::move(style)), points_(std::move(points)) {}

  QString csv() const override {
    const auto named = [](const QString& title, const char* otherwise) {
      return csvText(title.isEmpty() ? QLatin1String(otherwise) : title);
    };
    QString text = named(chart().x.title, "x") + QLatin1Char(',') + named(chart().y.title, "y") +
                   QLatin1Char('\n');
    for (const QPointF& point : points_)
      text += csvNumber(point.x()) + QLatin1Char(',') + csvNumber(point.y()) + QLatin1Char('\n');
    return text;
  }

 private:
  std::vector<QPointF> points_;  ///< as they are stored
};

}  // namespace

std::unique_ptr<Figure> makeCurve(const Json& meta, std::vector<std::byte> data,
                                  FigureStyle style) {
  const ArrayView view = arrayOf(meta, data);
  if (view.shape.size() != 2 || view.shape[1] != 2)
    throw FileError("a curve needs the shape [points, 2]");
  LineChart chart;
  chart.title = metaText(meta, "title");
  if (chart.title.isEmpty()) chart.title = QObject::tr("Curve");
  chart.about = metaAbout(meta);
  chart.x.title = metaText(meta, "x");
  chart.y.title = metaText(meta, "y");
  if (chart.y.title.isEmpty()) chart.y.title = metaText(meta, "unit");
  chart.x.target = 6;
  chart.y.target = 5;
  chart.emptyText = QObject::tr("No finite points.");
  ChartSeries series;
  series.run = 0;
  series.width = 1;
  std::vector<QPointF> points;
  for (std::int64_t i = 0; i < view.shape[0]; ++i) {
    points.emplace_back(view.at(2 * i), view.at(2 * i + 1));
    if (!std::isfinite(points.back().x())) continue;
    series.x.push_back(points.back().x());
    series.y.push_back(points.back().y());
  }
  chart.series.push_back(std::move(series));
  return std::make_unique<CurveFigure>(std::move(chart), std::move(points), std::move(style));
}

}  // namespace vitrine::ui
