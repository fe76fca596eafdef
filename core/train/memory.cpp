#include "core/train/memory.h"

#include <algorithm>

namespace vitrine {

namespace {

constexpr double kFloatBytes = 4;

// Measured as VmHWM above the resident size at the start, on two cores, for encoders of 18 thousand
// to 28 million parameters and batches of 1 to 512 images.

/// LibTorch's code and tables that a first step touches, the pools of its threads, this program's
/// own.
constexpr double kLibrary = 24e6;
/// Of the widest block of a batch, while its backward pass runs: gradients of its input and of its
/// output.
constexpr double kBackwardBlocks = 2;
/// Of the widest block of an evaluation batch: the stream, a norm's output and the two ends of a
/// nonlinearity.
constexpr double kForwardBlocks = 3;
/// bfloat16 matrix products keep half of what they read; norms and the stream stay in float32.
constexpr double kBFloat16Share = 0.65;
/// Batches alive at once: four ready, one being made, one in use.
constexpr double kBatchesAlive = 6;

}  // namespace

MemoryEstimate estimateMemory(const MemoryInput& input) {
  const Config& train = input.train;
  const auto batch = static_cast<double>(train.integer("batch_size"));
  const auto evaluationBatch = static_cast<double>(train.integer("evaluation_batch_size"));
  const bool isHalf = train.text("precision") == "bf16";
  const double moments = train.text("optimizer.name") == "adamw" ? 2 : 1;

  const double weights = kFloatBytes * input.parameters;
  const double trained =
      input.trainedParameters < 0 ? weights : kFloatBytes * input.trainedParameters;
  const double average = train.has("ema.decay") ? trained : 0;
  double kept = 0, widest = 0;
  for (const BlockCost& block : input.blocks) {
    kept += block.activationBytes;
    widest = std::max(widest, block.activationBytes);
  }
  const double activations = batch * kept * (isHalf ? kBFloat16Share : 1);
  const double temporaries = kBackwardBlocks * batch * widest;
  const double imageBytes = kFloatBytes * input.imageValues;
  // An evaluation comes when no step is under way: only what it takes beyond a step counts.
  const double evaluation =
      evaluationBatch * (kForwardBlocks * widest + kBatchesAlive * imageBytes);

  MemoryEstimate estimate;
  const auto add = [&estimate](const char* name, const char* doc, double bytes) {
    if (bytes <= 0) return;
    estimate.parts.push_back({name, doc, bytes});
    estimate.peakBytes += bytes;
  };
  add("parameters", "the model and the task's head, float32", weights);
  add("gradients", "one for each trained parameter", trained);
  add("optimizer", moments == 2 ? "two moments for each trained parameter" : "the momentum",
      moments * trained);
  add("average", "the averaged weights", average);
  if (isHalf) add("bfloat16 weights", "copies for the matrix products of one step", weights / 2);
  add("activations", "kept for the backward pass of one batch", activations);
  add("temporaries", "gradients on their way through the widest block", temporaries);
  add("evaluation", "what an evaluation batch takes beyond a training step",
      evaluation - activations - temporaries);
  add("batches", "prepared ahead of the step", kBatchesAlive * batch * imageBytes);
  add("dataset", "images and labels of every split", input.datasetBytes);
  add("checkpoint", "a copy of weights, average and moments on its way to the disk",
      weights + moments * trained + (average > 0 ? weights : 0));
  add("library", "LibTorch's code, tables and threads", kLibrary);
  return estimate;
}

}  // namespace vitrine
