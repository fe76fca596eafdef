// vitrine resume: goes on with a run from its newest checkpoint, in the foreground.
#include "app/vitrine/open_store.h"
#include "app/vitrine/output.h"
#include "app/vitrine/signals.h"
#include "app/vitrine/train.h"
#include "core/base/error.h"

namespace vitrine::app {

int runResume(const Arguments& arguments) {
  CommandLine line("resume", {"vitrine resume 3", "vitrine resume 3 --db lab.sqlite"});
  std::int64_t id = 0;
  addRunId(line, id);
  line.parse(arguments);
  RunStore store = openStore(line, Missing::Refuse);
  store.reapLostRuns();
  const RunRow run = store.run(id);
  if (run.state == RunState::Queued) {
    throw RefusedError("run " + std::to_string(id) + " has not started yet; `vitrine run --id " +
                       std::to_string(id) + "` starts it");
  }
  const SignalScope signals;  // before the plugins: loading them takes a while
  Engine engine;
  loadEngine(engine);
  const WorkedRun worked = workRun(store, engine, run);
  printTrained({{store.run(id), worked}}, line.wantsJson());
  return static_cast<int>(worked.code);
}

}  // namespace vitrine::app
