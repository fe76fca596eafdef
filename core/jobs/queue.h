// The queue: which runs are started one after the other, and when. Its rows:
// core/store/queue_table.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/jobs/devices.h"
#include "core/store/queue_table.h"

namespace vitrine::jobs {

enum class QueueEnd { Back, Front };

struct QueueEntry : store::QueueRow {
  std::string
      waits;  ///< why it is not started yet, one sentence; "" when only its turn has to come
  bool isReady = false;  ///< nothing but its turn and a device is missing
};

/// End of the process of a run.
struct RunEnding {
  std::string reason;          ///< one sentence; "" leaves what the run says of itself
  bool mayResume = false;      ///< the queue may start it again
  double seconds = 0;          ///< for which it ran
  Json data = Json::object();  ///< exit_code, signal, cause, log_tail
};

class VITRINE_STORE_EXPORT JobQueue {
 public:
  /// When a run is started again that ended for reasons outside it.
  struct Policy {
    int retries = 3;                        ///< without a new checkpoint in between
    std::vector<double> pauses{1, 10, 60};  ///< seconds before each; the last one for all others
  };

  /// \param store  open for writing, at least as long as this object
  explicit JobQueue(store::RunStore& store);
  JobQueue(store::RunStore& store, Policy policy);

  /// Puts runs that can be started into the queue, in order; queued ones are moved. \throws
  /// RefusedError one of them is done or in progress; then none is put in
  void enqueue(std::span<const std::int64_t> runs, const store::QueueOptions& options,
               QueueEnd end = QueueEnd::Back);
  /// In the order in which they will be started.
  [[nodiscard]] std::vector<QueueEntry> list();
  [[nodiscard]] std::optional<QueueEntry> find(std::int64_t run);
  /// Takes a run out; it keeps its state. \returns false  it was not in the queue
  bool remove(std::int64_t run);
  /// Takes a waiting run out on request: one that was queued is `stopped` then, as nothing will
  /// start it. \returns false  it was not in the queue
  bool takeOut(std::int64_t run);
  /// Undoes takeOut(): the run waits again with its options. It stands before `before` where that
  /// run still waits with the same priority, else behind all others of its priority.
  /// \throws RefusedError  it is done or in progress
  void restore(std::int64_t run, const store::QueueOptions& options, std::int64_t before);

  // \throws NotFoundError  the run is not in the queue
  void setPriority(std::int64_t run, std::int64_t priority);
  void moveToFront(std::int64_t run);
  void moveBefore(std::int64_t run, std::int64_t other) { place(std::span(&run, 1), other, true); }
  void moveAfter(std::int64_t run, std::int64_t other) { place(std::span(&run, 1), other, false); }
  /// In their order; nothing moves when `other` is one of them.
  void moveBefore(std::span<const std::int64_t> runs, std::int64_t other) {
    place(runs, other, true);
  }
  void moveAfter(std::span<const std::int64_t> runs, std::int64_t other) {
    place(runs, other, false);
  }
  // \throws RefusedError  the run is in progress, or its configuration asks for another device
  void setTimeLimit(std::int64_t run, double seconds);
  void setDevice(std::int64_t run, const std::string& device);

  [[nodiscard]] store::QueueMode mode();
  /// AfterCurrent becomes Paused at once when nothing of the queue is in progress.
  void setMode(store::QueueMode mode);

  /// Claims the next run for `device`: it becomes `starting`, and of two that ask, one gets it.
  /// \param hold  says why a run must wait although its turn has come, or "". It is called within a
  /// transaction, in order, for every run that is ready
  [[nodiscard]] std::optional<QueueEntry> next(
      const Device& device, const std::function<std::string(const QueueEntry&)>& hold);
  /// The first run that is ready for `device` waits for that reason, unless the queue is paused or
  /// has a run in progress.
  void holdFirst(const Device& device, const std::string& why);
  /// The process that keeps a run takes its claim over. \returns false  it must not start any more
  [[nodiscard]] bool adopt(std::int64_t run);
  /// This process has claimed the run and started `supervisor` for it. Nothing happens when the
  /// supervisor, or the run's own process, said so before.
  void handOver(std::int64_t run, const store::Worker& supervisor);
  /// Records how the process of a run ended. A run in progress becomes `interrupted`, or `stopped`
  /// when that was requested. It leaves the queue unless it may continue, or was put back
  /// meanwhile.
  void ended(std::int64_t run, const RunEnding& ending);

  /// An event of a run in progress, by another process than its own.
  void note(std::int64_t run, const std::string& kind, const std::string& text);

  /// Removes runs that have ended permanently; ends AfterCurrent. Any process may call it at any
  /// time.
  void prune();
  /// Takes runs out that have been started too often without a new checkpoint. Only the process
  /// that starts runs may call it: the policy is its own.
  void failExhausted();
  /// Runs of the queue in progress.
  [[nodiscard]] std::vector<std::int64_t> inProgress();

 private:
  [[nodiscard]] bool mayRetry(const QueueEntry& entry, bool hasNewCheckpoint) const noexcept;
  void requireEntry(std::int64_t run);
  void requireAtRest(std::int64_t run);
  void place(std::span<const std::int64_t> runs, std::int64_t other, bool isBefore);

  store::RunStore& store_;
  store::QueueTable table_;
  Policy policy_;
};

}  // namespace vitrine::jobs
