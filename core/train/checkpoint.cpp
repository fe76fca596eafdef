#include "core/train/checkpoint.h"

#include <ATen/ops/isfinite.h>

#include <condition_variable>
#include <exception>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>

#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/read_json.h"
#include "core/files/checkpoint_folder.h"
#include "core/files/checkpoint_use.h"
#include "core/model/weights.h"

namespace vitrine::train {

namespace fs = std::filesystem;

namespace {

constexpr int kFormat = 1;

std::string toHex(const std::string& bytes) {
  static const char* const kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    hex += kDigits[static_cast<unsigned char>(byte) >> 4];
    hex += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return hex;
}

std::string fromHex(const std::string& hex) {
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    throw FileError("state.json: the generator's state is not hexadecimal");
  };
  if (hex.size() % 2 != 0) throw FileError("state.json: the generator's state is cut");
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  return bytes;
}

/// A parameter that is not finite would make every later checkpoint useless too.
/// \throws FileError
void requireFinite(const NamedTensors& tensors, const std::set<std::string>& names) {
  for (const auto& [name, tensor] : tensors) {
    if (names.count(name) != 0 && !at::isfinite(tensor).all().item<bool>())
      throw FileError("parameter '" + name + "' is not finite; the checkpoint before it stays");
  }
}

}  // namespace

Json toJson(const CheckpointState& state) {
  Json json;
  json["format"] = kFormat;
  json["step"] = state.step;
  json["total_steps"] = state.totalSteps;
  json["steps_per_epoch"] = state.stepsPerEpoch;
  json["batches_consumed"] = state.batchesConsumed;
  json["samples_seen"] = state.samplesSeen;
  json["seconds"] = state.seconds;
  json["updates"] = state.updates;
  json["evaluated_step"] = state.evaluatedStep;
  json["probed_step"] = state.probedStep;
  json["skipped_probes"] = state.skippedProbes;
  json["best_step"] = state.bestStep;
  json["best_score"] = state.bestScore;
  json["rollbacks"] = state.rollbacks;
  json["divergence"] = state.divergence;
  Json scheduled = Json::object();
  for (const auto& [name, value] : state.scheduled) scheduled[name] = value;
  json["scheduled"] = scheduled;
  json["scheduled_state"] = state.scheduledState;
  Json frozen = Json::array();
  for (const auto& [name, file, sha256] : state.frozen)
    frozen.push_back({{"name", name}, {"file", file}, {"sha256", sha256}});
  json["frozen_networks"] = frozen;
  json["device"] = state.environment.device;
  json["threads"] = state.environment.threads;
  json["libtorch"] = state.environment.libtorch;
  json["cpu_capability"] = state.environment.cpuCapability;
  json["precision"] = state.precision;
  json["config_hash"] = state.configHash;
  json["config"] = state.config;
  json["is_finished"] = state.isFinished;
  json["generator"] = toHex(state.generator);
  return json;
}

CheckpointState checkpointStateFromJson(const Json& json) {
  try {
    if (json.at("format").get<int>() != kFormat) {
      throw FileError("state.json is of format " + json.at("format").dump() +
                      "; this version reads format 1");
    }
    CheckpointState state;
    json.at("step").get_to(state.step);
    json.at("total_steps").get_to(state.totalSteps);
    json.at("steps_per_epoch").get_to(state.stepsPerEpoch);
    json.at("batches_consumed").get_to(state.batchesConsumed);
    json.at("samples_seen").get_to(state.samplesSeen);
    json.at("seconds").get_to(state.seconds);
    json.at("updates").get_to(state.updates);
    json.at("evaluated_step").get_to(state.evaluatedStep);
    json.at("probed_step").get_to(state.probedStep);
    json.at("skipped_probes").get_to(state.skippedProbes);
    json.at("best_step").get_to(state.bestStep);
    json.at("best_score").get_to(state.bestScore);
    state.rollbacks = json.value("rollbacks", std::int64_t{0});
    state.divergence = json.value("divergence", Json());
    for (const auto& [name, value] : json.at("scheduled").items())
      state.scheduled.emplace_back(name, value.get<double>());
    // Checkpoints of earlier versions have neither.
    state.scheduledState = json.value("scheduled_state", Json::object());
    for (const Json& each : json.value("frozen_networks", Json::array())) {
      state.frozen.push_back({each.at("name").get<std::string>(),
                              each.at("file").get<std::string>(),
                              each.at("sha256").get<std::string>()});
    }
    json.at("device").get_to(state.environment.device);
    json.at("threads").get_to(state.environment.threads);
    json.at("libtorch").get_to(state.environment.libtorch);
    json.at("cpu_capability").get_to(state.environment.cpuCapability);
    json.at("precision").get_to(state.precision);
    json.at("config_hash").get_to(state.configHash);
    state.config = json.value("config", Json());
    json.at("is_finished").get_to(state.isFinished);
    state.generator = fromHex(json.at("generator").get<std::string>());
    if (state.step < 0 || state.batchesConsumed < 0 || state.updates < 0)
      throw FileError("state.json: a count is negative");
    return state;
  } catch (const Json::exception& error) {
    throw FileError(std::string("state.json is not a checkpoint's state: ") + error.what());
  }
}

CheckpointState readCheckpointState(const fs::path& folder) {
  const std::string text = readTextFile(folder / "state.json");
  const Json json = readJson(text);
  if (json.is_discarded()) throw FileError((folder / "state.json").string() + " is not JSON");
  return checkpointStateFromJson(json);
}

namespace {

/// All tensors of a file, and which of them lie in another one.
std::map<std::string, at::Tensor> wholeTensors(const fs::path& file,
                                               std::map<std::string, WeightOrigin>& referred) {
  std::map<std::string, at::Tensor> tensors;
  const WeightSource source = openWeightSource(file);
  for (const std::string& name : source.names()) {
    tensors[name] = source.tensor(name);
    const std::optional<WeightOrigin>& origin = source.origin(name);
    if (origin && !origin->sha256.empty()) referred[name] = *origin;
  }
  return tensors;
}

/// As seen from a checkpoint folder of the run `folder`, where both lie below one folder of files.
/// A database and its files may be moved together.
std::vector<WeightReference> seenFrom(const fs::path& folder,
                                      std::vector<WeightReference> references) {
  const fs::path files = fs::absolute(folder).lexically_normal().parent_path();
  for (WeightReference& each : references) {
    const fs::path inFiles = each.file.lexically_normal().lexically_relative(files);
    if (!inFiles.empty() && *inFiles.begin() != "..") each.file = fs::path("../..") / inFiles;
  }
  return references;
}

}  // namespace

LoadedCheckpoint readCheckpoint(const fs::path& folder) {
  LoadedCheckpoint loaded{.state = readCheckpointState(folder)};
  loaded.model = wholeTensors(folder / "model.safetensors", loaded.referred);
  if (fs::exists(folder / "ema.safetensors"))
    loaded.ema = wholeTensors(folder / "ema.safetensors", loaded.referred);
  loaded.optimizer = readTensors(folder / "optimizer.safetensors");
  return loaded;
}

struct CheckpointWriter::State {
  fs::path folder;
  std::string prefix;
  RetentionOptions retention;
  std::function<void()> beforeNaming;
  std::optional<CheckpointWriterLock> ownership;  ///< none where the folder cannot be made
  std::int64_t resumedFrom = -1;                  ///< until something newer has verified
  std::thread thread;
  std::mutex mutex;
  std::condition_variable idle;
  bool isBusy = false;
  std::vector<SaveResult> results;

  void write(const CheckpointSnapshot& snapshot);
  std::uint64_t writeFolder(const CheckpointSnapshot& snapshot);
  std::vector<std::string> applyRetention(std::int64_t now);
};

CheckpointWriter::CheckpointWriter(fs::path folder, std::string prefix, RetentionOptions retention,
                                   std::function<void()> beforeNaming)
    : state_(std::make_unique<State>()) {
  state_->folder = std::move(folder);
  state_->prefix = std::move(prefix);
  state_->retention = std::move(retention);
  state_->beforeNaming = std::move(beforeNaming);
  const fs::path& from = state_->retention.resumedFrom;
  if (!from.empty() && from.parent_path() == state_->folder)
    state_->resumedFrom = readCheckpointState(from).step;
  try {
    state_->ownership.emplace(state_->folder);
  } catch (const FileError& error) {
    // Each save will say so; it may be made later.
    log::warning(error.what());
  }
}

CheckpointWriter::~CheckpointWriter() { wait(); }

void CheckpointWriter::save(CheckpointSnapshot snapshot) {
  wait();
  state_->isBusy = true;
  state_->thread = std::thread([state = state_.get(), snapshot = std::move(snapshot)] {
    becomeBackgroundThread();
    state->write(snapshot);
    const std::lock_guard lock(state->mutex);
    state->isBusy = false;
    state->idle.notify_all();
  });
}

void CheckpointWriter::wait() {
  if (state_->thread.joinable()) state_->thread.join();
}

bool CheckpointWriter::waitFor(std::chrono::nanoseconds limit) {
  {
    std::unique_lock lock(state_->mutex);
    if (!state_->idle.wait_for(lock, limit, [this] { return !state_->isBusy; })) return false;
  }
  wait();
  return true;
}

std::vector<SaveResult> CheckpointWriter::results() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->results, {});
}

std::uint64_t CheckpointWriter::State::writeFolder(const CheckpointSnapshot& snapshot) {
  requireFinite(snapshot.model, snapshot.trained);
  requireFinite(snapshot.ema, snapshot.trained);
  fs::create_directories(folder);
  const std::map<std::string, std::string> metadata{{"format", "pt"},
                                                    {"step", std::to_string(snapshot.state.step)}};
  std::map<std::string, std::string> weightsMetadata =
      referenceMetadata(seenFrom(folder, snapshot.references));
  weightsMetadata.insert(metadata.begin(), metadata.end());
  Json facts;
  facts["step"] = snapshot.state.step;
  facts["config_hash"] = snapshot.state.configHash;
  return writeCheckpointFolder(folder, snapshot.state.step, facts, [&](const fs::path& into) {
    writeTensors(into / "model.safetensors", snapshot.model, weightsMetadata);
    if (!snapshot.ema.empty())
      writeTensors(into / "ema.safetensors", snapshot.ema, weightsMetadata);
    writeTensors(into / "optimizer.safetensors", snapshot.optimizer, metadata);
    std::ofstream state(into / "state.json", std::ios::binary);
    state << dumpJson(toJson(snapshot.state), 1) << '\n';
    state.close();
    if (!state) throw FileError((into / "state.json").string() + " cannot be written");
    if (beforeNaming) beforeNaming();
  });
}

void CheckpointWriter::State::write(const CheckpointSnapshot& snapshot) {
  const auto begin = std::chrono::steady_clock::now();
  SaveResult result;
  result.record.step = snapshot.state.step;
  result.record.isBest = snapshot.isBest;
  result.record.folder = prefix + "/" + checkpointName(snapshot.state.step);
  try {
    result.record.bytes = static_cast<std::int64_t>(writeFolder(snapshot));
    if (snapshot.isBest) retention.bestStep = snapshot.state.step;
    try {
      result.record.removed = applyRetention(snapshot.state.step);
    } catch (const std::exception& error) {
      log::warning(std::string("older checkpoints are not removed this time: ") + error.what());
    }
  } catch (const std::exception& error) {
    // Training continues: the trainer says so in an event, and the checkpoints before this one are
    // untouched.
    result.error = error.what();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  result.record.seconds = took.count();
  const std::lock_guard guard(mutex);
  results.push_back(std::move(result));
}

std::vector<std::string> CheckpointWriter::State::applyRetention(std::int64_t now) {
  CheckpointRetention rule{retention.keep, retention.keepEvery, {}};
  if (retention.needed) rule.needed = retention.needed();
  // A best that could not be saved is not a reason to let go of the one before it.
  if (retention.keepBest && retention.bestStep >= 0) rule.needed.insert(retention.bestStep);
  if (resumedFrom >= 0) {
    if (verifyCheckpointFolder(folder / checkpointName(now)).empty()) {
      resumedFrom = -1;
    } else {
      rule.needed.insert(resumedFrom);
    }
  }
  std::vector<std::string> removed = pruneCheckpoints(folder, now, rule);
  for (std::string& name : removed) name.insert(0, prefix + "/");
  return removed;
}

}  // namespace vitrine::train
