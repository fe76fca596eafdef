#include "app/vitrine/serve/compute_models.h"

#include <ATen/DeviceAccelerator.h>
#include <malloc.h>
#include <torch/nn/module.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "app/vitrine/run/weights_model.h"
#include "app/vitrine/serve/serve_fields.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/base/utc.h"
#include "core/files/safetensors_set.h"
#include "core/jobs/device_load.h"
#include "core/model/weights.h"

namespace vitrine::app {

namespace fs = std::filesystem;

namespace {

constexpr double kMillisecondsPerMinute = 60e3;
constexpr std::size_t kHandleLength = 16;  // hexadecimal digits

/// Equal for equal models, and never for others: a handle that outlives its process
/// names nothing in the next one, or the same model.
std::string handleOf(const Json& identity) {
  return sha256OfText(identity.dump()).substr(0, kHandleLength);
}

std::string optionalText(const Json& request, const char* key, const std::string& otherwise) {
  return request.contains(key) ? textOf(request, key) : otherwise;
}

/// Total and free bytes of a device.
std::pair<std::int64_t, std::int64_t> memoryOf(at::Device device) {
  if (device.is_cpu()) {
    const jobs::MemoryFacts facts = jobs::readMemory();
    return {facts.total, facts.total - facts.used};
  }
  const auto [free, total] = at::accelerator::getMemoryInfo(device.index());
  return {static_cast<std::int64_t>(total), static_cast<std::int64_t>(free)};
}

std::int64_t bytesOf(torch::nn::Module& module) {
  std::int64_t bytes = 0;
  for (const at::Tensor& tensor : module.parameters())
    bytes += static_cast<std::int64_t>(tensor.nbytes());
  for (const at::Tensor& tensor : module.buffers())
    bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

std::int64_t bytesOfAll(const WarmModel& warm) {
  if (!warm.trained) return bytesOf(warm.model().module());
  std::int64_t bytes = 0;
  for (const Network& network : warm.trained->run.session->networks())
    bytes += bytesOf(*network.module);
  return bytes;
}

/// Of one sample as evaluations see it.
std::optional<std::array<std::int64_t, 3>> imageShapeOf(TaskSession& session) {
  const Split split = train::lastSplit(session);
  const std::vector<std::int64_t> ids = session.chooseSamples(split, 1);
  if (ids.empty()) return std::nullopt;
  const Batch one = session.read(split, ids);
  const auto found = one.fields.find("image");
  if (found == one.fields.end() || found->second.dim() != 4) return std::nullopt;
  return std::array{found->second.size(1), found->second.size(2), found->second.size(3)};
}

Json answerOf(const WarmModel& warm) {
  const bool isRun = warm.trained.has_value();
  return {{"model", warm.handle},
          {"run", isRun ? Json(warm.run.id) : Json()},
          {"step", isRun ? Json(warm.trained->checkpoint.step) : Json()},
          {"use", isRun ? Json(warm.opening.use) : Json()},
          {"overrides", warm.opening.overrides},
          {"weights_sha256", warm.sha256},
          {"parameters", warm.parameters},
          {"bytes", warm.bytes},
          {"capabilities", warm.capabilities},
          {"image", warm.image ? Json(*warm.image) : Json()},
          {"device", warm.look.device.str()},
          {"precision", toString(warm.look.precision)}};
}

}  // namespace

Model& WarmModel::model() const { return trained ? trained->run.session->model() : *fromWeights; }

const TrainedModel& WarmModel::requireRun(const std::string& asker) const {
  if (trained) return *trained;
  throw RefusedError(asker + " needs a run, with its task and data; model '" + handle +
                     "' is one of a file of weights");
}

WarmModels::WarmModels(const Engine& engine, fs::path database, const ModelLimits& limits)
    : engine_(engine), database_(std::move(database)), limits_(limits) {}

Json WarmModels::load(const Json& request) {
  Opening opening;
  opening.which = optionalText(request, "checkpoint", "latest");
  opening.use = optionalText(request, "use", "model");
  opening.device = optionalText(request, "device", "cpu");
  opening.precision = optionalText(request, "precision", "");
  opening.overrides = textsOf(request, "overrides");
  if (!opening.precision.empty()) (void)train::precisionFrom(opening.precision);
  const bool isFile = request.contains("weights");
  if (isFile == request.contains("run"))
    throw BadRequest("give either 'run', the id of a run, or 'weights', a file");
  std::shared_ptr<WarmModel> warm = isFile ? openFile(request, opening) : openRun(request, opening);
  const std::lock_guard lock(mutex_);
  models_[warm->handle] = {warm, utcMilliseconds()};
  return answerOf(*warm);
}

std::shared_ptr<WarmModel> WarmModels::known(const std::string& handle) {
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(handle);
  return found == models_.end() ? nullptr : found->second.model;
}

std::shared_ptr<WarmModel> WarmModels::openRun(const Json& request, const Opening& asked) {
  store::RunStore store(database_, store::OpenMode::ReadOnly);
  const store::RunRow run = store.run(integerOf(request, "run", std::nullopt));
  const CheckpointChoice choice = chooseCheckpoint(store, run, asked.which, asked.use);
  const at::Device device = train::resolveDevice(asked.device);
  const std::string sha256 = sha256OfFile(choice.weights);
  const Config config(store.config(run.id));
  const std::string precision =
      asked.precision.empty() ? config.text("train.precision") : asked.precision;
  const std::string handle =
      handleOf({run.uuid, choice.step, sha256, device.str(), precision, asked.overrides});
  if (const auto there = known(handle)) return there;
  auto warm = std::make_shared<WarmModel>();
  warm->what = store::nameOf(run.id) + " at step " + std::to_string(choice.step);
  makeRoom(warm->what, {choice.weights}, device);
  warm->handle = handle;
  warm->run = run;
  warm->opening = asked;
  warm->opening.which = std::to_string(choice.step);
  warm->opening.use = choice.use;
  warm->sha256 = sha256;
  warm->threads = config.maybeInteger("train.threads");
  warm->trained = openTrainedModel(store, engine_, run, warm->opening);
  // A model in memory needs no files: the run's trainer may remove them.
  warm->trained->checkpoint.hold.reset();
  warm->look = warm->trained->run.look;
  warm->parameters = parameterCount(warm->model());
  warm->bytes = bytesOfAll(*warm);
  warm->capabilities = capabilitiesOf(warm->model());
  warm->image = imageShapeOf(*warm->trained->run.session);
  return warm;
}

std::shared_ptr<WarmModel> WarmModels::openFile(const Json& request, const Opening& asked) {
  const fs::path file = fs::absolute(textOf(request, "weights"));
  if (!fs::exists(file)) throw NotFoundError("there is no file " + file.string());
  const at::Device device = train::resolveDevice(asked.device);
  const Config config(modelTable(engine_.registry, asked.overrides));
  const std::vector<fs::path> files = weightFiles(file);
  const std::string sha256 = sha256OfWeights(files);
  const train::Precision precision =
      asked.precision.empty() ? train::Precision::Float32 : train::precisionFrom(asked.precision);
  const std::string handle =
      handleOf({"", 0, sha256, device.str(), toString(precision), config.json()});
  if (const auto there = known(handle)) return there;
  auto warm = std::make_shared<WarmModel>();
  warm->what = file.string();
  makeRoom(warm->what, files, device);
  train::useThreads(std::nullopt);
  warm->handle = handle;
  warm->opening = asked;
  warm->sha256 = sha256;
  warm->fromWeights = openWeights(engine_.registry, config, file, "bicubic").model;
  warm->fromWeights->module().to(device);
  warm->look = {precision, device, 0, 0};
  warm->parameters = parameterCount(warm->model());
  warm->bytes = bytesOfAll(*warm);
  warm->capabilities = capabilitiesOf(warm->model());
  if (const ImageShape shape = imageShapeOf(config); shape.channels > 0 && shape.height > 0)
    warm->image = {shape.channels, shape.height, shape.width};
  return warm;
}

std::shared_ptr<WarmModel> WarmModels::use(const std::string& handle) {
  std::shared_ptr<WarmModel> warm;
  {
    const std::lock_guard lock(mutex_);
    const auto found = models_.find(handle);
    if (found == models_.end()) {
      throw NotFoundError("there is no model '" + shorten(handle, 80) +
                          "'; it was unloaded, or the process that had it has ended: load it "
                          "again");
    }
    found->second.lastUsed = utcMilliseconds();
    warm = found->second.model;
  }
  train::useThreads(warm->threads);
  return warm;
}

Json WarmModels::unload(const std::string& handle) {
  Json gone = Json::array();
  std::map<std::string, Entry> taken;
  {
    const std::lock_guard lock(mutex_);
    if (handle.empty()) {
      taken.swap(models_);
    } else if (auto found = models_.extract(handle)) {
      taken.insert(std::move(found));
    } else {
      throw NotFoundError("there is no model '" + shorten(handle, 80) + "' to unload");
    }
  }
  bool wasOnDevice = false;
  for (const auto& [name, entry] : taken) {
    gone.push_back(name);
    wasOnDevice = wasOnDevice || !entry.model->look.device.is_cpu();
  }
  taken.clear();
  if (wasOnDevice) at::accelerator::emptyCache();
  // Kept for the next step of a training, it would stay with a process that waits for hours.
  ::malloc_trim(0);
  return gone;
}

bool WarmModels::unloadOneIdle() {
  std::string oldest;
  {
    const std::lock_guard lock(mutex_);
    std::int64_t since =
        utcMilliseconds() - static_cast<std::int64_t>(limits_.idleMinutes * kMillisecondsPerMinute);
    for (const auto& [handle, entry] : models_) {
      if (entry.lastUsed > since) continue;
      since = entry.lastUsed;
      oldest = handle;
    }
  }
  if (oldest.empty()) return false;
  (void)unload(oldest);
  return true;
}

std::string WarmModels::whyNoRoom(std::int64_t bytes, at::Device device) const {
  if (limits_.memoryBytes > 0) {
    const std::lock_guard lock(mutex_);
    std::int64_t taken = 0;
    for (const auto& [handle, entry] : models_) taken += entry.model->bytes;
    if (taken + bytes > limits_.memoryBytes) {
      return formatBytes(bytes) + " are needed, and of the " + formatBytes(limits_.memoryBytes) +
             " that models may take, " + formatBytes(taken) + " are taken by " +
             std::to_string(models_.size());
    }
  }
  if (const auto [total, free] = memoryOf(device); bytes > free)
    return formatBytes(bytes) + " are needed, and of the " + formatBytes(total) + " of " +
           device.str() + " " + formatBytes(free) + " are free";
  // While it is read the file is in the memory of the processor, too.
  if (const auto [total, free] = memoryOf(at::kCPU); 2 * bytes > free)
    return formatBytes(2 * bytes) + " are needed while it is read, and of the " +
           formatBytes(total) + " of cpu " + formatBytes(free) + " are free";
  return "";
}

void WarmModels::makeRoom(const std::string& what, const std::vector<fs::path>& weights,
                          at::Device device) {
  std::int64_t bytes = 0;
  for (const fs::path& file : weights) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(file, error);
    if (!error) bytes += static_cast<std::int64_t>(size);
  }
  for (std::string why = whyNoRoom(bytes, device); !why.empty(); why = whyNoRoom(bytes, device)) {
    if (!unloadOneIdle())
      throw RefusedError(what + " cannot be loaded: " + why + "; unload a model first");
  }
}

Json WarmModels::list() const {
  Json models = Json::array(), devices = Json::array();
  std::set<std::string> seen;
  const auto addDevice = [&](at::Device device) {
    if (!seen.insert(device.str()).second) return;
    const auto [total, free] = memoryOf(device);
    devices.push_back({{"name", device.str()}, {"total_bytes", total}, {"free_bytes", free}});
  };
  addDevice(at::kCPU);
  const std::lock_guard lock(mutex_);
  for (const auto& [handle, entry] : models_) {
    Json model = answerOf(*entry.model);
    model["last_used"] = utcText(entry.lastUsed);
    models.push_back(std::move(model));
    addDevice(entry.model->look.device);
  }
  return {
      {"models", std::move(models)},
      {"process", {{"pid", ::getpid()}, {"resident_bytes", train::processMemory().residentBytes}}},
      {"devices", std::move(devices)}};
}

}  // namespace vitrine::app
