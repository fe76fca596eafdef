// The estimate of memory: what it counts, and how it follows the configuration.
#include "core/train/memory.h"

#include <gtest/gtest.h>

#include "core/config/catalog.h"

namespace vitrine {
namespace {

MemoryInput input() {
  MemoryInput given;
  given.parameters = 1e6;
  given.blocks = {{"a", "mlp", 0, 0, 0, 1e5}, {"b", "attention", 0, 0, 0, 2e5}};
  given.imageValues = 784;
  given.datasetBytes = 5e6;
  given.train = Config(trainSchema().defaults());
  return given;
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
  EXPECT_DOUBLE_EQ(part(with("optimizer", "name", "sgd"), "optimizer"), 4e6);
  const MemoryEstimate averaged = with("ema", "decay", 0.9);
  EXPECT_DOUBLE_EQ(part(averaged, "average"), 4e6);
  EXPECT_DOUBLE_EQ(part(averaged, "checkpoint"), 16e6);
  EXPECT_LT(part(with("precision", "", "bf16"), "activations"), 128 * 3e5);
}

TEST(MemoryEstimate, GrowsWithTheEvaluationBatchOnlyWhereItExceedsTheStep) {
  EXPECT_EQ(part(with("evaluation_batch_size", "", 1), "evaluation"), 0);
  EXPECT_GT(part(with("evaluation_batch_size", "", 2048), "evaluation"), 1e9);
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

}  // namespace
}  // namespace vitrine
