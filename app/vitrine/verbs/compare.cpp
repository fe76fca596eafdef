// vitrine compare: the variants of an experiment side by side.
#include <algorithm>
#include <cstdio>
#include <map>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/cli/task_cards.h"
#include "app/vitrine/verbs/compare_claims.h"
#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/statistics.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/store/comparison.h"

namespace vitrine::app {

namespace {

bool isAskedFor(const store::RunRow& run, const std::string& experiment) {
  return run.experiment == experiment || std::to_string(run.experimentId) == experiment;
}

std::vector<store::RunRow> rowsOf(store::RunStore& store, const std::string& experiment) {
  std::vector<store::RunRow> rows;
  std::vector<std::string> titles;
  for (store::RunRow& run : store.runs()) {
    if (std::find(titles.begin(), titles.end(), run.experiment) == titles.end())
      titles.push_back(run.experiment);
    if (isAskedFor(run, experiment)) rows.push_back(std::move(run));
  }
  if (rows.empty()) {
    const std::string close = nearest(experiment, titles);
    throw NotFoundError(
        "there is no experiment '" + experiment + "'" +
        (close.empty() ? "; `vitrine runs` lists them" : "; did you mean '" + close + "'?"));
  }
  return rows;
}

/// An ablation: variants, and what each metric says of them.
struct Ablation {
  std::vector<store::ComparedRun> runs;
  std::vector<store::VariantGroup> variants;
  std::vector<std::string> metrics;
  store::Measurements measured;

  [[nodiscard]] store::VariantSample sample(std::size_t variant, const std::string& metric) const {
    return sampleOf(variants[variant], runs, measured.values.at(metric),
                    measured.meanings.at(metric), {}, store::Unfinished::LeftOut);
  }
  [[nodiscard]] PairedSample difference(std::size_t variant, const std::string& metric) const {
    return pairedDifferences(sample(variant, metric).values, sample(0, metric).values);
  }
};

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

/// \param patterns  metrics, * stands for anything; empty for those that the tasks name
Ablation readAblation(store::RunStore& store, const std::string& experiment,
                      std::vector<std::string> patterns) {
  const store::QueryFunction query = [&](const std::string& sql) { return store.query(sql); };
  Ablation ablation;
  ablation.runs = comparedRuns(query, rowsOf(store, experiment));
  ablation.variants = variantsOf(ablation.runs);
  std::vector<std::string> recorded;
  for (const auto& [name, count] : comparedNames(query, ablation.runs)) recorded.push_back(name);
  const store::MetricKinds kinds = metricKinds(query);
  if (patterns.empty()) patterns = usualMetrics(ablation.runs, recorded, kinds);
  for (const std::string& pattern : patterns) {
    for (const std::string& name : recorded) {
      const bool isNew = std::find(ablation.metrics.begin(), ablation.metrics.end(), name) ==
                         ablation.metrics.end();
      if (isNew && matchesGlob(pattern, name)) ablation.metrics.push_back(name);
    }
  }
  ablation.measured = measure(query, ablation.runs, ablation.metrics, {}, kinds);
  return ablation;
}

std::string nameOf(const store::VariantGroup& variant) {
  return variant.name.empty() ? "all" : variant.name;
}

Json differencesFrom(const store::VariantGroup& baseline, const store::VariantGroup& variant) {
  Json out = Json::array();
  for (const Difference& change : difference(baseline.config, variant.config)) {
    out.push_back({{"key", change.key}, {"from", change.before}, {"to", change.after}});
  }
  return out;
}

/// "0.8312 ± 0.0021": as many digits as the 95 % interval supports.
std::string meanText(const SampleStatistics& s) {
  const int decimals = s.count > 1 ? decimalsFor(halfWidth(s)) : -1;
  if (decimals < 0) return formatReal(s.mean, 4);
  return formatFixed(s.mean, decimals) + " ± " + formatFixed(halfWidth(s), decimals);
}

std::string differenceText(const PairedSample& paired, Direction direction) {
  if (paired.statistics.count == 0) return "";
  std::string text = meanText(paired.statistics);
  if (paired.statistics.mean > 0) text.insert(0, "+");
  const std::string outcome = toString(outcomeOf(paired.statistics, direction));
  return outcome.empty() ? text : text + ", " + outcome;
}

Json jsonOf(const SampleStatistics& s) {
  return {{"mean", finite(s.mean)},
          {"deviation", finite(s.deviation)},
          {"lower", finite(s.interval.lower)},
          {"upper", finite(s.interval.upper)},
          {"n", s.count}};
}

Json jsonOf(const Ablation& ablation) {
  Json out = Json::array();
  for (std::size_t i = 0; i < ablation.variants.size(); ++i) {
    const store::VariantGroup& variant = ablation.variants[i];
    Json entry{{"name", nameOf(variant)}};
    Json ids = Json::array(), states = Json::array();
    for (const std::size_t run : variant.runs) {
      ids.push_back(ablation.runs[run].row.id);
      states.push_back(toString(ablation.runs[run].row.state));
    }
    entry["runs"] = ids;
    entry["states"] = states;
    entry["differs"] = differencesFrom(ablation.variants.front(), variant);
    Json values = Json::object(), differences = Json::object(), leftOut = Json::array();
    for (const std::string& metric : ablation.metrics) {
      const store::VariantSample sample = ablation.sample(i, metric);
      for (const store::LeftOutRun& run : sample.leftOut) {
        leftOut.push_back(
            {{"run", run.run}, {"seed", run.seed}, {"metric", metric}, {"reason", run.reason}});
      }
      if (!sample.values.empty()) {
        values[metric] = jsonOf(sample.statistics);
        for (const auto& [seed, value] : sample.values) values[metric]["seeds"].push_back(seed);
      }
      const PairedSample paired = ablation.difference(i, metric);
      if (i == 0 || paired.keys.empty()) continue;
      differences[metric] = jsonOf(paired.statistics);
      differences[metric]["seeds"] = paired.keys;
      differences[metric]["outcome"] =
          toString(outcomeOf(paired.statistics, ablation.measured.meanings.at(metric).direction));
    }
    entry["metrics"] = values;
    entry["paired_differences"] = differences;
    entry["left_out"] = leftOut;
    out.push_back(entry);
  }
  return out;
}

/// Seeds that the mean is from, and the pairs that the difference is from where these are fewer.
std::string countText(const SampleStatistics& sample, const PairedSample& paired, bool isFirst) {
  const std::string n = std::to_string(sample.count);
  const std::size_t pairs = paired.statistics.count;
  return isFirst || pairs == sample.count ? n : n + ", " + std::to_string(pairs) + " paired";
}

std::string differsText(const Ablation& ablation, const store::VariantGroup& variant) {
  return joined(differencesFrom(ablation.variants.front(), variant), [](const Json& change) {
    return change.at("key").get<std::string>() + " = " + plainText(change.at("to"));
  });
}

Table csvTable(const Ablation& ablation) {
  Table table{{"variant", "runs"}, {}};
  for (const std::string& name : ablation.metrics) {
    for (const char* part :
         {"", " sd", " n", " difference", " difference lower", " difference upper", " pairs"})
      table.columns.push_back(name + part);
  }
  table.columns.emplace_back("differs from the first");
  for (std::size_t i = 0; i < ablation.variants.size(); ++i) {
    const store::VariantGroup& variant = ablation.variants[i];
    std::vector<Json> row{nameOf(variant), statesText(variant, ablation.runs)};
    for (const std::string& name : ablation.metrics) {
      const SampleStatistics s = ablation.sample(i, name).statistics;
      const SampleStatistics d =
          i == 0 ? SampleStatistics{} : ablation.difference(i, name).statistics;
      row.push_back(s.count > 0 ? finite(s.mean) : Json(nullptr));
      row.push_back(s.count > 1 ? finite(s.deviation) : Json(nullptr));
      row.push_back(s.count);
      row.push_back(d.count > 0 ? finite(d.mean) : Json(nullptr));
      row.push_back(d.count > 1 ? finite(d.interval.lower) : Json(nullptr));
      row.push_back(d.count > 1 ? finite(d.interval.upper) : Json(nullptr));
      row.push_back(d.count);
    }
    row.emplace_back(differsText(ablation, variant));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table textTable(const Ablation& ablation) {
  const bool hasDifference = ablation.variants.size() > 1;
  Table table{{"variant", "runs"}, {}};
  for (const std::string& name : ablation.metrics) {
    table.columns.push_back(name);
    if (hasDifference) table.columns.emplace_back("difference to the first");
    table.columns.emplace_back("n");
  }
  table.columns.emplace_back("differs from the first");
  for (std::size_t i = 0; i < ablation.variants.size(); ++i) {
    const store::VariantGroup& variant = ablation.variants[i];
    std::vector<Json> row{nameOf(variant), statesText(variant, ablation.runs)};
    for (const std::string& name : ablation.metrics) {
      const SampleStatistics s = ablation.sample(i, name).statistics;
      const PairedSample paired = i == 0 ? PairedSample{} : ablation.difference(i, name);
      row.emplace_back(s.count == 0 ? "" : meanText(s));
      if (hasDifference)
        row.emplace_back(differenceText(paired, ablation.measured.meanings.at(name).direction));
      row.emplace_back(countText(s, paired, i == 0));
    }
    row.emplace_back(differsText(ablation, variant));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// One sentence on the runs that give no value; "" where all do.
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

}  // namespace

int compareVerb(const Arguments& arguments) {
  CommandLine line("compare",
                   {"vitrine compare \"iLLaMA roadmap\" --metric 'test/*' --json",
                    "vitrine compare --claims experiments/vit/claims.toml"},
                   Csv::Offered);
  std::string experiment;
  std::vector<std::string> metrics;
  std::string claims;
  CLI::Option* which =
      line.app()
          .add_option("experiment", experiment, "title or number of the experiment")
          ->type_name("EXPERIMENT");
  line.app()
      .add_option("--claims", claims,
                  "judge the claims of this file from the finished runs of its experiments")
      ->type_name("FILE")
      ->excludes(which);
  line.app()
      .add_option("--metric", metrics,
                  "metrics to compare, * stands for anything (default: what the task is judged by)")
      ->type_name("NAME");
  line.parse(arguments);
  if (experiment.empty() && claims.empty()) {
    throw ConfigError("compare needs an EXPERIMENT, by title or number, or --claims FILE");
  }
  if (!claims.empty()) return judgeClaims(line, claims);
  store::RunStore store = openStore(line, Missing::Refuse);
  store.reapLostRuns();
  const Ablation ablation = readAblation(store, experiment, metrics);
  if (line.wantsJson()) {
    print(jsonOf(ablation));
    return 0;
  }
  print(line.wantsCsv() ? csvTable(ablation) : textTable(ablation), formatOf(line));
  std::fputs(leftOutSentence(ablation).c_str(), stderr);
  return 0;
}

}  // namespace vitrine::app
