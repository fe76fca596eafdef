// The experiment database, for writing and reading: one object per thread. The only SQLite of the
// project is below this header. Every write transaction goes through the gate file (reliability
// D1).
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/run/event_sink.h"
#include "core/store/types.h"

namespace vitrine {

class Database;
class JobQueue;
class Spool;
class StoreSink;

/// `--db`, else $VITRINE_DB, else $XDG_DATA_HOME/vitrine/experiments.sqlite.
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path defaultDatabase();
/// `<name>.files` beside `database`: checkpoints and logs. Paths in rows are relative to it.
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path filesFolder(
    const std::filesystem::path& database);
/// `relative` below `folder`; "" where it leads anywhere else: paths in a database may be hostile.
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path placeBelow(
    const std::filesystem::path& folder, const std::filesystem::path& relative);

enum class OpenMode {
  ReadWriteCreate,
  ReadWrite,  ///< \throws NotFoundError  there is no such file
  ReadOnly,
};

/// Points of one curve reduced to a window of pixels.
struct CurveColumn {
  double x = 0;  ///< step, epoch or time of the first point in the column
  double first = 0, last = 0, minimum = 0, maximum = 0;
  std::int64_t count = 0;
};

class VITRINE_STORE_EXPORT RunStore {
 public:
  /// Opens, checks application_id, schema version and schema, and migrates an older file.
  /// \throws StoreError  not ours, newer than this program, damaged: one sentence with the remedy
  explicit RunStore(const std::filesystem::path& file, OpenMode mode = OpenMode::ReadWriteCreate);
  ~RunStore();
  RunStore(RunStore&&) noexcept;

  [[nodiscard]] const std::filesystem::path& file() const noexcept;

  // --- writing
  // -------------------------------------------------------------------------------------------------
  /// The experiment of that title, made when there is none; the text of the file is kept with it.
  std::int64_t experiment(const std::string& title, const std::string& sourceText);
  /// Stores runs in order; `dependsOn` may be -(index+1) for an earlier one of the same call.
  /// Returns their ids.
  std::vector<std::int64_t> addRuns(std::int64_t experimentId, const std::vector<NewRun>& runs);
  /// \throws StoreError  the transition is not legal; names both states
  void setState(std::int64_t run, RunState to, const std::string& reason = "");
  /// Makes a run `starting` for this process, or for a child of it (see setWorker): of two that
  /// try, one succeeds. Returns the state it was in. \throws RefusedError  it is in progress
  /// already, or has ended for good
  RunState claim(std::int64_t run);
  /// Opens a segment and returns its number (from 1): closes the one before at `firstStep`, claims
  /// the run for `worker`, state becomes running. `environment` has at least `device` and `commit`,
  /// which become columns of `runs`. \throws RefusedError  another process works on the run
  std::int64_t openSegment(std::int64_t run, std::int64_t firstStep, const Worker& worker,
                           const Json& environment);
  /// "", "checkpoint", "pause" or "stop". Forgotten when the run ends. A worker that was ended by a
  /// signal looks at request() to tell `stopped` from `interrupted`. \throws RefusedError  the run
  /// is not in progress
  void setRequest(std::int64_t run, const std::string& request);
  [[nodiscard]] std::string request(std::int64_t run);
  /// Says which process works on a run in progress: the launcher, once it knows the pid.
  void setWorker(std::int64_t run, const Worker& worker);
  /// Gives a run that has not begun the values that were chosen for it, with an event that says
  /// why. \throws StoreError  it has begun
  void completeConfig(std::int64_t run, const Json& config, const Json& origins,
                      const Json& selection, const EventRecord& event);
  void setLogFile(std::int64_t run, const std::string& relativePath);
  void deleteRun(std::int64_t run);  ///< rows and files. \throws RefusedError  it is alive
  /// For an edit that is to stand whatever was there before.
  static constexpr std::int64_t kWhateverStands = -1;
  /// Name, note, tags and notes on curves have a version, from 0, that every change raises. An
  /// editor says which one it showed; of two that change the same version, the second hears of it.
  /// What was there before, and what came too late, is kept (the newest 50 of each). Returns the
  /// version that stands now.
  /// \throws EditConflict  `basedOn` does not stand any more, and what does is another text
  std::int64_t setName(std::int64_t run, const std::string& name,
                       std::int64_t basedOn = kWhateverStands);
  std::int64_t setNote(std::int64_t run, const std::string& text,
                       std::int64_t basedOn = kWhateverStands);
  std::int64_t setTags(std::int64_t run, const std::vector<std::string>& tags,
                       std::int64_t basedOn = kWhateverStands);
  /// The notes on all curves of a run, in any order. Of two that change the same version, what each
  /// has added and removed is done, and nobody hears of it: another version than `basedOn` + 1 says
  /// that others wrote too. There is a conflict only where the list of `basedOn` is not kept any
  /// more. \throws ConfigError  more than 1,000, one without words or with more than 200 characters
  std::int64_t setCurveNotes(std::int64_t run, const std::vector<CurveNoteRow>& notes,
                             std::int64_t basedOn = kWhateverStands);

  /// A batch of a run's results in one transaction.
  struct Batch {
    std::vector<MetricRecord> metrics;
    std::vector<EventRecord> events;
    std::vector<Artifact> artifacts;
    std::vector<GeneratedImage> images;
    std::vector<GeneratedText> texts;
    std::vector<CheckpointRecord> checkpoints;
    std::optional<ProgressRecord> progress;
  };
  void append(std::int64_t run, std::int64_t segment, const Batch& batch);
  /// Stores an artifact of `analyse` (no segment needed).
  std::int64_t addArtifact(std::int64_t run, const Artifact& artifact);
  /// Stores what `sample` made of a run (no segment needed). \returns the id of the row
  /// \throws StoreError  it is larger than a row may be
  std::int64_t addImage(std::int64_t run, const GeneratedImage& image);
  std::int64_t addText(std::int64_t run, const GeneratedText& text);

  // --- reading
  // -------------------------------------------------------------------------------------------------
  [[nodiscard]] std::vector<RunRow> runs(
      std::int64_t changedSince = 0);  ///< by id; those with changeSequence above
  /// Ids of runs deleted by changes above `changedSince`.
  [[nodiscard]] std::vector<std::int64_t> deletedRuns(std::int64_t changedSince);
  /// The newest change of any run.
  [[nodiscard]] std::int64_t lastChange();
  [[nodiscard]] RunRow run(std::int64_t id);  ///< \throws NotFoundError
  [[nodiscard]] std::optional<RunRow> runByUuid(const std::string& uuid);
  [[nodiscard]] Json config(std::int64_t run);
  [[nodiscard]] Json origins(std::int64_t run);
  [[nodiscard]] Json init(std::int64_t run);
  [[nodiscard]] Json environment(std::int64_t run);  ///< of the last segment; null before the first
  [[nodiscard]] std::vector<RunDependency> dependencies(std::int64_t run);  ///< by kind and name
  /// What a run waits for.
  struct Blocker {
    std::int64_t run = 0;
    RunState state = RunState::Queued;
    bool isStart = false;  ///< the run starts from it
  };
  [[nodiscard]] std::optional<Blocker> blocker(std::int64_t run);
  /// What the values of the run are chosen from, or null. \see completeConfig()
  [[nodiscard]] Json selection(std::int64_t run);
  [[nodiscard]] std::string note(std::int64_t run);
  [[nodiscard]] std::vector<std::string> tags(std::int64_t run);
  /// By metric, step and text.
  [[nodiscard]] std::vector<CurveNoteRow> curveNotes(std::int64_t run);
  /// Read it before the text, so that it is not newer.
  [[nodiscard]] std::int64_t version(std::int64_t run, RunField field);
  /// By id: texts a field had, and texts that came too late.
  [[nodiscard]] std::vector<EditRow> edits(std::int64_t run, RunField field);
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
  [[nodiscard]] std::vector<std::byte> generatedImagePng(std::int64_t id);
  [[nodiscard]] std::vector<GeneratedTextRow> generatedTexts(std::int64_t run);
  [[nodiscard]] std::vector<CheckpointRow> checkpoints(std::int64_t run);
  [[nodiscard]] std::string experimentSource(std::int64_t experimentId);

  struct Table {
    std::vector<std::string> columns;
    std::vector<std::vector<Json>> rows;  ///< numbers, text, null; blobs as {"bytes": n}
    bool isCut = false;                   ///< there were more rows than asked for
  };
  struct QueryLimits {
    std::chrono::milliseconds time{30'000};
    std::size_t rows = std::numeric_limits<std::size_t>::max();
    const std::atomic<bool>* isStopped = nullptr;  ///< looked at while the statement runs
  };
  /// Any one read-only statement. \throws RefusedError  it would write
  /// \throws StoreError  SQL error; stopped, or out of time
  [[nodiscard]] Table query(const std::string& sql, const QueryLimits& limits);
  [[nodiscard]] Table query(const std::string& sql) { return query(sql, QueryLimits()); }

  /// Marks running rows whose process is gone as interrupted, with the reason; returns their ids.
  std::vector<std::int64_t> reapLostRuns();

  /// PRAGMA data_version: changes when another connection committed.
  /// \throws StoreError  the file or its log was taken away: nothing here is stored any more
  [[nodiscard]] std::int64_t dataVersion();
  /// Another program deleted the log under this process. Only a process that opens the database
  /// again, after all connections of this one are closed, writes and reads what others see.
  [[nodiscard]] bool isLogGone() const noexcept;
  /// How long a write waits for a process that makes no progress, 5 s unless told otherwise; where
  /// many write, up to twelve times as long.
  void setPatience(std::chrono::milliseconds patience);
  /// SQLite's version, page counts, schema version: for `doctor` and `db info`.
  [[nodiscard]] Json info();
  /// integrity_check; empty means ok.
  [[nodiscard]] std::vector<std::string> check();

 private:
  friend class JobQueue;
  friend class Spool;
  friend class StoreSink;
  std::int64_t edit(std::int64_t run, RunField field, const std::string& typed,
                    std::int64_t basedOn);
  void checkAfterError(OpenMode mode, const std::string& why);
  /// `append` of what happened at `at`.
  void appendAt(std::int64_t run, std::int64_t segment, const Batch& batch, const std::string& at);
  /// The state in which the process of `segment` left the run and could not store.
  void settleEnding(std::int64_t run, std::int64_t segment, RunState to, const std::string& reason);
  std::unique_ptr<Database> database_;
};

/// The version of the SQLite that is linked, and whether it has the WAL-reset bug (3.7.0
/// to 3.51.2).
[[nodiscard]] VITRINE_STORE_EXPORT std::string sqliteVersion();
[[nodiscard]] VITRINE_STORE_EXPORT bool sqliteHasWalResetBug();

}  // namespace vitrine
