// Reference cases of solvers that were never seen: what is known of one is made, whatever else it
// holds.
#include "tests/support/golden/rules.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace vitrine::testing {
namespace {

/// Two samples that begin at 0.4, and tensors that are expected under these names. The field is
/// -x / 2.
GoldenCase solverCase(const std::string& kind, const Json& model,
                      std::initializer_list<const char*> names) {
  GoldenCase golden;
  golden.json["architecture"] = kind;
  golden.json["model"] = model;
  golden.json["analytic_model"] = {
      {"output", "tanh(a x) + b sin(3 t) - 0.5 x"}, {"a", 0.0}, {"b", 0.0}};
  const at::Tensor x = at::full({2, 1}, 0.4, at::kDouble);
  golden.io["input/x"] = x;
  golden.io["input/noise"] = at::ones({4, 2, 1}, at::kDouble);
  for (const char* name : names) golden.io[name] = x;
  return golden;
}

TEST(GoldenSolvers, AnUnknownWordOfAnEquationCostsItsOwnTensorAlone) {
  const GoldenCase golden =
      solverCase("sit_ode", {{"num_steps", 11}, {"atol", 1e-6}, {"rtol", 1e-3}},
                 {"output/ode_linear_velocity_heun3", "output/ode_linear_velocity_rk45",
                  "output/ode_cubic_velocity_euler", "output/ode_linear_velocity_rk4"});
  const std::vector<Tensors> passes = runRuleCase(golden);
  ASSERT_EQ(passes.size(), 1U);
  for (const char* method : {"heun3", "rk4"}) {
    const std::string name = std::string("output/ode_linear_velocity_") + method;
    ASSERT_TRUE(passes[0].contains(name)) << name;
    EXPECT_NEAR(passes[0].at(name)[0].item<double>(), 0.4 * std::exp(-0.5), 1e-6) << name;
  }
  EXPECT_EQ(passes[0].at("function_evaluations/linear_velocity_heun3").item<std::int64_t>(), 30);
  EXPECT_FALSE(passes[0].contains("output/ode_linear_velocity_rk45"));
  EXPECT_FALSE(passes[0].contains("output/ode_cubic_velocity_euler"));
}

TEST(GoldenSolvers, AStochasticCaseHasItsNormAndKeepsWhatIsKnown) {
  const GoldenCase golden = solverCase(
      "sit_sde", {{"num_steps", 2}, {"last_step_size", 0.04}, {"diffusion_norm", 0.25}},
      {"output/sde_linear_velocity_sigma_euler_none", "output/sde_linear_velocity_wild_euler_mean",
       "output/sde_linear_velocity_sbdm_euler_mean"});
  const std::vector<Tensors> passes = runRuleCase(golden);
  ASSERT_EQ(passes.size(), 1U);
  ASSERT_EQ(passes[0].size(), 1U) << "an unknown form, and one that is infinite";
  // One step from time 0 to 1: velocity -0.2, score -0.4, w 0.25 and a draw of 1.
  const at::Tensor& made = passes[0].at("output/sde_linear_velocity_sigma_euler_none");
  EXPECT_NEAR(made[0].item<double>(), 0.4 - 0.2 - 0.1 + std::sqrt(0.5), 1e-9);
}

TEST(GoldenSolvers, AnUnknownIntervalOfTimeCostsNoOther) {
  GoldenCase golden;
  golden.json["architecture"] = "sit_paths";
  golden.json["model"] = Json::object();
  golden.io["input/t"] = at::full({1}, 0.5, at::kDouble);
  golden.io["input/x1"] = golden.io["input/x0"] = at::ones({1}, at::kDouble);
  for (const char* path : {"Linear", "Cubic"})
    golden.io["time_intervals/" + std::string(path) + "/velocity/ode"] = at::zeros({2});
  const std::vector<Tensors> passes = runRuleCase(golden);
  ASSERT_EQ(passes.size(), 1U);
  EXPECT_TRUE(passes[0].contains("time_intervals/Linear/velocity/ode"));
  EXPECT_FALSE(passes[0].contains("time_intervals/Cubic/velocity/ode"));
  EXPECT_TRUE(passes[0].contains("output/linear_x_t"));
}

}  // namespace
}  // namespace vitrine::testing
