// Runs out of a database and into one: exported files of four forms, and what can be read back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/store_export.h"

namespace vitrine::store {

enum class ExportFormat {
  Sqlite,       ///< everything, can be imported again; opens as a database too
  Csv,          ///< the points of all metrics
  JsonLines,    ///< runs, points, events, artifacts, images, texts: one JSON object a line
  TensorBoard,  ///< a folder with one event file per run: scalars and images
};
/// By the ending: .vitrine, .sqlite, .db; .csv; .jsonl; no ending or a slash at the end is a folder
/// for TensorBoard. \throws ConfigError  another ending
[[nodiscard]] VITRINE_STORE_EXPORT ExportFormat exportFormatOf(const std::filesystem::path& file);

/// Checkpoints in an SQLite export.
enum class ExportedCheckpoints { None, Latest, Best, All };

/// Called with the progress, "run 3 (2 of 5)", before each run.
using ExchangeProgress = std::function<void(const std::string& sentence)>;

struct ExportReport {
  std::int64_t runs = 0, points = 0, artifacts = 0, images = 0, texts = 0, checkpoints = 0;
  std::uint64_t bytes = 0;         ///< of the file, or of all files in the folder
  std::vector<std::string> notes;  ///< what the form cannot hold, one sentence each
};

/// Writes `runs` (ids) of `database` to `file`, which appears complete or not at all. The database
/// is only read, run by run, so jobs continue.
/// \throws NotFoundError  there is no such run
/// \throws RefusedError  `file` exists already
/// \throws FileError  it cannot be written, or a checkpoint that should go along is not whole
VITRINE_STORE_EXPORT ExportReport exportRuns(const std::filesystem::path& database,
                                             std::span<const std::int64_t> runs,
                                             const std::filesystem::path& file, ExportFormat format,
                                             ExportedCheckpoints checkpoints,
                                             const ExchangeProgress& progress = {});

/// The handling of a run that the database has already, by its UUID.
enum class Duplicates { Skip, Copy };

struct ImportReport {
  struct Run {
    std::int64_t id = 0;
    std::string uuid, name;
    bool isNew = true;  ///< false: it was here already, and `id` is that one
  };
  std::vector<Run> runs;
  std::vector<std::string> notes;  ///< sentences for people: what was skipped and why
};

/// Puts the runs of an exported SQLite file, a TensorBoard event file or a folder of them into
/// `database`. Each run arrives in one transaction, with its files: a kill leaves whole runs. Where
/// there was no database, one that fails before its first run leaves none.
/// Nothing in `source` is trusted. It is opened read-only, and its schema is compared with
/// Vitrine's before anything is read. Values are checked as they are stored, and names of files
/// cannot leave the folder of their run.
/// \param experiment  title for runs of TensorBoard; "" makes one from the name of `source`
/// \throws NotFoundError  there is no `source`
/// \throws StoreError, FileError  it is not what it should be; one sentence
VITRINE_STORE_EXPORT ImportReport importRuns(const std::filesystem::path& database,
                                             const std::filesystem::path& source,
                                             Duplicates duplicates, const std::string& experiment,
                                             const ExchangeProgress& progress = {});

}  // namespace vitrine::store
