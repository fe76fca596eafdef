// An ablation in a database: four variants, three seeds, made-up scores whose statistics a test can
// say by heart.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/store/run_store.h"

namespace vitrine::ui {

struct AblationRun {
  std::string variant;
  Json model;
  std::uint64_t seed = 0;
  std::vector<double> top1;  ///< every ten steps
  store::RunState state = store::RunState::Done;
  std::string experiment = "Roadmap";
  std::vector<std::pair<std::string, double>> scores{};  ///< others; 0 before the last one
};

inline std::int64_t addAblationRun(store::RunStore& store, const AblationRun& wanted,
                                   const std::string& source = "title = \"Roadmap\"\n") {
  store::NewRun run;
  run.name = wanted.variant + ", seed " + std::to_string(wanted.seed);
  run.variant = wanted.variant;
  run.seed = wanted.seed;
  run.config = {{"model", wanted.model},
                {"data", {{"dataset", "fashion_mnist"}}},
                {"train", {{"epochs", 2}, {"seed", wanted.seed}}}};
  const std::int64_t id = store.addRuns(store.experiment(wanted.experiment, source), {run}).front();
  if (wanted.state == store::RunState::Queued) return id;
  const std::int64_t segment = store.openSegment(
      id, 0, store::thisWorker(),
      {{"device", "cpu"}, {"commit", "c0ffee"}, {"dirty", wanted.seed == 1}, {"threads", 2}});
  store::RunStore::Batch batch;
  std::int64_t step = 0;
  for (const double value : wanted.top1) {
    MetricRecord record;
    record.step = step += 10;
    record.epoch = static_cast<double>(step) / 100;
    record.time = static_cast<double>(step) * 0.5;
    record.values = {{"test/top1", value},
                     {"test/loss", 2 - value},
                     {"system/device_seconds", static_cast<double>(step) * 0.5}};
    batch.metrics.push_back(record);
  }
  for (MetricRecord& record : batch.metrics) {
    const bool isLast = &record == &batch.metrics.back();
    for (const auto& [name, value] : wanted.scores)
      record.values.emplace_back(name, isLast ? value : 0);
  }
  if (!batch.metrics.empty()) store.append(id, segment, batch);
  if (wanted.state != store::RunState::Running) store.setState(id, wanted.state, "because");
  return id;
}

/// "base", "+ better" (two points up on every seed, within 0.1 points), "+ noise" (up and down by
/// two points) and "+ worse" of which one run failed. Ids 1 to 12.
inline std::vector<std::int64_t> fillAblation(store::RunStore& store) {
  const double base[] = {0.80, 0.84, 0.82};
  const double better[] = {0.820, 0.861, 0.839};
  const double noise[] = {0.82, 0.82, 0.82};
  const double worse[] = {0.70, 0.741, 0.5};
  std::vector<std::int64_t> ids;
  const auto add = [&](const std::string& name, const Json& model, const double* values) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const double last = values[seed];
      ids.push_back(addAblationRun(
          store, {name,
                  model,
                  seed,
                  {last - 0.3, last - 0.1, last},
                  name == "+ worse" && seed == 2 ? store::RunState::Failed : store::RunState::Done,
                  "Roadmap"}));
    }
  };
  add("base", {{"width", 48}, {"mlp", "gelu"}, {"preset", nullptr}}, base);
  add("+ better", {{"width", 48}, {"mlp", "swiglu"}, {"preset", nullptr}}, better);
  add("+ noise", {{"width", 64}, {"mlp", "gelu"}, {"preset", nullptr}}, noise);
  add("+ worse", {{"width", 8}, {"mlp", "gelu"}, {"preset", nullptr}}, worse);
  return ids;
}

}  // namespace vitrine::ui
