#include "core/jobs/launcher.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "core/base/error.h"
#include "core/jobs/queue.h"
#include "core/store/script_runs.h"

namespace vitrine::jobs {

namespace {

std::filesystem::path thisProgram() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

}  // namespace

std::filesystem::path headlessProgram() {
  if (const char* variable = std::getenv("VITRINE_PROGRAM");
      variable != nullptr && *variable != '\0') {
    const std::filesystem::path program = variable;
    if (::access(program.c_str(), X_OK) != 0)
      throw NotFoundError("VITRINE_PROGRAM names '" + program.string() + "', which cannot be run");
    return std::filesystem::absolute(program);
  }
  const std::filesystem::path program = thisProgram().parent_path() / "vitrine";
  if (::access(program.c_str(), X_OK) != 0) {
    throw NotFoundError("there is no program '" + program.string() +
                        "' that runs jobs; build it or set VITRINE_PROGRAM");
  }
  return program;
}

void requireDependency(store::RunReader& store, std::int64_t run) {
  const auto other = store.blocker(run);
  if (!other) return;
  throw RefusedError(store::nameOf(run) + (other->isStart ? " starts from" : " needs") +
                     " run " + std::to_string(other->run) + ", which is " + toString(other->state) +
                     "; it can start when that one is done");
}

void stopRun(store::RunStore& store, std::int64_t run) {
  const store::RunRow row = store.run(run);
  if (!isAlive(row.state)) {
    if (!canChange(row.state, store::RunState::Stopped)) {
      throw RefusedError(store::nameOf(run) + " is " + toString(row.state) +
                         "; there is nothing to stop");
    }
    store.setState(run, store::RunState::Stopped, "stopped while it was " + toString(row.state));
    JobQueue(store).remove(run);
    return;
  }
  store.setRequest(run, "stop");
  if (canChange(row.state, store::RunState::Stopping))
    store.setState(run, store::RunState::Stopping);
  // The worker reads the request before the first step. Its process cannot answer a
  // signal yet, and until the launcher knows its child, the row names the launcher.
  if (row.state == store::RunState::Starting) return;
  if (isWorkerAlive(row.worker)) ::kill(static_cast<pid_t>(row.worker.pid), SIGTERM);
}

store::RunState endRun(store::RunStore& store, std::int64_t run, store::RunState to,
                       const std::string& reason) {
  const bool canResume = to == store::RunState::Paused || to == store::RunState::Interrupted;
  const auto isStopAsked = [&] {
    return store.run(run).state == store::RunState::Stopping || store.request(run) == "stop";
  };
  if (!canResume || !isStopAsked()) {
    // Stop may come too late; the queue that it paused stays so.
    const bool isLate = to == store::RunState::Done && isStopAsked();
    try {
      store.setState(run, to, isLate ? "was done before it could stop" : reason);
      return to;
    } catch (const StoreError&) {
      // The stop came between the look and the writing.
      if (!canResume || !isStopAsked()) throw;
    }
  }
  store.setState(run, store::RunState::Stopped, "stopped on request");
  return store::RunState::Stopped;
}

void pauseRun(store::RunStore& store, std::int64_t run) {
  const store::RunRow row = store.run(run);
  if (row.state != store::RunState::Running && row.state != store::RunState::Starting) {
    throw RefusedError(store::nameOf(run) + " is " + toString(row.state) +
                       "; only a run in progress can be paused");
  }
  if (store::scriptOf(store, run))
    throw RefusedError(store::nameOf(run) +
                       " is logged by a script, which Vitrine cannot pause; stop it instead");
  store.setRequest(run, "pause");
  // One that is only starting reads the request when its process is there.
  if (row.state == store::RunState::Running) store.setState(run, store::RunState::Pausing);
}

}  // namespace vitrine::jobs
