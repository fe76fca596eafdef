// vitrine demo: two papers' models on Fashion-MNIST, side by side; with --tour all five papers.
// Safe to run again: trained models are kept.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/run/judged_plan.h"
#include "app/vitrine/run/planned_runs.h"
#include "app/vitrine/run/train_runs.h"
#include "app/vitrine/verbs/demo_tour.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/program.h"
#include "core/store/metrics/metric_format.h"
#include "core/store/metrics/metric_titles.h"
#include "core/store/run_card.h"

namespace vitrine::app {

namespace {

namespace fs = std::filesystem;

/// What the end of the demo says of a run.
struct Shown {
  store::RunRow run;
  std::vector<std::pair<std::string, Json>> scores;  ///< headline metrics of its task
  /// The first metric of each analysis, by name: one value a layer, mean over its heads.
  std::map<std::string, std::vector<double>> layers;
};

/// "analysis/attention_rank/rank80/layer0" is followed by those of the other layers.
std::vector<double> meansByLayer(const std::vector<store::MetricSummary>& summaries,
                                 const std::string& metric) {
  const std::string prefix = metric.substr(0, metric.rfind("/layer")) + "/layer";
  std::map<int, std::pair<double, int>> layers;  // sum, count
  for (const store::MetricSummary& summary : summaries) {
    if (!summary.name.starts_with(prefix)) continue;
    auto& [sum, count] = layers[std::atoi(summary.name.c_str() + prefix.size())];
    sum += summary.last;
    ++count;
  }
  std::vector<double> means;
  for (const auto& [layer, value] : layers) means.push_back(value.first / value.second);
  return means;
}

Shown look(store::RunStore& store, const store::TaskCards& cards, std::int64_t id) {
  Shown shown{.run = store.run(id)};
  const std::vector<store::MetricSummary> summaries = store.summaries(id);
  const store::RunCard card = store::runCard(store::cardOf(cards, store::taskOf(store.config(id))),
                                             store.metricNames(id), metricKinds(store));
  for (const std::string& metric : card.headline) {
    Json last;
    for (const store::MetricSummary& summary : summaries) {
      if (summary.name == metric) last = finite(summary.last);
    }
    shown.scores.emplace_back(metric, last);
  }
  for (const std::string& metric : card.morePlots) {
    if (metric.find("/layer") == std::string::npos) continue;
    shown.layers[store::metricName(metric.substr(metric.find('/') + 1)).quantity] =
        meansByLayer(summaries, metric);
  }
  return shown;
}

Json scoreCell(const Shown& shown, const std::string& metric, const store::MetricKind& kind) {
  for (const auto& [name, value] : shown.scores) {
    if (name != metric || value.is_null()) continue;
    return store::metricWords(store::metricFormat(metric, kind), value.get<double>());
  }
  return nullptr;
}

void printSideBySide(const std::vector<Shown>& all, const store::MetricKinds& kinds,
                     const fs::path& database, const std::vector<std::string>& pictures) {
  Table table{{""}, {}};
  for (const Shown& shown : all) table.columns.push_back(shown.run.name);
  const auto addRow = [&](const std::string& name, const auto& cell) {
    std::vector<Json> row{name};
    for (const Shown& shown : all) row.push_back(cell(shown));
    table.rows.push_back(std::move(row));
  };
  addRow("run", [](const Shown& shown) { return Json(shown.run.id); });
  std::set<std::string> metrics;
  std::map<std::string, std::size_t> layers;
  for (const Shown& shown : all) {
    for (const auto& [metric, value] : shown.scores) {
      if (!metrics.insert(metric).second) continue;
      const store::MetricKind kind = store::kindOf(kinds, metric);
      addRow(store::metricTitle(metric, kind.title).title,
             [&, name = metric](const Shown& one) { return scoreCell(one, name, kind); });
    }
    for (const auto& [quantity, means] : shown.layers)
      layers[quantity] = std::max(layers[quantity], means.size());
  }
  for (const auto& [quantity, count] : layers) {
    for (std::size_t layer = 0; layer < count; ++layer) {
      addRow(store::titleOf(quantity).title + ", layer " + std::to_string(layer),
             [&, name = quantity](const Shown& shown) {
               const auto found = shown.layers.find(name);
               return found != shown.layers.end() && layer < found->second.size()
                          ? Json(found->second[layer])
                          : Json(nullptr);
             });
    }
  }
  print(table, Format::Text);
  print("\ndatabase: " + database.string() + "\n");
  for (const std::string& picture : pictures) print("picture:  " + picture + "\n");
}

/// {"id", "name", "top1", ..., "rank80": [...]}: scores by quantity, means by layer.
Json toJson(const Shown& shown) {
  Json json{{"id", shown.run.id}, {"name", shown.run.name}};
  for (const auto& [metric, value] : shown.scores) json[store::metricName(metric).quantity] = value;
  for (const auto& [quantity, means] : shown.layers) json[quantity] = means;
  return json;
}

/// "3,4", as Studio takes runs.
std::string idList(const std::vector<std::int64_t>& ids) {
  std::string list;
  for (const std::int64_t id : ids) list += (list.empty() ? "" : ",") + std::to_string(id);
  return list;
}

/// Draws pages off screen through Studio. \returns the files that were written
std::vector<std::string> drawPictures(const fs::path& studio, const fs::path& database,
                                      const std::vector<Shown>& all) {
  std::vector<std::string> written;
  const fs::path folder = store::filesFolder(database) / "demo";
  std::error_code error;
  fs::create_directories(folder, error);
  std::vector<std::int64_t> runs;
  for (const Shown& shown : all) runs.push_back(shown.run.id);
  const auto draw = [&](const std::string& page, const std::vector<std::string>& more,
                        const std::string& name) {
    const std::string file = (folder / (name + ".png")).string();
    std::vector<std::string> command{
        studio.string(), "--db",   database.string(), "--page",       page, "--run",
        idList(runs),    "--size", "1400x800",        "--screenshot", file};
    command.insert(command.end(), more.begin(), more.end());
    fs::remove(file, error);
    if (runProgram({command, {"QT_QPA_PLATFORM=offscreen"}}).isSuccess() && fs::exists(file)) {
      written.push_back(file);
    } else {
      log::warning("Studio did not draw " + file);
    }
  };
  draw("monitor", {}, "curves");
  draw("artifacts", {}, "spectra");  // what the page shows first
  draw("artifacts", {"--artifact", "calibration"}, "reliability");
  return written;
}

}  // namespace

int demoVerb(const Arguments& arguments) {
  CommandLine line("demo", {"vitrine demo", "vitrine demo --tour --db tour.sqlite"});
  std::string file;
  bool isAgain = false, isWindowless = false, isTour = false;
  std::vector<std::string> overrides;
  line.app()
      .add_option("--file", file, "the experiment (default: the one that comes with Vitrine)")
      ->type_name("FILE");
  line.app().add_flag("--again", isAgain, "train again even if these runs are finished");
  line.app().add_flag("--no-window", isWindowless,
                      "do not open Studio although there is a display");
  line.app().add_flag("--tour", isTour,
                      "all five papers: train, draw and describe, then one page of figures and a "
                      "report");
  line.app()
      .add_option("overrides", overrides, "values that win over the file: train.epochs=1")
      ->type_name("KEY=VALUE");
  line.parse(arguments);
  if (isTour) {
    if (!file.empty()) throw ConfigError("--tour has its own experiments; leave --file out");
    return runTour(line, {isAgain ? Again::Yes : Again::No, isWindowless, overrides});
  }

  Engine engine;
  const JudgedPlan judged =
      judgeFile(engine, file.empty() ? builtInExperiment("demo.toml").string() : file, overrides);
  store::RunStore store = openStore(line, Missing::Create);
  store.reapLostRuns();
  const fs::path database = databaseOf(line);

  const auto [ids, missing] = placeRuns(store, judged.plan, isAgain ? Again::Yes : Again::No);

  const fs::path studio = programFolder() / "vitrine-studio";
  const bool hasStudio = fs::exists(studio);
  const bool hasWindow = hasStudio && hasDisplay() && !isWindowless;
  // Both runs are selected from the start, so that the second one's curves appear when it begins.
  const auto showWindow = [&] {
    return startProgram({.arguments = {studio.string(), "--db", database.string(), "--page",
                                       "monitor", "--run", idList(ids)},
                         .isOwnSession = true});
  };
  if (hasWindow && showWindow().error != 0)
    log::warning("Studio could not be started from " + studio.string());
  if (!missing.empty()) {
    const std::vector<TrainedRun> trained = trainAll(store, engine, missing);
    if (const int code = exitCodeOf(trained); code != 0) {
      log::info("`vitrine demo` continues where it stopped");
      return code;
    }
  }

  std::vector<Shown> all;
  const store::TaskCards cards = store::taskCards(engine.registry.catalog());
  for (const std::int64_t id : ids) all.push_back(look(store, cards, id));
  std::vector<std::string> pictures;
  if (hasStudio && !hasWindow) pictures = drawPictures(studio, database, all);
  if (line.wantsJson()) {
    Json runs = Json::array();
    for (const Shown& shown : all) runs.push_back(toJson(shown));
    print(Json{{"database", database.string()}, {"runs", runs}, {"pictures", pictures}});
  } else {
    printSideBySide(all, metricKinds(store), database, pictures);
  }
  return 0;
}

}  // namespace vitrine::app
