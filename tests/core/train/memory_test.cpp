// The estimate of memory: what it counts, and how it follows the configuration.
#include "core/train/memory.h"

#include <gtest/gtest.h>

#include "core/config/catalog.h"
#include "tests/support/core_items.h"

namespace vitrine::train {
namespace {

MemoryInput input() {
  return {.parameters = 1e6,
          .blocks = {{"a", "mlp", 0, 0, 0, 1e5}, {"b", "attention", 0, 0, 0, 2e5}},
          .imageValues = 784,
          .datasetBytes = 5e6,
          .train = Config(trainSchema().defaults())};
}

double part(const MemoryEstimate& estimate, const std::string& name) {
  for (const MemoryPart& found : estimate.parts) {
    if (found.name == name) return found.bytes;
  }
  return 0;
}

MemoryEstimate with(const std::string& key, const std::string& inner, const Json& value) {
  MemoryInput given = input();
  Json train = given.train.json();
  (inner.empty() ? train[key] : train[key][inner]) = value;
  given.train = Config(train);
  return estimateMemory(given);
}

TEST(MemoryEstimate, IsTheSumOfItsParts) {
  const MemoryEstimate estimate = estimateMemory(input());
  double sum = 0;
  for (const MemoryPart& found : estimate.parts) sum += found.bytes;
  EXPECT_DOUBLE_EQ(estimate.peakBytes, sum);
  EXPECT_DOUBLE_EQ(part(estimate, "parameters"), 4e6);
  EXPECT_DOUBLE_EQ(part(estimate, "optimizer"), 8e6);
  EXPECT_DOUBLE_EQ(part(estimate, "activations"), 128 * 3e5);
  EXPECT_DOUBLE_EQ(part(estimate, "checkpoint"), 12e6);
  EXPECT_DOUBLE_EQ(part(estimate, "dataset"), 5e6);
}

TEST(MemoryEstimate, FollowsOptimizerAverageAndPrecision) {
  MemoryInput one = input();
  one.optimizerTensors = 1;
  EXPECT_DOUBLE_EQ(part(estimateMemory(one), "optimizer"), 4e6);
  const MemoryEstimate averaged = with("ema", "decay", 0.9);
  EXPECT_DOUBLE_EQ(part(averaged, "average"), 4e6);
  EXPECT_DOUBLE_EQ(part(averaged, "checkpoint"), 16e6);
  for (const char* precision : {"bf16", "fp16"})
    EXPECT_LT(part(with("precision", "", precision), "activations"), 128 * 3e5);
  EXPECT_DOUBLE_EQ(part(with("precision", "", "fp16"), "float16 weights"), 2e6);
}

TEST(MemoryEstimate, GrowsWithTheEvaluationBatchOnlyWhereItExceedsTheStep) {
  EXPECT_EQ(part(with("evaluation_batch_size", "", 1), "evaluation"), 0);
  EXPECT_GT(part(with("evaluation_batch_size", "", 2048), "evaluation"), 1e9);
}

TEST(MemoryEstimate, CountsTheLogitsOfManyClassesAndTheConfusionMatrixOfAFew) {
  const auto evaluationOf = [](double classes) {
    MemoryInput given = input();
    given.classes = classes;
    Json train = given.train.json();
    train["evaluation_batch_size"] = 2048;  // more than a step takes
    given.train = Config(train);
    return part(estimateMemory(given), "evaluation");
  };
  const double none = evaluationOf(0);
  EXPECT_DOUBLE_EQ(evaluationOf(1000) - none, 28.0 * 2048 * 1000 + 16e6);
  EXPECT_DOUBLE_EQ(evaluationOf(16'000) - none, 28.0 * 2048 * 16'000);
}

TEST(MemoryEstimate, CountsACheckpointBesideTheStepOnlyWhereOneIsWrittenOnTheWay) {
  MemoryInput given = input();
  given.parameters = 1e8;  // the copy is larger than a step
  given.stepsPerEpoch = 100;
  const auto checkpointOf = [&](std::int64_t steps) {
    Json train = given.train.json();
    train["steps"] = steps;
    train["epochs"] = nullptr;
    given.train = Config(train);
    return part(estimateMemory(given), "checkpoint");
  };
  EXPECT_DOUBLE_EQ(checkpointOf(101), 12e8);
  EXPECT_LT(checkpointOf(100), 8e8) << "the last one finds no gradients";
}

TEST(MemoryEstimate, CountsNoGradientOfWhatIsFrozen) {
  MemoryInput given = input();
  given.trainedParameters = 1e5;
  const MemoryEstimate estimate = estimateMemory(given);
  EXPECT_DOUBLE_EQ(part(estimate, "gradients"), 4e5);
  EXPECT_DOUBLE_EQ(part(estimate, "checkpoint"), 4e6 + 8e5);
}

/// 1,000, 100 and 200 images of 3 x 8 x 8.
/// Of one million parameters with AdamW, 10 epochs of 100 steps.
double checkpointsOf(const Json& checkpoint, const Json& more = Json::object()) {
  MemoryInput given = input();
  given.stepsPerEpoch = 100;
  Json train = given.train.json();
  train["epochs"] = 10;
  train.update(more);
  train["checkpoint"].update(checkpoint);
  given.train = Config(train);
  return estimateDisk(given) / 12e6;
}

TEST(DiskEstimate, CountsTheNewestTheBestEveryNthAndTheOneBeingWritten) {
  EXPECT_EQ(checkpointsOf({{"keep", 2}, {"best", false}}), 3);
  EXPECT_EQ(checkpointsOf({{"keep", 2}, {"best", true}}), 4);
  EXPECT_EQ(checkpointsOf({{"keep", 7}, {"best", true}}), 9);
  EXPECT_EQ(checkpointsOf({{"keep", 2}, {"best", false}, {"keep_every", 100}}), 13);
  EXPECT_EQ(checkpointsOf({{"keep", 2}, {"best", false}, {"keep_every", 300}}), 6);
  EXPECT_EQ(checkpointsOf({{"keep", 2}, {"best", false}, {"keep_every", 5000}}), 3);
}

TEST(DiskEstimate, FollowsTheLengthOfTheRun) {
  const Json every = {{"keep", 1}, {"best", false}, {"keep_every", 50}};
  EXPECT_EQ(checkpointsOf(every), 22);
  EXPECT_EQ(checkpointsOf(every, {{"epochs", 20}}), 42);
  EXPECT_EQ(checkpointsOf(every, {{"steps", 100}}), 4) << "steps count before epochs";
  EXPECT_EQ(checkpointsOf({{"keep", 1000}, {"best", true}}, {{"steps", 3}}), 3)
      << "no more than there are steps";
}

TEST(DiskEstimate, FollowsOptimizerAndAverage) {
  MemoryInput given = input();
  const double adamw = estimateDisk(given);
  given.train = Config([&] {
    Json train = given.train.json();
    train["ema"]["decay"] = 0.9;
    return train;
  }());
  given.optimizerTensors = 1;
  EXPECT_DOUBLE_EQ(estimateDisk(given), adamw);  // one moment less, the averaged weights more
  given.trainedParameters = 0;
  EXPECT_DOUBLE_EQ(estimateDisk(given), adamw * 2 / 3) << "what is frozen has no moments";
}

class ThreeSplits final : public LabelledImages {
 public:
  ThreeSplits() {
    info_.channels = 3;
    info_.height = info_.width = 8;
  }
  const DatasetInfo& info() const noexcept override { return info_; }
  std::int64_t size(Split split) const override {
    return split == Split::Train ? 1000 : split == Split::Test ? 200 : 100;
  }
  std::int64_t readImage(Split, std::int64_t, std::span<std::uint8_t>) const override { return 0; }

 private:
  DatasetInfo info_;
};

TEST(MemoryInput, AsksTheOptimizerWhatItKeeps) {
  const Config config(Json{{"model", {{"in_channels", 3}, {"image_size", {28, 14}}}},
                           {"train", trainSchema().defaults()}});
  for (const auto& [name, tensors] : std::vector<std::pair<const char*, double>>{
           {"adamw", 2}, {"sgd", 1}, {"lamb", 2}, {"lars", 1}}) {
    const OptimizerItem& item = test::coreItems().optimizer(name);
    EXPECT_EQ(memoryInputOf(config, 7, {}, item, nullptr).optimizerTensors, tensors) << name;
  }
}

TEST(MemoryInput, CountsEveryImageAndTheStepsOfAccumulatedBatches) {
  Json train = trainSchema().defaults();
  train["batch_size"] = 32;
  train["accumulate"] = 4;
  const Config config(
      Json{{"model", {{"in_channels", 3}, {"image_size", {28, 14}}}}, {"train", train}});
  const ThreeSplits dataset;
  const MemoryInput made =
      memoryInputOf(config, 7, {}, test::coreItems().optimizer("adamw"), &dataset);
  EXPECT_EQ(made.parameters, 7);
  EXPECT_EQ(made.imageValues, 3 * 28 * 14);
  EXPECT_EQ(made.datasetBytes, 1300 * (3 * 8 * 8 + 1));
  EXPECT_EQ(made.stepsPerEpoch, 8) << "1,000 images in steps of 128";
  const auto stepsWith = [&](const Json& data) {
    const Config given(Json{{"model", config.at("model")}, {"train", train}, {"data", data}});
    return memoryInputOf(given, 7, {}, test::coreItems().optimizer("adamw"), &dataset)
        .stepsPerEpoch;
  };
  EXPECT_EQ(stepsWith({{"train_samples", 300}}), 3) << "300 of these images";
  EXPECT_EQ(stepsWith({{"holdout", 0.5}}), 4) << "500 are held out";
  EXPECT_EQ(stepsWith({{"train_samples", 300}, {"holdout", 0.2}}), 2) << "240 of the 300";
  const MemoryInput without =
      memoryInputOf(config, 7, {}, test::coreItems().optimizer("adamw"), nullptr);
  EXPECT_EQ(without.datasetBytes, 0);
  EXPECT_EQ(without.stepsPerEpoch, 0);
}

TEST(MemoryInput, CountsTheImagesOfAModelThatTakesNoiseAway) {
  const Config config(Json{{"model", {{"in_channels", 2}, {"input_size", {28, 14}}}},
                           {"train", trainSchema().defaults()}});
  const MemoryInput made =
      memoryInputOf(config, 7, {}, test::coreItems().optimizer("adamw"), nullptr);
  EXPECT_EQ(made.imageValues, 2 * 28 * 14);
}

}  // namespace
}  // namespace vitrine::train
