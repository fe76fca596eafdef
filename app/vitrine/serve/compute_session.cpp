#include "app/vitrine/serve/compute_session.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/vitrine/serve/serve_fields.h"
#include "core/base/error_json.h"
#include "core/base/text.h"
#include "core/train/device.h"

namespace vitrine::app {

namespace {

/// Interactive operations: a newer one for the same model replaces a waiting one.
bool isReplaceable(const std::string& op) {
  return op == "infer" || op == "analyse" || op == "sample";
}

}  // namespace

ComputeSession::ComputeSession(const Engine& engine, std::filesystem::path database,
                               const ModelLimits& limits, remote::FrameWriter& writer)
    : engine_(engine), database_(database), writer_(writer), models_(engine, database, limits) {}

Reply ComputeSession::replyTo(const Task& task) { return {writer_, task.id, task.isCancelled}; }

void ComputeSession::take(Json request) {
  Task task{request.value("id", Json()), request.value("op", std::string()), std::move(request)};
  if (task.op == "cancel") return cancel(task.request.value("of", Json()));
  // At once: the list of models must not wait for a long computation.
  if (task.op == "models") {
    try {
      return replyTo(task).last(models_.list());
    } catch (const std::exception& problem) {
      return replyTo(task).fail("failed", firstLine(problem.what()));
    }
  }
  enqueue(std::move(task));
}

void ComputeSession::enqueue(Task task) {
  std::deque<Task> replaced;
  {
    const std::lock_guard lock(mutex_);
    if (isReplaceable(task.op)) {
      const Json model = task.request.value("model", Json());
      const auto stays = [&](const Task& old) {
        return old.op != task.op || old.request.value("model", Json()) != model;
      };
      const auto middle = std::stable_partition(waiting_.begin(), waiting_.end(), stays);
      std::move(middle, waiting_.end(), std::back_inserter(replaced));
      waiting_.erase(middle, waiting_.end());
    }
    waiting_.push_back(std::move(task));
  }
  changed_.notify_all();
  for (const Task& old : replaced)
    replyTo(old).fail("replaced", "a newer request of the same kind took its place");
}

void ComputeSession::cancel(const Json& id) {
  Task found;
  {
    const std::lock_guard lock(mutex_);
    if (currentFlag_ && currentId_ == id) return currentFlag_->store(true);
    const auto waits = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const Task& task) { return task.id == id; });
    if (waits == waiting_.end()) return;
    found = std::move(*waits);
    waiting_.erase(waits);
  }
  replyTo(found).fail("cancelled", "it was cancelled");
}

void ComputeSession::end() {
  {
    const std::lock_guard lock(mutex_);
    isEnding_ = true;
    waiting_.clear();
    if (currentFlag_) currentFlag_->store(true);
  }
  changed_.notify_all();
}

void ComputeSession::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return isEnding_ || !waiting_.empty(); });
    if (isEnding_) return;
    const Task task = std::move(waiting_.front());
    waiting_.pop_front();
    currentId_ = task.id;
    currentFlag_ = task.isCancelled;
    lock.unlock();
    perform(task);
    lock.lock();
    currentFlag_ = nullptr;
  }
}

void ComputeSession::perform(const Task& task) {
  Reply reply = replyTo(task);
  try {
    act(task, reply);
  } catch (const ComputeCancelled&) {
    reply.fail("cancelled", "it was cancelled");
  } catch (const BadRequest& problem) {
    reply.fail("protocol", problem.what());
  } catch (const remote::LargeFrame& problem) {
    reply.fail("refused", problem.what() + std::string("; ask for less at a time"));
  } catch (const Error& problem) {
    reply.fail(errorWord(problem.code()), problem.what());
  } catch (const std::exception& problem) {
    if (train::isShortOfMemory(problem)) {
      reply.fail("refused", "there is too little memory for this; unload a model or ask for less");
    } else {
      reply.fail("failed", firstLine(problem.what()));
    }
  }
}

void ComputeSession::act(const Task& task, Reply& reply) {
  const Json& request = task.request;
  if (task.op == "load") return reply.last(models_.load(request));
  if (task.op == "unload") {
    const std::string model = request.contains("model") ? textOf(request, "model") : "";
    return reply.last({{"unloaded", models_.unload(model)}});
  }
  if (task.op == "infer") return infer(request, reply);
  if (task.op == "analyse") return analyse(request, reply);
  if (task.op == "sample") return sample(request, reply);
  if (task.op == "samples") return samples(request, reply);
  throw BadRequest("the compute process knows no operation '" + task.op + "'");
}

}  // namespace vitrine::app
