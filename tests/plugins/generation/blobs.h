// Images of three classes for tests of generation: a bright left half, right half or upper half.
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/config/experiment.h"
#include "core/plugin/pipeline.h"
#include "core/train/training_items.h"
#include "plugins/baselines/diffusion_transformers.h"
#include "plugins/tasks/generation/generation.h"
#include "plugins/transforms/transforms.h"
#include "plugins/visionllama_diffusion/rotary_diffusion.h"
#include "tests/support/refusal.h"

namespace vitrine::generation {

inline constexpr std::int64_t kBlobSide = 8, kBlobClasses = 3;

class Blobs final : public LabelledImages {
 public:
  Blobs() {
    info_.height = info_.width = kBlobSide;
    info_.classes = {"left", "right", "top"};
    info_.mean = {0.3};
    info_.deviation = {0.4};
  }
  const DatasetInfo& info() const noexcept override { return info_; }
  std::int64_t size(Split split) const override {
    return split == Split::Train ? 48 : split == Split::Test ? 12 : 0;
  }
  std::int64_t readImage(Split, std::int64_t id, std::span<std::uint8_t> image) const override {
    const std::int64_t label = id % kBlobClasses;
    for (std::int64_t y = 0; y < kBlobSide; ++y) {
      for (std::int64_t x = 0; x < kBlobSide; ++x) {
        const bool isBright = label == 0   ? x < kBlobSide / 2
                              : label == 1 ? x >= kBlobSide / 2
                                           : y < kBlobSide / 2;
        image[static_cast<std::size_t>(y * kBlobSide + x)] = isBright ? 230 : 20;
      }
    }
    return label;
  }

 private:
  DatasetInfo info_;
};

inline const Registry& registry() {
  static const std::unique_ptr<Registry> made = [] {
    auto one = std::make_unique<Registry>();
    transforms::registerAll(*one);
    return one;
  }();
  return *made;
}

template <class AnyArchitecture>
std::shared_ptr<Model> smallModel(const Json& changes = Json::object()) {
  const AnyArchitecture architecture;
  Json values{{"input_size", Json{kBlobSide, kBlobSide}},
              {"patch_size", Json{2, 2}},
              {"in_channels", 1},
              {"width", 32},
              {"depth", 2},
              {"heads", 2},
              {"mlp_width", 64},
              {"num_classes", kBlobClasses}};
  values.update(changes);
  const auto problems = resolveItem(architecture.card().schema, "model", values);
  if (!problems.empty()) throw ConfigError(problems.front().sentence());
  return architecture.build(Config(values), 5);
}

inline TaskSetup setupOf(std::shared_ptr<Model> model, const Json& task = Json::object(),
                         const std::string& normalize = "half") {
  TaskSetup setup;
  Json values = task;
  const auto problems = resolveItem(GenerationTask().card().schema, "task", values);
  if (!problems.empty()) throw ConfigError(problems.front().sentence());
  setup.task = Config(values);
  Json data = dataSchema().defaults();
  data["normalize"] = normalize;
  setup.data = Config(data);
  setup.model = std::move(model);
  setup.batchSize = 16;
  setup.evaluationBatchSize = 5;
  setup.loaderWorkers = 0;
  setup.pipeline = std::make_shared<const Pipeline>(
      registry(), setup.data, std::make_shared<Blobs>(), 0, Pipeline::ImageShape{});
  return setup;
}

/// The sentence that refuses a new run; "" where it can start.
inline std::string refusedStart(std::shared_ptr<Model> model, const Json& task) {
  const TaskSetup setup = setupOf(std::move(model), task);
  return test::refusal<ConfigError>(
      [&] { GenerationTask().requireStartable(setup.task, *setup.model); });
}

}  // namespace vitrine::generation
