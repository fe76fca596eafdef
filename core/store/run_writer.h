// Writing runs and what they leave behind into the experiment database. Every write transaction
// goes through the writer lock file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/run/event_sink.h"
#include "core/store/types.h"

namespace vitrine::store {

class Database;

/// A part of RunStore, which opens the file.
class VITRINE_STORE_EXPORT RunWriter {
 public:
  // --- runs
  /// The experiment of that title, made when there is none; the text of the file is kept with it.
  std::int64_t experiment(const std::string& title, const std::string& sourceText);
  /// Stores runs in order; `dependsOn` may be -(index+1) for an earlier one of the same call.
  /// Returns their ids.
  std::vector<std::int64_t> addRuns(std::int64_t experimentId, const std::vector<NewRun>& runs);
  /// Gives a run that has not begun the values that were chosen for it, with an event that says
  /// why. \throws StoreError  it has begun
  void completeConfig(std::int64_t run, const Json& config, const Json& origins,
                      const Json& selection, const EventRecord& event);
  void setLogFile(std::int64_t run, const std::string& relativePath);
  void deleteRun(std::int64_t run);  ///< rows and files. \throws RefusedError  it is alive

  // --- states, which processes agree through
  /// \throws StoreError  the transition is not legal; names both states
  void setState(std::int64_t run, RunState to, const std::string& reason = "");
  /// Replaces the reason of the state that a run is in already.
  void setReason(std::int64_t run, const std::string& reason);
  /// Makes a run `starting` for this process, or for a child of it (see setWorker): of two that
  /// try, one succeeds. Returns the state it was in.
  /// \throws RefusedError  it is in progress already, or has ended permanently
  RunState claim(std::int64_t run);
  /// Opens a segment and returns its number (from 1): closes the one before at `firstStep`, claims
  /// the run for `worker`, state becomes running. `environment` has at least `device` and `commit`,
  /// which become columns of `runs`. \throws RefusedError  another process works on the run
  std::int64_t openSegment(std::int64_t run, std::int64_t firstStep, const Worker& worker,
                           const Json& environment);
  /// Adds facts that are known only after the work has begun.
  void addToEnvironment(std::int64_t run, std::int64_t segment, const std::string& name,
                        const Json& value);
  /// "", "checkpoint", "pause" or "stop". Forgotten when the run ends. A worker that was ended by a
  /// signal looks at RunReader::request() to tell `stopped` from `interrupted`.
  /// \throws RefusedError  the run is not in progress
  void setRequest(std::int64_t run, const std::string& request);
  /// Forgets a request for a checkpoint that was served; another one stays.
  void forgetCheckpointRequest(std::int64_t run);
  /// Says which process works on a run in progress: the launcher, once it knows the pid.
  void setWorker(std::int64_t run, const Worker& worker);
  /// Marks running rows whose process has ended as interrupted, with the reason; returns their ids.
  std::vector<std::int64_t> reapLostRuns();

  // --- results
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
  /// An event of the newest segment, by a process other than that of the run.
  void addEvent(std::int64_t run, const EventRecord& event);
  /// Stores an artifact of `analyse` (no segment needed).
  std::int64_t addArtifact(std::int64_t run, const Artifact& artifact);
  /// Stores what `sample` made of a run (no segment needed). \returns the id of the row
  /// \throws StoreError  it is larger than a row may be
  std::int64_t addImage(std::int64_t run, const GeneratedImage& image);
  std::int64_t addText(std::int64_t run, const GeneratedText& text);

 protected:
  explicit RunWriter(std::shared_ptr<Database> database) : database_(std::move(database)) {}

 private:
  std::shared_ptr<Database> database_;
};

}  // namespace vitrine::store
