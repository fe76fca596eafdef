#include "core/train/observe.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "core/base/random.h"
#include "core/train/device.h"
#include "core/train/modules.h"

namespace vitrine {

void beginLook(Model& model, TaskSession& session, const Look& look) {
  const auto words =
      RandomStream(look.seed, "probe").bits(static_cast<std::uint64_t>(look.step), 0);
  setMode(model, session, Mode::Evaluate);
  model.setGenerator(
      makeGenerator(look.device, (static_cast<std::uint64_t>(words[0]) << 32) | words[1]));
}

Scores evaluateSplit(Model& model, TaskSession& session, Split split, const Look& look,
                     const std::vector<EvaluationListener*>& listeners,
                     std::vector<Artifact>& artifacts) {
  beginLook(model, session, look);
  const at::NoGradGuard noGrad;
  const AutocastScope autocast(look.precision, look.device.type());
  return session.evaluate(model, split, listeners, artifacts);
}

void placeAfterStep(Model& model, const Scheduled::Position& completed) {
  auto* scheduled = capabilityOf<Scheduled>(model);
  if (scheduled == nullptr) return;
  Scheduled::Position position = completed;
  position.step = std::max<std::int64_t>(0, position.step - 1);
  scheduled->beforeStep(position);
}

Split lastSplit(const TaskSession& session) {
  const std::vector<Split> splits = session.evaluationSplits();
  return splits.empty() ? Split::Test : splits.back();
}

NamedListener::NamedListener(std::string id, std::unique_ptr<EvaluationListener> listener)
    : id_(std::move(id)), listener_(std::move(listener)) {}
NamedListener::~NamedListener() = default;

void NamedListener::batch(const std::vector<std::int64_t>& sampleIds, const at::Tensor& logits,
                          const at::Tensor& labels) {
  listener_->batch(sampleIds, logits, labels);
}

std::vector<Artifact> NamedListener::finish(Scores&) {
  std::vector<Artifact> artifacts = listener_->finish(scores_);
  for (Artifact& artifact : artifacts) artifact.analysis = id_;
  return artifacts;
}

struct ProbeThread::State {
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::optional<ProbeJob> waiting;
  bool isWorking = false, isEnding = false;
  std::vector<ProbeResult> results;
  std::thread thread;

  void loop();
};

namespace {

ProbeResult perform(ProbeJob job) {
  ProbeResult result{job.step, job.epoch, job.time, {}};
  for (ProbeJob::Part& part : job.parts) {
    ProbeResult::Part done{part.id, part.weights, {}, {}};
    try {
      done.findings = part.work();
    } catch (const std::exception& error) {
      done.problem = error.what();  // reported as an event; a probe never ends a run
    }
    part.work = nullptr;
    result.parts.push_back(std::move(done));
  }
  return result;
}

}  // namespace

void ProbeThread::State::loop() {
  becomeBackgroundThread();
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return isEnding || waiting.has_value(); });
    if (isEnding) return;
    ProbeJob job = std::move(*waiting);
    waiting.reset();
    isWorking = true;
    changed.notify_all();
    lock.unlock();
    ProbeResult result = perform(std::move(job));
    lock.lock();
    results.push_back(std::move(result));
    isWorking = false;
    changed.notify_all();
  }
}

ProbeThread::ProbeThread() : state_(std::make_unique<State>()) {
  state_->thread = std::thread([state = state_.get()] { state->loop(); });
}

ProbeThread::~ProbeThread() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->isEnding = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
}

bool ProbeThread::isFull() const {
  const std::lock_guard lock(state_->mutex);
  return state_->waiting.has_value();
}

void ProbeThread::push(ProbeJob job) {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return !state_->waiting.has_value(); });
  state_->waiting = std::move(job);
  state_->changed.notify_all();
}

void ProbeThread::wait() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return !state_->waiting.has_value() && !state_->isWorking; });
}

std::vector<ProbeResult> ProbeThread::results() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->results, {});
}

}  // namespace vitrine
