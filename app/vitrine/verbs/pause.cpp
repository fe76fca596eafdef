// vitrine pause: a run, or the queue.
#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/jobs/launcher.h"
#include "core/jobs/queue.h"

namespace vitrine::app {

int pauseVerb(const Arguments& arguments) {
  CommandLine line("pause", {"vitrine pause 3", "vitrine pause --after-current"});
  std::int64_t id = 0;
  bool isQueue = false, isAfterCurrent = false;
  CLI::App& app = line.app();
  CLI::Option* run =
      app.add_option("id", id, "a run in progress: it ends at a checkpoint and frees its device")
          ->check(runNumberProblem)
          ->type_name("ID");
  CLI::Option* queue = app.add_flag(
      "--queue", isQueue, "the queue: its runs in progress pause and continue first when it does");
  CLI::Option* after = app.add_flag("--after-current", isAfterCurrent,
                                    "the queue, after the runs in progress have ended");
  run->excludes(queue)->excludes(after);
  queue->excludes(after);
  line.parse(arguments);
  if (id == 0 && !isQueue && !isAfterCurrent)
    throw ConfigError(
        "vitrine pause: name a run, or --queue or --after-current; see `vitrine pause --help`");
  store::RunStore store = openStore(line, Missing::Refuse);
  store.reapLostRuns();
  jobs::JobQueue jobs(store);
  if (id != 0) {
    jobs::pauseRun(store, id);
    jobs.remove(id);
    log::info(store::nameOf(id) + " will pause after this step; `vitrine resume " +
              std::to_string(id) + "` continues, here and now, `vitrine resume " +
              std::to_string(id) + " --queue` when its turn comes");
    if (line.wantsJson()) print(Json::object({{"id", id}, {"request", "pause"}}));
    return 0;
  }
  jobs.setMode(isQueue ? store::QueueMode::Paused : store::QueueMode::AfterCurrent);
  std::vector<std::int64_t> paused;
  if (isQueue) {
    for (const std::int64_t each : jobs.inProgress()) {
      try {
        jobs::pauseRun(store, each);
        paused.push_back(each);
      } catch (const RefusedError& error) {  // it ends just now
        log::info(error.what());
      }
    }
  }
  const auto left = jobs.inProgress().size();
  log::info(jobs.mode() == store::QueueMode::AfterCurrent
                ? "the queue pauses after " + std::to_string(left) +
                      (left == 1 ? " run" : " runs") + " in progress"
                : "the queue is paused" + (paused.empty()
                                               ? std::string()
                                               : ", and " + std::to_string(paused.size()) +
                                                     " runs end at a checkpoint"));
  if (line.wantsJson()) print(Json{{"mode", toString(jobs.mode())}, {"paused", paused}});
  return 0;
}

}  // namespace vitrine::app
