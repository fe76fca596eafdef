// Ends a job that starts processes without end, where no control group holds it. Private to
// core/jobs.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "core/store_export.h"

namespace vitrine::jobs {

/// Processes and threads that one job may have: `wanted`, and at most half of what the machine has
/// left. The machine's table of processes thus never fills up.
[[nodiscard]] VITRINE_STORE_EXPORT std::int64_t taskLimit(std::int64_t wanted);

/// Counts the tasks of the machine a hundred times a second, which costs one small read. When the
/// number has grown so far that the job may be above its limit, it counts the tasks below this
/// process. It ends them all when they are too many.
class VITRINE_STORE_EXPORT TaskWatch {
 public:
  /// \param job  a child of this process that leads a process group; not waited for before stop()
  TaskWatch(pid_t job, std::int64_t limit);
  ~TaskWatch() { stop(); }
  TaskWatch(const TaskWatch&) = delete;
  TaskWatch& operator=(const TaskWatch&) = delete;

  void stop();
  [[nodiscard]] std::int64_t limit() const noexcept { return limit_; }
  [[nodiscard]] bool hasEndedTheJob() const noexcept { return hasEnded_.load(); }

 private:
  void watch(const std::stop_token& token);
  void endJob(const std::stop_token& token) const;

  const pid_t job_;
  const std::int64_t limit_;
  std::atomic<bool> hasEnded_{false};
  std::jthread thread_;
};

}  // namespace vitrine::jobs
