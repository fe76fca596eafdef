// Golden cases in tests: each tensor that a committed case holds is an expectation.
#pragma once

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/golden/models.h"

namespace vitrine::testing {

/// A case committed below tests/golden. \param name  "illama/illama_alpha_0"
[[nodiscard]] GoldenCase openGoldenCase(const std::string& name);

/// |a - b| <= tolerance * max(0.01, max|b|) everywhere; a failure names the worst index.
[[nodiscard]] ::testing::AssertionResult isClose(const at::Tensor& actual,
                                                 const at::Tensor& expected, double tolerance);

/// Everything runModelCase() makes agrees, and nothing that the case holds is left out.
void expectReproduced(const std::string& name, const Architecture& architecture,
                      const Json& overrides = Json::object());

/// The same of a case without a network (rules.h), of the tensors that are called `parts`,
/// or lie below one of them: "output/lamb" means output/lamb/step_0/weight, too.
void expectRuleReproduced(const std::string& name, const std::vector<std::string>& parts);

/// Names, shapes and totals of a model built on the Meta device equal an entry of parameters.json.
void expectParameters(const std::string& file, const std::string& entry,
                      const Architecture& architecture, const Json& values);

}  // namespace vitrine::testing
