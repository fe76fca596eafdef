#include "ui/compare/variant_curves.h"

#include <algorithm>

#include "core/config/lookup.h"
#include "core/store/metrics/metric_format.h"
#include "ui/figures/painting.h"
#include "ui/figures/side_by_side.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

double placeOf(const store::MetricPoint& point, CurveAxis axis) {
  switch (axis) {
    case CurveAxis::Epoch:
      return point.epoch;
    case CurveAxis::Time:
      return point.time;
    case CurveAxis::Step:
      break;
  }
  return static_cast<double>(point.step);
}

ChartAxis axisOf(const CompareChoice& choice) {
  ChartAxis axis{.scale = choice.isLogX ? AxisScale::Log : AxisScale::Linear};
  switch (choice.axis) {
    case CurveAxis::Step:
      axis.title = QObject::tr("step");
      break;
    case CurveAxis::Epoch:
      axis.title = QObject::tr("epoch");
      break;
    case CurveAxis::Time:
      axis.title = QObject::tr("running time");
      axis.unit = ChartAxis::Unit::Duration;
      break;
  }
  return axis;
}

/// What a key says of a run: "variant", "seed" or a configuration key.
QString wordOf(const CompareData& data, std::size_t run, const std::string& key) {
  if (key == "variant") return data.labels[data.ofRun[run]];
  if (key == "seed") return QObject::tr("seed %1").arg(data.runs[run].row.seed);
  const Json* value = valueAt(data.runs[run].config, key);
  return shortKey(key, data.keys) + QLatin1Char(' ') +
         (value == nullptr ? QObject::tr("none") : valueText(*value));
}

/// A line of a chart: a variant, or one of its runs where the seed is asked for.
struct CurveLine {
  std::vector<std::size_t> runs;
  std::size_t variant = 0;
};

/// By seed, the runs that the table takes its values from.
std::map<std::uint64_t, std::int64_t> countedRuns(const CompareData& data,
                                                  const CompareChoice& choice, std::size_t variant,
                                                  const std::string& metric) {
  const auto values = data.measured.values.find(metric);
  if (values == data.measured.values.end()) return {};
  return sampleOf(data.variants.at(variant), data.runs, values->second,
                  data.measured.meanings.at(metric), {}, choice.unfinished)
      .runs;
}

std::vector<CurveLine> linesOf(const CompareData& data, const CompareChoice& choice,
                               const CurveRequest& request) {
  const bool isBySeed = choice.colour == "seed" || choice.dash == "seed" || choice.panel == "seed";
  std::vector<CurveLine> lines;
  for (const std::size_t variant : request.variants) {
    CurveLine line{{}, variant};
    for (const auto& [seed, run] : countedRuns(data, choice, variant, request.metric)) {
      const auto index = data.find(run);
      if (!index) continue;
      line.runs.push_back(*index);
      if (isBySeed) {
        lines.push_back(line);
        line.runs.clear();
      }
    }
    if (!line.runs.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

/// A number for each distinct word, in the order in which they come.
class Numbering {
 public:
  std::size_t operator()(const QString& word) {
    const auto found = std::find(words_.begin(), words_.end(), word);
    if (found != words_.end()) return static_cast<std::size_t>(found - words_.begin());
    words_.push_back(word);
    return words_.size() - 1;
  }

 private:
  std::vector<QString> words_;
};

constexpr Qt::PenStyle kDashes[] = {Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine,
                                    Qt::DashDotDotLine};

double factorOf(const CompareData& data, const std::string& metric) {
  const auto meaning = data.measured.meanings.find(metric);
  if (meaning == data.measured.meanings.end()) return 1;
  return store::metricFormat(metric, meaning->second.unit, {}).isPercent ? 100 : 1;
}

QString metricTitle(const CompareData& data, const std::string& metric) {
  AblationMetric one{metric, {}, factorOf(data, metric) == 100};
  if (const auto found = data.measured.meanings.find(metric); found != data.measured.meanings.end())
    one.meaning = found->second;
  return one.title();
}

/// The band as a series, its values times `factor`.
ChartSeries seriesOfBand(CurveBand band, double factor) {
  ChartSeries series;
  for (auto* values : {&band.centre, &band.lower, &band.upper})
    for (double& value : *values) value *= factor;
  series.x = std::move(band.x);
  series.y = std::move(band.centre);
  series.low = std::move(band.lower);
  series.high = std::move(band.upper);
  return series;
}

}  // namespace

RunCurve curveOf(const std::vector<store::MetricPoint>& points, CurveAxis axis) {
  RunCurve curve;
  curve.x.reserve(points.size());
  curve.y.reserve(points.size());
  for (const store::MetricPoint& point : points) curve.add(placeOf(point, axis), point.value);
  return curve;
}

CurveRequest curveRequest(const CompareData& data, const CompareChoice& choice,
                          const std::vector<std::size_t>& preferred) {
  CurveRequest request;
  if (data.metrics.empty() || data.variants.empty()) return request;
  request.metric = data.metrics.front();
  const std::size_t baseline = data.baseline(choice);
  request.variants.push_back(baseline);
  for (const std::size_t variant : preferred) {
    if (request.variants.size() >= kMostCurves) break;
    if (variant != baseline && variant < data.variants.size()) request.variants.push_back(variant);
  }
  std::sort(request.variants.begin(), request.variants.end());
  for (const std::size_t variant : request.variants) {
    for (const auto& [seed, run] : countedRuns(data, choice, variant, request.metric))
      request.runs.push_back(run);
  }
  return request;
}

std::vector<CurvePanel> variantCharts(const CompareData& data, const CompareChoice& choice,
                                      const CurveRequest& request, const CurvePoints& points,
                                      const std::atomic<bool>* isStale) {
  const double factor = factorOf(data, request.metric);
  const std::vector<CurveLine> lines = linesOf(data, choice, request);
  const bool hasSeeds = std::any_of(lines.begin(), lines.end(),
                                    [](const CurveLine& line) { return line.runs.size() > 1; });
  const auto wordsOf = [&](const CurveLine& line) {
    QStringList words;
    for (const std::string& key : {choice.colour, choice.dash}) {
      if (key.empty()) continue;
      const QString word = wordOf(data, line.runs.front(), key);
      if (!words.contains(word)) words << word;
    }
    return words.join(QStringLiteral(" \u00b7 "));
  };
  const auto panelOf = [&](const CurveLine& line) {
    return choice.panel.empty() ? QString() : wordOf(data, line.runs.front(), choice.panel);
  };
  Numbering colours, dashes;
  std::vector<CurvePanel> panels;
  std::size_t mostRuns = 0;
  bool isOverlapping = true, isCut = false;
  for (const CurveLine& line : lines) {
    if (isStale != nullptr && *isStale) break;
    std::vector<RunCurve> curves;
    for (const std::size_t run : line.runs) {
      const auto found = points.find(data.runs[run].row.id);
      if (found != points.end() && !found->second.empty())
        curves.push_back(curveOf(found->second, choice.axis));
    }
    if (curves.empty()) continue;
    mostRuns = std::max(mostRuns, curves.size());
    isCut = isCut || std::any_of(curves.begin(), curves.end(), [&](const RunCurve& curve) {
              return curve.x.empty() || curve.x.back() != curves.front().x.back();
            });
    ChartSeries series = seriesOfBand(bandOver(curves, choice.centre, choice.spread), factor);
    if (series.x.empty()) isOverlapping = false;
    const std::size_t run = line.runs.front();
    const QString words = wordsOf(line);
    // The label only where the words do not tell the variant.
    const bool isTold = choice.colour == "variant" || choice.dash == "variant" ||
                        std::none_of(lines.begin(), lines.end(), [&](const CurveLine& other) {
                          return other.variant != line.variant && wordsOf(other) == words &&
                                 panelOf(other) == panelOf(line);
                        });
    series.name = words.isEmpty() && isTold ? data.labels[line.variant] : words;
    if (!isTold)
      series.name +=
          (words.isEmpty() ? QString() : QStringLiteral(" \u00b7 ")) + data.labels[line.variant];
    if (hasSeeds) series.name += QStringLiteral(" (n = %1)").arg(curves.size());
    series.run = choice.colour == "variant" ? seriesOf(data, line.variant)
                 : choice.colour.empty()
                     ? 1
                     : static_cast<std::int64_t>(colours(wordOf(data, run, choice.colour))) + 1;
    if (!choice.dash.empty())
      series.dash = kDashes[dashes(wordOf(data, run, choice.dash)) % std::size(kDashes)];
    const QString panel = panelOf(line);
    auto place = std::find_if(panels.begin(), panels.end(),
                              [&](const CurvePanel& one) { return one.name == panel; });
    if (place == panels.end()) {
      panels.push_back({panel, {}});
      place = std::prev(panels.end());
    }
    place->chart.series.push_back(std::move(series));
  }
  if (panels.empty()) panels.push_back({});
  for (CurvePanel& panel : panels) {
    LineChart& chart = panel.chart;
    chart.title = panel.name.isEmpty() ? metricTitle(data, request.metric) : panel.name;
    chart.about = mostRuns > 1 ? bandText(choice.centre, choice.spread) + QObject::tr(" over seeds")
                               : QObject::tr("one run each");
    chart.x = axisOf(choice);
    chart.y.title = metricTitle(data, request.metric);
    chart.y.scale = choice.isLogY ? AxisScale::Log : AxisScale::Linear;
    chart.legend = FigureLegend::Below;
    chart.emptyText =
        QObject::tr("No counted run has points of %1.").arg(data.titleOf(request.metric));
    QStringList notes;
    if (isCut) notes << QObject::tr("up to the shortest seed");
    if (!isOverlapping) notes << QObject::tr("variants whose seeds do not overlap are not drawn");
    if (data.variants.size() > request.variants.size()) {
      notes << QObject::tr("%1 of %2 variants are drawn")
                   .arg(request.variants.size())
                   .arg(data.variants.size());
    }
    chart.footnote = notes.join(QStringLiteral("; "));
  }
  return panels;
}

LineChart differenceChart(const CompareData& data, const CompareChoice& choice,
                          const CurveRequest& request, const CurvePoints& points,
                          const std::atomic<bool>* isStale) {
  LineChart chart;
  const double factor = factorOf(data, request.metric);
  const std::size_t baseline = data.baseline(choice);
  const QString baselineLabel = data.labels.empty() ? QString() : data.labels[baseline];
  chart.title = QObject::tr("Difference to %1").arg(baselineLabel);
  chart.about = QObject::tr("mean over common seeds, band: 95\u2009% interval");
  chart.x = axisOf(choice);
  chart.y.title = QStringLiteral("\u0394 ") + metricTitle(data, request.metric);
  if (factor == 100)
    chart.y.title = QObject::tr("\u0394 %1 (points)").arg(data.titleOf(request.metric));
  chart.rules.push_back({Qt::Horizontal, 0, QObject::tr("baseline")});
  chart.legend = FigureLegend::Below;
  chart.emptyText =
      data.variants.size() < 2
          ? QObject::tr("One variant: there is nothing to subtract.")
          : QObject::tr("No variant has a counted run of a seed that %1 has.").arg(baselineLabel);
  const auto base = data.variants.empty() ? std::map<std::uint64_t, std::int64_t>()
                                          : countedRuns(data, choice, baseline, request.metric);
  for (const std::size_t variant : request.variants) {
    if (variant == baseline) continue;
    if (isStale != nullptr && *isStale) break;
    std::vector<RunCurve> differences;
    for (const auto& [seed, run] : countedRuns(data, choice, variant, request.metric)) {
      const auto other = base.find(seed);
      if (other == base.end()) continue;
      const auto ours = points.find(run), theirs = points.find(other->second);
      if (ours == points.end() || theirs == points.end()) continue;
      const RunCurve a = curveOf(ours->second, choice.axis);
      const RunCurve b = curveOf(theirs->second, choice.axis);
      RunCurve difference{commonPlaces({&a, &b}), {}};
      if (difference.x.empty()) continue;
      const std::vector<double> av = valuesAt(a, difference.x), bv = valuesAt(b, difference.x);
      for (std::size_t i = 0; i < av.size(); ++i) difference.y.push_back(av[i] - bv[i]);
      differences.push_back(std::move(difference));
    }
    if (differences.empty()) continue;
    ChartSeries series =
        seriesOfBand(bandOver(differences, Centre::Mean, Spread::Interval), factor);
    series.name = QStringLiteral("%1 (n = %2)")
                      .arg(data.labels[variant], QString::number(differences.size()));
    series.run = seriesOf(data, variant);
    chart.series.push_back(std::move(series));
  }
  if (std::any_of(chart.series.begin(), chart.series.end(),
                  [](const ChartSeries& series) { return series.low.empty(); }))
    chart.footnote = QObject::tr("one common seed: no interval");
  return chart;
}

namespace {

class PanelsFigure final : public Figure {
 public:
  PanelsFigure(std::vector<CurvePanel> panels, FigureStyle style) : Figure(std::move(style)) {
    for (CurvePanel& panel : panels) {
      names_ << panel.name;
      figures_.push_back(makeLineChart(std::move(panel.chart), this->style()));
    }
  }
  void setStyle(const FigureStyle& style) override {
    Figure::setStyle(style);
    for (const auto& figure : figures_) lendStyle(*figure, style);
  }
  QSize sizeHint() const override {
    const FigureGrid all = grid(1e6);
    return {420 * all.across, 300 * all.down};
  }
  double leastHeight(double width) const override {
    const FigureGrid all = grid(width);
    double highest = FigureGrid::kLeastHeight;
    for (const auto& figure : figures_)
      highest = std::max(highest, figure->leastHeight(width / all.across));
    return all.down * highest;
  }
  QString summary() const override {
    QStringList parts;
    for (const auto& figure : figures_) parts << figure->summary();
    return parts.join(QLatin1Char(' '));
  }
  QString csv() const override {
    QString text;
    for (std::size_t i = 0; i < figures_.size(); ++i) {
      QStringList lines = figures_[i]->csv().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
      for (qsizetype line = i == 0 ? 0 : 1; line < lines.size(); ++line) {
        text += (line == 0 ? QStringLiteral("panel") : csvText(names_[static_cast<qsizetype>(i)])) +
                QLatin1Char(',') + lines[line] + QLatin1Char('\n');
      }
    }
    return text;
  }
  QString note() const override { return figures_.empty() ? QString() : figures_[0]->note(); }

 private:
  FigureGrid grid(double width) const {
    const int most = figures_.size() < 2 ? 1 : figures_.size() < 5 ? 2 : 3;
    return figureGrid(static_cast<int>(figures_.size()), most, width);
  }
  void draw(QPainter& painter, const QRectF& area) override {
    // Each has a margin of its own.
    const QRectF whole = area.adjusted(-kMargin, -kMargin, kMargin, kMargin);
    const auto [across, down] = grid(whole.width());
    const double width = whole.width() / across, height = whole.height() / down;
    for (int i = 0; i < static_cast<int>(figures_.size()); ++i) {
      Figure& figure = *figures_[static_cast<std::size_t>(i)];
      const QRectF rect(whole.left() + width * (i % across), whole.top() + height * (i / across),
                        width, height);
      figure.paint(painter, rect);
      addRegion(rect, [&figure](const QPointF& point) { return figure.describeAt(point); });
    }
  }

  QStringList names_;
  std::vector<std::unique_ptr<LineChartFigure>> figures_;
};

}  // namespace

std::unique_ptr<Figure> makePanels(std::vector<CurvePanel> panels, FigureStyle style) {
  if (panels.size() == 1) return makeLineChart(std::move(panels.front().chart), std::move(style));
  return std::make_unique<PanelsFigure>(std::move(panels), std::move(style));
}

}  // namespace vitrine::ui
