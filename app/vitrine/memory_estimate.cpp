#include "app/vitrine/memory_estimate.h"

#include <algorithm>

namespace vitrine::app {

namespace {

constexpr double kFloat = 4;  ///< bytes

/// What LibTorch, its thread pool and the allocator take once a first step has run, whatever the
/// model: measured as the peak of a model of 10,000 parameters with one image a step.
constexpr double kFirstStep = 30e6;

}  // namespace

std::vector<MemoryPart> estimateMemory(const MemoryInput& input) {
  const Config& train = input.train;
  const double batch = static_cast<double>(train.integer("batch_size"));
  const double evaluationBatch = static_cast<double>(train.integer("evaluation_batch_size"));
  const bool isAdam = train.text("optimizer.name") == "adamw";

  double activations = 0, widest = 0;
  for (const BlockCost& block : input.blocks) {
    activations += block.activationBytes;
    widest = std::max(widest, block.activationBytes);
  }
  // An evaluation keeps one block's tensors at a time and comes when no step is under way.
  const double step = batch * activations;
  const double evaluation = evaluationBatch * widest;

  std::vector<MemoryPart> parts;
  const auto add = [&parts](const char* name, const char* doc, double bytes) {
    if (bytes > 0) parts.push_back({name, doc, bytes});
  };
  const double weights = kFloat * input.parameters;
  add("parameters", "the model and the task's head, float32", weights);
  add("gradients", "one per parameter", weights);
  add("optimizer", isAdam ? "two moments per parameter" : "momentum", (isAdam ? 2 : 1) * weights);
  if (train.has("ema.decay")) add("average", "the averaged weights", weights);
  add("activations", "kept for the backward pass of one batch, or one block of an evaluation batch",
      std::max(step, evaluation));
  // Four batches ready, one being made, one in use.
  add("batches", "prepared ahead of the step", 6 * batch * input.imageValues * kFloat);
  add("dataset", "images and labels of every split", input.datasetBytes);
  add("checkpoint", "a copy of weights and moments on its way to the disk",
      (isAdam ? 3 : 2) * weights);
  add("library", "LibTorch's buffers and threads", kFirstStep);
  return parts;
}

}  // namespace vitrine::app
