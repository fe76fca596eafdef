// vitrine compare: the variants of an experiment side by side.
#include <algorithm>
#include <map>

#include "app/vitrine/claims.h"
#include "app/vitrine/open_store.h"
#include "app/vitrine/output.h"
#include "core/base/error.h"
#include "core/base/statistics.h"
#include "core/base/text.h"
#include "core/config/config.h"

namespace vitrine::app {

namespace {

/// Runs that differ in their seed alone.
struct Group {
  std::string name;
  std::vector<RunRow> runs;
  Json config;
  std::map<std::string, std::vector<double>> last;  ///< metric -> last value per run
};

/// Everything but what tells two seeds apart.
Json withoutSeed(Json config) {
  if (config.contains("train")) config["train"].erase("seed");
  return config;
}

std::string nameOf(const RunRow& run) {
  std::string name = run.variant.empty() ? run.name : run.variant;
  // "..., seed 1" says what the group leaves out.
  if (const auto at = name.rfind(", seed "); at != std::string::npos) name.erase(at);
  if (name.rfind("seed ", 0) == 0) name = "all";
  if (!run.stage.empty() && name.find(run.stage) == std::string::npos) name += " / " + run.stage;
  return name;
}

bool isAskedFor(const RunRow& run, const std::string& experiment) {
  return run.experiment == experiment || std::to_string(run.experimentId) == experiment;
}

std::vector<Group> groupsOf(RunStore& store, const std::string& experiment,
                            const std::vector<std::string>& metrics) {
  std::vector<Group> groups;
  std::vector<std::string> titles;
  for (const RunRow& run : store.runs()) {
    if (std::find(titles.begin(), titles.end(), run.experiment) == titles.end())
      titles.push_back(run.experiment);
    if (!isAskedFor(run, experiment)) continue;
    const Json config = withoutSeed(store.config(run.id));
    auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.config == config && group.name == nameOf(run);
    });
    if (found == groups.end()) {
      groups.push_back({nameOf(run), {}, config, {}});
      found = std::prev(groups.end());
    }
    found->runs.push_back(run);
    for (const MetricSummary& metric : store.summaries(run.id)) {
      const bool isWanted = std::any_of(
          metrics.begin(), metrics.end(),
          [&](const std::string& pattern) { return matchesGlob(pattern, metric.name); });
      if (isWanted) found->last[metric.name].push_back(metric.last);
    }
  }
  if (groups.empty()) {
    const std::string close = nearest(experiment, titles);
    throw NotFoundError(
        "there is no experiment '" + experiment + "'" +
        (close.empty() ? "; `vitrine runs` lists them" : "; did you mean '" + close + "'?"));
  }
  return groups;
}

Json differencesFrom(const Group& baseline, const Group& group) {
  Json out = Json::array();
  for (const Difference& change : difference(baseline.config, group.config)) {
    out.push_back({{"key", change.key}, {"from", change.before}, {"to", change.after}});
  }
  return out;
}

std::string plain(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

int runCompare(const Arguments& arguments) {
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
      .add_option(
          "--metric", metrics,
          "metrics to compare, * stands for anything (default: test/top1 test/loss test/ece)")
      ->type_name("NAME");
  line.parse(arguments);
  if (experiment.empty() && claims.empty()) {
    throw ConfigError("compare needs an EXPERIMENT, by title or number, or --claims FILE");
  }
  if (!claims.empty()) return judgeClaims(line, claims);
  if (metrics.empty()) metrics = {"test/top1", "test/loss", "test/ece"};
  RunStore store = openStore(line, Missing::Refuse);
  store.reapLostRuns();
  const std::vector<Group> groups = groupsOf(store, experiment, metrics);

  if (line.wantsJson()) {
    Json out = Json::array();
    for (const Group& group : groups) {
      Json entry{{"name", group.name}, {"n", group.runs.size()}};
      Json ids = Json::array(), states = Json::array();
      for (const RunRow& run : group.runs) {
        ids.push_back(run.id);
        states.push_back(toString(run.state));
      }
      entry["runs"] = ids;
      entry["states"] = states;
      entry["differs"] = differencesFrom(groups.front(), group);
      Json values = Json::object();
      for (const auto& [name, last] : group.last) {
        const SampleStatistics statistic = statisticsOf(last);
        values[name] = {{"mean", finite(statistic.mean)},
                        {"deviation", finite(statistic.deviation)},
                        {"n", statistic.count}};
      }
      entry["metrics"] = values;
      out.push_back(entry);
    }
    print(out);
    return 0;
  }

  std::vector<std::string> names;
  for (const Group& group : groups) {
    for (const auto& [name, last] : group.last) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  const bool isCsv = line.wantsCsv();
  Table table{{"variant", "n"}, {}};
  for (const std::string& name : names) {
    table.columns.push_back(name);
    if (isCsv) table.columns.push_back(name + " sd");
  }
  table.columns.emplace_back("differs from the first");
  for (const Group& group : groups) {
    std::vector<Json> row{group.name, group.runs.size()};
    for (const std::string& name : names) {
      const auto found = group.last.find(name);
      const bool isThere = found != group.last.end();
      const SampleStatistics statistic = isThere ? statisticsOf(found->second) : SampleStatistics{};
      if (isCsv) {
        row.push_back(isThere ? finite(statistic.mean) : Json(nullptr));
        row.push_back(statistic.count > 1 ? finite(statistic.deviation) : Json(nullptr));
      } else if (!isThere) {
        row.emplace_back("");
      } else {
        row.emplace_back(formatReal(statistic.mean, 4) +
                         (statistic.count > 1 ? " ± " + formatReal(statistic.deviation, 2) : ""));
      }
    }
    std::string differs;
    for (const Json& change : differencesFrom(groups.front(), group)) {
      differs += (differs.empty() ? "" : ", ") + change.at("key").get<std::string>() + " = " +
                 plain(change.at("to"));
    }
    row.emplace_back(differs);
    table.rows.push_back(std::move(row));
  }
  print(table, formatOf(line));
  return 0;
}

}  // namespace vitrine::app
