// The queue's rows: which runs are to be started one after the other, and with what. They survive
// the processes that work on them. Rules of the queue: core/jobs/queue.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/store/run_store.h"

namespace vitrine::store {

enum class QueueMode {
  Running,
  AfterCurrent,  ///< nothing new is started; paused once the runs in progress have ended
  Paused,
};
[[nodiscard]] VITRINE_STORE_EXPORT std::string toString(QueueMode mode);

/// Values stored with a run in the queue.
struct QueueOptions {
  std::int64_t priority = 0;          ///< higher first
  std::string device;                 ///< "" for what its configuration says; see fits()
  double timeLimitSeconds = 0;        ///< of running time over all starts; 0: none
  double graceSeconds = 30;           ///< between being asked to end and being killed
  std::int64_t memoryLimitBytes = 0;  ///< 0: what the machine has
  std::int64_t neededMemoryBytes = 0, neededDiskBytes = 0;  ///< estimates, 0 where there is none
};

struct QueueRow {
  std::int64_t run = 0;
  std::string uuid, name, experiment;
  RunState state = RunState::Queued;
  QueueOptions options;
  std::string configured;  ///< its configuration's train.device
  std::string enqueuedAt;
  std::int64_t attempts = 0;  ///< starts since its newest checkpoint
  double usedSeconds = 0;
  std::string held;                           ///< why it was held back last, or ""
  std::optional<RunReader::Blocker> blocker;  ///< the first run that it waits for
  bool hasNewCheckpoint = false;              ///< since it was claimed last
  double secondsSinceEnd = 0;                 ///< NaN before its first end

  /// As fits() takes it.
  [[nodiscard]] const std::string& wantedDevice() const noexcept {
    return options.device.empty() ? configured : options.device;
  }
};

class VITRINE_STORE_EXPORT QueueTable {
 public:
  /// \param store  open for writing, at least as long as this object
  explicit QueueTable(RunStore& store);

  /// Runs `body` in one write transaction, with what it asks of the store and of this object.
  void transaction(const std::function<void()>& body);

  /// In the order in which they are started.
  [[nodiscard]] std::vector<QueueRow> rows();
  [[nodiscard]] bool contains(std::int64_t run);
  /// Runs of the queue in progress, by id.
  [[nodiscard]] std::vector<std::int64_t> inProgress();
  // Of all rows; 1 and 0 where there is none. Places beyond 2^62 are damage and not counted.
  [[nodiscard]] std::int64_t firstPosition();
  [[nodiscard]] std::int64_t lastPosition();
  /// Of all rows, 0 where there is none.
  [[nodiscard]] std::int64_t highestPriority();

  /// A run that is in the queue already gets the priority and the position, and starts again.
  void put(std::int64_t run, const QueueOptions& options, std::int64_t position);
  bool remove(std::int64_t run);  ///< \returns  whether it was there
  void setPriority(std::int64_t run, std::int64_t priority);
  void setPosition(std::int64_t run, std::int64_t position);
  void setTimeLimit(std::int64_t run, double seconds);
  void setDevice(std::int64_t run, const std::string& device);  ///< and holds it back no more
  void setHeld(std::int64_t run, const std::string& why);
  void addUsedSeconds(std::int64_t run, double seconds);
  /// One more start; the first one where there is a checkpoint since the start before.
  void countStart(std::int64_t run);

  [[nodiscard]] QueueMode mode();
  void setMode(QueueMode mode);

 private:
  Database& database_;
};

}  // namespace vitrine::store
