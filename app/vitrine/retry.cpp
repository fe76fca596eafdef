// vitrine retry: puts a run that ended back into the queue. It goes on from its newest checkpoint,
// if it has one.
#include "app/vitrine/open_store.h"
#include "app/vitrine/output.h"
#include "core/base/error.h"
#include "core/base/log.h"

namespace vitrine::app {

int runRetry(const Arguments& arguments) {
  CommandLine line("retry", {"vitrine retry 3", "vitrine retry 3 && vitrine run --id 3"});
  std::int64_t id = 0;
  addRunId(line, id);
  line.parse(arguments);
  RunStore store = openStore(line, Missing::Refuse);
  store.reapLostRuns();
  const RunRow run = store.run(id);
  if (!canChange(run.state, RunState::Queued)) {
    throw RefusedError("run " + std::to_string(id) + " is " + toString(run.state) +
                       " and cannot be queued again; only a run that failed or was interrupted, "
                       "paused or stopped can");
  }
  store.setRequest(id, "");
  store.setState(id, RunState::Queued);
  log::info("run " + std::to_string(id) + " is queued; `vitrine run --id " + std::to_string(id) +
            "` starts it");
  if (line.wantsJson()) print(Json::object({{"id", id}, {"state", "queued"}}));
  return 0;
}

}  // namespace vitrine::app
