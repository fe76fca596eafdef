// Solvers on a field whose end is known: data N(1.5, 0.5^2) along the linear path.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/diffusion/sde.h"

namespace vitrine::diffusion {
namespace {

constexpr double kMean = 1.5, kVariance = 0.25;

/// The velocity E[data | x] - E[noise | x].
at::Tensor exactVelocity(const at::Tensor& x, double t) {
  const double variance = (1 - t) * (1 - t) + kVariance * t * t;
  const at::Tensor centred = x - kMean * t;
  return kMean + kVariance * t / variance * centred - (1 - t) / variance * centred;
}

at::Tensor starts() { return at::tensor({-2.0, -1.0, 0.0, 1.0, 2.0}, at::kDouble); }

struct Case {
  OdeMethod method;
  std::int64_t points, evaluations;
  std::vector<double> ends;
};

TEST(Ode, FixedStepsGiveTheValuesAndEvaluationsOfTheReference) {
  const std::vector<Case> cases{
      {OdeMethod::Euler, 51, 50, {0.5292065242, 1.0146032621, 1.5, 1.9853967379, 2.4707934758}},
      {OdeMethod::Heun, 51, 100, {0.4998223845, 0.9999111922, 1.5, 2.0000888078, 2.5001776155}},
      {OdeMethod::Midpoint,
       51,
       100,
       {0.5000018651, 1.0000009322, 1.4999999994, 1.9999990665, 2.4999981337}},
      {OdeMethod::RungeKutta,
       11,
       40,
       {0.4999992897, 0.9999996454, 1.5000000011, 2.0000003567, 2.5000007124}}};
  for (const Case& c : cases) {
    const OdeSolution solution =
        solve(exactVelocity, starts(), evenTimes(0, 1, c.points), {c.method, 0, 0, false, {}});
    EXPECT_EQ(solution.evaluations, c.evaluations);
    EXPECT_EQ(solution.states.size(), static_cast<std::size_t>(c.points));
    EXPECT_TRUE(at::allclose(solution.states.back(), at::tensor(c.ends, at::kDouble), 0, 1e-6));
  }
}

TEST(Ode, HalfTheStepShrinksTheErrorByTheOrderOfTheMethod) {
  // dx/dt = x^2 cos t from 1/2 has the solution 1 / (2 - sin t).
  const auto field = [](const at::Tensor& x, double t) { return x * x * std::cos(t); };
  const auto solved = [&](OdeMethod method, std::int64_t steps) {
    return solve(field, at::full({1}, 0.5, at::kDouble), evenTimes(0, 1, steps + 1),
                 {.method = method});
  };
  const auto errorOf = [](const OdeSolution& solution) {
    return std::abs(solution.states.back().item<double>() - 1 / (2 - std::sin(1.0)));
  };
  struct Order {
    OdeMethod method;
    double order;
    std::int64_t evaluations;  ///< a step
  };
  for (const auto& [method, order, evaluations] :
       {Order{OdeMethod::Euler, 1, 1}, Order{OdeMethod::Heun, 2, 2},
        Order{OdeMethod::Midpoint, 2, 2}, Order{OdeMethod::Heun3, 3, 3},
        Order{OdeMethod::RungeKutta, 4, 4}}) {
    const OdeSolution coarse = solved(method, 20), fine = solved(method, 40);
    EXPECT_NEAR(std::log2(errorOf(coarse) / errorOf(fine)), order, 0.2);
    EXPECT_EQ(fine.evaluations, 40 * evaluations);
  }
  EXPECT_EQ(odeMethodOf("heun3"), OdeMethod::Heun3);
}

TEST(Ode, AdaptiveStepsKeepTheirTolerance) {
  const at::Tensor exact = at::tensor({0.5, 1.0, 1.5, 2.0, 2.5}, at::kDouble);
  const OdeSolution loose = solve(exactVelocity, starts(), {0, 1}, {});
  EXPECT_TRUE(at::allclose(loose.states.back(), exact, 0, 0.06));
  EXPECT_LE(loose.evaluations, 38);
  const OdeSolution tight =
      solve(exactVelocity, starts(), {0, 1}, {OdeMethod::Dopri5, 1e-9, 1e-9, false, {}});
  EXPECT_TRUE(at::allclose(tight.states.back(), exact, 0, 1e-6));
  EXPECT_GT(tight.evaluations, loose.evaluations);
}

TEST(Ode, AsksTheFieldBeyondTheEndOnlyWhereItMay) {
  for (const bool mayOvershoot : {false, true}) {
    double latest = 0;
    const auto field = [&](const at::Tensor& x, double t) {
      latest = std::max(latest, t);
      return exactVelocity(x, t);
    };
    const OdeSolution solution =
        solve(field, starts(), {0, 1}, {OdeMethod::Dopri5, 1e-6, 1e-3, mayOvershoot, {}});
    EXPECT_EQ(latest > 1, mayOvershoot);
    if (mayOvershoot) {
      EXPECT_EQ(solution.evaluations, 26) << "those of the reference";
    }
  }
}

TEST(Ode, AFieldThatHardlyMovesIsNotAskedBeyondTheEndEither) {
  double latest = 0;
  const auto slow = [&](const at::Tensor& x, double t) {
    latest = std::max(latest, t);
    return -1e-4 * x;
  };
  const OdeSolution solution = solve(slow, at::ones({1}, at::kDouble), {0, 1}, {});
  EXPECT_LE(latest, 1);
  EXPECT_NEAR(solution.states.back().item<double>(), std::exp(-1e-4), 1e-9);
}

TEST(Ode, StatesBetweenAreThoseOfTheEquation) {
  const auto decay = [](const at::Tensor& x, double) { return -x; };
  const std::vector<double> times = evenTimes(0, 2, 9);
  const OdeSolution solution =
      solve(decay, at::ones({1}, at::kDouble), times, {OdeMethod::Dopri5, 1e-8, 1e-8, false, {}});
  ASSERT_EQ(solution.states.size(), times.size());
  for (std::size_t i = 0; i < times.size(); ++i)
    EXPECT_NEAR(solution.states[i].item<double>(), std::exp(-times[i]), 1e-6) << i;
}

TEST(Ode, AFieldThatIsNotFiniteWhereItBeginsIsRefusedAtOnce) {
  int calls = 0;
  const auto broken = [&](const at::Tensor& x, double) {
    ++calls;
    return x * std::nan("");
  };
  EXPECT_THROW((void)solve(broken, starts(), {0, 1}, {}), ConfigError);
  EXPECT_EQ(calls, 1);
}

TEST(Ode, EndsWhereItsWatchSays) {
  int steps = 0;
  OdeOptions options{OdeMethod::Euler, 0, 0, false,
                     [&](double, const at::Tensor&) { return ++steps < 3; }};
  const OdeSolution solution = solve(exactVelocity, starts(), evenTimes(0, 1, 51), options);
  EXPECT_FALSE(solution.isComplete);
  EXPECT_EQ(solution.evaluations, 3);
  EXPECT_THROW((void)solve(exactVelocity, starts(), {1, 0}, {}), ConfigError);
  EXPECT_THROW((void)odeMethodOf("rk45"), ConfigError);
}

TEST(Ode, KeepsTheLastStateAloneWhereAsked) {
  for (const OdeMethod method : {OdeMethod::Euler, OdeMethod::Dopri5}) {
    OdeOptions options{.method = method};
    const std::vector<double> times = evenTimes(0, 1, 11);
    const at::Tensor last = solve(exactVelocity, starts(), times, options).states.back();
    options.keepsLastAlone = true;
    const OdeSolution solution = solve(exactVelocity, starts(), times, options);
    ASSERT_EQ(solution.states.size(), 1U);
    EXPECT_TRUE(solution.states[0].equal(last));
  }
}

TEST(Sde, KeepsTheLastStateAloneWhereAsked) {
  SdeOptions options{.steps = 5};
  const auto still = [](std::int64_t) { return at::zeros({5}, at::kDouble); };
  const at::Tensor last = solve(Transport(), exactVelocity, starts(), still, options).states.back();
  options.keepsLastAlone = true;
  const SdeSolution solution = solve(Transport(), exactVelocity, starts(), still, options);
  ASSERT_EQ(solution.states.size(), 1U);
  EXPECT_TRUE(solution.states[0].equal(last));
}

class SdeMoments : public ::testing::TestWithParam<std::tuple<SdeMethod, DiffusionForm, LastStep>> {
};

TEST_P(SdeMoments, AreThoseOfTheData) {
  constexpr std::int64_t kDraws = 20000;
  const auto [method, form, last] = GetParam();
  at::Generator generator = at::detail::createCPUGenerator(3);
  SdeOptions options{method, form, last, 0.04, 250, {}};
  const SdeSolution solution = solve(
      Transport(), exactVelocity, at::randn({kDraws}, generator, at::kFloat),
      [&](std::int64_t) { return at::randn({kDraws}, generator, at::kFloat); }, options);
  EXPECT_NEAR(solution.states.back().mean().item<double>(), 1.5, 0.02);
  EXPECT_NEAR(solution.states.back().std().item<double>(), 0.5, 0.02);
  const std::int64_t perStep = method == SdeMethod::Heun ? 2 : 1;
  EXPECT_EQ(solution.evaluations, 249 * perStep + 1);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, SdeMoments,
    ::testing::Values(std::tuple{SdeMethod::Euler, DiffusionForm::Sigma, LastStep::Mean},
                      std::tuple{SdeMethod::Euler, DiffusionForm::Linear, LastStep::Euler},
                      std::tuple{SdeMethod::Euler, DiffusionForm::Decreasing, LastStep::Tweedie},
                      std::tuple{SdeMethod::Heun, DiffusionForm::Sigma, LastStep::Mean}));

TEST(Sde, OneStepIsThatOfTheSheet) {
  const Transport transport;
  const at::Tensor x = at::full({1}, 0.4, at::kDouble), t = at::full({1}, 0.25, at::kDouble),
                   v = at::full({1}, 1.2, at::kDouble);
  const at::Tensor score = transport.scoreOf(v, x, t);
  EXPECT_NEAR(score.item<double>(), -0.1333333333, 1e-9);
  const at::Tensor w = transport.diffusion(DiffusionForm::Sigma, x, t);
  const double dt = 0.96 / 249;
  const at::Tensor mean = x + (v + w * score) * dt;
  EXPECT_NEAR(mean.item<double>(), 0.4042409639, 1e-9);
  EXPECT_NEAR((mean + (2 * w * dt).sqrt() * 0.7).item<double>(), 0.4574738009, 1e-9);
}

TEST(Sde, TheNormIsThatOfDriftAndNoise) {
  // One step from time 0 to 1: velocity 1.2, score -0.4, w 0.25 and a draw of 1.
  const SdeOptions options{.last = LastStep::None, .steps = 2, .norm = 0.25};
  const SdeSolution solution = solve(
      Transport(), [](const at::Tensor& x, double) { return at::full_like(x, 1.2); },
      at::full({1}, 0.4, at::kDouble), [](std::int64_t) { return at::ones({1}, at::kDouble); },
      options);
  EXPECT_NEAR(solution.states.back().item<double>(), 0.4 + 1.2 - 0.1 + std::sqrt(0.5), 1e-9);
}

TEST(Sde, RefusesASingleStepAndALastStepOfEverything) {
  const auto run = [](SdeOptions options) {
    (void)solve(
        Transport(), exactVelocity, starts(),
        [](std::int64_t) { return at::zeros({5}, at::kDouble); }, options);
  };
  SdeOptions one{.steps = 1};
  EXPECT_THROW(run(one), ConfigError);
  SdeOptions whole{.lastLength = 1};
  EXPECT_THROW(run(whole), ConfigError);
  SdeOptions infinite{.form = DiffusionForm::Sbdm};
  EXPECT_THROW(run(infinite), ConfigError);
}

TEST(Sde, HeunIsRefusedWhereItsLastSlopeIsInfinite) {
  const auto ended = [](SdeMethod method, PathPrediction predicts) {
    SdeOptions options{.method = method, .last = LastStep::None, .steps = 5};
    const SdeSolution solution = solve(
        Transport({Path::Linear, predicts, PathWeight::None}), exactVelocity, starts(),
        [](std::int64_t) { return at::zeros({5}, at::kDouble); }, options);
    return solution.states.back().isfinite().all().item<bool>();
  };
  EXPECT_THROW((void)ended(SdeMethod::Heun, PathPrediction::Velocity), ConfigError);
  EXPECT_TRUE(ended(SdeMethod::Euler, PathPrediction::Velocity));
  EXPECT_TRUE(ended(SdeMethod::Heun, PathPrediction::Noise)) << "it ends before time 1";
}

}  // namespace
}  // namespace vitrine::diffusion
