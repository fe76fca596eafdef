#include "app/vitrine/serve/serve_session.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/serve/serve_fields.h"
#include "core/base/error_json.h"
#include "core/base/joined.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "core/jobs/command.h"
#include "core/jobs/device_load.h"
#include "core/jobs/launcher.h"
#include "core/jobs/queue.h"
#include "core/jobs/work.h"
#include "core/store/change_reader.h"
#include "core/store/exchange/mirror.h"
#include "core/store/run_store.h"

namespace vitrine::app {

namespace {

constexpr std::size_t kLongestId = 200, kLongestMessage = 4000;  // bytes
constexpr std::size_t kRowsPerFrame = 500;
constexpr std::size_t kBytesPerFrame = std::size_t{1} << 20;  // but for a row that has more
constexpr std::size_t kDefaultRows = 100'000;
constexpr auto kWatchPause = std::chrono::milliseconds(250);
constexpr auto kReapPause = std::chrono::seconds(5);

Json rowOf(const store::RunRow& run) {
  const auto orNull = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  return {{"id", run.id},
          {"uuid", run.uuid},
          {"experiment", run.experiment},
          {"variant", run.variant},
          {"stage", run.stage},
          {"name", run.name},
          {"seed", run.seed},
          {"state", toString(run.state)},
          {"reason", orNull(run.reason)},
          {"created_at", orNull(run.createdAt)},
          {"started_at", orNull(run.startedAt)},
          {"finished_at", orNull(run.finishedAt)},
          {"heartbeat_at", orNull(run.heartbeatAt)},
          {"device", orNull(run.device)},
          {"commit", orNull(run.commit)},
          {"step", run.step},
          {"total_steps", run.totalSteps},
          {"epoch", run.epoch},
          {"total_epochs", run.totalEpochs},
          {"loss", run.loss},
          {"images_per_second", run.imagesPerSecond},
          {"remaining_seconds", run.remainingSeconds},
          {"memory_bytes", run.memoryBytes},
          {"latest_checkpoint", run.latestCheckpoint},
          {"best_checkpoint", run.bestCheckpoint}};
}

/// Rows of the next answer.
class RowsOfFrame {
 public:
  [[nodiscard]] bool hasRoomFor(const Json& row) const {
    return rows_.empty() ||
           (rows_.size() < kRowsPerFrame && bytes_ + frameBytes(row) <= kBytesPerFrame);
  }
  void add(Json row) {
    bytes_ += frameBytes(row);
    rows_.push_back(std::move(row));
  }
  Json take() {
    bytes_ = 0;
    return std::exchange(rows_, Json::array());
  }

 private:
  Json rows_ = Json::array();
  std::size_t bytes_ = 0;
};

}  // namespace

class ServeSession::Lane {
 public:
  Lane(ServeSession& session, Waiting waiting) : session_(session), waiting_(waiting) {
    thread_ = std::thread([this] { work(); });
  }
  ~Lane() {
    {
      const std::lock_guard lock(mutex_);
      isEnding_ = true;
      if (waiting_ == Waiting::Replaced) tasks_.clear();
    }
    changed_.notify_all();
    thread_.join();
  }
  /// \returns waiting tasks that this one takes the place of
  std::deque<Task> add(Task task) {
    std::deque<Task> replaced;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_ == Waiting::Replaced) replaced.swap(tasks_);
      tasks_.push_back(std::move(task));
    }
    changed_.notify_all();
    return replaced;
  }

 private:
  void work() {
    for (;;) {
      std::optional<Task> task;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return isEnding_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      session_.work(*task);
    }
  }

  ServeSession& session_;
  Waiting waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool isEnding_ = false;
  std::thread thread_;
};

ServeSession::ServeSession(std::filesystem::path database, remote::FrameWriter& writer,
                           std::vector<std::string> computeOptions)
    : database_(std::move(database)), writer_(writer) {
  compute_ = std::make_unique<ComputeLink>(database_, std::move(computeOptions),
                                           [this](Json answer) { relay(answer); });
  lanes_["describe"] = std::make_unique<Lane>(*this, Waiting::Replaced);
  lanes_["query"] = std::make_unique<Lane>(*this, Waiting::Replaced);
  lanes_["watch"] = std::make_unique<Lane>(*this, Waiting::Replaced);
  lanes_["check"] = std::make_unique<Lane>(*this, Waiting::Replaced);
  lanes_["change"] = std::make_unique<Lane>(*this, Waiting::Kept);
  lanes_["command"] = std::make_unique<Lane>(*this, Waiting::Kept);
  lanes_["devices"] = std::make_unique<Lane>(*this, Waiting::Replaced);
  lanes_["copy"] = std::make_unique<Lane>(*this, Waiting::Kept);
}

ServeSession::~ServeSession() {
  // What was accepted is done, also what still waits for its turn.
  for (const char* lane : {"change", "command"}) lanes_.erase(lane);
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, isCancelled] : open_) isCancelled->store(true);
  }
  compute_.reset();
  lanes_.clear();
}

std::span<const ServeSession::Operation> ServeSession::operations() {
  static constexpr std::array<Operation, 20> kOperations{{
      {"hello", "", &ServeSession::hello},
      {"describe", "describe", &ServeSession::describe},
      {"query", "query", &ServeSession::query},
      {"watch", "watch", &ServeSession::watch},
      {"copy", "copy", &ServeSession::copy},
      {"log", "copy", &ServeSession::log},
      {"devices", "devices", &ServeSession::devices},
      {"check", "check", &ServeSession::check},
      {"enqueue", "change", &ServeSession::enqueue},
      {"request", "change", &ServeSession::request},
      {"command", "command", &ServeSession::command},
      {"edit", "command", &ServeSession::edit},
      {"load", "", &ServeSession::compute},
      {"unload", "", &ServeSession::compute},
      {"models", "", &ServeSession::compute},
      {"infer", "", &ServeSession::compute},
      {"analyse", "", &ServeSession::compute},
      {"sample", "", &ServeSession::compute},
      {"samples", "", &ServeSession::compute},
      {"cancel", "", &ServeSession::cancel},
  }};
  return kOperations;
}

const ServeSession::Operation* ServeSession::operation(const std::string& name) {
  for (const Operation& each : operations()) {
    if (name == each.name) return &each;
  }
  return nullptr;
}

bool ServeSession::take(const Json& request) {
  const auto id = request.find("id");
  const bool isId = id != request.end() &&
                    (id->is_number_integer() ||
                     (id->is_string() && id->get_ref<const std::string&>().size() <= kLongestId));
  if (!isId) {
    refuse(nullptr, "a request has an 'id', an integer or a text of at most " +
                        std::to_string(kLongestId) + " bytes");
    return isGreeted_;
  }
  const auto op = request.find("op");
  if (op == request.end() || !op->is_string()) {
    refuse(*id, "a request has an 'op', a text");
    return isGreeted_;
  }
  Task task{*id, op->get<std::string>(), request};
  if (!isGreeted_) {
    if (task.op == "hello") work(task);
    if (!isGreeted_ && task.op != "hello") refuse(task.id, "the first request is 'hello'");
    return isGreeted_;
  }
  const Operation* known = operation(task.op);
  if (known == nullptr) {
    const std::string names = joined(operations(), [](const Operation& each) { return each.name; });
    refuse(task.id, "there is no operation '" + shorten(task.op, 80) + "'; there are " + names);
    return true;
  }
  {
    const std::lock_guard lock(mutex_);
    if (!open_.try_emplace(keyOf(task.id), task.isCancelled).second) {
      refuse(task.id, "this id is in use; give every request its own");
      return true;
    }
    // One watch at a time: a newer one ends the older.
    if (task.op == "watch" && watching_) watching_->store(true);
    if (task.op == "watch") watching_ = task.isCancelled;
  }
  if (*known->lane == '\0') {
    work(task);
    return true;
  }
  for (const Task& old : lanes_.at(known->lane)->add(std::move(task)))
    fail(old, "replaced", "a newer request of the same kind took its place");
  return true;
}

void ServeSession::work(const Task& task) {
  try {
    if (task.isCancelled->load()) return fail(task, "cancelled", "it was cancelled");
    (this->*operation(task.op)->act)(task);
  } catch (const BadRequest& error) {
    fail(task, "protocol", error.what());
  } catch (const remote::LargeFrame& error) {
    fail(task, "refused", error.what() + std::string("; ask for less at a time"));
  } catch (const Error& error) {
    fail(task, task.isCancelled->load() ? "cancelled" : errorWord(error.code()), error.what());
  } catch (const std::exception& error) {
    fail(task, "failed", error.what());
  }
}

void ServeSession::hello(const Task& task) {
  const std::int64_t asked = integerOf(task.request, "protocol", std::nullopt);
  if (asked != kProtocol) {
    fail(task, "protocol",
         "protocol " + std::to_string(asked) + " is not supported here, " +
             std::to_string(kProtocol) + " is; install the same version of Vitrine on both ends");
    return;
  }
  store::RunStore store(database_);
  Json names = Json::array();
  for (const Operation& each : operations()) names.push_back(each.name);
  const store::Worker self = store::thisWorker();
  isGreeted_ = true;
  answer(task, {{"protocol", kProtocol},
                {"vitrine", VITRINE_VERSION},
                {"host", self.host},
                {"pid", self.pid},
                {"largest_frame", remote::kLargestFrame},
                {"operations", std::move(names)},
                {"database",
                 {{"file", std::filesystem::absolute(database_).string()},
                  {"uuid", store.uuid()},
                  {"schema", store.info().at("schema_version")},
                  {"change", store.lastChange()}}}});
}

void ServeSession::cancel(const Task& task) {
  const auto of = task.request.find("of");
  if (of == task.request.end()) throw BadRequest("'of' has to be the id of a request");
  bool isKnown = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(keyOf(*of));
    isKnown = found != open_.end() && found->second != task.isCancelled;
    if (isKnown) found->second->store(true);
  }
  if (isKnown) compute_->cancel(*of);
  answer(task, {{"known", isKnown}});
}

void ServeSession::compute(const Task& task) { compute_->send(task.request); }

void ServeSession::relay(const Json& answer) {
  if (answer.contains("error") || !answer.value("more", false)) {
    const std::lock_guard lock(mutex_);
    open_.erase(keyOf(answer.at("id")));
  }
  writer_.write(answer);
}

void ServeSession::describe(const Task& task) {
  Json catalog = readJson(jobs::describeJson());
  if (!catalog.is_object()) throw Error("'vitrine describe' printed no catalogue");
  answer(task, std::move(catalog));
}

void ServeSession::query(const Task& task) {
  store::RunStore store(database_, store::OpenMode::ReadOnly);
  store::RunStore::QueryLimits limits;
  const std::int64_t rows = integerOf(task.request, "rows", kDefaultRows);
  if (rows < 1) throw BadRequest("'rows' has to be 1 or more");
  limits.rows = static_cast<std::size_t>(rows);
  limits.isStopped = task.isCancelled.get();
  store::RunStore::Table table = store.query(textOf(task.request, "sql"), limits);
  RowsOfFrame next;
  bool isFirst = true;
  const auto fields = [&] {
    Json part = Json::object();
    if (std::exchange(isFirst, false)) part["columns"] = table.columns;
    part["rows"] = next.take();
    return part;
  };
  for (std::vector<Json>& row : table.rows) {
    Json cells(std::move(row));
    if (!next.hasRoomFor(cells)) {
      part(task, fields());
      if (task.isCancelled->load()) return fail(task, "cancelled", "it was cancelled");
    }
    next.add(std::move(cells));
  }
  Json last = fields();
  last["cut"] = table.isCut;
  answer(task, std::move(last));
}

void ServeSession::watch(const Task& task) {
  store::RunStore store(database_, store::OpenMode::ReadWrite);
  store::ChangeReader reader(store, integerOf(task.request, "after", 0));
  auto reapAt = std::chrono::steady_clock::now();
  while (!task.isCancelled->load()) {
    // A client looks: a run whose process has ended says so.
    if (const auto now = std::chrono::steady_clock::now(); now >= reapAt) {
      reapBeforeShowing(store);
      reapAt = now + kReapPause;
    }
    const store::ChangeReader::Changes changes = reader.read();
    if (changes.isNew) {
      RowsOfFrame runs;
      for (const store::RunRow& row : changes.runs) {
        Json run = rowOf(row);
        if (!runs.hasRoomFor(run)) part(task, {{"runs", runs.take()}});
        runs.add(std::move(run));
      }
      // A client that comes back after a dropped link asks from here on: not before all was sent.
      part(task, {{"runs", runs.take()}, {"change", reader.seen()}, {"deleted", changes.deleted}});
    }
    std::this_thread::sleep_for(kWatchPause);
  }
  answer(task, {{"ended", true}});
}

void ServeSession::request(const Task& task) {
  const std::int64_t id = integerOf(task.request, "run", std::nullopt);
  const std::string what = textOf(task.request, "what");
  store::RunStore store(database_, store::OpenMode::ReadWrite);
  store.reapLostRuns();
  jobs::JobQueue queue(store);
  (void)store.run(id);
  if (what == "stop" || what == "pause" || what == "delete") {
    execute(jobs::commandFromJson({{"what", what}, {"runs", {id}}}), store, queue);
    if (what == "delete") return answer(task, {{"run", id}, {"state", nullptr}});
  } else if (what == "checkpoint") {
    store.setRequest(id, "checkpoint");
  } else if (what == "resume") {
    queue.enqueue(std::span(&id, 1), {},
                  flagOf(task.request, "front") ? jobs::QueueEnd::Front : jobs::QueueEnd::Back);
    jobs::startQueueWorker(database_, jobs::headlessProgram());
  } else {
    throw BadRequest("'what' has to be stop, pause, checkpoint, resume or delete, not '" + what +
                     "'");
  }
  answer(task, {{"run", id}, {"state", toString(store.run(id).state)}});
}

void ServeSession::answer(const Task& task, Json fields) {
  fields["id"] = task.id;
  fields["more"] = false;
  forget(task);
  writer_.write(fields);
}

void ServeSession::part(const Task& task, Json fields) {
  fields["id"] = task.id;
  fields["more"] = true;
  // The client has disconnected: its streams end.
  if (!writer_.write(fields)) task.isCancelled->store(true);
}

void ServeSession::fail(const Task& task, const std::string& kind, const std::string& message) {
  forget(task);
  writer_.write({{"id", task.id},
                 {"error", {{"kind", kind}, {"message", shorten(message, kLongestMessage)}}}});
}

void ServeSession::refuse(const Json& id, const std::string& message) {
  writer_.write({{"id", id}, {"error", {{"kind", "protocol"}, {"message", message}}}});
}

void ServeSession::forget(const Task& task) {
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(keyOf(task.id));
  if (found != open_.end() && found->second == task.isCancelled) open_.erase(found);
}

}  // namespace vitrine::app
