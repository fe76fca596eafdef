// vitrine enqueue: every run of an experiment into the queue.
#include <algorithm>
#include <regex>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/cli/quantities.h"
#include "app/vitrine/run/planned_runs.h"
#include "app/vitrine/run/preflight.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/config/selection.h"
#include "core/jobs/devices.h"
#include "core/jobs/queue.h"

namespace vitrine::app {

namespace {

struct EnqueueArguments {
  ExperimentChoice experiment;
  std::string plan;
  std::int64_t priority = 0;
  bool isFront = false, isNeeded = false, isQuick = false;
  std::string device, timeLimit = "none", grace = "30s", memoryLimit = "none";
};

void addEnqueueOptions(CommandLine& line, EnqueueArguments& asked) {
  CLI::App& app = line.app();
  app.add_option("--priority", asked.priority, "higher is started first")
      ->capture_default_str()
      ->type_name("N");
  app.add_flag("--front", asked.isFront, "before all others in the queue");
  app.add_option("--device", asked.device,
                 "cpu, cuda, cuda:1 or the UUID of a GPU (default: train.device)")
      ->type_name("DEVICE");
  app.add_option("--time-limit", asked.timeLimit,
                 "stop a run at a checkpoint after this running time")
      ->capture_default_str()
      ->type_name("TIME");
  app.add_option("--grace", asked.grace, "time that a run may take to stop before it is killed")
      ->capture_default_str()
      ->type_name("TIME");
  app.add_option("--memory-limit", asked.memoryLimit,
                 "kill a run that uses more; none: nine tenths of the machine")
      ->capture_default_str()
      ->type_name("BYTES");
  app.add_flag("--needed", asked.isNeeded,
               "leave out runs whose resolved configuration has a finished run already");
  app.add_flag("--no-dry-step", asked.isQuick, "do not try one step of each kind of run first");
  app.add_option("--plan", asked.plan,
                 "output of `vitrine check FILE --json`, in place of FILE; - reads standard input")
      ->type_name("PLAN");
  addExperiment(line, asked.experiment)->required(false);
}

/// The runs that were asked for, judged. \throws ConfigError  a plan and a file, or neither; after
/// saying every problem of the file
JudgedPlan planOf(const EnqueueArguments& asked, const Engine& engine) {
  if (asked.plan.empty() == asked.experiment.file.empty())
    throw ConfigError(asked.plan.empty()
                          ? "vitrine enqueue: give the FILE of an experiment or --plan PLAN"
                          : "vitrine enqueue: --plan stores runs as they were planned; give no "
                            "FILE and no KEY=VALUE with it");
  if (!asked.plan.empty()) return readJudgedPlan(asked.plan, engine);
  return judgeFile(engine, asked.experiment.file, asked.experiment.overrides);
}

/// \throws ConfigError  the file asks for another kind of device
void requireDevice(const Plan& plan, const std::string& device) {
  if (device.empty()) return;
  // Any other word is the name of no device: its runs would wait for ever.
  static const std::regex known("cpu|cuda(:(0|[1-9][0-9]{0,2}))?|GPU-.+");
  if (!std::regex_match(device, known))
    throw ConfigError("'" + device +
                      "' is not a device; use cpu, cuda, cuda:N or the UUID of a GPU");
  for (const PlannedRun& run : plan.runs) {
    const std::string configured = Config(run.config).text("train.device");
    if (!jobs::agree(configured, device)) {
      throw ConfigError("run '" + run.name + "' has train.device = " + configured +
                        " and cannot be put on " + device + "; give train.device=auto as well");
    }
  }
}

/// The same values; of a refit the same grid, whose choice the plan does not know.
bool isConfiguredAlike(store::RunStore& store, std::int64_t run, const PlannedRun& planned) {
  if (planned.selection.is_null()) return store.config(run) == planned.config;
  Json selection = store.selection(run);
  if (!selection.is_object() || !selection.at("chosen").is_number_unsigned()) return false;
  const auto chosen = selection.at("chosen").get<std::size_t>();
  selection["chosen"] = nullptr;
  return selection == planned.selection &&
         store.config(run) == withCandidate(planned.config, selection, chosen);
}

bool isFinishedLike(store::RunStore& store, const store::RunRow& row, const Plan& plan, int place);

/// Whether the run with that UUID can stand for the one at `place` of the plan.
bool isFinishedLike(store::RunStore& store, const std::string& uuid, const Plan& plan, int place) {
  const auto row = store.runByUuid(uuid);
  return row && isFinishedLike(store, *row, plan, place);
}

bool startsAlike(store::RunStore& store, std::int64_t id, const Plan& plan, const PlannedRun& run) {
  const Json init = store.init(id);
  if (!run.init) return init.is_null();
  if (run.init->plannedRun < 0) return init == initToJson(*run.init);
  return init.is_object() &&
         isFinishedLike(store, init.value("run", ""), plan, run.init->plannedRun);
}

bool usesAlike(store::RunStore& store, std::int64_t id, const Plan& plan, const PlannedRun& run) {
  const std::vector<store::RunDependency> dependencies = store.dependencies(id);
  return std::all_of(run.auxiliaries.begin(), run.auxiliaries.end(), [&](const AuxSource& aux) {
    if (aux.plannedRun < 0) return true;
    const auto found = std::find_if(dependencies.begin(), dependencies.end(),
                                    [&](const store::RunDependency& each) {
                                      return each.kind == "aux" && each.name == aux.name;
                                    });
    return found != dependencies.end() && isFinishedLike(store, found->uuid, plan, aux.plannedRun);
  });
}

/// It has that configuration, and what it started from and uses is like what the plan has for it.
bool isFinishedLike(store::RunStore& store, const store::RunRow& row, const Plan& plan, int place) {
  const PlannedRun& run = plan.runs[static_cast<std::size_t>(place)];
  return row.state == store::RunState::Done && row.seed == run.seed && row.stage == run.stage &&
         row.variant == run.variant && isConfiguredAlike(store, row.id, run) &&
         startsAlike(store, row.id, plan, run) && usesAlike(store, row.id, plan, run);
}

/// The one of `rows` that is finished and like the one at `place`, or 0.
std::int64_t finishedRunLike(store::RunStore& store, const std::vector<store::RunRow>& rows,
                             const Plan& plan, int place) {
  for (const store::RunRow& row : rows) {
    if (isFinishedLike(store, row, plan, place)) return row.id;
  }
  return 0;
}

/// Runs of the plan that are still needed; what a needed one starts from stays, too.
JudgedPlan neededPart(store::RunStore& store, const JudgedPlan& judged, Json& skipped) {
  const Plan& plan = judged.plan;
  std::vector<std::int64_t> known(plan.runs.size(), 0);
  std::vector<bool> isNeeded(plan.runs.size(), false);
  const std::vector<store::RunRow> rows = store.runs();
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    known[i] = finishedRunLike(store, rows, plan, static_cast<int>(i));
    // A run of a grid is needed for a refit alone.
    isNeeded[i] = known[i] == 0 && plan.runs[i].part != RunPart::Grid;
  }
  for (std::size_t i = plan.runs.size(); i-- > 0;) {
    if (!isNeeded[i]) continue;
    eachNeeded(plan.runs[i], [&](int source, const auto&) {
      if (source >= 0) isNeeded[static_cast<std::size_t>(source)] = true;
    });
  }
  JudgedPlan part = judged;
  part.plan.runs.clear();
  part.costs.clear();
  std::vector<int> place(plan.runs.size(), -1);
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    if (!isNeeded[i]) {
      log::info("'" + plan.runs[i].name + "' is " +
                (known[i] == 0 ? "not needed: the runs that are chosen from it are done"
                               : "done already, as run " + std::to_string(known[i])) +
                "; it is left out");
      skipped.push_back(
          {{"name", plan.runs[i].name}, {"id", known[i] == 0 ? Json(nullptr) : Json(known[i])}});
      continue;
    }
    place[i] = static_cast<int>(part.plan.runs.size());
    PlannedRun run = plan.runs[i];
    eachNeeded(run, [&place](int& source, const auto&) {
      if (source >= 0) source = place[static_cast<std::size_t>(source)];
    });
    part.plan.runs.push_back(std::move(run));
    part.costs.push_back(judged.costs[i]);
  }
  return part;
}

}  // namespace

int enqueueVerb(const Arguments& arguments) {
  CommandLine line("enqueue",
                   {"vitrine enqueue experiments/vit/quick.toml",
                    "vitrine enqueue experiments/illama/quick.toml train.epochs=2 --front "
                    "--time-limit 2h --needed"});
  EnqueueArguments asked;
  addEnqueueOptions(line, asked);
  line.parse(arguments);
  store::QueueOptions options;
  options.priority = asked.priority;
  options.device = asked.device;
  options.graceSeconds = parseDuration("--grace", asked.grace);
  if (asked.timeLimit != "none")
    options.timeLimitSeconds = parseDuration("--time-limit", asked.timeLimit);
  if (asked.memoryLimit != "none") options.memoryLimitBytes = parseBytes(asked.memoryLimit);
  // In the queue, 0 stands for no limit.
  const bool hasNoTime = asked.timeLimit != "none" && options.timeLimitSeconds == 0;
  if (hasNoTime || (asked.memoryLimit != "none" && options.memoryLimitBytes == 0))
    throw ConfigError(hasNoTime ? "--time-limit " + asked.timeLimit +
                                      " leaves a run no time; give more, or none for no limit"
                                : "--memory-limit " + asked.memoryLimit +
                                      " leaves a run no memory; give more, or none for no limit");

  Engine engine;
  JudgedPlan judged = planOf(asked, engine);
  requireDevice(judged.plan, asked.device);
  store::RunStore store = openStore(line, Missing::Create);
  Json skipped = Json::array();
  if (asked.isNeeded) judged = neededPart(store, judged, skipped);
  const Plan& plan = judged.plan;

  // Everything is checked before anything is stored.
  const std::vector<Needs> needs =
      preflight(engine, judged, databaseOf(line), asked.isQuick ? DryStep::Skip : DryStep::Do);
  std::vector<std::int64_t> ids;
  // All or none: nothing would ever start a run that is stored without its place in the queue.
  store::QueueTable(store).transaction([&] {
    ids = storePlan(store, plan);
    jobs::JobQueue queue(store);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      // The last goes to the front first, so that the first is in front in the end.
      const std::size_t place = asked.isFront ? ids.size() - 1 - i : i;
      options.neededMemoryBytes = needs[place].memoryBytes;
      options.neededDiskBytes = needs[place].diskBytes;
      queue.enqueue(std::span(&ids[place], 1), options,
                    asked.isFront ? jobs::QueueEnd::Front : jobs::QueueEnd::Back);
    }
  });
  if (line.wantsJson()) {
    print(Json{{"ids", ids}, {"skipped", skipped}});
    return 0;
  }
  Table table{{"id", "name", "memory", "disk"}, {}};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    table.rows.push_back({ids[i], plan.runs[i].name, formatBytes(needs[i].memoryBytes),
                          formatBytes(needs[i].diskBytes)});
  }
  if (!ids.empty()) print(table, Format::Text);
  log::info(std::to_string(ids.size()) + (ids.size() == 1 ? " run is" : " runs are") +
            " in the queue; `vitrine work` starts them");
  return 0;
}

}  // namespace vitrine::app
