// Checkpoints and resume of Trainer.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/train/trainer_state.h"

namespace vitrine::train {

namespace {

/// Of the running time, which a run may wait for its own saves.
constexpr double kSaveWaitShare = 0.05;

at::Tensor cpuCopy(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach();
  return plain.is_cpu() ? plain.clone(at::MemoryFormat::Contiguous)
                        : plain.to(at::kCPU).contiguous();
}

NamedTensors cpuCopies(const NamedTensors& tensors) {
  NamedTensors copies;
  copies.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) copies.emplace_back(name, cpuCopy(tensor));
  return copies;
}

/// \param referred  names whose values are another file's, in the type of that one
void restore(const NamedTensors& into, const std::map<std::string, at::Tensor>& from,
             const std::map<std::string, WeightOrigin>& referred, const char* file) {
  const at::NoGradGuard noGrad;
  for (const auto& [name, tensor] : into) {
    const auto found = from.find(name);
    if (found == from.end()) {
      throw FileError(std::string("the checkpoint's ") + file + " has no '" + name +
                      "'; it was written by another model");
    }
    if (found->second.sizes() != tensor.sizes() ||
        (found->second.scalar_type() != tensor.scalar_type() && !referred.contains(name))) {
      throw FileError(std::string("the checkpoint's ") + file + " has '" + name +
                      "' in another shape or type than the model; it was written by another model");
    }
    at::Tensor target = tensor.detach();
    target.copy_(found->second);
  }
}

/// Sentences that differ between where the checkpoint was made and here; empty means bit-exact.
std::string differences(const CheckpointState& from, const ComputeEnvironment& now,
                        const std::string& precision) {
  std::string text;
  const auto note = [&](const std::string& what, const std::string& was, const std::string& is) {
    if (was != is) text += (text.empty() ? "" : ", ") + what + " " + is + " instead of " + was;
  };
  note("threads", std::to_string(from.environment.threads), std::to_string(now.threads));
  note("device", from.environment.device, now.device);
  note("LibTorch", from.environment.libtorch, now.libtorch);
  note("CPU capability", from.environment.cpuCapability, now.cpuCapability);
  note("precision", from.precision, precision);
  return text;
}

/// The tensors of `all` with the averaged ones in the places of their parameters.
NamedTensors withAverage(const NamedTensors& all, const Ema& ema) {
  NamedTensors named = all;
  for (std::size_t i = 0; i < ema.parameters().size(); ++i) {
    for (auto& [name, tensor] : named) {
      if (tensor.unsafeGetTensorImpl() == ema.parameters()[i].unsafeGetTensorImpl())
        tensor = ema.average()[i];
    }
  }
  return named;
}

std::vector<CheckpointState::FrozenNetwork> frozenNetworks(TaskSession& session) {
  std::vector<CheckpointState::FrozenNetwork> frozen;
  for (const Network& network : session.networks()) {
    if (network.role == Network::Role::Frozen)
      frozen.push_back({network.name, network.source, network.sha256});
  }
  return frozen;
}

bool isFrozen(const at::Tensor& parameter) { return !parameter.requires_grad(); }

/// Hashes the files of frozen parameters that checkpoints can refer to, each once.
void hashOrigins(TaskSession& session, std::map<std::string, WeightOrigin>& origins) {
  std::map<std::filesystem::path, std::string> hashes;
  for (const auto& item : session.model().module().named_parameters()) {
    const auto origin = origins.find(item.key());
    if (origin == origins.end() || !origin->second.sha256.empty() || !isFrozen(item.value()))
      continue;
    if (!isUtf8(origin->second.file.string())) continue;  // a checkpoint cannot name that file
    std::string& hash = hashes[origin->second.file];
    if (hash.empty()) hash = sha256OfFile(origin->second.file);
    origin->second.sha256 = hash;
  }
}

/// What a checkpoint need not hold: frozen parameters of the model that lie unchanged in a file.
std::vector<WeightReference> referencesOf(TaskSession& session,
                                          const std::map<std::string, WeightOrigin>& origins) {
  std::map<std::filesystem::path, WeightReference> byFile;
  if (origins.empty()) return {};
  for (const auto& item : session.model().module().named_parameters()) {
    const auto origin = origins.find(item.key());
    if (origin == origins.end() || origin->second.sha256.empty() || !isFrozen(item.value()))
      continue;
    WeightReference& reference = byFile[origin->second.file];
    reference.file = origin->second.file;
    reference.sha256 = origin->second.sha256;
    reference.tensors[item.key()] = origin->second.names;
  }
  std::vector<WeightReference> all;
  for (auto& [file, reference] : byFile) all.push_back(std::move(reference));
  return all;
}

/// "model.width is 64 instead of 32", for the first few keys.
std::string changedKeys(const Json& before, const Json& now) {
  constexpr std::size_t kNamed = 4;
  const std::vector<Difference> changes = difference(before, now);
  std::string text;
  for (std::size_t i = 0; i < changes.size() && i < kNamed; ++i) {
    text += (i == 0 ? "" : ", ") + changes[i].key + " is " + changes[i].after.dump() +
            " instead of " + changes[i].before.dump();
  }
  if (changes.size() > kNamed)
    text += ", and " + std::to_string(changes.size() - kNamed) + " more keys differ";
  return text;
}

}  // namespace

void Trainer::State::requireSameConfiguration(const CheckpointState& from) const {
  if (from.configHash.empty() || setup.configHash.empty() || from.configHash == setup.configHash)
    return;
  const std::string changes = from.config.is_object() && setup.config.is_object()
                                  ? changedKeys(from.config, setup.config)
                                  : std::string();
  throw RefusedError("the checkpoint " + setup.resumeFrom.string() +
                     " was written under another configuration" +
                     (changes.empty() ? "" : ": " + changes) +
                     "; resume the run that wrote it, or start a new run from its weights with "
                     "[init] weights");
}

void Trainer::State::requireSameFrozen(const CheckpointState& from) const {
  for (const CheckpointState::FrozenNetwork& now : frozenNetworks(session)) {
    for (const CheckpointState::FrozenNetwork& then : from.frozen) {
      if (then.name != now.name || then.sha256 == now.sha256) continue;
      throw RefusedError("the checkpoint " + setup.resumeFrom.string() +
                         " was trained with the frozen network '" + then.name + "' of " +
                         then.file + " (SHA-256 " + then.sha256.substr(0, 12) + "...), and " +
                         now.file + " holds another (" + now.sha256.substr(0, 12) +
                         "...); restore that file, or start a new run");
    }
  }
}

void Trainer::State::prepareCheckpoints() {
  if (setup.checkpointFolder.empty()) return;
  hashOrigins(session, setup.weightOrigins);
  RetentionOptions retention;
  retention.keep = setup.train.integer("checkpoint.keep");
  retention.keepBest = setup.train.flag("checkpoint.best");
  retention.resumedFrom = setup.resumeFrom;
  retention.keepEvery = setup.train.maybeInteger("checkpoint.keep_every").value_or(0);
  retention.needed = setup.neededSteps;
  if (!setup.resumeFrom.empty())
    retention.bestStep = readCheckpointState(setup.resumeFrom).bestStep;
  writer = std::make_unique<CheckpointWriter>(setup.checkpointFolder, setup.checkpointPrefix,
                                              std::move(retention), [this] { sink.flush(); });
}

void Trainer::State::resume() {
  LoadedCheckpoint loaded = readCheckpoint(setup.resumeFrom);
  const CheckpointState& from = loaded.state;
  requireSameFrozen(from);
  const NamedTensors tensors = runTensors(session);
  restore(tensors, loaded.model, loaded.referred, "model.safetensors");
  setup.weightOrigins = loaded.referred;
  trainStep->load(loaded.optimizer, from.updates);
  if (Ema* ema = trainStep->ema())
    restore(withAverage(tensors, *ema), loaded.ema, loaded.referred, "ema.safetensors");

  const auto size = static_cast<std::int64_t>(from.generator.size());
  const ComputeEnvironment environment = computeEnvironment(device);
  const std::string precisionName = setup.train.text("precision");
  std::string inexact = differences(from, environment, precisionName);
  if (from.environment.device == environment.device) {
    at::Tensor state = at::empty({size}, at::TensorOptions().dtype(at::kByte));
    std::memcpy(state.mutable_data_ptr(), from.generator.data(), from.generator.size());
    generator.set_state(state);
  }

  step = from.step;
  samplesSeen = from.samplesSeen;
  skippedSteps = from.step - from.updates;
  watch.restore(from.divergence);
  trainStep->setSpikesInRow(watch.spikesInRow());
  secondsBefore = from.seconds;
  evaluatedStep = from.evaluatedStep;
  probedStep = from.probedStep;
  skippedProbes = from.skippedProbes;
  bestStep = from.bestStep;
  bestScore = from.bestScore;
  scheduledValues = from.scheduled;
  for (const auto& [name, each] : scheduled) {
    if (from.scheduledState.contains(name)) each->restoreScheduled(from.scheduledState[name]);
  }
  savedStep = step;
  event("resumed",
        inexact.empty() ? "training continues after step " + std::to_string(step)
                        : "not bit-exact: " + inexact,
        Json{{"from", setup.resumeFrom.filename().string()}, {"is_bit_exact", inexact.empty()}});
}

bool Trainer::State::isCheckpointDue() const {
  if (!writer || savedStep == step) return false;
  const bool isNewBest = bestStep == step && setup.train.flag("checkpoint.best");
  const auto keepEvery = setup.train.maybeInteger("checkpoint.keep_every");
  return isNewBest || (keepEvery && step % *keepEvery == 0) ||
         isDue(setup.train, "checkpoint", step, stepsPerEpoch) ||
         (isSaveOverdue && writer->waitFor(std::chrono::nanoseconds(0)));
}

bool Trainer::State::makeRoomForSave() {
  const auto start = Clock::now();
  if (bestStep == step && setup.train.flag("checkpoint.best")) {
    writer->wait();  // the best one cannot be made later
  } else {
    const double budget = setup.saveWait.count() + kSaveWaitShare * (seconds() - secondsBefore);
    const std::chrono::duration<double> left(std::max(0.0, budget - waitedForSaves));
    if (!writer->waitFor(std::chrono::duration_cast<std::chrono::nanoseconds>(left))) {
      waitedForSaves += std::chrono::duration<double>(Clock::now() - start).count();
      if (!isSaveOverdue) {
        event("checkpoint_late", "the checkpoint of step " + std::to_string(step) +
                                     " is made later: the one before it is still being written");
      }
      isSaveOverdue = true;
      return false;
    }
  }
  waitedForSaves += std::chrono::duration<double>(Clock::now() - start).count();
  return true;
}

CheckpointSnapshot Trainer::State::snapshot() {
  CheckpointSnapshot snapshot;
  CheckpointState& state = snapshot.state;
  state.step = step;
  state.totalSteps = totalSteps;
  state.stepsPerEpoch = stepsPerEpoch;
  state.batchesConsumed = batchesConsumed;
  state.samplesSeen = samplesSeen;
  state.seconds = seconds();
  state.updates = step - skippedSteps;
  state.evaluatedStep = evaluatedStep;
  state.probedStep = probedStep;
  state.skippedProbes = skippedProbes;
  state.bestStep = bestStep;
  state.bestScore = bestScore;
  state.rollbacks = rollbacks;
  state.divergence = watch.state();
  const at::Tensor bytes = generator.get_state();
  state.generator.assign(static_cast<const char*>(bytes.const_data_ptr()),
                         static_cast<std::size_t>(bytes.numel()));
  state.scheduled = scheduledValues;
  for (const auto& [name, each] : scheduled) state.scheduledState[name] = each->scheduledState();
  state.frozen = frozenNetworks(session);
  state.environment = computeEnvironment(device);
  state.precision = setup.train.text("precision");
  state.configHash = setup.configHash;
  state.config = setup.config;
  state.isFinished = isFinished;
  snapshot.isBest = bestStep == step;
  const auto& names = trainStep->optimizer().names();
  snapshot.trained.insert(names.begin(), names.end());

  const at::NoGradGuard noGrad;
  NamedTensors tensors = runTensors(session);
  snapshot.references = referencesOf(session, setup.weightOrigins);
  for (const WeightReference& each : snapshot.references)
    std::erase_if(tensors, [&](const auto& item) { return each.tensors.contains(item.first); });
  snapshot.model = cpuCopies(tensors);
  if (const Ema* ema = trainStep->ema()) snapshot.ema = cpuCopies(withAverage(tensors, *ema));
  snapshot.optimizer = cpuCopies(trainStep->state());
  return snapshot;
}

void Trainer::State::save(Wait wait) {
  if (!writer) return;
  if (savedStep != step || wait == Wait::Yes) {
    writer->wait();  // before the copy: two snapshots would be alive otherwise
    deliverSaves();  // one of this very step that failed is tried again
  }
  if (savedStep != step || isFinished) {
    savedStep = step;
    isSaveOverdue = false;
    writer->save(snapshot());
  }
  if (wait == Wait::Yes) writer->wait();
  deliverSaves();
}

void Trainer::State::deliverSaves() {
  if (!writer) return;
  for (const SaveResult& result : writer->results()) {
    if (!result.error.empty()) {
      if (savedStep == result.record.step) savedStep = -1;
      sink.event({result.record.step, "checkpoint_failed",
                  "the checkpoint of step " + std::to_string(result.record.step) +
                      " is not saved: " + result.error,
                  Json::object()});
      continue;
    }
    sink.checkpoint(result.record);
    sink.event({result.record.step, "checkpoint",
                "checkpoint of step " + std::to_string(result.record.step),
                Json{{"folder", result.record.folder}, {"bytes", result.record.bytes}}});
  }
}

}  // namespace vitrine::train
