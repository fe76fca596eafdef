// vitrine resume: continues with a run from its newest checkpoint, in the foreground or in the
// queue; or with the queue.
#include <span>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/run/signals.h"
#include "app/vitrine/run/train_runs.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/jobs/queue.h"

namespace vitrine::app {

namespace {

/// `resume --queue`: the queue continues.
int resumeQueue(store::RunStore& store, const CommandLine& line) {
  jobs::JobQueue queue(store);
  queue.setMode(store::QueueMode::Running);
  log::info("the queue continues with " + std::to_string(queue.list().size()) +
            " runs; `vitrine work` starts them");
  if (line.wantsJson()) print(Json::object({{"mode", "running"}}));
  return 0;
}

/// `resume ID --queue`: when its turn comes, which is next.
int resumeInQueue(store::RunStore& store, const CommandLine& line, const store::RunRow& run) {
  jobs::JobQueue(store).enqueue(std::span(&run.id, 1), {}, jobs::QueueEnd::Front);
  log::info(store::nameOf(run.id) + " is in front of the queue; `vitrine work` continues with it");
  if (line.wantsJson()) print(Json::object({{"id", run.id}, {"state", "queued"}}));
  return 0;
}

}  // namespace

int resumeVerb(const Arguments& arguments) {
  CommandLine line("resume", {"vitrine resume 3", "vitrine resume --queue --db lab.sqlite"});
  std::int64_t id = 0;
  bool isQueue = false;
  line.app()
      .add_option("id", id, "the run, as `vitrine runs` lists it")
      ->check(runNumberProblem)
      ->type_name("ID");
  line.app().add_flag("--queue", isQueue,
                      "with a run: put it in front of the queue; without: let the queue continue");
  line.parse(arguments);
  if (id == 0 && !isQueue)
    throw ConfigError("vitrine resume: name a run, or --queue; see `vitrine resume --help`");
  store::RunStore store = openStore(line, Missing::Refuse);
  store.reapLostRuns();
  if (id == 0) return resumeQueue(store, line);
  const store::RunRow run = store.run(id);
  if (isQueue) return resumeInQueue(store, line, run);
  if (run.state == store::RunState::Queued) {
    throw RefusedError(store::nameOf(id) + " has not started yet; `vitrine run --id " +
                       std::to_string(id) + "` starts it");
  }
  const SignalScope signals;  // before the plugins: loading them takes a while
  Engine engine;
  const TrainedRun trained = workRun(store, engine, run);
  printTrained({trained}, line.wantsJson());
  return static_cast<int>(trained.code);
}

}  // namespace vitrine::app
