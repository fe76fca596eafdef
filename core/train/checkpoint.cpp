#include "core/train/checkpoint.h"

#include <chrono>
#include <exception>
#include <fstream>
#include <mutex>
#include <thread>

#include "core/base/error.h"
#include "core/files/checkpoint_folder.h"
#include "core/model/weights.h"

namespace vitrine {

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
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  }
  return bytes;
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
  Json scheduled = Json::object();
  for (const auto& [name, value] : state.scheduled) scheduled[name] = value;
  json["scheduled"] = scheduled;
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
    for (const auto& [name, value] : json.at("scheduled").items()) {
      state.scheduled.emplace_back(name, value.get<double>());
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
    if (state.step < 0 || state.batchesConsumed < 0 || state.updates < 0) {
      throw FileError("state.json: a count is negative");
    }
    return state;
  } catch (const Json::exception& error) {
    throw FileError(std::string("state.json is not a checkpoint's state: ") + error.what());
  }
}

CheckpointState readCheckpointState(const fs::path& folder) {
  const std::string text = readTextFile(folder / "state.json");
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) throw FileError((folder / "state.json").string() + " is not JSON");
  return checkpointStateFromJson(json);
}

LoadedCheckpoint readCheckpoint(const fs::path& folder) {
  LoadedCheckpoint loaded;
  loaded.state = readCheckpointState(folder);
  loaded.model = readTensors(folder / "model.safetensors");
  if (fs::exists(folder / "ema.safetensors")) loaded.ema = readTensors(folder / "ema.safetensors");
  loaded.optimizer = readTensors(folder / "optimizer.safetensors");
  return loaded;
}

struct CheckpointWriter::State {
  fs::path folder;
  std::string prefix;
  RetentionOptions retention;
  std::function<void()> beforeNaming;
  bool isResumePointFree = false;  ///< something newer has verified
  std::thread thread;
  std::mutex mutex;
  std::vector<SaveResult> results;

  void write(const CheckpointSnapshot& snapshot);
  std::vector<std::string> applyRetention(const CheckpointSnapshot& snapshot);
};

CheckpointWriter::CheckpointWriter(fs::path folder, std::string prefix, RetentionOptions retention,
                                   std::function<void()> beforeNaming)
    : state_(std::make_unique<State>()) {
  state_->folder = std::move(folder);
  state_->prefix = std::move(prefix);
  state_->retention = std::move(retention);
  state_->beforeNaming = std::move(beforeNaming);
  state_->isResumePointFree = state_->retention.resumedFrom.empty();
}

CheckpointWriter::~CheckpointWriter() { wait(); }

void CheckpointWriter::save(CheckpointSnapshot snapshot) {
  wait();
  state_->thread = std::thread([state = state_.get(), snapshot = std::move(snapshot)] {
    becomeBackgroundThread();
    state->write(snapshot);
  });
}

void CheckpointWriter::wait() {
  if (state_->thread.joinable()) state_->thread.join();
}

std::vector<SaveResult> CheckpointWriter::results() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->results, {});
}

void CheckpointWriter::State::write(const CheckpointSnapshot& snapshot) {
  const auto begin = std::chrono::steady_clock::now();
  SaveResult result;
  result.record.step = snapshot.state.step;
  result.record.isBest = snapshot.isBest;
  result.record.folder = prefix + "/" + checkpointName(snapshot.state.step);
  try {
    fs::create_directories(folder);
    const std::map<std::string, std::string> metadata{
        {"format", "pt"}, {"step", std::to_string(snapshot.state.step)}};
    Json facts;
    facts["step"] = snapshot.state.step;
    facts["config_hash"] = snapshot.state.configHash;
    const auto bytes =
        writeCheckpointFolder(folder, snapshot.state.step, facts, [&](const fs::path& into) {
          writeTensors(into / "model.safetensors", snapshot.model, metadata);
          if (!snapshot.ema.empty()) writeTensors(into / "ema.safetensors", snapshot.ema, metadata);
          writeTensors(into / "optimizer.safetensors", snapshot.optimizer, metadata);
          std::ofstream state(into / "state.json", std::ios::binary);
          state << toJson(snapshot.state).dump(1) << '\n';
          state.close();
          if (!state) throw FileError((into / "state.json").string() + " cannot be written");
          if (beforeNaming) beforeNaming();
        });
    result.record.bytes = static_cast<std::int64_t>(bytes);
    result.record.removed = applyRetention(snapshot);
  } catch (const std::exception& error) {
    // Training goes on: the trainer says so in an event, and the checkpoints before this one are
    // untouched.
    result.problem = error.what();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  result.record.seconds = took.count();
  const std::lock_guard lock(mutex);
  results.push_back(std::move(result));
}

std::vector<std::string> CheckpointWriter::State::applyRetention(
    const CheckpointSnapshot& snapshot) {
  const std::int64_t now = snapshot.state.step;
  std::vector<CheckpointFolder> all = listCheckpoints(folder);
  if (!isResumePointFree) {
    const auto written = folder / checkpointName(now);
    isResumePointFree = verifyCheckpointFolder(written).empty();
  }
  std::vector<std::string> removed;
  std::int64_t kept = 0;
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    const bool isBest = retention.keepBest && it->step == snapshot.state.bestStep;
    const bool isResumePoint =
        !isResumePointFree && !retention.resumedFrom.empty() &&
        fs::weakly_canonical(it->folder) == fs::weakly_canonical(retention.resumedFrom);
    // Later steps belong to a branch that this run left when it was resumed from an earlier one.
    const bool isSuperseded = it->step > now;
    if (!isSuperseded && kept < retention.keep) {
      ++kept;
      continue;
    }
    if ((isBest && !isSuperseded) || isResumePoint) continue;
    // The manifest goes first: a removal that is cut off leaves no folder that counts.
    fs::remove(it->folder / "manifest.json");
    fs::remove_all(it->folder);
    removed.push_back(prefix + "/" + it->folder.filename().string());
  }
  return removed;
}

}  // namespace vitrine
