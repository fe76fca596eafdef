// Paths from noise to data against their definitions.
#include "core/diffusion/transport.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/eval/generation_metrics.h"
#include "core/nn/position/timestep_embedding.h"
#include "tests/support/golden/case.h"
#include "tests/support/refusal.h"

namespace vitrine::diffusion {
namespace {

using test::Names;
using testing::expectRuleReproduced;

TEST(TransportGolden, PathsConversionsAndSolversAreReproduced) {
  expectRuleReproduced("diffusion/sit_paths", {"output", "time_intervals"});
  expectRuleReproduced("diffusion/sit_ode", {"output", "function_evaluations"});
  expectRuleReproduced("diffusion/sit_sde", {"output"});
}

TEST(TransportGolden, EmbeddingsAveragesAndMetricsAreReproduced) {
  expectRuleReproduced("diffusion/embeddings_ema", {"output"});
  expectRuleReproduced("diffusion/generation_metrics", {"output", "metrics"});
  expectRuleReproduced("diffusion/respacing", {"respacing", "refused"});
}

TEST(Transport, DataFollowFromEveryPrediction) {
  const at::Tensor data = at::tensor({2.0, -0.4}, at::kDouble).view({2, 1}),
                   noise = at::tensor({-1.0, 0.7}, at::kDouble).view({2, 1}),
                   time = at::tensor({0.25, 0.8}, at::kDouble);
  for (const Path path : {Path::Linear, Path::Trigonometric, Path::VariancePreserving}) {
    for (const PathPrediction predicts :
         {PathPrediction::Velocity, PathPrediction::Noise, PathPrediction::Score}) {
      const Transport transport({path, predicts, PathWeight::None});
      const at::Tensor state = transport.state(data, noise, time);
      const at::Tensor output =
          predicts == PathPrediction::Velocity ? transport.velocity(data, noise, time)
          : predicts == PathPrediction::Noise  ? noise
                                               : -noise / transport.shares(time, data).sigma;
      EXPECT_TRUE(at::allclose(transport.dataOf(output, state, time), data, 1e-9, 1e-9));
      EXPECT_NEAR(transport.loss(output, data, noise, time).abs().max().item<double>(), 0, 1e-18);
    }
  }
}

TEST(Transport, RefusesDiffusionsThatAreNotFinite) {
  const auto refusal = [](Path path, PathPrediction predicts, DiffusionForm form) -> std::string {
    return test::refusal<ConfigError>([&] {
      Transport({path, predicts, PathWeight::None}).requireForm(form);
    });
  };
  EXPECT_EQ(refusal(Path::Linear, PathPrediction::Velocity, DiffusionForm::Sbdm),
            "diffusion form \"sbdm\" is infinite at time 0 for a network that predicts the "
            "velocity on this path; take sigma, linear, decreasing or increasing-decreasing");
  EXPECT_THAT(refusal(Path::Trigonometric, PathPrediction::Velocity, DiffusionForm::Sbdm),
              Names("sbdm", "sigma"));
  EXPECT_EQ(refusal(Path::VariancePreserving, PathPrediction::Velocity, DiffusionForm::Sbdm), "");
  EXPECT_EQ(refusal(Path::Linear, PathPrediction::Noise, DiffusionForm::Sbdm), "");
  EXPECT_THAT(refusal(Path::Linear, PathPrediction::Noise, DiffusionForm::Constant),
              Names("constant"));
  EXPECT_THROW((void)diffusionFormOf("wild"), ConfigError);
  EXPECT_THROW((void)pathOf("cubic"), ConfigError);
}

TEST(Transport, EveryDiffusionHasItsNorm) {
  const at::Tensor x = at::zeros({1}, at::kDouble), t = at::full({1}, 0.25, at::kDouble);
  const auto size = [&](DiffusionForm form, double norm) {
    return Transport().diffusion(form, x, t, norm).item<double>();
  };
  EXPECT_NEAR(size(DiffusionForm::Sbdm, 2), 6, 1e-9);
  EXPECT_NEAR(size(DiffusionForm::Sigma, 2), 1.5, 1e-9);
  EXPECT_NEAR(size(DiffusionForm::Linear, 2), 1.5, 1e-9);
  EXPECT_NEAR(size(DiffusionForm::IncreasingDecreasing, 2), 1, 1e-9);
  EXPECT_NEAR(size(DiffusionForm::Decreasing, 2), 1.4571067812, 1e-9) << "inside of the square";
  EXPECT_NEAR(size(DiffusionForm::Decreasing, 1), 0.7285533906, 1e-9);
}

TEST(GenerationMetrics, FollowTheirFormulas) {
  const auto tensor = [](std::vector<double> values, std::int64_t rows) {
    return at::tensor(values, at::kDouble).view({rows, -1});
  };
  const eval::FeatureMoments a{at::tensor({0.0, 1.0}, at::kDouble), tensor({2, .5, .5, 1}, 2)};
  const eval::FeatureMoments b{at::tensor({1.0, -1.0}, at::kDouble), tensor({1, -.3, -.3, 1.5}, 2)};
  EXPECT_NEAR(eval::frechetDistance(a, b), 5.463471189606, 1e-10);
  EXPECT_NEAR(eval::frechetDistance(a, a), 0, 1e-10);
  const eval::FeatureMoments one{at::zeros({2}, at::kDouble), tensor({1, 1, 1, 1}, 2)};
  const eval::FeatureMoments other{at::zeros({2}, at::kDouble), tensor({1, -1, -1, 1}, 2)};
  EXPECT_NEAR(eval::frechetDistance(one, other), 4, 1e-7) << "both are singular";
  EXPECT_NEAR(eval::frechetDistance(eval::momentsOf(tensor({0, 0, 2, 0, 0, 2, 2, 2}, 4)),
                                    eval::momentsOf(tensor({5, .5, 3, .5, 1, 2.5, 3, 2.5}, 4))),
              4.953818726667, 1e-9);
  const eval::PrecisionRecall shares =
      eval::precisionRecall(tensor({0, 1, 2, 3, 10}, 5), tensor({.5, 1.5, 2.5, 20, 21}, 5));
  EXPECT_DOUBLE_EQ(shares.precision, 0.6);
  EXPECT_DOUBLE_EQ(shares.recall, 1.0);
  const at::Tensor p = tensor({.7, .2, .1, .1, .8, .1, .2, .2, .6, .3, .4, .3}, 4).log();
  EXPECT_NEAR(eval::inceptionScore(p), 1.2421068275, 1e-9);
  EXPECT_NEAR(eval::inceptionScore(p, 2), 1.1491899165, 1e-9);
  EXPECT_THROW((void)eval::squaredRadii(tensor({1, 2, 3}, 3), 3), ShapeError);
}

TEST(TimestepEmbedding, HoldsCosinesThenSines) {
  const at::Tensor e = nn::timestepEmbedding(at::tensor({1.0, 0.5}), 256);
  EXPECT_NEAR(e[0][0].item<float>(), 0.5403023, 1e-6);
  EXPECT_NEAR(e[0][1].item<float>(), 0.5973753, 1e-6);
  EXPECT_NEAR(e[0][128].item<float>(), 0.8414710, 1e-6);
  EXPECT_NEAR(e[0][129].item<float>(), 0.8019618, 1e-6);
  EXPECT_NEAR(e[1][128].item<float>(), 0.4794255, 1e-6);
  EXPECT_THROW((void)nn::timestepEmbedding(at::zeros({2, 2}), 8), ShapeError);
}

}  // namespace
}  // namespace vitrine::diffusion
