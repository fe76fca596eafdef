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

namespace vitrine::train {

namespace {

at::Generator generatorOf(const Look& look, std::string_view stream) {
  const auto words = RandomStream(look.seed, stream).bits(static_cast<std::uint64_t>(look.step), 0);
  return makeGenerator(look.device, (static_cast<std::uint64_t>(words[0]) << 32) | words[1]);
}

}  // namespace

StepContext beginLook(TaskSession& session, const Look& look) {
  setMode(session, Mode::Evaluate);
  session.model().setGenerator(generatorOf(look, "probe"));
  StepPosition position{.step = look.step};
  return {position, generatorOf(look, "evaluation"), look.device};
}

void evaluate(TaskSession& session, const Evaluation& evaluation, const Look& look,
              const std::vector<EvaluationListener*>& listeners, Results& results) {
  StepContext context = beginLook(session, look);
  const at::NoGradGuard noGrad;
  const AutocastScope autocast(look.precision, look.device.type());
  session.evaluate({evaluation, context, listeners}, results);
}

std::vector<std::pair<std::string, Scheduled*>> scheduledOf(TaskSession& session) {
  std::vector<std::pair<std::string, Scheduled*>> all;
  if (auto* model = capabilityOf<Scheduled>(session.model())) all.emplace_back("model", model);
  if (Scheduled* task = session.scheduled()) all.emplace_back("task", task);
  return all;
}

void placeAfterStep(TaskSession& session, const StepPosition& completed) {
  StepPosition position = completed;
  position.step = std::max<std::int64_t>(0, position.step - 1);
  for (const auto& [name, scheduled] : scheduledOf(session)) scheduled->beforeStep(position);
}

Split lastSplit(const TaskSession& session) {
  const std::vector<Evaluation> all = session.evaluations();
  return all.empty() ? Split::Test : all.back().split;
}

Evaluation evaluationOf(const TaskSession& session, Split split) {
  const std::vector<Evaluation> all = session.evaluations();
  const std::string name = toString(split);
  for (const Evaluation& each : all) {
    if (each.id == name) return each;
  }
  Evaluation other = all.empty() ? Evaluation() : all.back();
  other.id = name;
  other.split = split;
  return other;
}

Batch probeBatch(TaskSession& session, const ProbeSamples& wanted) {
  const Split split = wanted.split.value_or(lastSplit(session));
  return session.read(split,
                      wanted.ids.empty() ? session.chooseSamples(split, wanted.count) : wanted.ids);
}

bool isHeardBy(const Evaluation& evaluation, const Analysis& analysis) {
  const std::vector<std::string> wanted = analysis.outputs();
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& output) {
    return std::find(evaluation.outputs.begin(), evaluation.outputs.end(), output) !=
           evaluation.outputs.end();
  });
}

NamedListener::NamedListener(std::string id, std::unique_ptr<EvaluationListener> listener)
    : id_(std::move(id)), listener_(std::move(listener)) {}
NamedListener::~NamedListener() = default;

void NamedListener::batch(const EvaluationBatch& batch) { listener_->batch(batch); }

void NamedListener::finish(Results& results) {
  CollectedResults found;
  listener_->finish(found);
  scores_ = std::move(found.scores);
  for (Artifact& artifact : found.artifacts) {
    artifact.analysis = id_;
    results.artifact(std::move(artifact));
  }
  for (GeneratedImage& image : found.images) results.image(std::move(image));
  for (GeneratedText& text : found.texts) results.text(std::move(text));
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
      done.error = error.what();  // reported as an event; a probe never ends a run
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

}  // namespace vitrine::train
