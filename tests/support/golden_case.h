// Golden cases: reading them, building our model of them, and comparing everything they hold.
#pragma once

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "core/base/json.h"
#include "core/model/model.h"
#include "core/plugin/registry.h"

namespace vitrine::testing {

struct GoldenCase {
  std::filesystem::path folder;
  Json json;                                    ///< case.json
  std::map<std::string, at::Tensor> io;         ///< io.safetensors
  std::map<std::string, at::Tensor> gradients;  ///< grads.safetensors; empty where there is none

  [[nodiscard]] double tolerance(const std::string& kind) const;  ///< "output" | "grad"
  [[nodiscard]] std::filesystem::path weights() const { return folder / "weights.safetensors"; }
};

/// \param name  "illama/illama_alpha_0"
[[nodiscard]] GoldenCase openGoldenCase(const std::string& name);

/// Our keys for the hyperparameters of a case, those that the schema has; fails the test where one
/// that it lacks matters.
[[nodiscard]] Json modelTable(const GoldenCase& golden, const Schema& schema);

/// The resolved configuration of a case. \param overrides  laid over the case's values, by
/// top-level key
[[nodiscard]] Config modelConfig(const GoldenCase& golden, const Architecture& architecture,
                                 const Json& overrides = Json::object());

/// |a - b| <= tolerance * max(0.01, max|b|) everywhere; a failure names the worst index.
[[nodiscard]] ::testing::AssertionResult isClose(const at::Tensor& actual,
                                                 const at::Tensor& expected, double tolerance);

/// Builds, loads and compares: embeddings, blocks, attention, mask, features, logits, loss and all
/// gradients, once with taps set and once without, since the two take different paths.
void expectReproduced(const std::string& name, const Architecture& architecture,
                      const Json& overrides = Json::object());

/// Names, shapes and totals of a model built on the Meta device equal an entry of parameters.json.
void expectParameters(const std::string& file, const std::string& entry,
                      const Architecture& architecture, const Json& values);

}  // namespace vitrine::testing
