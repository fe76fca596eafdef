#include "ui/compare/scatter_chart.h"

#include <QStringList>
#include <algorithm>
#include <limits>
#include <map>

#include "ui/compare/ablation_table.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

/// Larger is better.
double meritOf(double value, Direction direction) {
  return direction == Direction::Lower ? -value : value;
}

QString axisTitle(const Quantity& quantity) {
  return quantity.unit.isEmpty() ? quantity.name
                                 : QStringLiteral("%1 (%2)").arg(quantity.name, quantity.unit);
}

QString betterWord(Direction direction) {
  return direction == Direction::Lower ? QObject::tr("lower") : QObject::tr("higher");
}

const Quantity* quantityNamed(const std::vector<Quantity>& all, const std::string& id) {
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const Quantity& one) { return one.id == id && one.isNumber; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::vector<std::size_t> paretoFront(const std::vector<ScatterPoint>& points, Direction x,
                                     Direction y) {
  std::vector<std::size_t> front;
  if (x == Direction::None || y == Direction::None) return front;
  std::vector<std::size_t> order(points.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto merits = [&](std::size_t i) {
    return std::pair(meritOf(points[i].x, x), meritOf(points[i].y, y));
  };
  // Best x first, of equal x the best y: a point is beaten exactly by what came before.
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return merits(a) > merits(b); });
  double best = -std::numeric_limits<double>::infinity();
  std::pair<double, double> last{};
  for (const std::size_t i : order) {
    const auto merit = merits(i);
    if (merit.second > best || (!front.empty() && merit == last)) {
      front.push_back(i);
      best = merit.second;
      last = merit;
    }
  }
  std::stable_sort(front.begin(), front.end(),
                   [&](std::size_t a, std::size_t b) { return points[a].x < points[b].x; });
  return front;
}

ScatterQuantities scatterQuantities(const CompareData& data, const CompareChoice& choice) {
  const std::vector<Quantity>& all = data.quantities;
  ScatterQuantities out;
  const auto choose = [&](const std::string& wanted,
                          std::initializer_list<std::string> defaults) -> Quantity {
    if (const Quantity* found = quantityNamed(all, wanted)) return *found;
    for (const std::string& id : defaults) {
      if (const Quantity* found = quantityNamed(all, id)) return *found;
    }
    return {};
  };
  const std::string metric = data.metrics.empty() ? "" : "metric:" + data.metrics.front();
  const std::string cost = std::string("metric:") + kDeviceSeconds;
  out.x = choose(choice.scatterX, {cost, "cost:memory", "cost:speed", "run:seed"});
  out.y = choose(choice.scatterY, {metric, "cost:memory"});
  if (out.x.id == cost) out.x.direction = Direction::Lower;
  out.betterX = choice.betterX.value_or(out.x.direction);
  out.betterY = choice.betterY.value_or(out.y.direction);
  return out;
}

std::vector<ScatterPoint> scatterPoints(const CompareData& data, const CompareChoice& choice,
                                        const ScatterQuantities& quantities) {
  std::vector<ScatterPoint> points;
  for (const store::VariantGroup& variant : data.variants) {
    for (const auto& [seed, run] : seedRuns(variant, data.runs, choice.unfinished)) {
      const auto index = data.find(run);
      if (!index) continue;
      const Json x = quantityValue(data, *index, quantities.x, choice.value);
      const Json y = quantityValue(data, *index, quantities.y, choice.value);
      if (x.is_number() && y.is_number())
        points.push_back({*index, x.get<double>(), y.get<double>()});
    }
  }
  return points;
}

LineChart scatterChart(const CompareData& data, const CompareChoice& choice) {
  const ScatterQuantities quantities = scatterQuantities(data, choice);
  const std::vector<ScatterPoint> points = scatterPoints(data, choice, quantities);
  LineChart chart{.title = quantities.y.name + QObject::tr(" against ") + quantities.x.name,
                  .about = QObject::tr("one point a run, ") + valueChoiceText(choice.value)};
  chart.x.title = axisTitle(quantities.x);
  chart.y.title = axisTitle(quantities.y);
  chart.x.scale = choice.isScatterLogX ? AxisScale::Log : AxisScale::Linear;
  chart.y.scale = choice.isScatterLogY ? AxisScale::Log : AxisScale::Linear;
  chart.legend = data.variants.size() > 16 ? FigureLegend::None : FigureLegend::Below;
  chart.emptyText = QObject::tr("No counted run has both numbers.");

  const std::vector<std::size_t> front =
      paretoFront(points, quantities.betterX, quantities.betterY);
  if (front.size() > 1) {
    ChartSeries line;
    line.name = QObject::tr("Pareto front (%1 %2, %3 %4 is better)")
                    .arg(betterWord(quantities.betterX), quantities.x.name,
                         betterWord(quantities.betterY), quantities.y.name);
    line.color = themeColors().muted;
    line.dash = Qt::DashLine;
    line.draw = ChartSeries::Draw::Line;
    line.width = 1;
    for (const std::size_t i : front) {
      // Runs of equal x are one place of the front.
      if (!line.x.empty() && points[i].x == line.x.back()) continue;
      line.x.push_back(points[i].x);
      line.y.push_back(points[i].y);
    }
    if (line.x.size() > 1) chart.series.push_back(std::move(line));
  }
  std::map<std::size_t, ChartSeries> byVariant;
  for (const ScatterPoint& point : points) {
    const std::size_t variant = data.ofRun[point.run];
    ChartSeries& series = byVariant[variant];
    series.name = data.labels[variant];
    series.run = seriesOf(data, variant);
    series.draw = ChartSeries::Draw::Points;
    series.x.push_back(point.x);
    series.y.push_back(point.y);
    series.labels.push_back(QObject::tr("%1, seed %2, run %3")
                                .arg(data.labels[variant],
                                     QString::number(data.runs[point.run].row.seed),
                                     QString::number(data.runs[point.run].row.id)));
  }
  for (auto& [variant, series] : byVariant) chart.series.push_back(std::move(series));
  if (points.empty()) return chart;
  QStringList notes;
  if (quantities.betterX == Direction::None || quantities.betterY == Direction::None) {
    notes << QObject::tr("no front: choose which way is better");
  } else {
    notes << QObject::tr("%1 of %2 runs on the front").arg(front.size()).arg(points.size());
  }
  if (points.size() < data.runs.size())
    notes << QObject::tr("%1 without both numbers or not counted")
                 .arg(counted(static_cast<std::int64_t>(data.runs.size() - points.size()),
                              QObject::tr("run"), QObject::tr("runs")));
  chart.footnote = notes.join(QStringLiteral("; "));
  return chart;
}

}  // namespace vitrine::ui
