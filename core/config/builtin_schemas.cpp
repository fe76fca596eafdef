// The schemas that are core's own: [train], [data] next to the dataset's keys, and when an
// [observe] item is due.
#include "core/config/catalog.h"

namespace vitrine {

namespace {

constexpr double kMostEpochs = 1e9;  ///< their steps fit 64 bits

Schema makeTrainSchema() {
  Schema schema;
  schema.fields = {
      integerField("epochs", 10, "length of the run; `steps` wins when both are given")
          .titled("Epochs")
          .range(1, kMostEpochs)
          .withUnit("epochs")
          .orNone(),
      integerField("steps", nullptr, "length of the run in optimizer steps")
          .titled("Steps")
          .atLeast(1)
          .withUnit("steps")
          .orNone(),
      integerField("batch_size", 128,
                   "images per optimizer step on this device, before accumulation")
          .titled("Batch size")
          .range(1, 65536)
          .withUnit("images"),
      integerField("accumulate", 1, "batches whose gradients are averaged into one optimizer step")
          .titled("Accumulated batches")
          .range(1, 4096)
          .withUnit("batches"),
      integerField("evaluation_batch_size", 256, "images per forward pass of an evaluation")
          .titled("Evaluation batch size")
          .range(1, 65536)
          .withUnit("images"),
      tableField(
          "optimizer",
          {textField("name", "adamw", "update rule; next to these keys it has its own")
               .titled("Optimizer"),
           realField("learning_rate", 1e-3, "peak learning rate")
               .titled("Learning rate")
               .moreThan(0),
           realField("weight_decay", 0.05, "decay of matrices and kernels, times the learning rate")
               .titled("Weight decay")
               .atLeast(0)},
          "update rule of the parameters")
          .titled("Optimizer"),
      tableField(
          "schedule",
          {textField("name", "cosine",
                     "learning rate after the warm-up, per step; next to these keys it has its own")
               .titled("Learning rate schedule"),
           integerField("warmup_steps", nullptr,
                        "steps of linear warm-up; wins over `warmup_epochs`")
               .titled("Warm-up steps")
               .atLeast(0)
               .withUnit("steps")
               .orNone(),
           realField("warmup_epochs", 0.0, "epochs of linear warm-up")
               .titled("Warm-up epochs")
               .range(0, kMostEpochs)
               .withUnit("epochs"),
           choiceField("warmup_kind", "zero_based", {"zero_based", "inclusive", "independent"},
                       "rise of the rate in W warm-up steps")
               .titled("Warm-up formula")
               .withChoiceDocs({"the decayed rate times step / W",
                                "base * step / (W - 1): steps W - 1 and W have the base",
                                "base * step / W, whatever the decay says"}),
           realField("warmup_start", 0.0, "share of the base rate at the first step")
               .titled("Warm-up start")
               .range(0, 1),
           flagField("spans_warmup", false, "the decay begins at step 0, not after warm-up")
               .titled("Decay during warm-up"),
           flagField("ends_at_last_step", false,
                     "the decay is whole at the last step; otherwise at the step after it")
               .titled("Decay ends at the last step")},
          "course of the learning rate")
          .titled("Schedule"),
      realField("layer_decay", nullptr,
                "learning rate of a layer relative to that of the next; none: the same for all")
          .titled("Layer decay")
          .range(0, 1)
          .moreThan(0)
          .orNone(),
      realField("clip_norm", nullptr, "largest global gradient norm")
          .titled("Gradient clipping")
          .moreThan(0)
          .orNone(),
      tableField(
          "ema",
          {realField("decay", nullptr, "decay per step of the averaged weights; none: no average")
               .titled("EMA decay")
               .range(0, 1)
               .orNone(),
           flagField("warmup", false,
                     "early steps average less: decay is at most (1 + n) / (10 + n) at update n")
               .titled("EMA warm-up")},
          "exponential moving average of the weights")
          .titled("Averaged weights (EMA)"),
      choiceField("precision", "fp32", {"fp32", "bf16", "fp16"},
                  "of matrix products; parameters and sums are in float32")
          .titled("Precision")
          .withChoiceDocs({"float32", "bfloat16", "float16, with a loss scale"}),
      tableField(
          "loss_scale",
          {realField("initial", 65536.0, "factor of the loss before its backward pass")
               .titled("First loss scale")
               .range(1, 1099511627776.0),
           integerField("growth_steps", 2000, "good steps in a row after which it is doubled")
               .titled("Steps until it is doubled")
               .range(1, 1000000000)
               .withUnit("steps"),
           realField("minimum", 1.0,
                     "an overflow halves it to no less; one at this scale is a divergence")
               .titled("Smallest loss scale")
               .range(1, 1099511627776.0)},
          "fp16: keeps small gradients from vanishing")
          .titled("Loss scale"),
      textField("device", "auto", "auto, cpu, or cuda:N").titled("Device"),
      integerField("threads", nullptr, "CPU threads of the computation; none: every core")
          .titled("CPU threads")
          .range(1, 1024)
          .orNone(),
      integerField("loader_workers", 1,
                   "threads that prepare batches; the batches do not depend on it")
          .titled("Loader threads")
          .range(0, 256)
          .withUnit("threads"),
      integerField("seed", 0, "seed of initialisation, order, augmentation and dropout")
          .titled("Seed")
          .range(0, 9007199254740991.0),
      tableField(
          "checkpoint",
          {integerField("every_steps", nullptr, "write one every n steps")
               .titled("Every n steps")
               .atLeast(1)
               .withUnit("steps")
               .orNone(),
           integerField("every_epochs", 1, "write one every n epochs")
               .titled("Every n epochs")
               .range(1, kMostEpochs)
               .withUnit("epochs")
               .orNone(),
           integerField("keep", 2, "newest ones kept").titled("Newest kept").range(1, 1000),
           integerField("keep_every", nullptr, "also write and keep those of steps divisible by n")
               .titled("Keep every n steps")
               .atLeast(1)
               .withUnit("steps")
               .orNone(),
           flagField("best", true, "also keep the best by `best_by`").titled("Keep the best"),
           textField("best_by", nullptr,
                     "score that decides, as the curves name it, like test/loss; none: the "
                     "task's own")
               .titled("Best by")
               .orNone(),
           choiceField("best_is", "highest", {"highest", "lowest"},
                       "value of `best_by` that is the best")
               .titled("Best is")},
          "when checkpoints are written; one is always written at the end")
          .titled("Checkpoints"),
      tableField("evaluate",
                 {integerField("every_steps", nullptr, "evaluate every n steps")
                      .titled("Every n steps")
                      .atLeast(1)
                      .withUnit("steps")
                      .orNone(),
                  integerField("every_epochs", 1, "evaluate every n epochs")
                      .titled("Every n epochs")
                      .range(1, kMostEpochs)
                      .withUnit("epochs")
                      .orNone(),
                  choiceField("weights", "all", {"all", "model", "ema"},
                              "of which weights the scores are taken")
                      .titled("Weights")
                      .withChoiceDocs({"the model's, and the averaged ones where there are some",
                                       "the model's alone", "the averaged ones alone"})},
                 "when the task's scores are taken; always at the end")
          .titled("Evaluation"),
      tableField(
          "divergence",
          {choiceField("policy", "stop", {"stop", "rollback", "skip"},
                       "at a loss or gradient norm that is not finite, or a spike")
               .titled("At divergence")
               .withChoiceDocs(
                   {"the run fails; its checkpoints stay as they are",
                    "it continues from the last good checkpoint, with the batches after "
                    "this one",
                    "the step changes nothing, and the next one follows"}),
           realField("loss_factor", nullptr,
                     "a loss above this times its running median is a spike; none: never")
               .titled("Loss spike factor")
               .moreThan(1)
               .orNone(),
           realField("gradient_factor", nullptr,
                     "a gradient norm above this times its running median is a spike; none: never")
               .titled("Gradient spike factor")
               .moreThan(1)
               .orNone(),
           integerField("window", 100, "steps that the running medians look back")
               .titled("Median window")
               .range(3, 10000)
               .withUnit("steps"),
           integerField("spike_steps", 1, "spikes in a row, until something is done")
               .titled("Spikes in a row")
               .range(1, 1000)
               .withUnit("steps"),
           integerField("max_rollbacks", 3, "of one run; then it fails")
               .titled("Most rollbacks")
               .range(0, 1000),
           integerField("max_skipped", 10, "steps skipped in a row; then the run fails")
               .titled("Most skipped steps")
               .range(0, 1000000)
               .withUnit("steps")},
          "reaction to a divergence of training")
          .titled("Divergence"),
      integerField("record_every", 1, "steps between points of the training curves")
          .titled("Record every n steps")
          .atLeast(1)
          .withUnit("steps"),
  };
  for (Field& field : schema.fields) field.runOnly();
  schema.rules = {
      {Rule::Kind::Requires,
       {"evaluate.weights", "ema", "ema.decay"},
       "without it there are no averaged weights"},
      {Rule::Kind::AtMost, {"loss_scale.minimum", "loss_scale.initial"}, ""},
  };
  return schema;
}

Schema makeDataSchema() {
  Schema schema;
  schema.fields = {
      integerField("train_samples", nullptr,
                   "use only n training samples, chosen by `subset`; none: all")
          .titled("Training samples")
          .atLeast(1)
          .withUnit("images")
          .orNone(),
      integerField("test_samples", nullptr,
                   "use only n test samples, chosen by `subset`; none: all")
          .titled("Test samples")
          .atLeast(1)
          .withUnit("images")
          .orNone(),
      realField("train_share", nullptr, "use only this fraction of the training samples; none: all")
          .titled("Fraction of training samples")
          .moreThan(0)
          .range(0, 1)
          .orNone(),
      realField("test_share", nullptr, "use only this fraction of the test samples; none: all")
          .titled("Fraction of test samples")
          .moreThan(0)
          .range(0, 1)
          .orNone(),
      choiceField("subset", "stratified", {"stratified", "first"},
                  "choice of samples for a number or share of them")
          .titled("Which samples")
          .withChoiceDocs({"of every class its share: training samples drawn by subset_seed or "
                           "train.seed, test samples the same for every run",
                           "the first ones as the data set lists them; of a folder of images, "
                           "the first classes"}),
      integerField("subset_seed", nullptr, "seed that draws the training samples; none: train.seed")
          .titled("Subset seed")
          .atLeast(0)
          .orNone(),
      realField("holdout", nullptr,
                "fraction of the training samples that is left out of training and becomes the "
                "validation split; of every class its share, drawn by train.seed")
          .titled("Held-out fraction")
          .moreThan(0)
          .lessThan(1)
          .orNone(),
      listField("evaluate_splits", FieldType::Text, nullptr,
                "splits that evaluations and analyses read: [\"validation\"]; none: all")
          .titled("Evaluated splits")
          .orNone(),
      tableField(
          "augment",
          {integerField("crop_padding", 0,
                        "zero padding on each side before a random crop back to size; 0: none")
               .titled("Crop padding")
               .range(0, 512)
               .withUnit("px"),
           realField("flip", 0.0, "probability of mirroring an image left to right")
               .titled("Flip probability")
               .range(0, 1),
           integerField("repeats", 1,
                        "number of times that an image comes in a row, each time augmented again; "
                        "an epoch stays as long and has fewer different images")
               .titled("Repeats")
               .range(1, 16)},
          "changes to training images, drawn by (seed, epoch, sample)")
          .titled("Augmentation"),
      choiceField("normalize", "dataset", {"dataset", "half", "none"},
                  "dataset: its mean and deviation; half: to [-1, 1]; none: to [0, 1]")
          .titled("Normalisation"),
  };
  for (Field& field : schema.fields) field.runOnly();
  return schema;
}

Schema makeObserveSchema() {
  Schema schema;
  schema.fields = {
      integerField("every_steps", nullptr, "due at steps divisible by n, at step 0 and at the end")
          .titled("Every n steps")
          .atLeast(1)
          .withUnit("steps")
          .orNone(),
      integerField("every_epochs", nullptr,
                   "due at the end of every n-th epoch, at step 0 and at the end")
          .titled("Every n epochs")
          .range(1, kMostEpochs)
          .withUnit("epochs")
          .orNone(),
      choiceField("weights", "model", {"model", "ema"}, "weights that are analysed")
          .titled("Weights"),
  };
  for (Field& field : schema.fields) field.runOnly();
  return schema;
}

Schema makeSampleSchema() {
  Schema schema;
  schema.fields = {
      integerField("seed", 0, "seed of the first image or text; the next ones count up")
          .titled("Seed")
          .atLeast(0),
      integerField("count", 16, "images or texts").titled("Count").range(1, 100000),
  };
  for (Field& field : schema.fields) field.runOnly();
  return schema;
}

}  // namespace

const Schema& sampleSchema() {
  static const Schema schema = makeSampleSchema();
  return schema;
}
const Schema& trainSchema() {
  static const Schema schema = makeTrainSchema();
  return schema;
}
const Schema& dataSchema() {
  static const Schema schema = makeDataSchema();
  return schema;
}
const Schema& observeSchema() {
  static const Schema schema = makeObserveSchema();
  return schema;
}

}  // namespace vitrine
