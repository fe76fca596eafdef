#include "core/jobs/queue.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/store/script_runs.h"

namespace vitrine::jobs {

namespace {

/// Why a run that depends on one in that state waits.
std::string waitsFor(const store::RunReader::Blocker& other) {
  std::string text = (other.isStart ? "starts from " : "needs ") + store::nameOf(other.run) +
                     ", which is " + toString(other.state);
  if (other.state == store::RunState::Failed || other.state == store::RunState::Stopped ||
      other.state == store::RunState::Interrupted)
    text +=
        "; it can start when that one is done: `vitrine retry " + std::to_string(other.run) + "`";
  return text;
}

}  // namespace

JobQueue::JobQueue(store::RunStore& store) : JobQueue(store, Policy()) {}
JobQueue::JobQueue(store::RunStore& store, Policy policy)
    : store_(store), table_(store), policy_(std::move(policy)) {}

void JobQueue::enqueue(std::span<const std::int64_t> runs, const store::QueueOptions& options,
                       QueueEnd end) {
  table_.transaction([&] {
    const std::int64_t first = table_.firstPosition();
    const std::int64_t last = table_.lastPosition();
    std::int64_t position =
        end == QueueEnd::Back ? last + 1 : first - static_cast<std::int64_t>(runs.size());
    store::QueueOptions placed = options;
    if (end == QueueEnd::Front)
      placed.priority = std::max(placed.priority, table_.highestPriority());
    for (const std::int64_t run : runs) {
      const store::RunState state = store_.run(run).state;
      if (state == store::RunState::Done || isAlive(state)) {
        throw RefusedError(store::nameOf(run) + " is " + toString(state) +
                           (state == store::RunState::Done
                                ? "; enqueue the experiment again for another run"
                                : " and need not be put into the queue"));
      }
      if (const auto script = store::scriptOf(store_, run))
        throw RefusedError(store::whyNotStarted(run, *script));
      if (state != store::RunState::Queued) store_.setState(run, store::RunState::Queued);
      table_.put(run, placed, position++);
    }
  });
}

bool JobQueue::mayRetry(const QueueEntry& entry, bool hasNewCheckpoint) const noexcept {
  return hasNewCheckpoint || entry.attempts <= policy_.retries;
}

std::vector<QueueEntry> JobQueue::list() {
  std::vector<QueueEntry> entries;
  for (store::QueueRow& row : table_.rows()) {
    QueueEntry entry{std::move(row), "", false};
    entry.waits = entry.held;
    const bool isFirst = entry.attempts == 0;
    const bool hasNewCheckpoint = isFirst || entry.hasNewCheckpoint;
    const bool wantsStart = entry.state == store::RunState::Queued ||
                            entry.state == store::RunState::Paused ||
                            entry.state == store::RunState::Interrupted;
    if (entry.blocker) {
      entry.waits = waitsFor(*entry.blocker);
    } else if (entry.state == store::RunState::Interrupted && !hasNewCheckpoint &&
               !policy_.pauses.empty()) {
      const auto pause =
          std::min<std::size_t>(static_cast<std::size_t>(entry.attempts), policy_.pauses.size()) -
          1;
      const double since = entry.secondsSinceEnd;
      entry.isReady =
          mayRetry(entry, hasNewCheckpoint) && !(since < policy_.pauses[pause] && since >= 0);
      if (!entry.isReady) entry.waits = "was interrupted and is started again in a moment";
    } else {
      entry.isReady = wantsStart;
    }
    if (isAlive(entry.state)) entry.waits.clear();
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::optional<QueueEntry> JobQueue::find(std::int64_t run) {
  for (QueueEntry& entry : list()) {
    if (entry.run == run) return std::move(entry);
  }
  return std::nullopt;
}

bool JobQueue::remove(std::int64_t run) { return table_.remove(run); }

bool JobQueue::takeOut(std::int64_t run) {
  bool wasThere = false;
  table_.transaction([&] {
    wasThere = table_.remove(run);
    if (wasThere && store_.run(run).state == store::RunState::Queued)
      store_.setState(run, store::RunState::Stopped, "taken out of the queue");
  });
  return wasThere;
}

void JobQueue::restore(std::int64_t run, const store::QueueOptions& options, std::int64_t before) {
  table_.transaction([&] {
    enqueue(std::span(&run, 1), options);
    const std::optional<QueueEntry> next = find(before);
    if (next && !isAlive(next->state) && next->options.priority == options.priority)
      moveBefore(run, before);
  });
}

void JobQueue::requireEntry(std::int64_t run) {
  if (!table_.contains(run))
    throw NotFoundError(store::nameOf(run) +
                        " is not in the queue; `vitrine queue` lists the runs in it");
}

void JobQueue::setPriority(std::int64_t run, std::int64_t priority) {
  table_.transaction([&] {
    requireEntry(run);
    table_.setPriority(run, priority);
  });
}

void JobQueue::moveToFront(std::int64_t run) {
  table_.transaction([&] {
    requireEntry(run);
    table_.setPosition(run, table_.firstPosition() - 1);
    table_.setPriority(run, table_.highestPriority());
  });
}

void JobQueue::place(std::span<const std::int64_t> runs, std::int64_t other, bool isBefore) {
  const auto isMoved = [&](std::int64_t run) {
    return std::find(runs.begin(), runs.end(), run) != runs.end();
  };
  table_.transaction([&] {
    for (const std::int64_t run : runs) requireEntry(run);
    requireEntry(other);
    if (isMoved(other)) return;
    // Numbered again, with room at the right place.
    std::int64_t position = 0;
    const auto insert = [&](std::int64_t priority) {
      for (const std::int64_t run : runs) {
        table_.setPriority(run, priority);
        table_.setPosition(run, ++position);
      }
    };
    for (const store::QueueRow& entry : table_.rows()) {
      if (isMoved(entry.run)) continue;
      const bool isOther = entry.run == other;
      if (isOther && isBefore) insert(entry.options.priority);
      table_.setPosition(entry.run, ++position);
      if (isOther && !isBefore) insert(entry.options.priority);
    }
  });
}

void JobQueue::requireAtRest(std::int64_t run) {
  requireEntry(run);
  const store::RunState state = store_.run(run).state;
  if (isAlive(state)) {
    throw RefusedError(store::nameOf(run) + " is " + toString(state) +
                       "; pause it first, the settings of its start hold until it ends");
  }
}

void JobQueue::setTimeLimit(std::int64_t run, double seconds) {
  table_.transaction([&] {
    requireAtRest(run);
    table_.setTimeLimit(run, seconds);
  });
}

void JobQueue::setDevice(std::int64_t run, const std::string& device) {
  table_.transaction([&] {
    requireAtRest(run);
    const std::string configured = find(run)->configured;
    if (!agree(configured, device)) {
      throw RefusedError(store::nameOf(run) + " has train.device = " + configured +
                         " and cannot be put on " + device);
    }
    table_.setDevice(run, device);
  });
}

store::QueueMode JobQueue::mode() { return table_.mode(); }

void JobQueue::setMode(store::QueueMode mode) {
  table_.transaction([&] {
    if (mode == store::QueueMode::AfterCurrent && inProgress().empty())
      mode = store::QueueMode::Paused;
    table_.setMode(mode);
  });
}

std::vector<std::int64_t> JobQueue::inProgress() { return table_.inProgress(); }

std::optional<QueueEntry> JobQueue::next(
    const Device& device, const std::function<std::string(const QueueEntry&)>& hold) {
  const auto isWanted = [&](const QueueEntry& entry) {
    return entry.isReady && fits(entry.wantedDevice(), device);
  };
  {
    // Most of the time there is nothing to do, and looking needs no turn at the writer lock.
    const std::vector<QueueEntry> entries = list();
    if (mode() != store::QueueMode::Running ||
        std::none_of(entries.begin(), entries.end(), isWanted))
      return std::nullopt;
  }
  std::optional<QueueEntry> claimed;
  table_.transaction([&] {
    if (mode() != store::QueueMode::Running) return;
    for (QueueEntry& entry : list()) {
      if (!isWanted(entry)) continue;
      const std::string held = hold ? hold(entry) : "";
      if (held != entry.waits) table_.setHeld(entry.run, held);
      if (!held.empty()) continue;
      store_.claim(entry.run);
      table_.countStart(entry.run);
      claimed = std::move(entry);
      return;
    }
  });
  return claimed;
}

void JobQueue::holdFirst(const Device& device, const std::string& why) {
  if (mode() != store::QueueMode::Running || !inProgress().empty()) return;
  std::vector<std::pair<std::int64_t, std::string>> changed;
  bool isFirst = true;
  for (const QueueEntry& entry : list()) {
    if (!entry.isReady || !fits(entry.wantedDevice(), device)) continue;
    // A run that was the first one before may say so still.
    const bool saysSo = entry.waits == why;
    if (isFirst != saysSo) changed.emplace_back(entry.run, isFirst ? why : "");
    isFirst = false;
  }
  if (changed.empty()) return;
  table_.transaction([&] {
    for (const auto& [run, held] : changed) table_.setHeld(run, held);
  });
}

bool JobQueue::adopt(std::int64_t run) {
  bool isOurs = false;
  table_.transaction([&] {
    const store::RunState state = store_.run(run).state;
    if (state == store::RunState::Starting || state == store::RunState::Stopping) {
      store_.setWorker(run, store::thisWorker());
      isOurs = true;
    } else if (state == store::RunState::Interrupted) {
      // The process that claimed it was gone before this one could register.
      store_.claim(run);
      isOurs = true;
    }
  });
  return isOurs;
}

void JobQueue::handOver(std::int64_t run, const store::Worker& supervisor) {
  const store::Worker here = store::thisWorker();
  table_.transaction([&] {
    const store::RunRow row = store_.run(run);
    const bool isMine = row.worker.pid == here.pid && row.worker.startTime == here.startTime;
    if (isAlive(row.state) && isMine) store_.setWorker(run, supervisor);
  });
}

void JobQueue::ended(std::int64_t run, const RunEnding& ending) {
  table_.transaction([&] {
    const store::RunRow row = store_.run(run);
    const bool wasAsked = store_.request(run) == "stop";
    // Started by hand meanwhile: that process has the run, and the one that ended was refused it.
    if (isAlive(row.state) && row.worker.pid != ::getpid() && store::isWorkerAlive(row.worker)) {
      table_.remove(run);
      return;
    }
    if (isAlive(row.state)) {
      const store::RunState to = wasAsked && canChange(row.state, store::RunState::Stopped)
                                     ? store::RunState::Stopped
                                     : store::RunState::Interrupted;
      const bool isLegal = canChange(row.state, to);
      store_.setState(run, isLegal ? to : store::RunState::Interrupted, ending.reason);
    } else if (!ending.reason.empty() && row.state != store::RunState::Done) {
      // Another process noticed first, and knows less.
      store_.setReason(run, ending.reason);
    }
    if (!ending.data.empty())
      store_.addEvent(run, {row.step, "process_ended", ending.reason, ending.data});
    table_.addUsedSeconds(run, ending.seconds);
    const store::RunState now = store_.run(run).state;
    const bool isOpen = now == store::RunState::Interrupted || now == store::RunState::Paused;
    // Queued: a retry has put it back already, while its process was ending.
    const bool stays = now == store::RunState::Queued || (ending.mayResume && isOpen);
    if (!stays) table_.remove(run);
  });
  prune();
}

void JobQueue::note(std::int64_t run, const std::string& kind, const std::string& text) {
  table_.transaction([&] {
    store_.addEvent(run, {store_.run(run).step, kind, text, Json::object()});
  });
}

void JobQueue::prune() {
  const auto over = [&] {
    std::vector<std::int64_t> runs;
    for (const store::QueueRow& entry : table_.rows()) {
      if (hasEnded(entry.state)) runs.push_back(entry.run);
    }
    return runs;
  };
  const auto isPausedNow = [&] {
    return mode() == store::QueueMode::AfterCurrent && inProgress().empty();
  };
  if (over().empty() && !isPausedNow()) return;
  table_.transaction([&] {
    for (const std::int64_t run : over()) remove(run);
    if (isPausedNow()) setMode(store::QueueMode::Paused);
  });
}

void JobQueue::failExhausted() {
  const auto lost = [&] {
    std::vector<QueueEntry> entries = list();
    std::erase_if(entries, [&](const QueueEntry& entry) {
      return entry.state != store::RunState::Interrupted || entry.isReady ||
             entry.attempts <= policy_.retries;
    });
    return entries;
  };
  if (lost().empty()) return;
  table_.transaction([&] {
    for (const QueueEntry& entry : lost()) {
      store_.setReason(entry.run, store_.run(entry.run).reason + "; the queue gave up after " +
                                      std::to_string(entry.attempts) +
                                      " starts without a new checkpoint");
      remove(entry.run);
    }
  });
}

}  // namespace vitrine::jobs
