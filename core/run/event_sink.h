// The receiver of a run's results. The trainer knows this interface and nothing of SQLite or Qt.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/artifact/artifact.h"
#include "core/artifact/generated.h"
#include "core/base/json.h"
#include "core/foundation_export.h"

namespace vitrine {

/// Values that belong to one moment. Several metrics of one record share its clock.
struct MetricRecord {
  std::int64_t step = 0;  ///< optimizer steps completed
  double epoch = 0;       ///< samples seen / size of the training split
  double time = 0;        ///< seconds of running time over all segments
  /// {"train/loss", 0.41}; may be NaN or infinite
  std::vector<std::pair<std::string, double>> values;
};

/// Something that happened, of a documented kind (resources/docs/database.md): "started",
/// "checkpoint", "non_finite", "probe_skipped", "evaluation", "mask_cutoff", "resumed", "finished".
struct EventRecord {
  std::int64_t step = 0;
  std::string kind;
  std::string text;             ///< one sentence
  Json data = Json::object();
};

struct ProgressRecord {
  std::int64_t step = 0, totalSteps = 0;
  double epoch = 0, totalEpochs = 0;
  double loss = 0;
  double imagesPerSecond = 0;
  std::int64_t memoryBytes = 0;  ///< peak resident size on the CPU, peak allocated on a GPU
  double remainingSeconds = 0;   ///< NaN while unknown
};

struct CheckpointRecord {
  std::int64_t step = 0;
  std::string folder;   ///< relative to the database's `.files` folder: "run-<uuid>/step-000000500"
  std::int64_t bytes = 0;
  double seconds = 0;
  bool isBest = false;
  std::vector<std::string> removed;  ///< older folders that retention deleted
};

/// Calls come from the training thread and must return at once; an implementation queues.
class VITRINE_FOUNDATION_EXPORT EventSink {
 public:
  virtual ~EventSink();
  virtual void metrics(const MetricRecord& record) = 0;
  virtual void event(const EventRecord& record) = 0;
  virtual void artifact(Artifact artifact) = 0;
  virtual void image(GeneratedImage image) = 0;
  virtual void text(GeneratedText text) = 0;
  virtual void progress(const ProgressRecord& record) = 0;
  virtual void checkpoint(const CheckpointRecord& record) = 0;
  /// Returns when everything handed over so far is durable.
  virtual void flush() = 0;
};

}  // namespace vitrine
