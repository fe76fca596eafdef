#include "core/jobs/command.h"

#include <algorithm>
#include <array>
#include <functional>
#include <ranges>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/jobs/launcher.h"
#include "core/store/maintenance/trash.h"

namespace vitrine::jobs {

namespace {

using What = Command::What;

constexpr std::array<std::pair<What, const char*>, 14> kCommands{{
    {What::Enqueue, "enqueue"},
    {What::Start, "start"},
    {What::Remove, "remove"},
    {What::Requeue, "requeue"},
    {What::Move, "move"},
    {What::Limit, "limit"},
    {What::Device, "device"},
    {What::Pause, "pause"},
    {What::Stop, "stop"},
    {What::Delete, "delete"},
    {What::Restore, "restore"},
    {What::EmptyTrash, "empty_trash"},
    {What::Mode, "mode"},
    {What::PauseAll, "pause_all"},
}};

constexpr std::array<store::QueueMode, 3> kQueueModes{
    store::QueueMode::Running, store::QueueMode::AfterCurrent, store::QueueMode::Paused};

/// When `before` is moved itself, before the next one that stays; behind all where none does.
void moveRuns(const Command& command, JobQueue& queue) {
  if (command.runs.empty()) return;
  const std::vector<QueueEntry> entries = queue.list();
  const auto stays = [&](const QueueEntry& entry) {
    return std::find(command.runs.begin(), command.runs.end(), entry.run) == command.runs.end();
  };
  auto next = entries.end();
  if (command.before != 0) {
    next = std::find_if(entries.begin(), entries.end(), [&](const QueueEntry& entry) {
      return entry.run == command.before;
    });
    if (next == entries.end()) return queue.moveBefore(command.runs, command.before);  // refuses
    next = std::find_if(next, entries.end(), stays);
  }
  const auto last = std::find_if(entries.rbegin(), entries.rend(), stays);
  if (next != entries.end()) {
    queue.moveBefore(command.runs, next->run);
  } else if (last != entries.rend()) {
    queue.moveAfter(command.runs, last->run);
  } else {
    queue.moveAfter(std::span(command.runs).subspan(1), command.runs.front());
  }
}

std::vector<std::int64_t> enqueueable(const Command& command, store::RunStore& store,
                                      JobQueue& queue) {
  std::vector<std::int64_t> runs;
  for (const std::int64_t run : command.runs) {
    if (command.what == What::Start) {
      const auto entry = queue.find(run);
      if (entry && entry->state == store::RunState::Queued && command.end == QueueEnd::Back)
        continue;
      runs.push_back(run);
    } else if (canChange(store.run(run).state, store::RunState::Queued)) {
      runs.push_back(run);
    }
  }
  return runs;
}

std::int64_t runOf(std::int64_t run) { return run; }
std::int64_t runOf(const Command::Place& place) { return place.run; }

/// Waiting runs of the experiments of those of `runs` that are in progress, without `runs`.
std::vector<std::int64_t> waitingBeside(const std::vector<std::int64_t>& runs,
                                        store::RunStore& store, JobQueue& queue) {
  const std::vector<QueueEntry> entries = queue.list();
  const auto isStopped = [&](const QueueEntry& entry) {
    return std::find(runs.begin(), runs.end(), entry.run) != runs.end();
  };
  std::set<std::int64_t> experiments;
  for (const QueueEntry& entry : entries) {
    if (isStopped(entry) && isAlive(entry.state))
      experiments.insert(store.run(entry.run).experimentId);
  }
  std::vector<std::int64_t> waiting;
  for (const QueueEntry& entry : entries) {
    if (!experiments.empty() && !isStopped(entry) && !isAlive(entry.state) &&
        experiments.contains(store.run(entry.run).experimentId))
      waiting.push_back(entry.run);
  }
  return waiting;
}

[[noreturn]] void refuse(const std::string& what) {
  throw ConfigError("the command is not understood: " + what);
}

template <typename Value>
Value fieldOr(const Json& json, const char* key, Value otherwise) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return otherwise;
  try {
    return found->get<Value>();
  } catch (const Json::exception&) {
    refuse(std::string("'") + key + "' is of another type");
  }
}

Json placeJson(const Command::Place& place) {
  const store::QueueOptions& options = place.options;
  return {{"run", place.run},
          {"before", place.before},
          {"priority", options.priority},
          {"device", options.device},
          {"time_limit", options.timeLimitSeconds},
          {"grace", options.graceSeconds},
          {"memory_limit", options.memoryLimitBytes},
          {"needed_memory", options.neededMemoryBytes},
          {"needed_disk", options.neededDiskBytes}};
}

Command::Place placeOf(const Json& json) {
  if (!json.is_object()) refuse("one of 'places' is not a map");
  Command::Place place{.run = fieldOr<std::int64_t>(json, "run", 0),
                       .before = fieldOr<std::int64_t>(json, "before", 0)};
  store::QueueOptions& options = place.options;
  options.priority = fieldOr(json, "priority", options.priority);
  options.device = fieldOr(json, "device", options.device);
  options.timeLimitSeconds = fieldOr(json, "time_limit", options.timeLimitSeconds);
  options.graceSeconds = fieldOr(json, "grace", options.graceSeconds);
  options.memoryLimitBytes = fieldOr(json, "memory_limit", options.memoryLimitBytes);
  options.neededMemoryBytes = fieldOr(json, "needed_memory", options.neededMemoryBytes);
  options.neededDiskBytes = fieldOr(json, "needed_disk", options.neededDiskBytes);
  return place;
}

store::QueueMode modeOf(const Json& json) {
  const auto text = fieldOr<std::string>(json, "mode", toString(store::QueueMode::Running));
  for (const store::QueueMode mode : kQueueModes) {
    if (toString(mode) == text) return mode;
  }
  refuse("'mode' is running, after_current or paused, not '" + text + "'");
}

}  // namespace

CommandResult execute(const Command& command, store::RunStore& store, JobQueue& queue) {
  CommandResult result;
  // `items` are runs, or places of runs.
  const auto each = [&](const auto& items, const auto& act) {
    for (const auto& item : items) {
      try {
        if (act(item)) result.runs.push_back(runOf(item));
      } catch (const Error& error) {
        if (result.error.empty()) result.error = error.what();
        if (items.size() == 1) throw;
      }
    }
    if (result.runs.empty() && !result.error.empty()) throw RefusedError(result.error);
  };
  // The queue is paused before anything ends: nothing must start in its place. It stays so when
  // `end` ends a run.
  const auto whileHeld = [&](bool isWanted, const auto& end) {
    const bool isHeld = isWanted && queue.mode() == store::QueueMode::Running;
    if (isHeld) queue.setMode(store::QueueMode::Paused);
    bool stays = false;
    try {
      stays = end();
    } catch (const Error&) {
      if (isHeld) queue.setMode(store::QueueMode::Running);
      throw;
    }
    if (isHeld && !stays) queue.setMode(store::QueueMode::Running);
    return isHeld;
  };
  switch (command.what) {
    case What::Enqueue:
    case What::Start:
      result.runs = enqueueable(command, store, queue);
      queue.enqueue(result.runs, {}, command.end);
      if (command.queue == Command::Queue::Resumes) queue.setMode(store::QueueMode::Running);
      break;
    case What::Remove:
      each(command.runs, [&](std::int64_t run) { return queue.takeOut(run); });
      break;
    case What::Requeue:
      // From the last to the first: what a run waits before is there when its turn comes.
      each(std::views::reverse(command.places), [&](const Command::Place& place) {
        queue.restore(place.run, place.options, place.before);
        return true;
      });
      break;
    case What::Move:
      moveRuns(command, queue);
      result.runs = command.runs;
      break;
    case What::Limit:
      each(command.runs, [&](std::int64_t run) {
        queue.setTimeLimit(run, command.seconds);
        return true;
      });
      break;
    case What::Device:
      each(command.runs, [&](std::int64_t run) {
        queue.setDevice(run, command.device);
        return true;
      });
      break;
    case What::Pause:
      result.isHeld = whileHeld(command.queue == Command::Queue::Holds, [&] {
        each(command.runs, [&](std::int64_t run) {
          pauseRun(store, run);
          queue.remove(run);
          return true;
        });
        return true;
      });
      break;
    case What::Stop: {
      result.waiting = waitingBeside(command.runs, store, queue);
      whileHeld(!result.waiting.empty(), [&] {
        const std::vector<std::int64_t> alive = queue.inProgress();
        const auto isAliveNow = [&alive](std::int64_t run) {
          return std::find(alive.begin(), alive.end(), run) != alive.end();
        };
        std::vector<std::int64_t> runs = command.runs;
        std::stable_partition(runs.begin(), runs.end(), std::not_fn(isAliveNow));
        each(runs, [&](std::int64_t run) {
          stopRun(store, run);
          return true;
        });
        const bool isOneEnding = std::any_of(result.runs.begin(), result.runs.end(), isAliveNow);
        if (!isOneEnding) result.waiting.clear();
        return isOneEnding;
      });
      break;
    }
    case What::Delete:
      each(command.runs, [&](std::int64_t run) {
        store::trashRun(store.file(), run);
        return true;
      });
      break;
    case What::Restore:
      each(command.runs, [&](std::int64_t run) {
        result.runs.push_back(store::restoreRun(store.file(), run));
        return false;  // under its id of now
      });
      break;
    case What::EmptyTrash:
      store::emptyTrash(store.file());
      break;
    case What::Mode:
      queue.setMode(command.mode);
      break;
    case What::PauseAll:
      queue.setMode(store::QueueMode::Paused);
      for (const std::int64_t run : queue.inProgress()) {
        try {
          pauseRun(store, run);
          result.runs.push_back(run);
        } catch (const RefusedError&) {  // it ends just now
        }
      }
      break;
  }
  result.mode = queue.mode();
  result.entries = static_cast<std::int64_t>(queue.list().size());
  return result;
}

Json toJson(const Command& command) {
  const auto name = std::find_if(kCommands.begin(), kCommands.end(),
                                 [&](const auto& entry) { return entry.first == command.what; });
  Json json{{"what", name->second}, {"runs", command.runs}};
  if (command.what == What::Move) json["before"] = command.before;
  if (command.what == What::Limit) json["seconds"] = command.seconds;
  if (command.what == What::Device) json["device"] = command.device;
  if (command.what == What::Mode) json["mode"] = toString(command.mode);
  if (command.end == QueueEnd::Front) json["front"] = true;
  if (command.queue == Command::Queue::Holds) json["queue"] = "hold";
  if (command.queue == Command::Queue::Resumes) json["queue"] = "resume";
  for (const Command::Place& place : command.places) json["places"].push_back(placeJson(place));
  return json;
}

Command commandFromJson(const Json& json) {
  if (!json.is_object()) refuse("it is not a map");
  const auto what = fieldOr<std::string>(json, "what", "");
  const auto known = std::find_if(kCommands.begin(), kCommands.end(),
                                  [&](const auto& entry) { return entry.second == what; });
  if (known == kCommands.end()) {
    const std::string names = joined(kCommands, [](const auto& each) { return each.second; });
    refuse("'what' is one of " + names + ", not '" + what + "'");
  }
  Command command;
  command.what = known->first;
  command.runs = fieldOr<std::vector<std::int64_t>>(json, "runs", {});
  command.before = fieldOr<std::int64_t>(json, "before", 0);
  command.seconds = fieldOr<double>(json, "seconds", 0);
  command.device = fieldOr<std::string>(json, "device", "");
  command.mode = modeOf(json);
  command.end = fieldOr<bool>(json, "front", false) ? QueueEnd::Front : QueueEnd::Back;
  const auto then = fieldOr<std::string>(json, "queue", "");
  if (then == "hold") {
    command.queue = Command::Queue::Holds;
  } else if (then == "resume") {
    command.queue = Command::Queue::Resumes;
  } else if (!then.empty()) {
    refuse("'queue' is hold or resume, not '" + then + "'");
  }
  for (const Json& place : fieldOr<std::vector<Json>>(json, "places", {}))
    command.places.push_back(placeOf(place));
  const bool isOfAll = command.what == What::Mode || command.what == What::PauseAll ||
                       command.what == What::EmptyTrash || command.what == What::Requeue;
  if (command.runs.empty() && !isOfAll) refuse("'runs' names none");
  return command;
}

Json toJson(const CommandResult& result) {
  return {{"runs", result.runs},       {"mode", toString(result.mode)},
          {"entries", result.entries}, {"waiting", result.waiting},
          {"held", result.isHeld},     {"trouble", result.error}};
}

CommandResult resultFromJson(const Json& json) {
  if (!json.is_object()) refuse("its result is not a map");
  return {fieldOr<std::vector<std::int64_t>>(json, "runs", {}),
          modeOf(json),
          fieldOr<std::int64_t>(json, "entries", 0),
          fieldOr<std::vector<std::int64_t>>(json, "waiting", {}),
          fieldOr<bool>(json, "held", false),
          fieldOr<std::string>(json, "trouble", "")};
}

}  // namespace vitrine::jobs
