// vitrine stop: asks a run to end at a checkpoint. What waits of its experiment does not start in
// its place.
#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "core/base/joined.h"
#include "core/base/log.h"
#include "core/jobs/command.h"
#include "core/jobs/launcher.h"

namespace vitrine::app {

int stopVerb(const Arguments& arguments) {
  CommandLine line("stop", {"vitrine stop 3", "vitrine stop 3 --next --db lab.sqlite"});
  std::int64_t id = 0;
  bool isNextWanted = false;
  addRunId(line, id);
  line.app().add_flag("--next", isNextWanted,
                      "let the queue start the next run; without it, the queue pauses when other "
                      "runs of the same experiment wait");
  line.parse(arguments);
  store::RunStore store = openStore(line, Missing::Refuse);
  store.reapLostRuns();
  jobs::CommandResult result;
  if (isNextWanted) {
    jobs::stopRun(store, id);
  } else {
    jobs::JobQueue queue(store);
    result = jobs::execute({.what = jobs::Command::What::Stop, .runs = {id}}, store, queue);
  }
  const bool isStopped = store.run(id).state == store::RunState::Stopped;
  log::info(store::nameOf(id) +
            (isStopped ? " is stopped" : " will stop after this step") + "; `vitrine resume " +
            std::to_string(id) + "` continues");
  if (!result.waiting.empty()) {
    const std::string runs =
        joined(result.waiting, [](std::int64_t run) { return std::to_string(run); });
    log::info("the queue is paused, as " + runs +
              (result.waiting.size() == 1 ? " waits" : " wait") +
              " in the same experiment; `vitrine resume --queue` starts the waiting runs");
  }
  if (line.wantsJson())
    print(Json::object({{"id", id}, {"request", "stop"}, {"waiting", result.waiting}}));
  return 0;
}

}  // namespace vitrine::app
