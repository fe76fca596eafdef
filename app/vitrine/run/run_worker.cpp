#include "app/vitrine/run/run_worker.h"

#include <unistd.h>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/run/checkpoint_choice.h"
#include "app/vitrine/run/environment.h"
#include "app/vitrine/run/live_images.h"
#include "app/vitrine/run/progress_sink.h"
#include "app/vitrine/run/run_start.h"
#include "app/vitrine/run/signals.h"
#include "core/base/log.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/files/checkpoint_folder.h"
#include "core/jobs/launcher.h"
#include "core/store/declared_metrics.h"
#include "core/store/run_card.h"
#include "core/store/run_facts.h"
#include "core/store/script_runs.h"
#include "core/store/spool/store_sink.h"
#include "core/train/checkpoint.h"
#include "core/train/device.h"
#include "core/train/model_setup.h"

namespace vitrine::app {

namespace {

/// \throws RefusedError  run.state does not allow work
void requireStartable(store::RunStore& store, const store::RunRow& run) {
  if (run.state == store::RunState::Done)
    throw RefusedError(nameOf(run) + " is done; train the experiment again for another run");
  if (const auto script = store::scriptOf(store, run.id))
    throw RefusedError(store::whyNotStarted(run.id, *script));
  // The claim of a launcher, which this process takes over; it may have been asked to stop already.
  const bool isClaimed = run.state == store::RunState::Starting ||
                         (run.state == store::RunState::Stopping && !isTakenUp(store, run.id));
  if (isAlive(run.state) && !isClaimed && run.worker.pid != ::getpid() &&
      isWorkerAlive(run.worker)) {
    throw RefusedError(nameOf(run) + " is " + toString(run.state) + " in process " +
                       std::to_string(run.worker.pid) + "; `vitrine stop " +
                       std::to_string(run.id) + "` ends it");
  }
}

/// Claims the run for this process unless its launcher has. \returns false  since `asked` was read
/// a user asked it to stop
bool takeUp(store::RunStore& store, const store::RunRow& asked, const store::RunRow& run) {
  if (isAlive(run.state)) {
    // What was asked of a worker that has ended went with it.
    if (isTakenUp(store, run.id)) return true;
    if (store.request(run.id) == "stop") return false;
    // From here on the row names this process, not the one that claimed the run for it.
    store.setWorker(run.id, store::thisWorker());
    return true;
  }
  const store::RunState before = store.claim(run.id);
  const bool wasStopped =
      before == store::RunState::Stopped && asked.state != store::RunState::Stopped;
  return !wasStopped && store.request(run.id) != "stop";
}

store::RunState stateOf(train::Outcome outcome) {
  switch (outcome) {
    case train::Outcome::Done:
      return store::RunState::Done;
    case train::Outcome::Failed:
      return store::RunState::Failed;
    case train::Outcome::Interrupted:
      return store::RunState::Interrupted;
    case train::Outcome::Paused:
      return store::RunState::Paused;
    case train::Outcome::Stopped:
      return store::RunState::Stopped;
    case train::Outcome::RolledBack:
      return store::RunState::Interrupted;
  }
  return store::RunState::Failed;
}

std::string loadText(const train::InitChoice& init, const LoadReport& report) {
  const auto count = [](const std::vector<std::string>& names, const char* what) {
    return names.empty() ? std::string() : ", " + std::to_string(names.size()) + " " + what;
  };
  return "starts from " + init.weights.string() + ": " + std::to_string(report.loaded.size()) +
         " tensors loaded" + count(report.resized, "resized") + count(report.skipped, "skipped") +
         count(report.missing, "missing") + count(report.unused, "unused");
}

/// Passes signals on to `control` for as long as it lives.
class SignalledRun {
 public:
  explicit SignalledRun(RunControl& control) { setSignalledRun(&control); }
  ~SignalledRun() { setSignalledRun(nullptr); }
  SignalledRun(const SignalledRun&) = delete;
  SignalledRun& operator=(const SignalledRun&) = delete;
};

/// One run as this process works on it: where it continues, and what was found on the way there.
struct Work {
  store::RunStore& store;
  const Engine& engine;
  const store::RunRow& run;
  Json config;
  std::filesystem::path folder;
  std::filesystem::path resumeFrom;  ///< empty: begins at step 0
  std::vector<std::string> damaged;
  RunLog& log;
  RunControl& control;
};

/// Trains within an open segment. Throws what the engine throws.
train::TrainerResult train(const Work& work, std::int64_t segment, train::InitChoice init,
                           ProgressSink& sink) {
  LoadReport report;
  train::TrainerSetup setup =
      prepareRun(work.engine.registry, work.config, work.run.seed, init, &report);
  if (!init.weights.empty()) work.log.line(loadText(init, report));
  // All of it is in memory now.
  init.hold.reset();
  for (train::AuxChoice& auxiliary : init.auxiliaries) auxiliary.hold.reset();
  setup.checkpointFolder = work.folder;
  setup.checkpointPrefix = store::runFolderName(work.run.uuid);
  setup.resumeFrom = work.resumeFrom;
  setup.damaged = work.damaged;
  setup.neededSteps = [database = work.store.file(), uuid = work.run.uuid] {
    store::RunReader store(database);
    return stepsOthersNeed(store, uuid);
  };
  setup.onTakenPaths = [&work, segment](const auto& paths) {
    Json taken = Json::object();
    for (const auto& [kind, path] : paths) taken[kind] = path;
    try {
      work.store.addToEnvironment(work.run.id, segment, "cpu_taken", taken);
    } catch (const Error& error) {
      // The database is busy or full: results wait in the side file, and this note is not worth
      // the run.
      work.log.line(std::string("warning: the CPU paths were not recorded: ") + error.what());
    }
  };
  setup.origin = {{"run", work.run.uuid}};
  setup.liveRun = work.run.uuid;
  setup.liveImages = liveImagesOf(work.engine.registry, *setup.session);
  setup.configHash = sha256OfText(work.config.dump());
  train::Trainer trainer(std::move(setup), sink, work.control);
  return trainer.run();
}

/// What the run is about to record, for every reader of the database.
void declareMetricsOf(store::RunStore& store, const store::TaskCards& cards, const Json& config,
                      RunLog& log) {
  std::vector<MetricDeclaration> declared = jobs::machineMetrics();
  if (const MetricCard* card = store::cardOf(cards, store::taskOf(config)))
    declared.insert(declared.end(), card->declared.begin(), card->declared.end());
  for (const std::string& pattern : store::declareMetrics(store, declared)) {
    log.line("warning: this database knows the metrics '" + pattern +
             "' with another unit or direction than this run; they are shown as the database "
             "has it");
  }
}

/// Segment after segment, until the run has ended or is left.
train::TrainerResult trainSegments(Work work, train::InitChoice init, const Json& environment) {
  for (bool isRolledBack = false;; isRolledBack = true) {
    const std::int64_t step =
        work.resumeFrom.empty() ? 0 : train::readCheckpointState(work.resumeFrom).step;
    const std::string request = isRolledBack ? work.store.request(work.run.id) : "";
    const std::int64_t segment =
        work.store.openSegment(work.run.id, step, store::thisWorker(), environment);
    // The new segment has forgotten what this process is asked for.
    if (!request.empty()) work.store.setRequest(work.run.id, request);
    work.log.line(nameOf(work.run) + ": " + work.run.name +
                  (step > 0 ? ", continuing at step " + std::to_string(step) : ""));
    store::StoreSink stored(work.store.file(), work.run.id, segment, work.control);
    ProgressSink sink(stored, work.log, environment.at("device").get<std::string>());
    train::TrainerResult result = train(work, segment, std::move(init), sink);
    sink.flush();
    if (result.outcome != train::Outcome::RolledBack) return result;
    work.log.line("warning: " + result.reason);
    work.resumeFrom = result.resumeFrom;
    work.damaged.clear();
    init = initChoiceOf(work.store, work.run, !work.resumeFrom.empty());
  }
}

/// LibTorch's own sentence names neither the run's setting nor what to do.
std::string memoryReason(const Config& config) {
  return "there is too little memory on device '" + config.text("train.device") +
         "' for this run; make train.batch_size smaller than " +
         std::to_string(config.integer("train.batch_size")) +
         ", with train.accumulate for as many images a step";
}

}  // namespace

TrainedRun workRun(store::RunStore& store, const Engine& engine, const store::RunRow& asked,
                   std::optional<train::InitChoice> start) {
  const std::int64_t id = asked.id;
  const store::RunRow run = store.run(id);
  requireStartable(store, run);
  jobs::requireDependency(store, run.id);
  const std::filesystem::path folder = runFolder(store, run);
  const store::TaskCards cards = store::taskCards(engine.registry.catalog());
  RunLog log(folder / "run.log",
             store::runCard(store::cardOf(cards, store::taskOf(store.config(id))), {}, {}).unit);
  std::vector<std::string> damaged;
  const auto resumed = newestCheckpoint(folder, [&](const std::string& why) {
    log.line("warning: " + why);
    damaged.push_back(why);
  });
  if (!damaged.empty() && !resumed)
    log.line("warning: " + nameOf(run) + " has no whole checkpoint and begins again at step 0");
  // Before anything is written: a run whose source is not ready stays queued.
  train::InitChoice init = initChoiceOf(store, run, resumed.has_value(), std::move(start));

  TrainedRun trained;
  if (!takeUp(store, asked, run)) {
    trained.state = store::RunState::Stopped;
    trained.reason = "stopped on request before its first step";
    trained.step = run.step;
    trained.code = exitCodeOf(trained.state);
    store.setState(id, trained.state, trained.reason);
    log.line(nameOf(run) + " is stopped: " + trained.reason);
    trained.run = store.run(id);
    return trained;
  }
  RunControl control;
  try {
    completeSelection(store, run);
    const Json config = store.config(id);
    const Config values(config);
    train::useThreads(values.maybeInteger("train.threads"));
    Json environment = describeEnvironment(
        engine.plugins,
        train::computeEnvironment(train::resolveDevice(values.text("train.device"))), run.seed);
    environment["resident_bytes"] = engine.residentBytes;
    if (!init.auxiliaries.empty()) environment["aux"] = auxJson(init.auxiliaries);
    store.setLogFile(id, store::runFolderName(run.uuid) + "/run.log");
    declareMetricsOf(store, cards, config, log);

    const SignalledRun signalled(control);
    const train::TrainerResult result =
        trainSegments({store, engine, run, config, folder,
                       resumed ? resumed->folder : std::filesystem::path(), damaged, log, control},
                      std::move(init), environment);
    trained.state = stateOf(result.outcome);
    trained.reason = result.reason;
    trained.step = result.step;
    trained.seconds = result.seconds;
    trained.scores = result.scores;
    trained.code = exitCodeOf(trained.state);
  } catch (const Error& error) {
    trained.state = store::RunState::Failed;
    trained.reason = firstLine(error.what());
    trained.code = error.code();
  } catch (const std::exception& error) {
    trained.state = store::RunState::Failed;
    trained.reason = train::isShortOfMemory(error) ? memoryReason(Config(store.config(id)))
                                                   : firstLine(error.what());
    trained.code = ExitCode::Failed;
  }
  // `vitrine stop` writes the request and then sends SIGTERM; the signal, or a pause that was asked
  // for before, may be seen first.
  if (jobs::endRun(store, id, trained.state, trained.reason) != trained.state) {
    trained.state = store::RunState::Stopped;
    trained.reason = "stopped on request";
    trained.code = exitCodeOf(trained.state);
  }
  log.endProgress();
  log.line(nameOf(run) + " is " + toString(trained.state) +
           (trained.reason.empty() ? "" : ": " + trained.reason));
  trained.run = store.run(id);
  return trained;
}

Json toJson(const TrainedRun& trained) {
  Json scores = Json::object();
  for (const auto& [name, value] : trained.scores) scores[name] = finite(value);
  return Json{{"id", trained.run.id},
              {"uuid", trained.run.uuid},
              {"name", trained.run.name},
              {"state", toString(trained.state)},
              {"reason", trained.reason},
              {"step", trained.step},
              {"seconds", finite(trained.seconds)},
              {"scores", scores}};
}

}  // namespace vitrine::app
