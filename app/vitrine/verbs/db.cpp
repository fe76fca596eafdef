// vitrine db: the database itself.
#include <unistd.h>

#include <cstdio>
#include <set>
#include <utility>
#include <vector>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/parse_number.h"
#include "core/base/text.h"
#include "core/base/utc.h"
#include "core/store/exchange/file_probe.h"
#include "core/store/maintenance/checkpoint_removal.h"
#include "core/store/maintenance/maintenance.h"
#include "core/store/maintenance/thinning.h"

namespace vitrine::app {

namespace {

/// A line on stderr that renews itself; nothing where stderr is not a terminal.
class Bar {
 public:
  explicit Bar(std::string what) : what_(std::move(what)), isShown_(::isatty(2) == 1) {}
  ~Bar() {
    if (isShown_ && last_ >= 0) std::fputs("\r\033[K", stderr);
  }
  Bar(const Bar&) = delete;
  Bar& operator=(const Bar&) = delete;
  void operator()(double done) {
    const int percent = static_cast<int>(done * 100);
    if (!isShown_ || percent == last_) return;
    last_ = percent;
    std::fprintf(stderr, "\r%s %d %%", what_.c_str(), percent);
  }

 private:
  std::string what_;
  bool isShown_;
  int last_ = -1;
};

std::string bytesText(const Json& bytes) { return formatBytes(bytes.get<double>()); }

int check(const CommandLine& line, bool verifiesFiles) {
  // Reading is enough, and a damaged file is not opened for writing.
  std::vector<std::string> problems = openStoreForReading(line).check();
  // What SQLite finds damaged is not worth reading.
  if (problems.empty()) {
    Bar bar("checking");
    problems = checkContents(
        databaseOf(line),
        verifiesFiles ? store::CheckpointFiles::Verified : store::CheckpointFiles::Present,
        [&](double done) { bar(done); });
  }
  if (line.wantsJson()) {
    print(Json::object({{"database", databaseOf(line).string()},
                        {"ok", problems.empty()},
                        {"problems", problems}}));
  } else if (problems.empty()) {
    print(databaseOf(line).string() + ": ok\n");
  } else {
    for (const std::string& problem : problems) print(problem + "\n");
  }
  return static_cast<int>(problems.empty() ? ExitCode::Done : ExitCode::Failed);
}

void printSpace(const Json& space) {
  Table tables{{"table", "bytes"}, {}};
  for (const auto& [name, bytes] : space.at("tables").items())
    tables.rows.push_back({name, bytesText(bytes)});
  for (const auto& [name, bytes] : space.at("files").items())
    tables.rows.push_back({"files: " + name, bytesText(bytes)});
  tables.rows.push_back({"free, until `vitrine db compact`", bytesText(space.at("free"))});
  print(std::string("\n"));
  print(tables, Format::Text);
  Table experiments{
      {"experiment", "runs", "bytes", "metrics", "artifacts", "images", "texts", "other", "files"},
      {}};
  for (const Json& experiment : space.at("experiments")) {
    auto& row = experiments.rows.emplace_back();
    row = {experiment.at("title"), experiment.at("runs")};
    for (const char* part :
         {"bytes", "metrics", "artifacts", "images", "texts", "other", "files"}) {
      row.push_back(bytesText(experiment.at(part)));
    }
  }
  if (experiments.rows.empty()) return;
  print(std::string("\n"));
  print(experiments, Format::Text);
}

int info(const CommandLine& line) {
  store::RunStore store = openStore(line, Missing::Create);
  Json facts = Json::object();
  facts["database"] = databaseOf(line).string();
  facts["files"] = store::filesFolder(databaseOf(line)).string();
  facts["runs"] = store.runs().size();
  facts.update(store.info());
  const Json space = store::databaseSpace(databaseOf(line));
  if (line.wantsJson()) {
    facts["space"] = space;
    print(facts);
    return 0;
  }
  Table table{{"fact", "value"}, {}};
  for (const auto& [key, value] : flatten(facts)) table.rows.push_back({key, plainText(value)});
  print(table, Format::Text);
  printSpace(space);
  return 0;
}

int backup(const CommandLine& line, const std::string& file) {
  if (file.empty())
    throw ConfigError("vitrine db backup: which FILE should the copy be? See `vitrine db --help`");
  (void)openStoreForReading(line);  // refuses a missing file
  std::uint64_t bytes = 0;
  {
    Bar bar("copying");
    bytes = store::backupDatabase(databaseOf(line), file, [&](double done) { bar(done); });
  }
  const std::string folder = store::filesFolder(databaseOf(line)).string();
  if (line.wantsJson()) {
    print(
        Json::object({{"database", databaseOf(line).string()}, {"file", file}, {"bytes", bytes}}));
  } else {
    print(file + ": " + formatBytes(bytes) + ", checked\n");
    log::info("checkpoints and logs are not in it: they are files in " + folder);
  }
  return 0;
}

int compact(const CommandLine& line) {
  (void)openStore(line, Missing::Refuse);
  const store::CompactReport report = store::compactDatabase(databaseOf(line));
  if (line.wantsJson()) {
    print(Json::object({{"database", databaseOf(line).string()},
                        {"before", report.before},
                        {"after", report.after}}));
  } else {
    print(databaseOf(line).string() + ": " + formatBytes(report.before) + " before, " +
          formatBytes(report.after) + " now\n");
  }
  return 0;
}

int probe(const CommandLine& line, const std::string& file) {
  if (file.empty()) throw ConfigError("vitrine db probe: which FILE? See `vitrine db --help`");
  if (!std::filesystem::exists(file)) throw NotFoundError("there is no file '" + file + "'");
  const store::ProbedFile probed = store::probeHere(file);
  if (line.wantsJson()) {
    print(toJson(probed));
  } else if (!probed.refusal.empty()) {
    print(probed.refusal + "\n");
  } else {
    print(file + ": " + toString(probed.kind) +
          (probed.isUsable ? ", version " + std::to_string(probed.version) + ", " +
                                 std::to_string(probed.runs) + " runs"
                           : "") +
          "\n");
  }
  return 0;
}

struct ThinChoice {
  std::vector<std::int64_t> runs;
  double days = -1;  ///< instead of `runs`: those that ended longer ago; negative where not asked
  std::int64_t bucket = 100;
  bool isMeant = false;
};

std::string utcDaysAgo(double days) {
  return utcText(utcMilliseconds() - static_cast<std::int64_t>(days * 86'400'000));
}

std::string whyLeftAlone(const std::string& refusal) {
  return refusal.empty() ? "" : "left alone: " + refusal;
}

/// The end of an action that removes parts of runs: prints them run by run.
/// \param removed  what was removed, or would be: empty where there is nothing
/// \throws RefusedError  it is not meant
int finishRemoval(const CommandLine& line, bool isMeant, const Table& table, const Json& json,
                  const std::string& removed) {
  if (line.wantsJson()) {
    print(json);
  } else {
    print(table, Format::Text);
  }
  if (!removed.empty() && !isMeant) throw RefusedError(removed);
  log::info(removed.empty() ? "nothing to remove" : removed);
  return 0;
}

int thin(const CommandLine& line, ThinChoice choice) {
  openStore(line, Missing::Refuse).reapLostRuns();
  if (choice.days >= 0)
    choice.runs = store::runsEndedBefore(databaseOf(line), utcDaysAgo(choice.days));
  const std::vector<store::ThinnedRun> report =
      choice.isMeant ? store::thinRuns(databaseOf(line), choice.runs, choice.bucket)
                     : store::planThinning(databaseOf(line), choice.runs, choice.bucket);
  std::int64_t before = 0, after = 0;
  Table table{{"run", "name", "points", choice.isMeant ? "points now" : "points left", ""}, {}};
  Json rows = Json::array();
  for (const store::ThinnedRun& run : report) {
    before += run.before;
    after += run.after;
    table.rows.push_back({run.run, run.name, formatCount(run.before), formatCount(run.after),
                          whyLeftAlone(run.refusal)});
    rows.push_back(
        {{"run", run.run}, {"before", run.before}, {"after", run.after}, {"refusal", run.refusal}});
  }
  std::string removed;
  if (before != after && choice.isMeant) {
    removed = formatCount(before - after) +
              " points were removed; `vitrine db compact` frees their space";
  } else if (before != after) {
    removed = formatCount(before - after) + " of " + formatCount(before) +
              " points would be removed permanently, of every " + formatCount(choice.bucket) +
              " all but the lowest and the highest; give --yes to do it";
  }
  return finishRemoval(
      line, choice.isMeant, table,
      Json::object({{"bucket", choice.bucket}, {"done", choice.isMeant}, {"runs", rows}}), removed);
}

int prune(const CommandLine& line, const std::vector<std::int64_t>& runs,
          store::KeptCheckpoints kept, bool isMeant) {
  openStore(line, Missing::Refuse).reapLostRuns();
  const std::vector<store::PrunedRun> report =
      isMeant ? store::pruneCheckpoints(databaseOf(line), runs, kept)
              : store::planPruning(databaseOf(line), runs, kept);
  std::int64_t checkpoints = 0, bytes = 0;
  Table table{{"run", "name", "checkpoints", "bytes", ""}, {}};
  Json rows = Json::array();
  for (const store::PrunedRun& run : report) {
    checkpoints += run.checkpoints;
    bytes += run.bytes;
    table.rows.push_back({run.run, run.name, formatCount(run.checkpoints), bytesText(run.bytes),
                          whyLeftAlone(run.refusal)});
    rows.push_back({{"run", run.run},
                    {"checkpoints", run.checkpoints},
                    {"bytes", run.bytes},
                    {"refusal", run.refusal}});
  }
  std::string removed;
  if (checkpoints > 0) {
    removed = formatCount(checkpoints) + (checkpoints == 1 ? " checkpoint, " : " checkpoints, ") +
              formatBytes(bytes) +
              (isMeant ? ", removed" : ", would be removed permanently; give --yes to do it");
  }
  return finishRemoval(line, isMeant, table, Json::object({{"done", isMeant}, {"runs", rows}}),
                       removed);
}

}  // namespace

int dbVerb(const Arguments& arguments) {
  CommandLine line("db", {"vitrine db backup ~/backup/experiments.sqlite",
                          "vitrine db prune 3 4 5 --keep best --yes"});
  std::string action;
  std::vector<std::string> rest;
  ThinChoice choice;
  bool verifiesFiles = false;
  std::string kept = "best";
  line.app()
      .add_option("action", action,
                  "info: place, content and sizes; check: verify it; backup: copy it to FILE, also "
                  "while jobs write; compact: free the space of deleted runs; probe: identify FILE "
                  "without trusting it; thin: remove points of the runs ID ...; prune: remove "
                  "their checkpoints")
      ->required()
      ->check(CLI::IsMember({"info", "check", "backup", "compact", "probe", "thin", "prune"}));
  line.app()
      .add_option(
          "what", rest,
          "of backup: where the copy goes, must not exist; of probe: the file; of thin and prune: "
          "the runs")
      ->type_name("FILE|ID");
  CLI::App& app = line.app();
  using Actions = std::set<std::string>;
  const std::pair<const CLI::Option*, Actions> ofActions[] = {
      {app.add_option("--older-than", choice.days,
                      "thin: all runs that ended more than this many days ago")
           ->type_name("DAYS")
           ->check(CLI::Range(0.0, 36500.0)),
       {"thin"}},
      {app.add_option("--bucket", choice.bucket,
                      "thin: of every N points of a metric keep the lowest and the highest")
           ->type_name("N")
           ->capture_default_str(),
       {"thin"}},
      {app.add_option("--keep", kept, "prune: which checkpoint of each run stays: best or none")
           ->capture_default_str()
           ->check(CLI::IsMember({"best", "none"})),
       {"prune"}},
      {app.add_flag("--yes", choice.isMeant,
                    "thin, prune: remove them; without it, they are only counted"),
       {"thin", "prune"}},
      {app.add_flag("--checksums", verifiesFiles,
                    "check: also compare every checkpoint file with its checksum"),
       {"check"}}};
  line.parse(arguments);
  for (const auto& [option, actions] : ofActions) {
    if (option->count() > 0 && !actions.contains(action))
      throw ConfigError("vitrine db " + action + " takes no " + option->get_name() +
                        "; see `vitrine db --help`");
  }
  if (action == "thin" || action == "prune") {
    for (const std::string& word : rest) {
      const auto id = parseNumber<std::int64_t>(word);
      if (!id)
        throw ConfigError("vitrine db " + action + ": '" + word + "' is not the number of a run");
      choice.runs.push_back(*id);
    }
    if (action == "prune") {
      if (choice.runs.empty())
        throw ConfigError("vitrine db prune: which runs? Give their numbers");
      return prune(line, choice.runs,
                   kept == "best" ? store::KeptCheckpoints::Best : store::KeptCheckpoints::None,
                   choice.isMeant);
    }
    if (choice.runs.empty() == (choice.days < 0)) {
      throw ConfigError(
          "vitrine db thin: which runs? Give their numbers, or --older-than DAYS, not both");
    }
    return thin(line, std::move(choice));
  }
  const bool takesFile = action == "backup" || action == "probe";
  if (rest.size() > (takesFile ? 1u : 0u)) {
    throw ConfigError("vitrine db " + action + (takesFile ? " takes one file" : " takes no file") +
                      ", but got '" + rest.back() + "'; --db names the database");
  }
  const std::string file = rest.empty() ? "" : rest.front();
  if (action == "probe") return probe(line, file);
  if (action == "check") return check(line, verifiesFiles);
  if (action == "backup") return backup(line, file);
  if (action == "compact") return compact(line);
  return info(line);
}

}  // namespace vitrine::app
