// A catalogue with two tasks whose cards have nothing in common, and runs of both. All numbers are
// made up.
#pragma once

#include <string>
#include <vector>

#include "core/config/catalog.h"
#include "core/config/item_card.h"
#include "core/store/run_store.h"

namespace vitrine::testing {

/// "classification" as the task plugin describes itself, and "drawing", which has another score,
/// another plot and another unit.
inline Catalog twoTasks() {
  Catalog catalog;
  ItemCard classification = itemCard(ItemKind::Task, "classification", "Classification");
  classification.metrics = {{"top1", "ece", "top5"}, {"train/loss", "test/top1"}, "images"};
  catalog.items.push_back(classification);
  catalog.items.push_back({.kind = ItemKind::Task,
                           .id = "drawing",
                           .title = "Drawing",
                           .metrics = {{"fid"}, {"train/loss/diffusion"}, "tokens"}});
  return catalog;
}

/// Adds a run of 20 steps of `task` that ended with these values.
inline std::int64_t addTaskRun(store::RunStore& store, const std::string& task,
                               const std::string& name,
                               const std::vector<std::pair<std::string, double>>& last,
                               std::uint64_t seed = 0,
                               store::RunState state = store::RunState::Done) {
  store::NewRun run;
  run.name = name;
  run.variant = name;
  run.seed = seed;
  run.config = {{"task", {{"name", task}}}, {"train", {{"seed", seed}}}};
  const std::int64_t id = store.addRuns(store.experiment("All of " + task, ""), {run}).front();
  if (state == store::RunState::Queued) return id;
  const std::int64_t segment =
      store.openSegment(id, 0, store::thisWorker(), {{"device", "cpu"}, {"commit", "c0ffee"}});
  store::RunStore::Batch batch;
  for (int step = 1; step <= 20; ++step) {
    MetricRecord record{step, step / 10.0, step / 4.0, {}};
    for (const auto& [metric, value] : last)
      record.values.emplace_back(metric, value * (1 + 0.05 * (20 - step)));
    batch.metrics.push_back(std::move(record));
  }
  ProgressRecord progress;
  progress.step = 20;
  progress.totalSteps = state == store::RunState::Running ? 40 : 20;
  progress.epoch = 2;
  progress.totalEpochs = 4;
  progress.loss = 0.5;
  progress.imagesPerSecond = 5120;
  progress.remainingSeconds = 5;
  batch.progress = progress;
  store.append(id, segment, batch);
  if (state != store::RunState::Running) store.setState(id, state, "because");
  return id;
}

/// A classification run with the metrics of one.
inline std::int64_t addClassification(store::RunStore& store, const std::string& name, double top1,
                                      std::uint64_t seed = 0,
                                      store::RunState state = store::RunState::Done) {
  return addTaskRun(store, "classification", name,
                    {{"train/loss", 0.4},
                     {"test/loss", 0.5},
                     {"test/top1", top1},
                     {"test/ece", 0.03},
                     {"test/top5", 0.99},
                     {"optimizer/learning_rate", 1e-3},
                     {"system/images_per_second", 5120}},
                    seed, state);
}

/// A drawing run with the metrics of one.
inline std::int64_t addDrawing(store::RunStore& store, const std::string& name, double fid,
                               std::uint64_t seed = 0,
                               store::RunState state = store::RunState::Done) {
  return addTaskRun(store, "drawing", name,
                    {{"train/loss", 1.4},
                     {"train/loss/diffusion", 0.9},
                     {"test/fid", fid},
                     {"test/loss", 1.5},
                     {"optimizer/learning_rate", 2e-4},
                     {"system/tokens_per_second", 5120}},
                    seed, state);
}

}  // namespace vitrine::testing
