// Small VisionLLaMAs for tests.
#pragma once

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/config/experiment.h"
#include "core/model/capabilities.h"
#include "core/plugin/architecture.h"

namespace vitrine::visionllama {

inline Json plainTable() {
  return Json{{"image_size", 16}, {"patch_size", 4},  {"in_channels", 1},
              {"width", 16},      {"depth", 2},       {"heads", 2},
              {"mlp_width", 32},  {"num_classes", 4}, {"pool", "gap"}};
}

/// Grids of 16 and 8 tokens, windows of 7 and keys of 4 x 4 and 1 x 1 tokens.
inline Json pyramidTable() {
  return Json{{"image_size", 32},          {"patch_size", 2},     {"in_channels", 1},
              {"width", Json{8, 16}},      {"depth", Json{2, 2}}, {"heads", Json{1, 2}},
              {"mlp_width", Json{16, 32}}, {"num_classes", 4},    {"gsa_reduction", Json{4, 1}}};
}

/// The values with the schema's defaults. A problem fails the test.
inline Config resolved(const Architecture& architecture, Json values) {
  for (const Problem& problem : resolveItem(architecture.card().schema, "model", values))
    ADD_FAILURE() << problem.sentence();
  return Config(values);
}

inline std::shared_ptr<Model> buildWith(const Architecture& architecture, Json values,
                                        const Json& changes = Json::object()) {
  values.update(changes, true);
  return architecture.build(resolved(architecture, std::move(values)), 0);
}

inline at::Tensor imagesOf(std::int64_t count, std::int64_t height, std::int64_t width,
                           std::uint64_t seed = 1) {
  return at::randn({count, 1, height, width}, at::detail::createCPUGenerator(seed));
}

/// The sentence with which building is refused, by the schema or by the architecture.
inline std::string refusalOf(const Architecture& architecture, Json values, const Json& changes) {
  values.update(changes, true);
  std::string sentences;
  for (const Problem& problem : resolveItem(architecture.card().schema, "model", values))
    sentences += problem.sentence() + "\n";
  if (!sentences.empty()) return sentences;
  try {
    (void)architecture.build(Config(values), 0);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace vitrine::visionllama
