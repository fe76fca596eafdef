// Reading the experiment database: runs, their curves and what else they left behind. One object
// per thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/store/types.h"

namespace vitrine::store {

class Database;

class VITRINE_STORE_EXPORT RunReader {
 public:
  /// Opens `file` for reading alone. \throws NotFoundError  there is no such file
  /// \throws StoreError  as RunStore
  explicit RunReader(const std::filesystem::path& file);

  [[nodiscard]] const std::filesystem::path& file() const noexcept;

  // --- which runs there are
  [[nodiscard]] std::vector<RunRow> runs(
      std::int64_t changedSince = 0);  ///< by id; those with changeSequence above
  /// Ids of runs deleted by changes above `changedSince`.
  [[nodiscard]] std::vector<std::int64_t> deletedRuns(std::int64_t changedSince);
  /// The newest change of any run.
  [[nodiscard]] std::int64_t lastChange();
  [[nodiscard]] RunRow run(std::int64_t id);  ///< \throws NotFoundError
  [[nodiscard]] std::optional<RunRow> runByUuid(const std::string& uuid);
  [[nodiscard]] std::string experimentSource(std::int64_t experimentId);

  // --- what a run was started with
  [[nodiscard]] Json config(std::int64_t run);
  [[nodiscard]] Json origins(std::int64_t run);
  [[nodiscard]] Json init(std::int64_t run);
  [[nodiscard]] Json environment(std::int64_t run);  ///< of the last segment; null before the first
  /// Candidates of the run's chosen values, or null. \see RunWriter::completeConfig()
  [[nodiscard]] Json selection(std::int64_t run);
  [[nodiscard]] std::vector<RunDependency> dependencies(std::int64_t run);  ///< by kind and name
  /// Reason why a run waits.
  struct Blocker {
    std::int64_t run = 0;
    RunState state = RunState::Queued;
    bool isStart = false;  ///< the run starts from it
  };
  [[nodiscard]] std::optional<Blocker> blocker(std::int64_t run);
  /// "", "checkpoint", "pause" or "stop". \see RunWriter::setRequest()
  [[nodiscard]] std::string request(std::int64_t run);

  // --- what it left behind
  [[nodiscard]] std::vector<SegmentRow> segments(std::int64_t run);
  [[nodiscard]] std::vector<MetricSummary> summaries(std::int64_t run);
  /// Last value of `name` for every run that has it: one query for a whole list.
  [[nodiscard]] std::vector<std::pair<std::int64_t, double>> lastValues(const std::string& name);
  [[nodiscard]] std::vector<std::string> metricNames(std::int64_t run);
  /// The curve as it counts: superseded points left out, ascending step. Those with sequence above
  /// `after`. When a run gets a new segment, points that were seen before may not count any more:
  /// read again from 0.
  [[nodiscard]] std::vector<MetricPoint> points(std::int64_t run, const std::string& name,
                                                std::int64_t after = 0);
  [[nodiscard]] std::vector<EventRow> events(std::int64_t run, std::int64_t after = 0);
  [[nodiscard]] std::vector<ArtifactRow> artifacts(std::int64_t run);
  [[nodiscard]] ArtifactRow artifact(std::int64_t id);
  [[nodiscard]] std::vector<std::byte> artifactData(std::int64_t id);
  /// By step and id, without the pictures.
  [[nodiscard]] std::vector<GeneratedImageRow> generatedImages(std::int64_t run);
  [[nodiscard]] GeneratedImageRow generatedImage(std::int64_t id);  ///< \throws NotFoundError
  [[nodiscard]] std::vector<std::byte> generatedImagePng(std::int64_t id);
  [[nodiscard]] std::vector<GeneratedTextRow> generatedTexts(std::int64_t run);
  [[nodiscard]] std::vector<CheckpointRow> checkpoints(std::int64_t run);

  // --- what people wrote about it
  [[nodiscard]] std::string note(std::int64_t run);
  [[nodiscard]] std::vector<std::string> tags(std::int64_t run);
  /// By metric, step and text.
  [[nodiscard]] std::vector<CurveNoteRow> curveNotes(std::int64_t run);
  /// By step, hash and tag.
  [[nodiscard]] std::vector<ImageTagRow> imageTags(std::int64_t run);
  /// Of Archived, Baseline or Colour; "" where it has none. \see marksByRun
  [[nodiscard]] std::string mark(std::int64_t run, RunField field);
  /// Of a field, from 0. Read it before the text, so that it is not newer. \see Annotations
  [[nodiscard]] std::int64_t version(std::int64_t run, RunField field);
  /// By id: texts a field had, and texts that came too late.
  [[nodiscard]] std::vector<EditRow> edits(std::int64_t run, RunField field);

  // --- statements of the user's own
  struct Table {
    std::vector<std::string> columns;
    std::vector<std::vector<Json>> rows;  ///< numbers, text, null; blobs as {"bytes": n}
    bool isCut = false;                   ///< there were more rows than asked for
  };
  struct QueryLimits {
    std::chrono::milliseconds time{30'000};
    std::size_t rows = std::numeric_limits<std::size_t>::max();
    const std::atomic<bool>* isStopped = nullptr;  ///< read while the statement runs
  };
  /// Any one read-only statement.
  /// \throws RefusedError  it would write
  /// \throws SqlError  it is not a statement of SQLite
  /// \throws StoreError  stopped, or out of time
  [[nodiscard]] Table query(const std::string& sql, const QueryLimits& limits);
  [[nodiscard]] Table query(const std::string& sql) { return query(sql, QueryLimits()); }

  // --- the file
  /// PRAGMA data_version: changes when another connection committed.
  /// \throws StoreError  the file or its log was taken away: nothing here is stored any more
  [[nodiscard]] std::int64_t dataVersion();
  /// Another program deleted the log under this process. Only a process that opens the database
  /// again, after all connections of this one are closed, writes and reads what others see.
  [[nodiscard]] bool isLogGone() const noexcept;
  /// The UUID of the database, "" where it has none.
  [[nodiscard]] std::string uuid();
  /// SQLite's version, page counts, schema version: for `doctor` and `db info`.
  [[nodiscard]] Json info();

  /// For core/store: what the type holds is known there alone.
  [[nodiscard]] Database& connection() const noexcept { return *database_; }

 protected:
  explicit RunReader(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  std::shared_ptr<Database> database_;

 private:
  [[nodiscard]] NotFoundError missing(const char* what, std::int64_t id) const;
  /// The only column of the only row of `sql`, whose parameter is `id`.
  [[nodiscard]] std::vector<std::byte> blobOf(const char* sql, std::int64_t id, const char* what);
};

/// Answers one read-only statement: RunReader::query, or what a test counts.
using QueryFunction = std::function<RunReader::Table(const std::string& sql)>;

}  // namespace vitrine::store
