// Training in float16 under a loss scale, with overflows that are forced.
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/train/loss_scale.h"
#include "tests/core/train/diverging.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

using test::Names;
using Kind = BadBatches::Kind;

at::Tensor number(double value) { return at::full({}, value); }

TEST(LossScale, IsHalvedByAnOverflowAndDoubledAfterGoodSteps) {
  train::LossScale scale({1024, 1, 3}, at::TensorOptions());
  const at::Tensor never = number(0).to(at::kBool), always = number(1).to(at::kBool);
  const auto step = [&](bool isOverflow) {
    scale.update(isOverflow ? always : never, number(isOverflow ? 1 : 0));
    return scale.value().item<double>();
  };
  EXPECT_EQ(step(true), 512);
  EXPECT_EQ(step(false), 512);
  EXPECT_EQ(step(false), 512);
  EXPECT_EQ(step(false), 1024);
  EXPECT_EQ(step(false), 1024);
  EXPECT_EQ(step(true), 512) << "and the count begins again";
  EXPECT_EQ(step(false), 512);
  EXPECT_EQ(step(false), 512);
  scale.update(never, number(1));  // left out for another reason
  EXPECT_EQ(scale.value().item<double>(), 512);
  EXPECT_EQ(step(false), 1024);
}

TEST(LossScale, OverflowsOnlyAboveItsMinimumAndWhileTheLossIsFinite) {
  train::LossScale scale({4, 2, 100}, at::TensorOptions());
  const double infinity = std::numeric_limits<double>::infinity();
  const auto overflows = [&](double loss, double norm) {
    return scale.overflows(number(loss), number(norm)).item<bool>();
  };
  EXPECT_TRUE(overflows(1, infinity));
  EXPECT_TRUE(overflows(1, std::nan("")));
  EXPECT_FALSE(overflows(1, 1e30));
  EXPECT_FALSE(overflows(std::nan(""), std::nan("")));
  scale.update(number(1).to(at::kBool), number(1));
  EXPECT_EQ(scale.value().item<double>(), 2);
  EXPECT_FALSE(overflows(1, infinity));
}

Config half(std::vector<std::pair<std::string, Json>> values = {}) {
  std::vector<std::pair<std::string, Json>> all{{"steps", 30},
                                                {"precision", "fp16"},
                                                {"optimizer.learning_rate", 0.01},
                                                {"schedule.name", "constant"},
                                                {"checkpoint.every_epochs", nullptr},
                                                {"checkpoint.best", false}};
  all.insert(all.end(), values.begin(), values.end());
  return trainConfig(all);
}

TEST(HalfPrecision, TrainsInFloat16WithParametersInFloat32) {
  SmallRun run(half());
  const SmallSession* const session = run.session;
  at::ScalarType type = at::kFloat;
  run.session->onLoss = [&](const Batch&) { type = session->lastLogitsType; };
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  EXPECT_EQ(type, at::kHalf);
  for (const at::Tensor& parameter : run.model->parameters())
    EXPECT_EQ(parameter.scalar_type(), at::kFloat);
  const auto loss = run.sink.curve("train/loss");
  EXPECT_LT(loss.back().second, loss.front().second);
  const auto scale = run.sink.curve("optimizer/loss_scale");
  ASSERT_EQ(scale.size(), 30U);
  EXPECT_EQ(scale.front().second, 65536);
}

TEST(HalfPrecision, ScalesTheLossWithoutScalingWhatIsRecordedOrClipped) {
  SmallRun small(half({{"loss_scale.initial", 1.0}, {"clip_norm", 0.1}}));
  SmallRun large(half({{"loss_scale.initial", 1024.0}, {"clip_norm", 0.1}}));
  static_cast<void>(small.go());
  static_cast<void>(large.go());
  const auto one = small.sink.curve("optimizer/gradient_norm"),
             other = large.sink.curve("optimizer/gradient_norm");
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i)
    EXPECT_NEAR(one[i].second, other[i].second, 0.05 * one[i].second) << "step " << i + 1;
  EXPECT_LT((small.weights() - large.weights()).abs().max().item<double>(), 0.01);
}

TEST(HalfPrecision, OfOtherPrecisionsHasNoScale) {
  SmallRun run(trainConfig({{"steps", 3}, {"precision", "bf16"}}));
  static_cast<void>(run.go());
  EXPECT_TRUE(run.sink.curve("optimizer/loss_scale").empty());
}

constexpr double kFarTooLarge = 1073741824.0;  // 2^30: float16 ends at 65504

/// Under every policy an overflow leaves the step out and the run continues.
TEST(Overflow, LeavesTheStepOutHalvesTheScaleAndIsNoDivergence) {
  for (const char* policy : {"stop", "rollback", "skip"}) {
    SmallRun run(half({{"loss_scale.initial", kFarTooLarge},
                       {"divergence.policy", policy},
                       {"divergence.max_skipped", 0},
                       {"ema.decay", 0.9}}));
    std::vector<at::Tensor> weights;  ///< before each step
    run.session->onLoss = [&](const Batch&) { weights.push_back(run.weights()); };
    const train::TrainerResult result = run.go();
    EXPECT_EQ(result.outcome, train::Outcome::Done) << result.reason;
    const auto overflows = run.sink.eventsOf("loss_scale");
    ASSERT_GE(overflows.size(), 3U) << policy;
    ASSERT_LT(overflows.size(), 25U) << policy;
    EXPECT_THAT(overflows[0].text, Names(1073741824));
    EXPECT_EQ(overflows[0].step, 1);
    for (std::size_t i = 0; i < overflows.size(); ++i) {
      const auto step = static_cast<std::size_t>(overflows[i].step);
      if (step < weights.size()) {
        EXPECT_TRUE(at::equal(weights[step], weights[step - 1])) << "step " << step << " moved";
      }
      EXPECT_EQ(overflows[i].data.at("loss_scale"),
                kFarTooLarge / std::pow(2.0, static_cast<double>(i)));
    }
    EXPECT_TRUE(run.sink.eventsOf("non_finite").empty());
    EXPECT_TRUE(run.sink.eventsOf("step_skipped").empty());
    EXPECT_FALSE(at::equal(weights.back(), weights.front()));
  }
}

TEST(Overflow, AtTheSmallestScaleIsADivergence) {
  SmallRun run(
      half({{"loss_scale.initial", kFarTooLarge}, {"loss_scale.minimum", kFarTooLarge / 4}}));
  const train::TrainerResult result = run.go();
  EXPECT_EQ(result.outcome, train::Outcome::Failed);
  EXPECT_THAT(result.reason, Names("gradient norm", "step 3"));
  EXPECT_EQ(run.sink.eventsOf("loss_scale").size(), 2U);
}

TEST(Overflow, OfALossThatIsNotFiniteIsADivergenceAtOnce) {
  SmallRun run(half());
  run.session->poisonedLoss = 4;
  const train::TrainerResult result = run.go();
  EXPECT_EQ(result.outcome, train::Outcome::Failed);
  EXPECT_THAT(result.reason, Names("step 5", "nan"));
}

TEST(Overflow, IsHeldAcrossAccumulatedBatches) {
  SmallRun run(half({{"loss_scale.initial", kFarTooLarge}, {"accumulate", 2}, {"steps", 20}}));
  EXPECT_EQ(run.go().outcome, train::Outcome::Done);
  EXPECT_GE(run.sink.eventsOf("loss_scale").size(), 3U);
  const auto loss = run.sink.curve("train/loss");
  EXPECT_LT(loss.back().second, loss.front().second);
}

TEST(Overflow, PutsRunningStatisticsBack) {
  WholeRun run;
  run.session = [] {
    return std::make_unique<BadBatches>(Kind::LossNan, std::set<std::int64_t>{});
  };
  run.model = [] { return std::make_shared<SmallCnn>(5); };
  run.train =
      half({{"loss_scale.initial", kFarTooLarge}, {"checkpoint.every_steps", 1}, {"steps", 30}});
  run.go();
  ASSERT_EQ(run.result.outcome, train::Outcome::Done) << run.result.reason;
  const auto overflows = static_cast<std::int64_t>(run.eventsOf("loss_scale").size());
  ASSERT_GT(overflows, 0);
  const train::LoadedCheckpoint last = run.at(30);
  EXPECT_EQ(last.model.at("batches").item<std::int64_t>(), 30 - overflows);
  EXPECT_EQ(last.state.updates, 30 - overflows);
}

/// Scale and count are part of the checkpoint: while it falls, and between two doublings.
TEST(HalfPrecision, ResumesBitExactlyWithItsScale) {
  const Config config = half({{"loss_scale.initial", kFarTooLarge},
                              {"loss_scale.growth_steps", 5},
                              {"ema.decay", 0.9},
                              {"divergence.gradient_factor", 50.0},
                              {"divergence.window", 3}});
  const auto made = [&] {
    auto run = std::make_unique<WholeRun>();
    run->session = [] {
      return std::make_unique<BadBatches>(Kind::LossNan, std::set<std::int64_t>{});
    };
    run->train = config;
    return run;
  };
  const auto whole = made();
  whole->go();
  ASSERT_EQ(whole->result.outcome, train::Outcome::Done) << whole->result.reason;
  EXPECT_GT(whole->eventsOf("loss_scale").size(), 4U);
  for (const std::int64_t stop : {1, 3, 12, 19, 27}) {
    const auto parts = made();
    parts->segment(stop);
    EXPECT_EQ(parts->result.outcome, train::Outcome::Interrupted);
    EXPECT_TRUE(parts->at(stop).optimizer.contains("loss_scale/value"));
    parts->go();
    expectSame(*parts, *whole, 30);
  }
}

TEST(Precisions, AreNamedAlikeBothWays) {
  for (const char* name : {"fp32", "bf16", "fp16"})
    EXPECT_EQ(toString(train::precisionFrom(name)), name);
  EXPECT_THROW(static_cast<void>(train::precisionFrom("fp8")), ConfigError);
}

}  // namespace
}  // namespace vitrine::test
