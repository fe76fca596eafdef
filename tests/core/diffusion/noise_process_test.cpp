// The diffusion against tables of its reference code and against what it claims to be.
#include "core/diffusion/noise_process.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "tests/support/golden/case.h"
#include "tests/support/refusal.h"

namespace vitrine::diffusion {
namespace {

using test::Fails, test::Names;
using testing::expectRuleReproduced;

at::Tensor noise(at::IntArrayRef shape, std::uint64_t seed) {
  return at::randn(shape, at::detail::createCPUGenerator(seed), at::kDouble);
}

TEST(NoiseSchedule, KeepsTheStepsOfTheReference) {
  const std::vector<std::int64_t> even = respacedSteps(1000, "250");
  EXPECT_EQ(std::accumulate(even.begin(), even.end(), std::int64_t{0}), 124875);
  EXPECT_EQ(even[124], 497);
  EXPECT_EQ(even[125], 502);
  const std::vector<std::int64_t> fifty = respacedSteps(1000, "50");
  EXPECT_EQ(std::accumulate(fifty.begin(), fifty.end(), std::int64_t{0}), 24975);
  const std::vector<std::int64_t> strided = respacedSteps(1000, "ddim50");
  EXPECT_EQ(std::accumulate(strided.begin(), strided.end(), std::int64_t{0}), 24500);
  EXPECT_EQ(respacedSteps(300, "10,15,20").size(), 45U);
  EXPECT_EQ(respacedSteps(1000, "1"), std::vector<std::int64_t>{0});
  EXPECT_EQ(respacedSteps(1000, "").size(), 1000U);
}

TEST(NoiseSchedule, RefusesRequestsThatCannotBeHad) {
  const auto why = [](std::int64_t steps, const char* request) {
    return test::refusal<ConfigError>([&] { (void)respacedSteps(steps, request); });
  };
  EXPECT_THAT(why(1000, "ddim400"), Names(400));
  EXPECT_EQ(why(1000, "ddim60"),
            "respacing \"ddim60\": no whole stride through 1000 steps keeps exactly 60 of them; "
            "take 59 or 63");
  EXPECT_EQ(why(1000, "1001"),
            "respacing \"1001\": a section of 1000 steps cannot give 1001; take 1 to 1000");
  EXPECT_THAT(why(10, "11"), Names(10, 11));
  EXPECT_THAT(why(1000, "5,600,7"), Names(333, 600));
  for (const char* word : {"many", "ddim", "10,,5", "-3", "1e3", "ddim0", "0"})
    EXPECT_NE(why(1000, word), "") << word;
}

TEST(NoiseSchedule, BetasAreThoseOfTheSheets) {
  const std::vector<double> linear = betasOf(BetaSchedule::Linear, 1000);
  EXPECT_DOUBLE_EQ(linear[0], 1e-4);
  EXPECT_NEAR(linear[499], 0.01004004004, 1e-11);
  EXPECT_DOUBLE_EQ(linear[999], 0.02);
  const NoiseProcess cosine(BetaSchedule::Cosine, 1000);
  EXPECT_NEAR(cosine.tables().alphaBar[999].item<double>(), 2.428766907e-9, 1e-17);
  EXPECT_THAT([&] { (void)betasOf(BetaSchedule::Linear, 1); }, Fails<ConfigError>(1));
  EXPECT_THAT([&] { (void)betasOf(BetaSchedule::Linear, 20); },
              Fails<ConfigError>(20, 21, "cosine"));
  EXPECT_LT(betasOf(BetaSchedule::Linear, 21).back(), 1);
  EXPECT_EQ(betasOf(BetaSchedule::Cosine, 2).size(), 2U);
}

TEST(NoiseProcessGolden, TablesAndTrajectoriesAreReproduced) {
  for (const char* schedule : {"diffusion/tables_linear", "diffusion/tables_cosine"}) {
    expectRuleReproduced(
        schedule, {"betas", "alphas_cumprod", "alphas_cumprod_prev", "alphas_cumprod_next",
                   "posterior_variance", "posterior_log_variance_clipped", "posterior_mean_coef1",
                   "posterior_mean_coef2", "respaced"});
  }
  expectRuleReproduced("diffusion/trajectory_linear25", {"output"});
  expectRuleReproduced("diffusion/trajectory_cosine_ddim20_clip", {"output"});
  expectRuleReproduced("diffusion/losses", {"output"});
}

TEST(NoiseProcess, RespacingToAllStepsChangesNothing) {
  const NoiseProcess whole(BetaSchedule::Linear, 100);
  const NoiseProcess same = whole.respaced(respacedSteps(100, "100"));
  EXPECT_TRUE(at::allclose(same.tables().beta, whole.tables().beta, 1e-10, 0));
  EXPECT_TRUE(at::equal(same.originalSteps(), whole.originalSteps()));
}

TEST(NoiseProcess, NoisedStatesHaveTheMomentsOfTheTables) {
  const NoiseProcess process(BetaSchedule::Linear, 1000);
  const at::Tensor start = at::full({40000, 1}, 0.3, at::kDouble);
  const at::Tensor step = at::full({40000}, 250, at::kLong);
  const at::Tensor state = process.noised(start, step, noise({40000, 1}, 1));
  const double alphaBar = process.tables().alphaBar[250].item<double>();
  EXPECT_NEAR(state.mean().item<double>(), 0.3 * std::sqrt(alphaBar), 0.015);
  EXPECT_NEAR(state.var().item<double>(), 1 - alphaBar, 0.015);
}

TEST(NoiseProcess, StartAndNoiseFollowFromEachOther) {
  const NoiseProcess process(BetaSchedule::Cosine, 1000);
  const at::Tensor start = noise({3, 2, 2, 2}, 1), drawn = noise({3, 2, 2, 2}, 2);
  const at::Tensor step = at::tensor({0, 400, 900}, at::kLong);
  const at::Tensor state = process.noised(start, step, drawn);
  EXPECT_TRUE(at::allclose(process.startFromNoise(state, step, drawn), start, 1e-8, 1e-8));
  EXPECT_TRUE(at::allclose(process.noiseFromStart(state, step, start), drawn, 1e-8, 1e-8));
}

TEST(NoiseProcess, TheBoundMovesTheVarianceAlone) {
  const NoiseProcess process(BetaSchedule::Linear, 1000);
  const at::Tensor start = noise({4, 1, 2, 2}, 1).clamp(-1, 1), drawn = noise({4, 1, 2, 2}, 2);
  const at::Tensor step = at::tensor({0, 1, 500, 999}, at::kLong);
  at::Tensor output = (noise({4, 2, 2, 2}, 3) * 0.1).requires_grad_(true);
  const StepLosses losses = process.loss(output, start, step, drawn, {});
  losses.bound.sum().backward();
  EXPECT_EQ(output.grad().narrow(1, 0, 1).abs().max().item<double>(), 0);
  EXPECT_GT(output.grad().narrow(1, 1, 1).abs().min().item<double>(), 0);
}

TEST(NoiseProcess, GaussianDataComesBackWithItsMomentsFromTheExactNoise) {
  // Data N(0.5, 0.2^2): the expected noise given a state is linear in it.
  constexpr double kMean = 0.5, kVariance = 0.04;
  const NoiseProcess process(BetaSchedule::Linear, 1000, "250");
  at::Tensor state = noise({10000, 1, 1, 1}, 5);
  for (std::int64_t i = process.steps() - 1; i >= 0; --i) {
    const at::Tensor step = at::full({state.size(0)}, i, at::kLong);
    const double alphaBar = process.tables().alphaBar[i].item<double>();
    const double variance = alphaBar * kVariance + 1 - alphaBar;
    const at::Tensor predicted =
        std::sqrt(1 - alphaBar) * (state - std::sqrt(alphaBar) * kMean) / variance;
    const StepBack back =
        process.back(predicted, state, step, {StepPrediction::Noise, StepVariance::FixedLarge, {}});
    state = process.ddpmStep(back, step, noise(state.sizes(), 100 + static_cast<std::uint64_t>(i)));
  }
  EXPECT_NEAR(state.mean().item<double>(), kMean, 0.01);
  // The larger of the two variances gives 0.2045 by the recursion of the moments.
  EXPECT_NEAR(state.std().item<double>(), 0.2045, 0.006);
}

TEST(NoiseProcess, SaysWhatChannelsAPredictionHasToHave) {
  const NoiseProcess process(BetaSchedule::Linear, 100);
  const at::Tensor state = at::zeros({1, 3, 2, 2}), step = at::zeros({1}, at::kLong);
  EXPECT_THAT([&] { (void)process.back(state, state, step, {}); }, test::Fails<ShapeError>(6, 3));
}

}  // namespace
}  // namespace vitrine::diffusion
