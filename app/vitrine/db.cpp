// vitrine db: the database itself.
#include <unistd.h>

#include <cstdio>

#include "app/vitrine/open_store.h"
#include "app/vitrine/output.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/store/maintenance.h"

namespace vitrine::app {

namespace {

/// A line on stderr that renews itself; nothing where stderr is no terminal.
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
    problems = checkContents(databaseOf(line),
                             verifiesFiles ? CheckpointFiles::Verified : CheckpointFiles::Present,
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
  for (const auto& [name, bytes] : space.at("tables").items()) {
    tables.rows.push_back({name, bytesText(bytes)});
  }
  for (const auto& [name, bytes] : space.at("files").items()) {
    tables.rows.push_back({"files: " + name, bytesText(bytes)});
  }
  tables.rows.push_back({"free, until `vitrine db compact`", bytesText(space.at("free"))});
  print(std::string("\n"));
  print(tables, Format::Text);
  Table experiments{
      {"experiment", "runs", "bytes", "metrics", "artifacts", "images", "other", "files"}, {}};
  for (const Json& experiment : space.at("experiments")) {
    auto& row = experiments.rows.emplace_back();
    row = {experiment.at("title"), experiment.at("runs")};
    for (const char* part : {"bytes", "metrics", "artifacts", "images", "other", "files"}) {
      row.push_back(bytesText(experiment.at(part)));
    }
  }
  if (experiments.rows.empty()) return;
  print(std::string("\n"));
  print(experiments, Format::Text);
}

int info(const CommandLine& line) {
  RunStore store = openStore(line, Missing::Create);
  Json facts = Json::object();
  facts["database"] = databaseOf(line).string();
  facts["files"] = filesFolder(databaseOf(line)).string();
  facts["runs"] = store.runs().size();
  facts.update(store.info());
  const Json space = databaseSpace(databaseOf(line));
  if (line.wantsJson()) {
    facts["space"] = space;
    print(facts);
    return 0;
  }
  Table table{{"fact", "value"}, {}};
  for (const auto& [key, value] : flatten(facts)) {
    table.rows.push_back({key, value.is_string() ? value : Json(value.dump())});
  }
  print(table, Format::Text);
  printSpace(space);
  return 0;
}

int backup(const CommandLine& line, const std::string& file) {
  if (file.empty()) {
    throw ConfigError("vitrine db backup: which FILE should the copy be? See `vitrine db --help`");
  }
  (void)openStoreForReading(line);  // refuses what is not there
  std::uint64_t bytes = 0;
  {
    Bar bar("copying");
    bytes = backupDatabase(databaseOf(line), file, [&](double done) { bar(done); });
  }
  const std::string folder = filesFolder(databaseOf(line)).string();
  if (line.wantsJson()) {
    print(
        Json::object({{"database", databaseOf(line).string()}, {"file", file}, {"bytes", bytes}}));
  } else {
    print(file + ": " + formatBytes(static_cast<double>(bytes)) + ", checked\n");
    log::info("checkpoints and logs are not in it: they are files in " + folder);
  }
  return 0;
}

int compact(const CommandLine& line) {
  (void)openStore(line, Missing::Refuse);
  const CompactReport report = compactDatabase(databaseOf(line));
  if (line.wantsJson()) {
    print(Json::object({{"database", databaseOf(line).string()},
                        {"before", report.before},
                        {"after", report.after}}));
  } else {
    print(databaseOf(line).string() + ": " + formatBytes(static_cast<double>(report.before)) +
          " before, " + formatBytes(static_cast<double>(report.after)) + " now\n");
  }
  return 0;
}

}  // namespace

int runDb(const Arguments& arguments) {
  CommandLine line("db", {"vitrine db info", "vitrine db backup ~/backup/experiments.sqlite"});
  std::string action, file;
  bool verifiesFiles = false;
  line.app()
      .add_option("action", action,
                  "info: where it is, what is in it and what takes the space; check: is it whole; "
                  "backup: copy it to FILE, also while jobs write; compact: give back the space of "
                  "deleted runs")
      ->required()
      ->check(CLI::IsMember({"info", "check", "backup", "compact"}));
  line.app()
      .add_option("file", file, "of backup: where the copy goes; must not exist")
      ->type_name("FILE");
  line.app().add_flag("--checksums", verifiesFiles,
                      "check: also compare every checkpoint file with its checksum");
  line.parse(arguments);
  if (action != "backup" && !file.empty()) {
    throw ConfigError("vitrine db " + action + " takes no file, but got '" + file +
                      "'; --db names the database");
  }
  if (action == "check") return check(line, verifiesFiles);
  if (action == "backup") return backup(line, file);
  if (action == "compact") return compact(line);
  return info(line);
}

}  // namespace vitrine::app
