#include "core/train/trainer.h"

#include <ATen/core/grad_mode.h>

#include <limits>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/kernels/cpu/taken_paths.h"
#include "core/train/train_config.h"
#include "core/train/trainer_state.h"
#include "core/train/update/parameter_policy.h"

namespace vitrine::train {

namespace {

constexpr std::size_t kKeptIds = 16;  ///< steps whose sample ids a divergence can name
constexpr auto kProgressEvery = std::chrono::milliseconds(200);

std::uint64_t streamSeed(std::uint64_t seed, std::string_view name) {
  const auto words = RandomStream(seed, name).bits(0, 0);
  return (static_cast<std::uint64_t>(words[0]) << 32) | words[1];
}

StepOptions stepOptions(const TrainerSetup& setup, Precision precision,
                        const DivergenceOptions& divergence) {
  const Config& train = setup.train;
  const bool isSkipping = divergence.policy == DivergenceOptions::Policy::Skip;
  return {precision,
          train.maybeReal("clip_norm"),
          train.maybeReal("ema.decay"),
          withTrainDefaults(train).flag("ema.warmup") ? Ema::WarmUp::ByUpdates : Ema::WarmUp::None,
          setup.optimizer,
          train.table("optimizer"),
          isSkipping ? OnBadStep::Skip : OnBadStep::Latch,
          divergence.spikeSteps,
          lossScaleFrom(train)};
}

/// Freezes the parameters of [init] and of groups. \returns  the trained ones, each in its group
std::vector<ParameterGroup> freezeAndGroup(const TrainerSetup& setup, TaskSession& session) {
  const ParameterPolicy policy = parameterPolicyFrom(setup.train);
  freezeParameters(session, setup.freeze);
  for (const ParameterGroupPolicy& group : policy.groups) {
    if (group.isFrozen) freezeParameters(session, group.match, group.key());
  }
  std::map<std::string, std::int64_t> layers;
  for (const auto& [name, info] : session.model().parameterInfo()) layers[name] = info.layer;
  return withPolicy(trainedGroups(session), policy, layers);
}

bool isTerminal(Request request) { return request >= Request::Pause; }

std::int64_t parameterTotal(const Optimizer& optimizer) {
  std::int64_t total = 0;
  for (const at::Tensor& parameter : optimizer.parameters()) total += parameter.numel();
  return total;
}

}  // namespace

bool isDue(const Config& config, const std::string& table, std::int64_t step,
           std::int64_t stepsPerEpoch) {
  const std::string prefix = table.empty() ? "" : table + ".";
  const auto steps = config.maybeInteger(prefix + "every_steps");
  const auto epochs = config.maybeInteger(prefix + "every_epochs");
  return (steps && step % *steps == 0) || (epochs && step % (*epochs * stepsPerEpoch) == 0);
}

Trainer::State::State(TrainerSetup given, EventSink& theSink, RunControl& theControl)
    : setup(std::move(given)),
      sink(theSink),
      control(theControl),
      session(*setup.session),
      model(session.model()),
      device(resolveDevice(setup.train.text("device"))),
      precision(precisionFrom(setup.train.text("precision"))),
      threads(useThreads(setup.train.maybeInteger("threads"))),
      accumulate(setup.train.integer("accumulate")),
      recordEvery(setup.train.integer("record_every")),
      scheduled(scheduledOf(session)),
      divergence(divergenceFrom(setup.train)),
      watch(divergence) {
  CheckpointState from;
  if (!setup.resumeFrom.empty()) {
    from = readCheckpointState(setup.resumeFrom);
    requireSameConfiguration(from);
  }
  batchesConsumed = from.batchesConsumed;
  rollbacks = from.rollbacks;
  if (const auto rollback = readRollback(setup.checkpointFolder);
      rollback && rollback->number > rollbacks) {
    // An older checkpoint than the one gone back to meets the batches again, and the run may go
    // back again.
    if (rollback->toStep == from.step) batchesConsumed = rollback->batchesConsumed;
    rollbacks = rollback->number;
  }

  stream = session.trainingStream(batchesConsumed);
  batchesPerEpoch = stream->batchesPerEpoch();
  samplesPerEpoch = stream->samplesPerEpoch();
  if (batchesPerEpoch < 1 || samplesPerEpoch < 1)
    throw ConfigError("train.batch_size: the training split has too few images for one batch");
  stepsPerEpoch = std::max<std::int64_t>(1, batchesPerEpoch / accumulate);
  const auto steps = setup.train.maybeInteger("steps");
  const auto epochs = setup.train.maybeInteger("epochs");
  if (!steps && !epochs)
    throw ConfigError("train.epochs: give the run a length, in `epochs` or `steps`");
  totalSteps = steps ? *steps : *epochs * stepsPerEpoch;
  schedule = scheduleFrom(*setup.schedule, setup.train, stepsPerEpoch);
  if (from.step > totalSteps) {
    throw ConfigError("train: the checkpoint is at step " + std::to_string(from.step) +
                      ", but the run ends at step " + std::to_string(totalSteps));
  }

  moveModules(session, device);
  requirePrecision(precision, device);
  std::vector<ParameterGroup> groups = freezeAndGroup(setup, session);
  generator = makeGenerator(device, streamSeed(setup.seed, "dropout"));
  model.setGenerator(generator);
  trainStep = std::make_unique<TrainStep>(session, stepOptions(setup, precision, divergence),
                                          std::move(groups));
  prepareObservation();
  prepareCheckpoints();
  prepareWatch();
  if (!setup.resumeFrom.empty()) resume();
  startStep = step;
  setMode(session, Mode::Train);
}

double Trainer::State::seconds() const {
  const std::chrono::duration<double> now = Clock::now() - begin;
  return secondsBefore + now.count();
}

double Trainer::State::epoch() const {
  return static_cast<double>(samplesSeen) / static_cast<double>(samplesPerEpoch);
}

void Trainer::State::event(const std::string& kind, const std::string& text, Json data) {
  sink.event({step, kind, text, std::move(data)});
}

Batch Trainer::State::nextBatch() {
  Batch batch = stream->next();
  ++batchesConsumed;
  samplesSeen += batch.size();
  return device.is_cpu() ? batch : batch.to(device);
}

void Trainer::State::beforeStep() {
  scheduledValues.clear();
  for (const auto& [name, each] : scheduled) {
    each->beforeStep(position());
    for (auto& value : each->scheduledValues()) scheduledValues.push_back(std::move(value));
    for (const Scheduled::Occurrence& what : each->occurrences()) event(what.kind, what.text);
  }
}

void Trainer::State::oneStep() {
  const auto start = Clock::now();
  stepTime = {};
  beforeStep();
  std::vector<Batch> batches;
  StepIds ids{step + 1, {}};
  for (std::int64_t i = 0; i < accumulate; ++i) {
    batches.push_back(nextBatch());
    ids.samples.insert(ids.samples.end(), batches.back().sampleIds.begin(),
                       batches.back().sampleIds.end());
    images += batches.back().size();
  }
  recentIds.push_back(std::move(ids));
  if (recentIds.size() > kKeptIds) recentIds.pop_front();
  stepTime.data = std::chrono::duration<float>(Clock::now() - start).count();

  const double rate = learningRate(schedule, step, totalSteps);
  const SpikeLimits limits = watch.limits(step + 1);
  StepContext context{position(), generator, device};
  const bool isFirst = step == startStep && device.is_cpu();
  if (isFirst) cpu::clearTakenPaths();
  const at::Tensor readings = trainStep->run(context, batches, rate, limits);
  const StepSeconds& took = trainStep->seconds();
  stepTime.forward = static_cast<float>(took.forward);
  stepTime.backward = static_cast<float>(took.backward);
  stepTime.optimizer = static_cast<float>(took.optimizer);
  if (isFirst && setup.onTakenPaths) setup.onTakenPaths(cpu::takenPaths());
  ++step;
  // Batches that do not fill an accumulated step are left out, so that every epoch begins with a
  // fresh order. Counted in batches: after a rollback steps and epochs are out of step.
  const std::int64_t used = stepsPerEpoch * accumulate, rest = batchesPerEpoch - used;
  if (rest > 0 && batchesConsumed % batchesPerEpoch == used) {
    for (std::int64_t i = 0; i < rest; ++i) static_cast<void>(nextBatch());
  }
  trainSeconds += std::chrono::duration<double>(Clock::now() - start).count();
  reader.push(readings);
  sent.push_back({step, epoch(), seconds(), rate, images, trainSeconds, trainStep->partNames(),
                  scheduledValues, batchesConsumed, limits});
}

void Trainer::State::readBack(LateReader::Take which) {
  while (true) {
    const at::Tensor value = reader.take(which);
    if (!value.defined()) return;
    const Sent at = std::move(sent.front());
    sent.pop_front();
    if (failure) continue;
    const StepReadings readings = TrainStep::readingsOf(value);
    heard(at, readings);
    lastLoss = readings.loss;
    if (readings.isBad || at.step % recordEvery == 0 || at.step == totalSteps) record(at, readings);
  }
}

void Trainer::State::record(const Sent& at, const StepReadings& readings) {
  MetricRecord metrics{at.step, at.epoch, at.time, {}};
  metrics.values.emplace_back("train/loss", readings.loss);
  for (std::size_t i = 0; i < at.partNames.size() && i < readings.parts.size(); ++i)
    metrics.values.emplace_back("train/loss/" + at.partNames[i], readings.parts[i]);
  metrics.values.emplace_back("optimizer/learning_rate", at.learningRate);
  metrics.values.emplace_back("optimizer/gradient_norm", readings.gradientNorm);
  if (readings.lossScale > 0)
    metrics.values.emplace_back("optimizer/loss_scale", readings.lossScale);
  const double took = at.trainSeconds - recordedSeconds;
  imagesPerSecond = took > 0 ? static_cast<double>(at.images - recordedImages) / took : 0;
  recordedImages = at.images;
  recordedSeconds = at.trainSeconds;
  metrics.values.emplace_back(setup.throughput, imagesPerSecond);
  for (const auto& value : at.scheduled) metrics.values.push_back(value);
  sink.metrics(metrics);
}

void Trainer::State::progress() {
  const auto now = Clock::now();
  if (step < totalSteps && now - lastProgress < kProgressEvery) return;
  lastProgress = now;
  ProgressRecord progress;
  progress.step = step;
  progress.totalSteps = totalSteps;
  progress.epoch = epoch();
  progress.totalEpochs = static_cast<double>(totalSteps) / static_cast<double>(stepsPerEpoch);
  progress.loss = lastLoss;
  progress.imagesPerSecond = trainSeconds > 0 ? static_cast<double>(images) / trainSeconds : 0;
  progress.memoryBytes = peakMemory(device);
  const std::int64_t done = step - startStep;
  progress.remainingSeconds = done > 0 ? (seconds() - secondsBefore) / static_cast<double>(done) *
                                             static_cast<double>(totalSteps - step)
                                       : std::numeric_limits<double>::quiet_NaN();
  sink.progress(progress);
}

void Trainer::State::boundary() {
  const auto start = Clock::now();
  if (isEvaluationDue()) {
    readBack(LateReader::Take::All);
    if (failure) return;
    evaluate();
  }
  if (areProbesDue()) {
    readBack(LateReader::Take::All);
    if (failure) return;
    probe();
  }
  stepTime.observe = std::chrono::duration<float>(Clock::now() - start).count();
  if (isCheckpointDue() && makeRoomForSave()) {
    readBack(LateReader::Take::All);
    if (failure) return;
    save(Wait::No);
  }
}

void Trainer::State::observeAsOwed() {
  placeAfterStep(session, position());
  const bool isOwed = step > 0 && isEvaluationDue() && evaluatedStep != step;
  if (isOwed) evaluate();
  if (areProbesDue() && probedStep != step) probe();
  if (!isOwed) return;
  // The checkpoint that this process began with knows nothing of the evaluation: it may be the
  // best.
  savedStep = -1;
  if (isCheckpointDue()) save(Wait::No);
}

std::optional<TrainerResult> Trainer::State::serveRequest() {
  const Request request = control.request();
  if (request == Request::None) return std::nullopt;
  readBack(LateReader::Take::All);
  if (failure) return diverged();
  if (!isTerminal(request)) {
    if (savedStep != step) save(Wait::No);
    control.served();
    return std::nullopt;
  }
  const std::string where =
      " after step " + std::to_string(step) + " of " + std::to_string(totalSteps);
  if (request == Request::Pause) return endWith(Outcome::Paused, "paused" + where);
  if (request == Request::Stop) return endWith(Outcome::Stopped, "stopped by request" + where);
  return endWith(Outcome::Interrupted, "interrupted by a signal" + where);
}

TrainerResult Trainer::State::endWith(Outcome outcome, std::string reason) {
  if (writer == nullptr) {
    reason += "; without a checkpoint, since the run has no folder for one";
  } else {
    save(Wait::Yes);
    if (savedStep != step) reason += "; its checkpoint could not be saved";
  }
  if (probeThread) probeThread->wait();
  deliverFindings();
  lastProgress = {};  // the last word, however soon after the one before
  progress();
  sink.flush();
  return {outcome, std::move(reason), step, seconds(), lastScores};
}

TrainerResult Trainer::State::run() {
  begin = Clock::now();
  for (const std::string& sentence : setup.damaged) event("checkpoint_damaged", sentence);
  if (startStep == 0 && setup.resumeFrom.empty()) {
    event("started", "training begins on " + device.str(),
          Json{{"total_steps", totalSteps},
               {"steps_per_epoch", stepsPerEpoch},
               {"device", device.str()},
               {"threads", threads},
               {"trained_parameters", parameterTotal(trainStep->optimizer())}});
    placeAfterStep(session, position());
    if (areProbesDue()) probe();
  } else if (step < totalSteps) {
    observeAsOwed();
  }
  while (step < totalSteps) {
    if (auto ended = serveRequest()) return std::move(*ended);
    oneStep();
    const auto stepEnd = Clock::now();
    readBack(LateReader::Take::Late);
    if (!failure && step < totalSteps && !isTerminal(control.request())) boundary();
    if (failure) return diverged();
    deliverSaves();
    deliverFindings();
    if (step < totalSteps) progress();  // the last one comes after the last evaluation
    if (watched) show(stepEnd);
  }
  readBack(LateReader::Take::All);
  if (failure) return diverged();
  for (const auto& [name, each] : scheduled) each->finish();
  evaluate();
  if (areProbesDue()) probe();
  isFinished = true;
  save(Wait::Yes);
  if (probeThread) probeThread->wait();
  deliverFindings();
  progress();
  event("finished", "training is done after step " + std::to_string(step),
        Json{{"skipped_probes", skippedProbes}});
  sink.flush();
  return {Outcome::Done, "", step, seconds(), lastScores};
}

Trainer::Trainer(TrainerSetup setup, EventSink& sink, RunControl& control)
    : state_(std::make_unique<State>(std::move(setup), sink, control)) {}
Trainer::~Trainer() = default;

TrainerResult Trainer::run() { return state_->run(); }

}  // namespace vitrine::train
