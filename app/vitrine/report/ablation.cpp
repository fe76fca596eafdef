#include "app/vitrine/report/ablation.h"

#include <algorithm>
#include <map>

#include "app/vitrine/cli/task_cards.h"
#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/store/metrics/column_decimals.h"

namespace vitrine::app {

namespace {

/// The headline metrics of the tasks of `runs`, and their losses outside training.
std::vector<std::string> usualMetrics(const std::vector<store::ComparedRun>& runs,
                                      const std::vector<std::string>& recorded,
                                      const store::MetricKinds& kinds) {
  const store::TaskCards cards = describedTaskCards();
  std::map<std::string, store::RunCard> ofTask;
  for (const store::ComparedRun& run : runs) {
    const std::string task = store::taskOf(run.config);
    if (!ofTask.contains(task))
      ofTask[task] = store::runCard(store::cardOf(cards, task), recorded, kinds);
  }
  std::vector<store::RunCard> all;
  for (const auto& [task, card] : ofTask) all.push_back(card);
  return comparedMetrics(joined(all), recorded);
}

}  // namespace

store::VariantSample Ablation::sample(std::size_t variant, const std::string& metric) const {
  return sampleOf(variants[variant], runs, measured.values.at(metric), measured.meanings.at(metric),
                  {}, store::Unfinished::LeftOut);
}

PairedSample Ablation::difference(std::size_t variant, const std::string& metric) const {
  return pairedDifferences(sample(variant, metric).values, sample(0, metric).values);
}

std::vector<store::RunRow> runsOfExperiment(store::RunReader& store,
                                            const std::string& experiment) {
  std::vector<store::RunRow> rows;
  std::vector<std::string> titles;
  for (store::RunRow& run : store.runs()) {
    if (std::find(titles.begin(), titles.end(), run.experiment) == titles.end())
      titles.push_back(run.experiment);
    if (run.experiment == experiment || std::to_string(run.experimentId) == experiment)
      rows.push_back(std::move(run));
  }
  if (rows.empty()) {
    const std::string close = nearest(experiment, titles);
    throw NotFoundError(
        "there is no experiment '" + shorten(experiment, 60) + "'" +
        (close.empty() ? "; `vitrine runs` lists them" : "; did you mean '" + close + "'?"));
  }
  return rows;
}

Ablation readAblation(const store::QueryFunction& query, const std::vector<store::RunRow>& rows,
                      std::vector<std::string> patterns) {
  Ablation ablation{.runs = comparedRuns(query, rows)};
  ablation.variants = variantsOf(ablation.runs);
  std::vector<std::string> recorded;
  for (const auto& [name, count] : comparedNames(query, ablation.runs)) recorded.push_back(name);
  const store::MetricKinds kinds = metricKinds(query);
  const bool isAsked = !patterns.empty();
  if (!isAsked) patterns = usualMetrics(ablation.runs, recorded, kinds);
  for (const std::string& pattern : patterns) {
    bool isThere = false;
    for (const std::string& name : recorded) {
      if (!matchesGlob(pattern, name)) continue;
      isThere = true;
      const bool isNew = std::find(ablation.metrics.begin(), ablation.metrics.end(), name) ==
                         ablation.metrics.end();
      if (isNew) ablation.metrics.push_back(name);
    }
    if (isThere || !isAsked) continue;
    const std::string close = nearest(pattern, recorded);
    log::warning("no run of the experiment has a metric '" + pattern + "'" +
                 (close.empty() ? "; `vitrine show ID` lists those of a run"
                                : "; did you mean '" + close + "'?"));
  }
  ablation.measured = measure(query, ablation.runs, ablation.metrics, {}, kinds);
  return ablation;
}

std::string nameOf(const store::VariantGroup& variant) {
  return variant.name.empty() ? "all" : variant.name;
}

Json differencesFrom(const store::VariantGroup& baseline, const store::VariantGroup& variant) {
  Json out = Json::array();
  for (const Difference& change : difference(baseline.config, variant.config))
    out.push_back({{"key", change.key}, {"from", change.before}, {"to", change.after}});
  return out;
}

std::string differsText(const Ablation& ablation, const store::VariantGroup& variant) {
  return joined(differencesFrom(ablation.variants.front(), variant), [](const Json& change) {
    return change.at("key").get<std::string>() + " = " + plainText(change.at("to"));
  });
}

ColumnStyle columnStyle(const Ablation& ablation, const std::string& metric) {
  const store::MetricMeaning& meaning = ablation.measured.meanings.at(metric);
  ColumnStyle style{store::metricFormat(metric, meaning.unit, meaning.title)};
  std::vector<store::ColumnNumber> values, differences;
  const auto add = [&](std::vector<store::ColumnNumber>& column, const SampleStatistics& s) {
    const double factor = style.format.isPercent ? 100 : 1;
    if (s.count > 0)
      column.push_back({s.mean * factor, s.count > 1 ? decimalsFor(halfWidth(s) * factor) : -1});
  };
  for (std::size_t i = 0; i < ablation.variants.size(); ++i) {
    add(values, ablation.sample(i, metric).statistics);
    if (i > 0) add(differences, ablation.difference(i, metric).statistics);
  }
  style.decimals = columnDecimals(values, style.format);
  style.differenceDecimals = columnDecimals(differences, style.format);
  return style;
}

namespace {

std::string numberText(const SampleStatistics& s, const store::MetricFormat& format, int decimals) {
  const double factor = format.isPercent ? 100 : 1;
  const double half = s.count > 1 ? halfWidth(s) * factor : 0;
  const std::string mean = store::metricNumber(format, s.mean * factor, decimals);
  if (decimalsFor(half) < 0) return mean;
  return mean + " ± " + store::metricNumber(format, half, decimals);
}

}  // namespace

std::string meanText(const SampleStatistics& s, const ColumnStyle& style) {
  return numberText(s, style.format, style.decimals);
}

std::string differenceText(const PairedSample& paired, Direction direction,
                           const ColumnStyle& style) {
  if (paired.statistics.count == 0) return "";
  std::string text = numberText(paired.statistics, style.format, style.differenceDecimals);
  if (paired.statistics.mean > 0) text.insert(0, "+");
  const std::string outcome = toString(outcomeOf(paired.statistics, direction));
  return outcome.empty() ? text : text + ", " + outcome;
}

std::string leftOutSentence(const Ablation& ablation) {
  std::map<std::string, std::vector<store::LeftOutRun>> byMetric;
  for (const std::string& metric : ablation.metrics) {
    auto& runs = byMetric[metric];
    for (std::size_t i = 0; i < ablation.variants.size(); ++i) {
      const store::VariantSample sample = ablation.sample(i, metric);
      runs.insert(runs.end(), sample.leftOut.begin(), sample.leftOut.end());
    }
  }
  const std::string text = leftOutText(byMetric);
  return text.empty() ? "" : "not counted: " + text + "\n";
}

}  // namespace vitrine::app
