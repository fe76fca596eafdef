// Works the queue without a window: claims runs for the devices of this machine and starts a
// supervisor for each. Holds no run itself: when it is killed, runs continue, and the next one
// finds them.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/jobs/queue.h"
#include "core/jobs/run_supervisor.h"

namespace vitrine::jobs {

enum class WorkUntil {
  Stopped,   ///< until isAsked() says so: new runs are waited for
  Drained,   ///< nothing can be started any more and nothing is in progress
  OneEnded,  ///< one run was started and has ended
};

struct WorkOptions {
  WorkUntil until = WorkUntil::Stopped;
  std::vector<std::string> devices;  ///< names or UUIDs; none: all of this machine
  JobQueue::Policy policy;
  SupervisorSettings supervisor;
  std::filesystem::path program;  ///< the headless program
  std::function<bool()> isAsked;  ///< to end; read four times a second
};

struct WorkReport {
  int started = 0, ended = 0;
  std::vector<store::RunRow> runs;       ///< those started that have ended
  std::vector<std::int64_t> inProgress;  ///< left behind, alive
};

/// \throws NotFoundError  a device that this machine does not have
/// \throws RefusedError   the file belongs to another machine: says how to work there
/// \throws store::ProtectedError  a run waits, and the user may not write what starting it needs;
///         not with WorkUntil::Stopped, which waits until that is allowed
VITRINE_STORE_EXPORT WorkReport workQueue(store::RunStore& store, DeviceSource& devices,
                                          const WorkOptions& options);

/// Whether a run of the queue can be started on one of `devices`, now or soon. A run that waits for
/// its retry counts; one that starts from a run that has ended without success does not.
[[nodiscard]] VITRINE_STORE_EXPORT bool hasStartable(JobQueue& queue,
                                                     const std::vector<Device>& devices);

/// The lock `<files>/queue.lock`, by which the window knows that a process works on the queue. A
/// workQueue() for all devices holds it until it is asked to end or the queue is empty.
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path workLockFile(
    const std::filesystem::path& database);

/// Starts `vitrine work --drain`, detached, when no process works on the queue; its output goes to
/// `<files>/queue.log`. Two that call this at once may start two: they share the queue.
/// \returns  its pid, 0 when a process works on it already
/// \throws Error  it could not be started
VITRINE_STORE_EXPORT std::int64_t startQueueWorker(const std::filesystem::path& database,
                                                   const std::filesystem::path& program);
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path workLogFile(
    const std::filesystem::path& database);

/// Why this machine must not work on the file, with the way out; "" when it may.
[[nodiscard]] VITRINE_STORE_EXPORT std::string whyNotHere(store::RunReader& store);
/// The host that serves the network file system below `folder`. It is that of a source like
/// "nas:/export", "//nas/share", "user@nas:/home"; "" when the folder lies on a disk of this
/// machine. `mounts` is /proc/self/mounts.
[[nodiscard]] VITRINE_STORE_EXPORT std::string hostOfMount(const std::string& mounts,
                                                           const std::filesystem::path& folder);

/// Why a run must wait for room: "needs 3.0 GB of memory, and 1.2 GB are free on cpu"; "" when
/// there is enough.
[[nodiscard]] VITRINE_STORE_EXPORT std::string whyNoRoom(const store::QueueOptions& needs,
                                                         const Device& device,
                                                         const std::filesystem::path& database);

/// Starts the process that keeps a run which this process has claimed. \returns its pid
/// \throws Error  it could not be started; the run is `failed` then
VITRINE_STORE_EXPORT std::int64_t launchSupervisor(store::RunStore& store, const store::RunRow& run,
                                                   const std::filesystem::path& program,
                                                   const std::vector<std::string>& environment,
                                                   const std::vector<int>& locks,
                                                   const SupervisorSettings& settings);

}  // namespace vitrine::jobs
