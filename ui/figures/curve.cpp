// A curve of an analysis: a chart of one line, or of several over the same x.
#include <QObject>
#include <cmath>
#include <string>

#include "core/artifact/artifact.h"
#include "core/base/error.h"
#include "ui/figures/kinds.h"
#include "ui/figures/line_chart.h"
#include "ui/figures/painting.h"

namespace vitrine::ui {
namespace {

constexpr std::int64_t kMostCurveLines = 64;

class CurveFigure final : public LineChartFigure {
 public:
  /// \param points  as they are stored: x, then a y for each line
  CurveFigure(LineChart chart, std::vector<std::vector<double>> points, FigureStyle style)
      : LineChartFigure(std::move(chart), std::move(style)), points_(std::move(points)) {}

  QString csv() const override {
    const auto named = [](const QString& title, const char* otherwise) {
      return csvText(title.isEmpty() ? QLatin1String(otherwise) : title);
    };
    QString text = named(chart().x.title, "x");
    for (const ChartSeries& line : chart().series)
      text += QLatin1Char(',') + named(line.name.isEmpty() ? chart().y.title : line.name, "y");
    text += QLatin1Char('\n');
    for (const std::vector<double>& point : points_) {
      QStringList cells;
      for (const double value : point) cells << csvNumber(value);
      text += cells.join(QLatin1Char(',')) + QLatin1Char('\n');
    }
    return text;
  }

 private:
  std::vector<std::vector<double>> points_;
};

}  // namespace

std::unique_ptr<Figure> makeCurve(const Json& meta, std::vector<std::byte> data,
                                  FigureStyle style) {
  const ArrayView view = arrayOf(meta, data);
  if (view.shape.size() != 2 || view.shape[1] < 2 || view.shape[1] > 1 + kMostCurveLines)
    throw FileError("a curve needs the shape [points, 2], or [points, 1 + lines] of at most " +
                    std::to_string(kMostCurveLines) + " lines");
  LineChart chart{.title = metaText(meta, "title")};
  if (chart.title.isEmpty()) chart.title = QObject::tr("Curve");
  chart.about = metaAbout(meta);
  chart.x.title = metaText(meta, "x");
  chart.y.title = metaText(meta, "y");
  if (chart.y.title.isEmpty()) chart.y.title = metaText(meta, "unit");
  chart.x.target = 6;
  chart.y.target = 5;
  chart.emptyText = QObject::tr("No finite points.");
  if (metaText(meta, "scale") == QStringLiteral("log"))
    chart.x.scale = chart.y.scale = AxisScale::Log;
  const std::int64_t width = view.shape[1];
  const QStringList names = metaTexts(meta, {"lines"});
  chart.series.resize(static_cast<std::size_t>(width - 1));
  for (std::int64_t line = 1; line < width; ++line) {
    ChartSeries& series = chart.series[static_cast<std::size_t>(line - 1)];
    const bool isAlone = width == 2;
    series.run = isAlone ? 0 : line;
    series.width = isAlone ? 1 : series.width;
    if (!isAlone) series.name = names.value(line - 1, QObject::tr("line %1").arg(line));
  }
  std::vector<std::vector<double>> points;
  for (std::int64_t i = 0; i < view.shape[0]; ++i) {
    std::vector<double>& point = points.emplace_back();
    for (std::int64_t each = 0; each < width; ++each) point.push_back(view.at(width * i + each));
    if (!std::isfinite(point.front())) continue;
    for (std::size_t line = 0; line < chart.series.size(); ++line) {
      chart.series[line].x.push_back(point.front());
      chart.series[line].y.push_back(point[line + 1]);
    }
  }
  return std::make_unique<CurveFigure>(std::move(chart), std::move(points), std::move(style));
}

}  // namespace vitrine::ui
