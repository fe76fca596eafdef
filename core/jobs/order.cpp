#include "core/jobs/order.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/jobs/launcher.h"
#include "core/store/maintenance/trash.h"

namespace vitrine::jobs {

namespace {

using What = Order::What;

constexpr std::array<std::pair<What, const char*>, 13> kOrders{{
    {What::Enqueue, "enqueue"},
    {What::Start, "start"},
    {What::Remove, "remove"},
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

/// Before the first of those that stay when `before` is moved itself.
void moveRuns(const Order& order, JobQueue& queue) {
  const auto isMoved = [&](std::int64_t run) {
    return std::find(order.runs.begin(), order.runs.end(), run) != order.runs.end();
  };
  if (order.before == 0) {
    for (const std::int64_t run : order.runs) {
      const auto entries = queue.list();
      if (!entries.empty() && entries.back().run != run) queue.moveAfter(run, entries.back().run);
    }
    return;
  }
  std::int64_t target = order.before;
  const std::vector<QueueEntry> entries = queue.list();
  auto at = std::find_if(entries.begin(), entries.end(),
                         [&](const QueueEntry& entry) { return entry.run == order.before; });
  for (; at != entries.end() && isMoved(target); ++at) target = at->run;
  if (isMoved(target)) return;
  for (const std::int64_t run : order.runs) queue.moveBefore(run, target);
}

std::vector<std::int64_t> enqueueable(const Order& order, store::RunStore& store, JobQueue& queue) {
  std::vector<std::int64_t> runs;
  for (const std::int64_t run : order.runs) {
    if (order.what == What::Start) {
      const auto entry = queue.find(run);
      if (entry && entry->state == store::RunState::Queued && order.end == QueueEnd::Back) continue;
      runs.push_back(run);
    } else if (canChange(store.run(run).state, store::RunState::Queued)) {
      runs.push_back(run);
    }
  }
  return runs;
}

[[noreturn]] void wrongOrder(const std::string& what) {
  throw ConfigError("the order is not understood: " + what);
}

template <typename Value>
Value orderField(const Json& json, const char* key, Value otherwise) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return otherwise;
  try {
    return found->get<Value>();
  } catch (const Json::exception&) {
    wrongOrder(std::string("'") + key + "' is of another type");
  }
}

store::QueueMode orderMode(const Json& json) {
  const auto text = orderField<std::string>(json, "mode", toString(store::QueueMode::Running));
  for (const store::QueueMode mode : kQueueModes) {
    if (toString(mode) == text) return mode;
  }
  wrongOrder("'mode' is running, after_current or paused, not '" + text + "'");
}

}  // namespace

OrderOutcome carryOut(const Order& order, store::RunStore& store, JobQueue& queue) {
  OrderOutcome outcome;
  const auto each = [&](const std::vector<std::int64_t>& runs, const auto& act) {
    for (const std::int64_t run : runs) {
      try {
        if (act(run)) outcome.runs.push_back(run);
      } catch (const Error& error) {
        if (outcome.trouble.empty()) outcome.trouble = error.what();
        if (runs.size() == 1) throw;
      }
    }
    if (outcome.runs.empty() && !outcome.trouble.empty()) throw RefusedError(outcome.trouble);
  };
  switch (order.what) {
    case What::Enqueue:
    case What::Start:
      outcome.runs = enqueueable(order, store, queue);
      queue.enqueue(outcome.runs, {}, order.end);
      break;
    case What::Remove:
      each(order.runs, [&](std::int64_t run) { return queue.remove(run); });
      break;
    case What::Move:
      moveRuns(order, queue);
      outcome.runs = order.runs;
      break;
    case What::Limit:
      each(order.runs, [&](std::int64_t run) {
        queue.setTimeLimit(run, order.seconds);
        return true;
      });
      break;
    case What::Device:
      each(order.runs, [&](std::int64_t run) {
        queue.setDevice(run, order.device);
        return true;
      });
      break;
    case What::Pause:
      each(order.runs, [&](std::int64_t run) {
        pauseRun(store, run);
        queue.remove(run);
        return true;
      });
      break;
    case What::Stop:
      each(order.runs, [&](std::int64_t run) {
        stopRun(store, run);
        return true;
      });
      break;
    case What::Delete:
      each(order.runs, [&](std::int64_t run) {
        store::trashRun(store.file(), run);
        return true;
      });
      break;
    case What::Restore:
      for (std::int64_t& run : outcome.runs = order.runs)
        run = store::restoreRun(store.file(), run);
      break;
    case What::EmptyTrash:
      store::emptyTrash(store.file());
      break;
    case What::Mode:
      queue.setMode(order.mode);
      break;
    case What::PauseAll:
      queue.setMode(store::QueueMode::Paused);
      for (const std::int64_t run : queue.inProgress()) {
        try {
          pauseRun(store, run);
          outcome.runs.push_back(run);
        } catch (const RefusedError&) {  // it ends just now
        }
      }
      break;
  }
  outcome.mode = queue.mode();
  outcome.entries = static_cast<std::int64_t>(queue.list().size());
  return outcome;
}

Json toJson(const Order& order) {
  const auto name = std::find_if(kOrders.begin(), kOrders.end(),
                                 [&](const auto& entry) { return entry.first == order.what; });
  Json json{{"what", name->second}, {"runs", order.runs}};
  if (order.what == What::Move) json["before"] = order.before;
  if (order.what == What::Limit) json["seconds"] = order.seconds;
  if (order.what == What::Device) json["device"] = order.device;
  if (order.what == What::Mode) json["mode"] = toString(order.mode);
  if (order.end == QueueEnd::Front) json["front"] = true;
  return json;
}

Order orderFromJson(const Json& json) {
  if (!json.is_object()) wrongOrder("it is no map");
  const auto what = orderField<std::string>(json, "what", "");
  const auto known = std::find_if(kOrders.begin(), kOrders.end(),
                                  [&](const auto& entry) { return entry.second == what; });
  if (known == kOrders.end()) {
    const std::string names = joined(kOrders, [](const auto& each) { return each.second; });
    wrongOrder("'what' is one of " + names + ", not '" + what + "'");
  }
  Order order;
  order.what = known->first;
  order.runs = orderField<std::vector<std::int64_t>>(json, "runs", {});
  order.before = orderField<std::int64_t>(json, "before", 0);
  order.seconds = orderField<double>(json, "seconds", 0);
  order.device = orderField<std::string>(json, "device", "");
  order.mode = orderMode(json);
  order.end = orderField<bool>(json, "front", false) ? QueueEnd::Front : QueueEnd::Back;
  const bool isOfAll =
      order.what == What::Mode || order.what == What::PauseAll || order.what == What::EmptyTrash;
  if (order.runs.empty() && !isOfAll) wrongOrder("'runs' names none");
  return order;
}

Json toJson(const OrderOutcome& outcome) {
  return {{"runs", outcome.runs},
          {"mode", toString(outcome.mode)},
          {"entries", outcome.entries},
          {"trouble", outcome.trouble}};
}

OrderOutcome outcomeFromJson(const Json& json) {
  if (!json.is_object()) wrongOrder("its outcome is no map");
  return {orderField<std::vector<std::int64_t>>(json, "runs", {}), orderMode(json),
          orderField<std::int64_t>(json, "entries", 0),
          orderField<std::string>(json, "trouble", "")};
}

}  // namespace vitrine::jobs
