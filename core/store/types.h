// Rows of the database as values.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/store_export.h"

namespace vitrine::store {

/// The database cannot be written at present, through no fault of what was to be written. The disk
/// is full, another process holds it, or permission was taken away. Trying again later can help.
class VITRINE_STORE_EXPORT UnwritableError : public StoreError {
 public:
  explicit UnwritableError(const std::string& message);
  ~UnwritableError() override;
};

/// The user may not write there, as in a read-only folder: waiting alone does not help.
class VITRINE_STORE_EXPORT ProtectedError : public UnwritableError {
 public:
  explicit ProtectedError(const std::string& message);
  ~ProtectedError() override;
};

/// \param what   that could not be opened or made: "the lock '/data/work.lock'"
/// \param error  errno of it
/// \throws ProtectedError  the user may not write there \throws UnwritableError  otherwise
[[noreturn]] VITRINE_STORE_EXPORT void throwUnopened(const std::string& what, int error);

enum class RunState {
  Queued,
  Starting,
  Running,
  Pausing,
  Paused,
  Stopping,
  Stopped,
  Done,
  Failed,
  Interrupted,
};
[[nodiscard]] VITRINE_STORE_EXPORT std::string toString(RunState state);      ///< "queued" ...
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<std::string> runStateNames();  ///< all of them
/// \throws StoreError
[[nodiscard]] VITRINE_STORE_EXPORT RunState runStateFromString(const std::string& text);
/// The one table of legal transitions.
[[nodiscard]] VITRINE_STORE_EXPORT bool canChange(RunState from, RunState to) noexcept;
/// Starting, Running, Pausing or Stopping: a process should be there.
[[nodiscard]] VITRINE_STORE_EXPORT bool isAlive(RunState state) noexcept;
/// Done, Failed or Stopped: it continues only when a user asks for it.
[[nodiscard]] VITRINE_STORE_EXPORT bool hasEnded(RunState state) noexcept;

/// "run 3", in a sentence.
[[nodiscard]] VITRINE_STORE_EXPORT std::string nameOf(std::int64_t run);

/// Another run that a run needs, besides the one that it starts from.
struct RunDependency {
  std::string kind;  ///< "aux": an auxiliary network; "select": one of the grid it is chosen from
  std::string name;  ///< of the network; of the run in the grid
  std::string uuid;  ///< of that run
  std::string checkpoint;  ///< aux: "latest", "best" or a step; "" otherwise
  [[nodiscard]] bool operator==(const RunDependency&) const = default;
};

/// A run to be stored.
struct NewRun {
  std::string name, variant, stage;
  std::uint64_t seed = 0;
  Json config = Json::object();   ///< resolved
  Json origins = Json::object();  ///< object key -> {layer, line}
  Json init;                      ///< null or InitSource as JSON
  std::int64_t dependsOn = 0;     ///< run id, or 0
  RunState state = RunState::Queued;
  std::vector<RunDependency> dependencies;  ///< kind and name together are distinct
  Json selection;                           ///< null or what the run's values are chosen from
};

/// The process that works on a segment.
struct Worker {
  std::int64_t pid = 0;
  std::string startTime;  ///< field 22 of /proc/<pid>/stat: tells a reused pid
  std::string bootId;
  std::string host;
};
/// This process.
[[nodiscard]] VITRINE_STORE_EXPORT Worker thisWorker();
/// Another process of this machine; its start time is "" when it is not there.
[[nodiscard]] VITRINE_STORE_EXPORT Worker workerOf(std::int64_t pid);
/// Whether that process is still there: pid, start time and boot id agree.
[[nodiscard]] VITRINE_STORE_EXPORT bool isWorkerAlive(const Worker& worker);

struct RunRow {
  std::int64_t id = 0;
  std::string uuid, experiment, variant, stage, name;
  std::int64_t experimentId = 0;
  std::uint64_t seed = 0;
  RunState state = RunState::Queued;
  std::string reason;                            ///< why failed or interrupted, one sentence
  std::string createdAt, startedAt, finishedAt;  ///< ISO 8601 UTC, "" where not yet
  std::string device, commit;
  std::int64_t step = 0, totalSteps = 0;
  double epoch = 0, totalEpochs = 0, loss = 0, imagesPerSecond = 0, remainingSeconds = 0;
  std::int64_t memoryBytes = 0;
  std::string heartbeatAt;
  std::int64_t latestCheckpoint = -1, bestCheckpoint = -1;  ///< steps; -1 where there is none
  std::string logFile;
  Worker worker;
  std::int64_t changeSequence = 0;  ///< grows with every change of the row
};

[[nodiscard]] inline std::string nameOf(const RunRow& run) { return nameOf(run.id); }

/// Texts and marks of a run that users edit. Every change of one makes a version of it.
enum class RunField { Name, Note, Tags, CurveNotes, ImageTags, Archived, Baseline, Colour };
[[nodiscard]] VITRINE_STORE_EXPORT std::string toString(RunField field);  ///< "name" ...
/// Nothing when `text` names none.
[[nodiscard]] VITRINE_STORE_EXPORT std::optional<RunField> runFieldFromString(
    const std::string& text);
/// "name", "note", "tags", "notes on curves", "tags of images", "archive mark" ...: in a sentence.
[[nodiscard]] VITRINE_STORE_EXPORT std::string wordsOf(RunField field);

/// Words that a user wrote at a step of a run's curve.
struct CurveNoteRow {
  std::string metric;  ///< a name, or the stem of several whose mean is drawn
  std::int64_t step = 0;
  std::string text;
  [[nodiscard]] auto operator<=>(const CurveNoteRow&) const = default;
};

/// A star or a tag on a generated image. Images of one run and step with the same pixels share it.
struct ImageTagRow {
  static constexpr const char* kStar = "*";
  std::int64_t step = 0;
  std::string sha256;  ///< of the pixels
  std::string tag;     ///< kStar: the star
  [[nodiscard]] auto operator<=>(const ImageTagRow&) const = default;
};

/// One of the texts that a field had, or was to get.
struct EditRow {
  std::int64_t id = 0;
  std::int64_t version = 0;  ///< that it made; of one that came too late, the one it was based on
  bool isTaken = true;       ///< false: another user had changed the field meanwhile
  std::string at;
  std::string text;  ///< tags: one a line; others that are lists: see curve_notes.h, image_tags.h
};

/// Another user has changed a field since it was read. Both texts are kept: theirs stands, the
/// other one is among RunReader::edits(). \see Annotations::setNote
class VITRINE_STORE_EXPORT EditConflict : public RefusedError {
 public:
  EditConflict(const std::string& message, std::string stands, std::int64_t standsAs);
  ~EditConflict() override;
  const std::string theirs;    ///< what stands now, as EditRow::text
  const std::int64_t version;  ///< of it: what the next try must be based on
};

/// SQLite refuses a statement of the user's. \see RunReader::query
class VITRINE_STORE_EXPORT SqlError : public StoreError {
 public:
  SqlError(const std::string& message, std::optional<std::size_t> where);
  ~SqlError() override;
  /// Byte of the statement that is wrong; its size where it ends too early; none: not known.
  const std::optional<std::size_t> place;
};

struct SegmentRow {
  std::int64_t number = 0;  ///< 1-based within the run
  std::int64_t firstStep = 0;
  std::int64_t lastStep = -1;    ///< -1 while not superseded
  std::int64_t resumedFrom = 0;  ///< segment number, 0 for the first
  std::string startedAt;
};

struct MetricPoint {
  std::int64_t sequence = 0;  ///< per run, growing in the order of writing
  std::int64_t segment = 0;
  std::int64_t step = 0;
  double epoch = 0;
  double time = 0;   ///< seconds of running time
  double value = 0;  ///< may be NaN or infinite
};

struct MetricSummary {
  std::string name;
  std::int64_t count = 0, firstStep = 0, lastStep = 0, minimumStep = 0, maximumStep = 0;
  double last = 0, minimum = 0, maximum = 0;
};

struct EventRow {
  std::int64_t id = 0, step = 0;
  std::string at, kind, text;
  Json data;
};

struct ArtifactRow {
  std::int64_t id = 0, runId = 0, step = 0;
  std::string analysis, name, kind;
  Json meta;
  std::int64_t bytes = 0;
};

/// An image that a sampler made; its PNG is read by id.
struct GeneratedImageRow {
  std::int64_t id = 0, runId = 0, step = 0;
  Json recipe;
  std::uint64_t seed = 0;
  std::int64_t width = 0, height = 0;  ///< pixels
  std::string sha256;                  ///< of the pixels
  std::int64_t bytes = 0;              ///< of the PNG
};

struct GeneratedTextRow {
  std::int64_t id = 0, runId = 0, step = 0;
  Json recipe;
  std::uint64_t seed = 0;
  std::string prompt, text;
};

struct CheckpointRow {
  std::int64_t step = 0, bytes = 0;
  std::string folder, createdAt;
  bool isBest = false, isLatest = false;
};

}  // namespace vitrine::store
