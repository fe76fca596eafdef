// vitrine retry: puts a run that ended back into the queue. It continues from its newest
// checkpoint, if it has one.
#include <span>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/jobs/queue.h"

namespace vitrine::app {

int retryVerb(const Arguments& arguments) {
  CommandLine line("retry", {"vitrine retry 3", "vitrine retry 3 && vitrine work --drain"});
  std::int64_t id = 0;
  bool isFront = false;
  addRunId(line, id);
  line.app().add_flag("--front", isFront, "before all others in the queue");
  line.parse(arguments);
  store::RunStore store = openStore(line, Missing::Refuse);
  store.reapLostRuns();
  const store::RunRow run = store.run(id);
  if (!canChange(run.state, store::RunState::Queued)) {
    throw RefusedError(store::nameOf(id) + " is " + toString(run.state) +
                       " and cannot be queued again; only a run that failed or was interrupted, "
                       "paused or stopped can");
  }
  jobs::JobQueue(store).enqueue(std::span(&id, 1), {},
                                isFront ? jobs::QueueEnd::Front : jobs::QueueEnd::Back);
  log::info(store::nameOf(id) + " is in the queue; `vitrine work` starts it when its "
            "turn comes, `vitrine run --id " +
            std::to_string(id) + "` here and now");
  if (line.wantsJson()) print(Json::object({{"id", id}, {"state", "queued"}}));
  return 0;
}

}  // namespace vitrine::app
