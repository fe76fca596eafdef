#include "app/vitrine/verbs/demo_tour.h"

#include <algorithm>
#include <cstdlib>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/run/judged_plan.h"
#include "app/vitrine/run/train_runs.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/program.h"
#include "core/base/text.h"
#include "core/config/papers/tour.h"
#include "core/files/checkpoint_folder.h"
#include "core/store/run_card.h"

namespace vitrine::app {

namespace fs = std::filesystem;

fs::path programFolder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

fs::path builtInExperiment(const std::string& name) {
  const fs::path installed = programFolder().parent_path() / "share/vitrine/experiments" / name;
  return fs::exists(installed) ? installed : fs::path(VITRINE_SOURCE_FOLDER) / "experiments" / name;
}

bool hasDisplay() {
  for (const char* name : {"WAYLAND_DISPLAY", "DISPLAY"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return true;
  }
  return false;
}

namespace {

/// A part of the tour with its runs.
struct TrainedPart {
  std::string title;
  std::vector<std::int64_t> ids;
  std::vector<std::string> metrics;  ///< the first headline of each task
};

/// A sampling call that was made, and the pictures it left.
struct Sampled {
  std::string title;
  fs::path grid;
};

Tour readBuiltInTour() {
  const fs::path file = builtInExperiment("tour/tour.toml");
  std::vector<Problem> problems;
  Tour tour = readTour(readTextFile(file), file.string(), problems);
  requireValid(problems);
  return tour;
}

/// What stands for a call in pictures: its prompt, else the experiment's title.
std::string captionOf(const std::vector<std::string>& words, const std::string& title) {
  for (const std::string& word : words) {
    if (word.starts_with("prompt=")) return "\u201c" + word.substr(7) + "\u201d";
  }
  return title;
}

class TourEnd {
 public:
  TourEnd(const CommandLine& line, store::RunStore& store, const Tour& tour)
      : database_(databaseOf(line)),
        store_(store),
        tour_(tour),
        folder_(store::filesFolder(database_) / "tour"),
        program_((programFolder() / "vitrine").string()),
        studio_((programFolder() / "vitrine-studio").string()) {
    fs::create_directories(folder_);
  }

  /// Makes the samples of a part, each call once for its run.
  void sample(const Tour::Part& part, const TrainedPart& trained);
  /// \returns the file that was written; "" where it was not
  [[nodiscard]] std::string report(const std::vector<TrainedPart>& parts) const;
  [[nodiscard]] std::string pageOfFigures(const std::vector<TrainedPart>& parts) const;
  /// The table of a part, as `vitrine compare` prints it.
  [[nodiscard]] std::string table(const TrainedPart& part) const;

 private:
  [[nodiscard]] Json chart(const TrainedPart& part, const char* page, Json view) const;

  fs::path database_;
  store::RunStore& store_;
  const Tour& tour_;
  fs::path folder_;
  std::string program_, studio_;
  std::vector<Sampled> sampled_;
};

void TourEnd::sample(const Tour::Part& part, const TrainedPart& trained) {
  const store::RunRow run = store_.run(trained.ids.back());
  int number = 0;
  for (const std::vector<std::string>& words : part.samples) {
    const fs::path output =
        folder_ / ("samples-" + run.uuid.substr(0, 8) + "-" + std::to_string(++number));
    const fs::path mark = output / "done", grid = output / "grid.png";
    std::string asked;
    for (const std::string& word : words) asked += word + "\n";
    const bool isMade = fs::exists(mark) && readTextFile(mark) == asked;
    if (!isMade) {
      log::info(store::nameOf(run.id) + " samples: " + captionOf(words, trained.title));
      std::vector<std::string> command{program_, "sample", std::to_string(run.id)};
      command.insert(command.end(), words.begin(), words.end());
      const bool drawsImages =
          std::none_of(words.begin(), words.end(),
                       [](const std::string& word) { return word.starts_with("image="); });
      if (drawsImages) command.emplace_back("--grid");
      command.insert(command.end(), {"--output", output.string(), "--db", database_.string()});
      if (const ProgramEnd ended = runProgram(command); !ended.isSuccess()) {
        log::warning("`vitrine sample` failed: " + lastLine(ended.err));
        continue;
      }
      fs::create_directories(output);
      writeFileAtomically(mark, asked);
    }
    if (fs::exists(grid)) sampled_.push_back({captionOf(words, trained.title), grid});
  }
}

std::string TourEnd::report(const std::vector<TrainedPart>& parts) const {
  const fs::path file = folder_ / "report.html";
  std::vector<std::string> command{program_, "report"};
  for (const TrainedPart& part : parts) command.push_back(part.title);
  command.insert(command.end(),
                 {file.string(), "--title", tour_.title, "--db", database_.string()});
  const ProgramEnd ended = runProgram(command);
  if (ended.isSuccess()) return file.string();
  log::warning("the report was not written: " + lastLine(ended.err));
  return "";
}

Json TourEnd::chart(const TrainedPart& part, const char* page, Json view) const {
  std::vector<std::string> uuids;
  for (const std::int64_t id : part.ids) uuids.push_back(store_.run(id).uuid);
  return {{"recipe",
           {{"version", 1},
            {"page", page},
            {"runs", uuids},
            {"current", uuids.front()},
            {"view", std::move(view)}}},
          {"title", part.title}};
}

std::string TourEnd::pageOfFigures(const std::vector<TrainedPart>& parts) const {
  if (!fs::exists(studio_)) return "";
  Json figures = Json::array();
  for (const TrainedPart& part : parts) {
    const bool isCompared = part.ids.size() > 1 && part.metrics.size() == 1;
    if (isCompared) {
      Json table = chart(part, "compare", {{"view", "table"}, {"metrics", part.metrics}});
      table["wide"] = true;
      figures.push_back(table);
    }
    figures.push_back(
        isCompared
            ? chart(part, "compare",
                    {{"view", "table"}, {"picture", "curves"}, {"metrics", {store::kTrainLoss}}})
            : chart(part, "monitor", {{"card", store::kTrainLoss}, {"follow", true}}));
    if (isCompared)
      figures.push_back(
          chart(part, "compare",
                {{"view", "table"}, {"picture", "difference"}, {"metrics", part.metrics}}));
  }
  for (const Sampled& sampled : sampled_)
    figures.push_back({{"image", sampled.grid.string()}, {"title", sampled.title}});
  const fs::path sheet = folder_ / "tour.json", picture = folder_ / "tour.png";
  writeFileAtomically(sheet, Json{{"title", tour_.title}, {"figures", figures}}.dump(1));
  const ProgramEnd ended = runProgram(
      {studio_, "--db", database_.string(), "--sheet", sheet.string(), "--out", picture.string()});
  if (ended.isSuccess()) return picture.string();
  log::warning("the page of figures was not drawn: " + lastLine(ended.err));
  return "";
}

std::string TourEnd::table(const TrainedPart& part) const {
  std::vector<std::string> command{program_, "compare", part.title, "--db", database_.string()};
  for (const std::string& metric : part.metrics) {
    command.emplace_back("--metric");
    command.push_back(metric);
  }
  const ProgramEnd ended = runProgram(command);
  return ended.isSuccess() ? ended.out : "";
}

/// What the runs of a part are judged by: the first metric of each of their tasks.
std::vector<std::string> headlines(store::RunStore& store, const store::TaskCards& cards,
                                   const std::vector<std::int64_t>& ids) {
  const store::MetricKinds kinds = metricKinds(store);
  std::vector<std::string> metrics;
  for (const std::int64_t id : ids) {
    const store::RunCard card = store::runCard(
        store::cardOf(cards, store::taskOf(store.config(id))), store.metricNames(id), kinds);
    if (card.headline.empty()) continue;
    if (std::find(metrics.begin(), metrics.end(), card.headline.front()) == metrics.end())
      metrics.push_back(card.headline.front());
  }
  return metrics;
}

}  // namespace

int runTour(const CommandLine& line, const TourChoice& choice) {
  const Tour tour = readBuiltInTour();
  Engine engine;
  // All are checked before the first is trained; their data stay open from one to the other.
  std::vector<JudgedPlan> judged;
  for (const Tour::Part& part : tour.parts) {
    const std::string file = builtInExperiment("tour/" + part.experiment).string();
    judged.push_back(judgeFile(engine, file, choice.overrides));
  }
  store::RunStore store = openStore(line, Missing::Create);
  store.reapLostRuns();
  const fs::path database = databaseOf(line);
  log::info("the tour takes about " + formatReal(tour.minutes, 3) + " minutes on " +
            tour.measuredOn + "; interrupted, it continues where it stopped");

  const fs::path studio = programFolder() / "vitrine-studio";
  if (fs::exists(studio) && hasDisplay() && !choice.isWindowless &&
      startProgram({.arguments = {studio.string(), "--db", database.string(), "--page", "queue"},
                    .isOwnSession = true})
              .error != 0) {
    log::warning("Studio could not be started from " + studio.string());
  }
  const store::TaskCards cards = store::taskCards(engine.registry.catalog());
  TourEnd end(line, store, tour);
  std::vector<TrainedPart> parts;
  for (std::size_t i = 0; i < judged.size(); ++i) {
    const Plan& plan = judged[i].plan;
    log::info("part " + std::to_string(i + 1) + " of " + std::to_string(judged.size()) + ": " +
              plan.title);
    const auto [ids, missing] = placeRuns(store, plan, choice.again);
    if (!missing.empty()) {
      if (const int code = exitCodeOf(trainAll(store, engine, missing)); code != 0) {
        log::info("`vitrine demo --tour` continues where it stopped");
        return code;
      }
    }
    parts.push_back({plan.title, ids, headlines(store, cards, ids)});
    end.sample(tour.parts[i], parts.back());
  }
  const std::string report = end.report(parts), picture = end.pageOfFigures(parts);
  if (line.wantsJson()) {
    Json experiments = Json::array();
    for (const TrainedPart& part : parts)
      experiments.push_back({{"title", part.title}, {"runs", part.ids}});
    print(Json{{"database", database.string()},
               {"experiments", experiments},
               {"report", report},
               {"picture", picture}});
  } else {
    for (const TrainedPart& part : parts) print(part.title + "\n" + end.table(part) + "\n");
    print("database: " + database.string() + "\n");
    if (!picture.empty()) print("picture:  " + picture + "\n");
    if (!report.empty()) print("report:   " + report + "\n");
  }
  return report.empty() ? static_cast<int>(ExitCode::Failed) : 0;
}

}  // namespace vitrine::app
