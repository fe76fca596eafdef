// Optimizer rules and learning rates of the papers' training codes, against tensors made with them
// (tests/golden/training).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/config/catalog.h"
#include "core/train/divergence.h"
#include "core/train/optimizer.h"
#include "core/train/schedule.h"
#include "tests/support/golden_case.h"

namespace vitrine {
namespace {

using testing::expectRuleReproduced;

TEST(Trajectory, OfLambIsTheOneOfTheReference) {
  expectRuleReproduced("training/optimizers", {"output/lamb"});
}

TEST(Trajectory, OfLambWithoutClippingIsTheOneOfTheReference) {
  expectRuleReproduced("training/optimizers", {"output/lamb_no_clip"});
}

TEST(Trajectory, OfLambThatAdaptsEveryParameterIsTheOneOfTheReference) {
  expectRuleReproduced("training/optimizers", {"output/lamb_always_adapt"});
}

TEST(Trajectory, OfLambWithAClippedRatioIsTheOneOfTheReference) {
  expectRuleReproduced("training/optimizers", {"output/lamb_trust_clip"});
}

TEST(Trajectory, OfLambWithDecoupledDecayIsTheOneOfTheReference) {
  expectRuleReproduced("training/optimizers", {"output/lamb_decoupled"});
}

TEST(Trajectory, OfLambWithoutBiasCorrectionIsTheOneOfTheReference) {
  expectRuleReproduced("training/optimizers", {"output/lamb_no_bias_correction"});
}

TEST(Trajectory, OfLarsIsTheOneOfTheReferenceWithAndWithoutDecay) {
  expectRuleReproduced("training/optimizers", {"output/lars", "output/lars_decay"});
}

TEST(Trajectory, OfSgdIsTheOneOfTheReferenceForBothRulesOfClipping) {
  expectRuleReproduced("training/optimizers", {"output/sgd_clip_exact", "output/sgd_clip_torch"});
}

TEST(Trajectory, OfAdamWithDecayOnKernelsIsTheOneOfAdamW) {
  expectRuleReproduced("training/optimizers", {"output/adam_kernel_decay"});
}

TEST(Lamb, TakesTheNextGoodStepAfterSkippedFirstOnes) {
  const at::Tensor weight = at::ones({3}).set_requires_grad(true);
  Optimizer optimizer({OptimizerOptions::Rule::Lamb, 0.1}, {{"all", {"w"}, {weight}, 1, 1}});
  weight.mutable_grad() = at::full({3}, std::nan(""));
  optimizer.step(0.1, at::ones({}), {});
  weight.mutable_grad() = at::ones({3});
  optimizer.step(0.1, at::zeros({}), {});
  EXPECT_TRUE(weight.detach().isfinite().all().item<bool>());
  EXPECT_LT(weight.detach()[0].item<float>(), 1);
}

TEST(Rates, FollowTheCosineAndTheLinearRuleWithAnEnd) {
  expectRuleReproduced("training/schedules",
                       {"output/vit_cosine", "output/vit_linear", "output/cosine_absolute_end"});
}

TEST(Rates, FollowTheCosineThatIsNotShiftedByItsWarmUp) {
  expectRuleReproduced("training/schedules", {"output/cosine_timm_warmup_inside"});
}

TEST(Rates, FollowThePolynomialThatEndsAtItsLastStep) {
  expectRuleReproduced("training/schedules", {"output/poly", "output/poly_warmup"});
}

TEST(Rates, FollowThePolynomialUnderAWarmUpThatMultipliesIt) {
  expectRuleReproduced("training/schedules", {"output/poly_warmup_old_mmcv"});
}

TEST(Rates, DropAtTheirMilestones) {
  expectRuleReproduced("training/schedules", {"output/step", "output/step_warmup"});
}

TEST(TrainTable, OfARunStoredBeforeAKeyExistedHasTheKeysDefault) {
  Json stored = trainSchema().defaults();
  for (const char* key :
       {"trust_coefficient", "trust_clip", "always_adapt", "bias_correction", "decoupled_decay"}) {
    stored["optimizer"].erase(key);
  }
  for (const char* key :
       {"power", "gamma", "milestones", "warmup_start", "spans_warmup", "ends_at_last_step"}) {
    stored["schedule"].erase(key);
  }
  stored.erase("divergence");
  const Config old(stored), now(trainSchema().defaults());
  EXPECT_DOUBLE_EQ(learningRate(old, 7, 50, 10), learningRate(now, 7, 50, 10));
  EXPECT_EQ(optimizerFrom(old).trustCoefficient, optimizerFrom(now).trustCoefficient);
  EXPECT_EQ(divergenceFrom(old).maxSkipped, divergenceFrom(now).maxSkipped);
}

}  // namespace
}  // namespace vitrine
