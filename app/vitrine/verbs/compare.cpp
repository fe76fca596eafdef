// vitrine compare: the variants of an experiment side by side.
#include <algorithm>
#include <cstdio>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/report/ablation.h"
#include "app/vitrine/report/compare_claims.h"
#include "core/base/error.h"
#include "core/base/statistics.h"
#include "core/config/telling.h"

namespace vitrine::app {

namespace {

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
  const auto difference = [&](std::size_t variant, const std::string& metric) {
    return variant == 0 ? PairedSample{} : ablation.difference(variant, metric);
  };
  Table table{{"variant", "runs"}, {}};
  for (const store::VariantGroup& variant : ablation.variants)
    table.rows.push_back({nameOf(variant), statesText(variant, ablation.runs)});
  for (const std::string& name : ablation.metrics) {
    const store::MetricMeaning& meaning = ablation.measured.meanings.at(name);
    const ColumnStyle style = columnStyle(ablation, name);
    std::vector<std::string> differences;
    for (std::size_t i = 0; i < table.rows.size(); ++i)
      differences.push_back(differenceText(difference(i, name), meaning.direction, style));
    // A first variant of another task has nothing that the others could be compared with.
    const bool hasDifference =
        std::ranges::any_of(differences, [](const auto& d) { return !d.empty(); });
    const std::string unit = style.format.unit();
    table.columns.push_back(unit.empty() ? name : name + " (" + unit + ")");
    if (hasDifference) table.columns.emplace_back("difference to the first");
    table.columns.emplace_back("n");
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const SampleStatistics s = ablation.sample(i, name).statistics;
      table.rows[i].emplace_back(s.count == 0 ? "" : meanText(s, style));
      if (hasDifference) table.rows[i].emplace_back(differences[i]);
      const bool isPaired = i > 0 && hasDifference;
      table.rows[i].emplace_back(store::countText(
          s.count, isPaired ? difference(i, name).statistics.count : s.count));
    }
  }
  table.columns.emplace_back("differs from the first");
  std::vector<const Json*> configs;
  for (const store::VariantGroup& one : ablation.variants) configs.push_back(&one.config);
  const auto changes = tellingDifferences(configs, 0);
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    table.rows[i].emplace_back(tellingText(changes[i]));
  return table;
}

}  // namespace

int compareVerb(const Arguments& arguments) {
  CommandLine line("compare",
                   {"vitrine compare \"iLLaMA roadmap, laptop size\" --metric 'test/*' --json",
                    "vitrine compare --claims experiments/vit/claims.toml"},
                   Csv::Offered);
  std::string experiment;
  std::vector<std::string> metrics;
  std::string claims;
  CLI::Option* which =
      line.app()
          .add_option("experiment", experiment, "title or number of the experiment")
          ->type_name("EXPERIMENT");
  CLI::Option* judged =
      line.app()
          .add_option("--claims", claims,
                      "judge the claims of this file from the finished runs of its experiments")
          ->type_name("FILE")
          ->excludes(which);
  line.app()
      .add_option("--metric", metrics,
                  "metrics to compare, * stands for anything (default: the task's scores)")
      ->type_name("NAME")
      ->excludes(judged);
  line.parse(arguments);
  if (experiment.empty() && claims.empty())
    throw ConfigError("compare needs an EXPERIMENT, by title or number, or --claims FILE");
  if (!claims.empty()) return judgeClaims(line, claims);
  store::RunStore store = openStoreToShow(line, Missing::Refuse);
  const Ablation ablation = readAblation([&](const std::string& sql) { return store.query(sql); },
                                         runsOfExperiment(store, experiment), metrics);
  if (line.wantsJson()) {
    print(jsonOf(ablation));
    return 0;
  }
  print(line.wantsCsv() ? csvTable(ablation) : textTable(ablation), formatOf(line));
  std::fputs(leftOutSentence(ablation).c_str(), stderr);
  return 0;
}

}  // namespace vitrine::app
