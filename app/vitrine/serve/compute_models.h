// Models that stay in memory between requests.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/vitrine/run/trained_model.h"

namespace vitrine::app {

/// A run's model, or one from a file of weights, which has no `trained`.
struct WarmModel {
  std::string handle;  ///< names run, checkpoint, weights' hash, device, precision and overrides
  std::string what;    ///< for people: "run 3 at step 400"
  store::RunRow run;   ///< id 0: there is none
  Opening opening;
  std::optional<TrainedModel> trained;
  std::shared_ptr<Model> fromWeights;
  train::Look look;
  std::optional<std::int64_t> threads;
  std::string sha256;  ///< of the file of weights
  std::int64_t parameters = 0;
  std::int64_t bytes = 0;  ///< of parameters and buffers of all networks
  std::vector<std::string> capabilities;
  /// [channels, height, width] that it reads; where its samples have no image, nothing.
  std::optional<std::array<std::int64_t, 3>> image;

  [[nodiscard]] Model& model() const;
  /// \throws RefusedError  it is one of a file of weights
  [[nodiscard]] const TrainedModel& requireRun(const std::string& asker) const;
};

struct ModelLimits {
  std::int64_t memoryBytes = 0;  ///< of all models together; 0: the free memory
  double idleMinutes = 10;       ///< unused for so long, a model may go for another
};

class WarmModels {
 public:
  WarmModels(const Engine& engine, std::filesystem::path database, const ModelLimits& limits);

  /// \param request  the fields of `load`, see resources/docs/serve.md
  /// \returns  what `load` answers; the same model for the same request
  Json load(const Json& request);
  /// Used now, on this thread. \throws NotFoundError  there is none: says to load it again
  [[nodiscard]] std::shared_ptr<WarmModel> use(const std::string& handle);
  /// \param handle  "": all. \returns the handles that are gone  \throws NotFoundError
  Json unload(const std::string& handle);

  /// Models, and the memory of this process and of its devices. From any thread.
  [[nodiscard]] Json list() const;

 private:
  struct Entry {
    std::shared_ptr<WarmModel> model;
    std::int64_t lastUsed = 0;  ///< milliseconds since 1970
  };
  [[nodiscard]] std::shared_ptr<WarmModel> openRun(const Json& request, const Opening& opening);
  [[nodiscard]] std::shared_ptr<WarmModel> openFile(const Json& request, const Opening& opening);
  /// The model that `handle` names, if it is there.
  [[nodiscard]] std::shared_ptr<WarmModel> known(const std::string& handle);
  void makeRoom(const std::string& what, const std::vector<std::filesystem::path>& weights,
                at::Device device);
  [[nodiscard]] std::string whyNoRoom(std::int64_t bytes, at::Device device) const;
  /// \returns  false  none was idle for long enough
  bool unloadOneIdle();

  const Engine& engine_;
  std::filesystem::path database_;
  ModelLimits limits_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> models_;
};

}  // namespace vitrine::app
