// vitrine work: starts the runs in the queue, on the devices of this machine, without a window.
#include "core/jobs/work.h"

#include <signal.h>

#include <atomic>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/cli/quantities.h"
#include "core/base/log.h"
#include "core/jobs/launcher.h"

namespace vitrine::app {

namespace {

std::atomic<bool> isWorkAsked{false};

struct WorkArguments {
  bool isOnce = false, isDrained = false;
  std::vector<std::string> devices;
  int retries = 3;
  std::string hangAlarm = "30s", hangLimit = "none";
  std::int64_t processes = 4096, supervised = 0;
};

void addWorkOptions(CLI::App& app, WorkArguments& asked) {
  CLI::Option* once = app.add_flag("--once", asked.isOnce,
                                   "start one run, wait for its end, and end with its exit code");
  app.add_flag("--drain", asked.isDrained,
               "end when nothing in the queue can be started and nothing is in progress")
      ->excludes(once);
  app.add_option("--devices", asked.devices, "devices to work with (default: all of this machine)")
      ->delimiter(',')
      ->type_name("cpu,cuda:0");
  app.add_option("--retries", asked.retries,
                 "how often a run that was killed is started again without a new checkpoint")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("--hang-alarm", asked.hangAlarm,
                 "record an event when a run is silent for this long")
      ->capture_default_str()
      ->type_name("TIME");
  app.add_option("--hang-limit", asked.hangLimit,
                 "end a run that is silent for this long; none: never")
      ->capture_default_str()
      ->type_name("TIME");
  app.add_option("--max-processes", asked.processes, "processes and threads that one run may have")
      ->capture_default_str()
      ->check(CLI::Range(16, 1'000'000));
  app.add_option("--supervise", asked.supervised, "")
      ->group("");  // what it starts next to every run
}

}  // namespace

int workVerb(const Arguments& arguments) {
  CommandLine line("work", {"vitrine work", "vitrine work --devices cuda:0,cuda:1 --drain"});
  WorkArguments asked;
  addWorkOptions(line.app(), asked);
  line.parse(arguments);
  jobs::SupervisorSettings supervisor;
  supervisor.hangAlarmSeconds = parseDuration("--hang-alarm", asked.hangAlarm);
  supervisor.hangLimitSeconds =
      asked.hangLimit == "none" ? 0 : parseDuration("--hang-limit", asked.hangLimit);
  supervisor.tasks = asked.processes;
  if (asked.supervised > 0)
    return superviseQueuedRun(databaseOf(line), asked.supervised, jobs::headlessProgram(),
                              supervisor);

  store::RunStore store = openStore(line, Missing::Refuse);
  jobs::WorkOptions options;
  if (asked.isDrained) options.until = jobs::WorkUntil::Drained;
  if (asked.isOnce) options.until = jobs::WorkUntil::OneEnded;
  options.devices = asked.devices;
  options.policy.retries = asked.retries;
  options.supervisor = supervisor;
  options.program = jobs::headlessProgram();
  options.isAsked = [] { return isWorkAsked.load(); };
  struct sigaction action {};
  action.sa_handler = [](int) { isWorkAsked.store(true); };
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  jobs::SystemDevices devices;
  if (jobs::JobQueue(store).mode() != store::QueueMode::Running)
    log::warning("the queue is paused; `vitrine resume --queue` lets it continue");
  const jobs::WorkReport report = workQueue(store, devices, options);
  if (!report.inProgress.empty()) {
    log::info(std::to_string(report.inProgress.size()) +
              " runs continue by themselves; `vitrine stop ID` ends one, `vitrine work` finds them "
              "again");
  }
  if (line.wantsJson()) {
    Json runs = Json::array();
    for (const store::RunRow& run : report.runs)
      runs.push_back({{"id", run.id}, {"state", toString(run.state)}, {"reason", run.reason}});
    print(Json{{"started", report.started}, {"runs", runs}, {"in_progress", report.inProgress}});
  }
  if (!asked.isOnce || report.runs.empty()) return 0;
  return static_cast<int>(exitCodeOf(report.runs.front().state));
}

}  // namespace vitrine::app
