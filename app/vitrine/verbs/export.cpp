// vitrine export: runs out of the database, into one file or a folder for TensorBoard.
#include <map>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/parse_number.h"
#include "core/base/text.h"
#include "core/store/exchange/exchange.h"

namespace vitrine::app {

namespace {

/// Runs named by id, uuid or "all".
std::vector<std::int64_t> chosenRuns(store::RunStore& store,
                                     const std::vector<std::string>& words) {
  std::vector<std::int64_t> ids;
  for (const std::string& word : words) {
    if (word == "all") {
      for (const store::RunRow& run : store.runs()) ids.push_back(run.id);
    } else if (const auto run = store.runByUuid(word)) {
      ids.push_back(run->id);
    } else if (const auto id = parseNumber<std::int64_t>(word)) {
      ids.push_back(store.run(*id).id);
    } else {
      throw NotFoundError("there is no run '" + shorten(word, 60) +
                          "'; give numbers as `vitrine runs` lists them, UUIDs, or all");
    }
  }
  if (ids.empty()) throw NotFoundError("there are no runs to export");
  return ids;
}

}  // namespace

int exportVerb(const Arguments& arguments) {
  CommandLine line("export", {"vitrine export 3 4 roadmap.vitrine --checkpoints best",
                              "vitrine export all board/"});
  std::vector<std::string> words;
  std::string checkpoints = "none", format;
  line.app()
      .add_option("what", words,
                  "runs (numbers, UUIDs or all), then where they go: .vitrine or .sqlite holds "
                  "everything and can be imported; .csv the points; .jsonl all but files; a folder "
                  "(no ending) event files for TensorBoard")
      ->required()
      ->type_name("RUN... FILE");
  line.app()
      .add_option("--checkpoints", checkpoints,
                  "which checkpoints go into a .vitrine file: none, latest, best or all")
      ->capture_default_str()
      ->check(CLI::IsMember({"none", "latest", "best", "all"}));
  line.app()
      .add_option("--format", format, "sqlite, csv, jsonl or tensorboard, whatever the ending")
      ->check(CLI::IsMember({"sqlite", "csv", "jsonl", "tensorboard"}));
  line.parse(arguments);
  if (words.size() < 2 || words.back().empty()) {
    throw ConfigError(
        "vitrine export: give at least one run and then a file; see `vitrine export "
        "--help`");
  }
  const std::string file = words.back();
  words.pop_back();
  static const std::map<std::string, store::ExportFormat> kFormats{
      {"sqlite", store::ExportFormat::Sqlite},
      {"csv", store::ExportFormat::Csv},
      {"jsonl", store::ExportFormat::JsonLines},
      {"tensorboard", store::ExportFormat::TensorBoard}};
  static const std::map<std::string, store::ExportedCheckpoints> kCheckpoints{
      {"none", store::ExportedCheckpoints::None},
      {"latest", store::ExportedCheckpoints::Latest},
      {"best", store::ExportedCheckpoints::Best},
      {"all", store::ExportedCheckpoints::All}};
  const store::ExportFormat form =
      format.empty() ? store::exportFormatOf(file) : kFormats.at(format);

  store::RunStore store = openStoreForReading(line);
  const std::vector<std::int64_t> runs = chosenRuns(store, words);
  const store::ExportReport report =
      exportRuns(databaseOf(line), runs, file, form, kCheckpoints.at(checkpoints),
                 [](const std::string& what) { log::info("exporting " + what); });
  for (const std::string& note : report.notes) log::info(note);
  if (line.wantsJson()) {
    print(Json::object({{"file", file},
                        {"bytes", report.bytes},
                        {"runs", report.runs},
                        {"points", report.points},
                        {"artifacts", report.artifacts},
                        {"images", report.images},
                        {"texts", report.texts},
                        {"checkpoints", report.checkpoints},
                        {"notes", report.notes}}));
  } else {
    print(file + ": " + std::to_string(report.runs) + (report.runs == 1 ? " run, " : " runs, ") +
          formatCount(report.points) + " points, " + formatCount(report.artifacts) +
          " artifacts, " + formatCount(report.images) + " images, " +
          (report.texts > 0 ? formatCount(report.texts) + " texts, " : std::string()) +
          formatCount(report.checkpoints) + " checkpoints; " + formatBytes(report.bytes) + "\n");
  }
  return 0;
}

}  // namespace vitrine::app
