// vitrine stop: asks a run to end at a checkpoint.
#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "core/base/log.h"
#include "core/jobs/launcher.h"

namespace vitrine::app {

int stopVerb(const Arguments& arguments) {
  CommandLine line("stop", {"vitrine stop 3", "vitrine stop 3 --db lab.sqlite"});
  std::int64_t id = 0;
  addRunId(line, id);
  line.parse(arguments);
  store::RunStore store = openStore(line, Missing::Refuse);
  store.reapLostRuns();
  jobs::stopRun(store, id);
  log::info("run " + std::to_string(id) + " will stop after this step; `vitrine resume " +
            std::to_string(id) + "` continues");
  if (line.wantsJson()) print(Json::object({{"id", id}, {"request", "stop"}}));
  return 0;
}

}  // namespace vitrine::app
