#include "ui/compare/family_chart.h"

#include <QObject>
#include <algorithm>
#include <cmath>
#include <utility>

namespace vitrine::ui {

namespace {

/// The family as a column of the table would have it: all its members mean the same.
AblationMetric metricOf(const CompareData& data) {
  AblationMetric metric{.name = data.family->name,
                        .meaning = data.measured.meanings.at(data.family->members.begin()->second)};
  metric.meaning.title = store::kindOf(data.kinds, metric.name).title;
  metric.format = store::metricFormat(metric.name, metric.meaning.unit, metric.meaning.title);
  return metric;
}

store::VariantSample memberSample(const CompareData& data, const CompareChoice& choice,
                                  std::size_t variant, const std::string& member) {
  return sampleOf(data.variants.at(variant), data.runs, data.measured.values.at(member),
                  data.measured.meanings.at(member), choice.value, choice.unfinished);
}

/// A line of points, of which one without a spread has a band of no width.
class FamilyLine {
 public:
  void add(double x, const ShownNumber& shown) {
    if (shown.count == 0) return;
    const bool hasSpread = shown.around != ShownNumber::Around::Nothing &&
                           std::isfinite(shown.lower) && std::isfinite(shown.upper);
    series_.x.push_back(x);
    series_.y.push_back(shown.centre);
    series_.low.push_back(hasSpread ? shown.lower : shown.centre);
    series_.high.push_back(hasSpread ? shown.upper : shown.centre);
    hasBand_ = hasBand_ || hasSpread;
    count_ = std::max(count_, shown.count);
  }
  /// Adds the line to the chart where it has a point.
  void addTo(LineChart& chart, const CompareData& data, std::size_t variant) && {
    if (series_.x.empty()) return;
    if (!hasBand_) {
      series_.low.clear();
      series_.high.clear();
    }
    series_.name = data.labels[variant];
    if (count_ > 1) series_.name += QStringLiteral(" (n = %1)").arg(count_);
    series_.run = seriesOf(data, variant);
    chart.series.push_back(std::move(series_));
  }

 private:
  ChartSeries series_;
  bool hasBand_ = false;
  std::size_t count_ = 0;
};

}  // namespace

LineChart familyChart(const CompareData& data, const CompareChoice& choice,
                      const AblationTable& table, const std::vector<std::size_t>& variants) {
  const AblationMetric metric = metricOf(data);
  LineChart chart;
  chart.title = metric.title();
  chart.about = QStringLiteral("%1 \u00b7 %2").arg(nameOf(table.centre), spreadText(table));
  chart.x.title = QString::fromStdString(data.family->over);
  chart.y.title = metric.title();
  chart.emptyText = QObject::tr("No counted run has a value.");
  for (const std::size_t variant : variants) {
    FamilyLine line;
    for (const auto& [x, member] : data.family->members) {
      const store::VariantSample sample = memberSample(data, choice, variant, member);
      line.add(x, shownNumber(table, sample, metric.format));
    }
    std::move(line).addTo(chart, data, variant);
  }
  return chart;
}

LineChart familyDifferences(const CompareData& data, const CompareChoice& choice,
                            const AblationTable& table, const std::vector<std::size_t>& variants) {
  const AblationMetric metric = metricOf(data);
  LineChart chart{.title = QObject::tr("Difference to %1").arg(table.baselineLabel),
                  .about = QObject::tr("mean over common seeds, band: 95\u2009% interval")};
  chart.x.title = QString::fromStdString(data.family->over);
  chart.y.title = metric.format.isPercent
                      ? QObject::tr("\u0394 %1 (points)").arg(data.titleOf(metric.name))
                      : QStringLiteral("\u0394 ") + metric.title();
  chart.rules.push_back({Qt::Horizontal, 0, QObject::tr("baseline")});
  chart.emptyText =
      QObject::tr("No variant has a counted run of a seed that %1 has.").arg(table.baselineLabel);
  const std::size_t baseline = data.baseline(choice);
  for (const std::size_t variant : variants) {
    if (variant == baseline) continue;
    FamilyLine line;
    for (const auto& [x, member] : data.family->members) {
      const PairedSample paired =
          pairedDifferences(memberSample(data, choice, variant, member).values,
                            memberSample(data, choice, baseline, member).values);
      line.add(x, shownNumber(paired.statistics, metric.format));
    }
    std::move(line).addTo(chart, data, variant);
  }
  return chart;
}

}  // namespace vitrine::ui
