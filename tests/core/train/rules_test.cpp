// Optimizer rules and learning rates of the papers' training codes, against tensors made with them
// (tests/golden/training).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/config/catalog.h"
#include "core/train/divergence.h"
#include "core/train/optimizer.h"
#include "core/train/schedule.h"
#include "tests/support/core_items.h"
#include "tests/support/golden/case.h"

namespace vitrine::train {
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
  Optimizer optimizer = test::optimizerOf({{"name", "lamb"}, {"weight_decay", 0.1}},
                                          {{"all", {"w"}, {weight}, 1, 1}});
  weight.mutable_grad() = at::full({3}, std::nan(""));
  optimizer.step(0.1, at::ones({}), {});
  weight.mutable_grad() = at::ones({3});
  optimizer.step(0.1, at::zeros({}), {});
  EXPECT_TRUE(weight.detach().isfinite().all().item<bool>());
  EXPECT_LT(weight.detach()[0].item<float>(), 1);
}

/// A plugin's rule: p -= learning rate * n-th of the state, which counts gradients.
class CountingOptimizer final : public OptimizerItem {
 public:
  struct Rule final : UpdateRule {
    std::vector<std::string> stateNames() const override { return {"seen"}; }
    at::Tensor firstState(const std::string&, const at::Tensor& parameter) const override {
      return at::full({parameter.size(0)}, 1.0);
    }
    void update(UpdateStep& step) const override {
      for (std::size_t i = 0; i < step.parameters.size(); ++i) {
        const at::Tensor keep = step.skip.neg().add_(1);
        step.state[0][i].add_(keep);
        step.parameters[i].sub_(step.state[0][i].mul(step.learningRate).mul_(keep));
      }
    }
  };
  ItemCard card() const override { return {.kind = ItemKind::Optimizer, .id = "counting"}; }
  std::unique_ptr<UpdateRule> open(const Config&) const override {
    return std::make_unique<Rule>();
  }
};

TEST(Optimizer, RunsTheRuleOfAPluginAndKeepsItsState) {
  Registry registry;
  addTrainingItems(registry);
  registry.add(std::make_unique<CountingOptimizer>());
  EXPECT_NE(registry.catalog().find(ItemKind::Optimizer, "counting"), nullptr);
  const auto made = [&](const at::Tensor& weight) {
    return Optimizer(registry.optimizer("counting"), Config(Json{{"name", "counting"}}),
                     {{"all", {"w"}, {weight}, 1, 0.5}});
  };
  const auto step = [](Optimizer& optimizer, const at::Tensor& weight, double skip) {
    weight.mutable_grad() = at::ones_like(weight);
    optimizer.step(1, at::full({}, skip), {});
  };
  const at::Tensor weight = at::zeros({2}).set_requires_grad(true);
  Optimizer optimizer = made(weight);
  step(optimizer, weight, 0);
  step(optimizer, weight, 1);
  EXPECT_FLOAT_EQ(weight.detach()[1].item<float>(), -1) << "the state began at 1";
  const auto state = optimizer.state();
  ASSERT_EQ(state.size(), 1U);
  EXPECT_EQ(state[0].first, "w/seen");

  const at::Tensor other = weight.detach().clone().set_requires_grad(true);
  Optimizer resumed = made(other);
  resumed.load({state.begin(), state.end()}, 1);
  step(optimizer, weight, 0);
  step(resumed, other, 0);
  EXPECT_TRUE(at::equal(weight.detach(), other.detach()));
  EXPECT_THROW(registry.add(std::make_unique<CountingOptimizer>()), PluginError);
  EXPECT_THROW(static_cast<void>(registry.optimizer("countin")), NotFoundError);
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

TEST(LayerDecay, ScalesEachLayerAsTheReference) {
  expectRuleReproduced("analysis/layer_decay", {"output/scale_by_layer"});
}

TEST(TrainTable, OfARunStoredBeforeAKeyExistedHasTheKeysDefault) {
  Json stored = trainSchema().defaults();
  for (const char* key : {"warmup_start", "spans_warmup", "ends_at_last_step"})
    stored["schedule"].erase(key);
  stored["optimizer"] = {{"name", "lars"}};
  for (const char* table : {"divergence", "loss_scale", "layer_decay"}) stored.erase(table);
  const Config old(stored), now(trainSchema().defaults());
  const ScheduleItem& cosine = test::coreItems().schedule("cosine");
  EXPECT_DOUBLE_EQ(learningRate(scheduleFrom(cosine, old, 10), 7, 50),
                   learningRate(scheduleFrom(cosine, now, 10), 7, 50));
  EXPECT_EQ(divergenceFrom(old).maxSkipped, divergenceFrom(now).maxSkipped);
  const at::Tensor weight = at::ones({2, 2}).set_requires_grad(true);
  Optimizer optimizer(test::coreItems().optimizer("lars"), old.table("optimizer"),
                      {{"all", {"w"}, {weight}, 1, 1}});
  weight.mutable_grad() = at::ones({2, 2});
  optimizer.step(1, at::zeros({}), {});
  // |p| = |g| = 2, decay 0.05: 1 - 0.001 * 2 / 2.1 * 1.05
  EXPECT_FLOAT_EQ(weight.detach()[0][0].item<float>(), 0.999F);
}

TEST(TrainTable, OfARunStoredWithTheKeysOfEveryOptimizerIsReadAsBefore) {
  const Json table{{"name", "sgd"}, {"learning_rate", 0.1}, {"weight_decay", 0.0}, {"beta1", 0.5},
                   {"eps", 1.0},    {"momentum", 0.0},      {"trust_clip", true}};
  const at::Tensor weight = at::ones({1}).set_requires_grad(true);
  Optimizer optimizer = test::optimizerOf(table, {{"all", {"w"}, {weight}, 1, 1}});
  weight.mutable_grad() = at::ones({1});
  optimizer.step(0.5, at::zeros({}), {});
  EXPECT_FLOAT_EQ(weight.item<float>(), 0.5F);
}

}  // namespace
}  // namespace vitrine::train
