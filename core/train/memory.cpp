#include "core/train/memory.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/eval/accuracy.h"
#include "core/train/training_items.h"

namespace vitrine::train {

namespace {

constexpr double kFloatBytes = 4;

// Measured as VmHWM above the resident size at the start, on two cores. The encoders had 18
// thousand to 28 million parameters, the batches 1 to 512 images.

/// LibTorch's code and tables that a first step touches, the pools of its threads, this program's
/// own.
constexpr double kLibrary = 24e6;
/// Of the widest block of a batch, while its backward pass runs: gradients of its input and of its
/// output.
constexpr double kBackwardBlocks = 2;
/// Of the widest block of an evaluation batch: the stream, a norm's output and the two ends of a
/// nonlinearity.
constexpr double kForwardBlocks = 3;
/// bfloat16 matrix products (float16 ones, too) keep half of what they read. Norms, the stream and
/// short attention stay in float32, and copies between the two are alive next to them. Measured:
/// 0.78 (LayerNorm and GELU), 0.77 (the same, 197 tokens), 1.09 (RMSNorm and SwiGLU).
constexpr double kBFloat16Share = 0.9;
/// Of each logit of an evaluation batch: itself in float32, and three times in float64 while its
/// probabilities are taken.
constexpr double kLogitBytes = 28;
/// Of each cell of a confusion matrix: the count in 64 bits, and in float32 as values and as an
/// artifact.
constexpr double kMatrixCellBytes = 16;
/// Batches alive at once: four ready, one being made, one in use.
constexpr double kBatchesAlive = 6;

double scoringBytes(double classes, double evaluationBatch) {
  const bool hasMatrix = classes <= static_cast<double>(eval::kMostMatrixClasses);
  return kLogitBytes * evaluationBatch * classes +
         (hasMatrix ? kMatrixCellBytes * classes * classes : 0);
}

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Steps of the whole run; kNever where that is not known.
double totalSteps(const Config& train, double stepsPerEpoch) {
  if (const auto steps = train.maybeInteger("steps")) return static_cast<double>(*steps);
  const auto epochs = train.maybeInteger("epochs");
  return epochs && stepsPerEpoch > 0 ? static_cast<double>(*epochs) * stepsPerEpoch : kNever;
}

/// Steps between two of what `table` ("checkpoint.", "evaluate.") asks for; kNever: it does not.
double stepsBetween(const Config& train, const std::string& table, double stepsPerEpoch) {
  double between = kNever;
  if (const auto steps = train.maybeInteger(table + "every_steps"))
    between = static_cast<double>(*steps);
  if (const auto epochs = train.maybeInteger(table + "every_epochs"))
    between = std::min(between, static_cast<double>(*epochs) * stepsPerEpoch);
  return between;
}

/// Whether a checkpoint is on its way to the disk while steps continue. The last one is not.
bool savesOnTheWay(const Config& train, double stepsPerEpoch) {
  if (stepsPerEpoch <= 0) return true;  // not known
  double first = stepsBetween(train, "checkpoint.", stepsPerEpoch);
  if (train.flag("checkpoint.best"))
    first = std::min(first, stepsBetween(train, "evaluate.", stepsPerEpoch));
  if (const auto each = train.maybeInteger("checkpoint.keep_every"))
    first = std::min(first, static_cast<double>(*each));
  return first < totalSteps(train, stepsPerEpoch);
}

}  // namespace

MemoryInput memoryInputOf(const Config& config, std::int64_t parameters,
                          std::vector<BlockCost> blocks, const OptimizerItem& optimizer,
                          const Dataset* dataset) {
  MemoryInput input{.parameters = static_cast<double>(parameters), .blocks = std::move(blocks)};
  // A model that is not for images has none of these keys; one that takes noise away names its own.
  const char* const size = config.has("model.image_size") ? "model.image_size" : "model.input_size";
  if (config.has(size) && config.has("model.in_channels")) {
    const auto [height, width] = config.size(size);
    input.imageValues = static_cast<double>(config.integer("model.in_channels") * height * width);
  }
  input.train = config.table("train");
  input.optimizerTensors = static_cast<double>(
      optimizer.open(withItemDefaults(optimizer.card(), input.train.table("optimizer")))
          ->stateNames()
          .size());
  if (dataset == nullptr) return input;
  input.datasetBytes = dataset->memoryBytes();
  input.classes = static_cast<double>(dataset->info().classes.size());
  const auto images =
      static_cast<double>(input.train.integer("batch_size") * input.train.integer("accumulate"));
  std::int64_t samples = dataset->size(Split::Train);
  if (const auto limit = config.maybeInteger("data.train_samples"))
    samples = std::min(samples, *limit);
  else if (const auto share = config.maybeReal("data.train_share"))
    samples = std::max<std::int64_t>(1, std::llround(*share * static_cast<double>(samples)));
  if (const auto holdout = config.maybeReal("data.holdout"))
    samples -= std::llround(*holdout * static_cast<double>(samples));
  input.stepsPerEpoch = std::ceil(static_cast<double>(samples) / images);
  return input;
}

MemoryEstimate estimateMemory(const MemoryInput& input) {
  const Config& train = input.train;
  const auto batch = static_cast<double>(train.integer("batch_size"));
  const auto evaluationBatch = static_cast<double>(train.integer("evaluation_batch_size"));
  const std::string precision = train.text("precision");
  const bool isHalf = precision != "fp32";
  const double moments = input.optimizerTensors;

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
      evaluationBatch * (kForwardBlocks * widest + kBatchesAlive * imageBytes) +
      scoringBytes(input.classes, evaluationBatch);
  const double step = activations + temporaries;
  // So does a checkpoint that is written after the last step: gradients are gone by then.
  const double copy = weights + moments * trained + (average > 0 ? weights : 0);
  const bool isBeside = savesOnTheWay(train, input.stepsPerEpoch);

  MemoryEstimate estimate;
  const auto add = [&estimate](const char* name, const char* doc, double bytes) {
    if (bytes <= 0) return;
    estimate.parts.push_back({name, doc, bytes});
    estimate.peakBytes += bytes;
  };
  add("parameters", "the model and the task's head, float32", weights);
  add("gradients", "one for each trained parameter", trained);
  add("optimizer",
      moments == 1 ? "one tensor for each trained parameter"
                   : "state of the update rule for each trained parameter",
      moments * trained);
  add("average", "the averaged weights", average);
  if (isHalf) {
    add(precision == "fp16" ? "float16 weights" : "bfloat16 weights",
        "copies for the matrix products of one step", weights / 2);
  }
  add("activations", "kept for the backward pass of one batch", activations);
  add("temporaries", "gradients on their way through the widest block", temporaries);
  add("evaluation", "memory of an evaluation beyond a training step", evaluation - step);
  add("batches", "prepared ahead of the step", kBatchesAlive * batch * imageBytes);
  add("dataset", "samples that the data set keeps in memory", input.datasetBytes);
  add("checkpoint", "a copy of weights, average and moments on its way to the disk",
      isBeside ? copy : copy - trained - std::max(step, evaluation));
  add("library", "LibTorch's code, tables and threads", kLibrary);
  return estimate;
}

double mostCheckpoints(const Config& train, double stepsPerEpoch) {
  const double total = totalSteps(train, stepsPerEpoch);
  // The best one, while it is none of the others, and the one that is written before others go.
  const double beside = train.flag("checkpoint.best") ? 2 : 1;
  const double kept = static_cast<double>(train.integer("checkpoint.keep")) + beside;
  const auto each = train.maybeInteger("checkpoint.keep_every");
  if (!each || total == kNever) return std::min(kept, total);
  return std::min(std::floor(total / static_cast<double>(*each)) + kept, total);
}

double estimateDisk(const MemoryInput& input) {
  const Config& train = input.train;
  const double trained = input.trainedParameters < 0 ? input.parameters : input.trainedParameters;
  const double moments = input.optimizerTensors;
  const double weights = input.parameters * (train.has("ema.decay") ? 2 : 1);
  return kFloatBytes * (weights + moments * trained) * mostCheckpoints(train, input.stepsPerEpoch);
}

}  // namespace vitrine::train
