// vitrine queue: the runs in the queue, in the order in which they start.
#include "core/jobs/queue.h"

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "core/base/log.h"

namespace vitrine::app {

namespace {

Json queueJson(jobs::JobQueue& queue) {
  Json entries = Json::array();
  for (const jobs::QueueEntry& entry : queue.list()) {
    entries.push_back(
        {{"id", entry.run},
         {"name", entry.name},
         {"experiment", entry.experiment},
         {"state", toString(entry.state)},
         {"priority", entry.options.priority},
         {"device", entry.wantedDevice()},
         {"time_limit", entry.options.timeLimitSeconds},
         {"grace", entry.options.graceSeconds},
         {"memory_limit", entry.options.memoryLimitBytes},
         {"needed_memory", entry.options.neededMemoryBytes},
         {"needed_disk", entry.options.neededDiskBytes},
         {"used_seconds", entry.usedSeconds},
         {"attempts", entry.attempts},
         {"enqueued_at", entry.enqueuedAt},
         {"ready", entry.isReady},
         {"waits", entry.waits}});
  }
  return Json{{"mode", toString(queue.mode())}, {"entries", entries}};
}

std::string modeText(store::QueueMode mode) {
  switch (mode) {
    case store::QueueMode::Running:
      return "";
    case store::QueueMode::AfterCurrent:
      return "the queue pauses after the runs in progress; `vitrine resume --queue` lets it "
             "continue\n";
    case store::QueueMode::Paused:
      return "the queue is paused; `vitrine resume --queue` lets it continue\n";
  }
  return "";
}

}  // namespace

int queueVerb(const Arguments& arguments) {
  CommandLine line("queue", {"vitrine queue", "vitrine queue --json --db lab.sqlite"});
  line.parse(arguments);
  store::RunStore store = openStoreToShow(line, Missing::Refuse);
  jobs::JobQueue queue(store);
  try {
    queue.prune();
  } catch (const store::UnwritableError& error) {
    log::warning(error.what());
  }
  if (line.wantsJson()) {
    print(queueJson(queue));
    return 0;
  }
  Table table{{"", "id", "name", "state", "priority", "device", "waits"}, {}};
  int place = 0;
  for (const jobs::QueueEntry& entry : queue.list()) {
    table.rows.push_back({++place, entry.run, entry.name, toString(entry.state),
                          entry.options.priority, entry.wantedDevice(), entry.waits});
  }
  const std::string mode = modeText(queue.mode());
  if (table.rows.empty()) {
    print("the queue is empty; `vitrine enqueue FILE` puts runs into it\n" + mode);
    return 0;
  }
  print(table, Format::Text);
  if (!mode.empty()) print("\n" + mode);
  return 0;
}

}  // namespace vitrine::app
