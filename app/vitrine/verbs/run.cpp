// vitrine run: works on one stored run; what the queue starts.
#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/run/signals.h"
#include "app/vitrine/run/train_runs.h"

namespace vitrine::app {

int runVerb(const Arguments& arguments) {
  CommandLine line("run", {"vitrine run --id 3", "vitrine run --id 3 --db lab.sqlite --json"});
  std::int64_t id = 0;
  addRunId(line, id, "--id");
  line.parse(arguments);
  store::RunStore store = openStore(line, Missing::Refuse);
  const SignalScope signals;  // before the plugins: loading them takes a while
  const store::RunRow run = store.run(id);
  Engine engine;
  const TrainedRun trained = workRun(store, engine, run);
  printTrained({trained}, line.wantsJson());
  return static_cast<int>(trained.code);
}

}  // namespace vitrine::app
