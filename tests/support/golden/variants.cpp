#include "tests/support/golden/variants.h"

#include <cstdio>
#include <set>

namespace vitrine::testing {

namespace {

/// What a variant says about itself besides keys: factors that follow from the others.
const std::set<std::string> kRemarks{"factor",     "factor_every_stage", "factor_row",
                                     "factor_col", "position_factor",    "where"};

/// Keys of the model that a variant changes.
Json changesOf(const Json& variant) {
  requireKnown(variant, "variant", {"settings", "rope", "input", "reference"});
  Json changes = variant.value("settings", Json::object());
  if (variant.contains("rope")) changes["rope"] = variant.at("rope");
  if (!changes.contains("rope")) return changes;
  Json rope = Json::object();
  for (const auto& [key, value] : changes.at("rope").items()) {
    if (!kRemarks.contains(key)) rope[key] = value;
    if (key != "where") continue;
    const bool isQueries = value == "GSA queries only";
    if (!isQueries && value != "GSA queries and keys; LSA keeps base 10000")
      throw Unmapped("rope.where = " + value.dump() + " has no counterpart");
    rope["ntk_on"] = isQueries ? "queries" : "both";
  }
  changes["rope"] = std::move(rope);
  return changes;
}

/// The case as if it held that variant alone.
GoldenCase caseOf(const GoldenCase& golden, const std::string& name, const Json& variant) {
  GoldenCase one = golden;
  one.json["model"].update(changesOf(variant), true);
  one.io.clear();
  one.gradients.clear();
  const std::string image = variant.value("input", "input/image"), prefix = "output/" + name + "/";
  for (const auto& [tensor, value] : golden.io) {
    if (tensor == image) one.io["input/image"] = value;
    if (tensor.starts_with("input/") && !tensor.starts_with("input/image")) one.io[tensor] = value;
    if (tensor.starts_with(prefix)) one.io["output/" + tensor.substr(prefix.size())] = value;
  }
  for (const auto& [tensor, value] : golden.gradients) {
    if (tensor.starts_with(name + "/")) one.gradients[tensor.substr(name.size() + 1)] = value;
  }
  return one;
}

}  // namespace

bool hasVariants(const GoldenCase& golden) {
  const auto variants = golden.json.find("variants");
  if (variants == golden.json.end() || !variants->is_object() || variants->empty()) return false;
  for (const Json& variant : *variants) {
    if (!variant.is_object() || (!variant.contains("rope") && !variant.contains("settings")))
      return false;
  }
  return true;
}

std::vector<Tensors> runVariants(const GoldenCase& golden, const Architecture& architecture) {
  std::vector<Tensors> whole;
  for (const auto& [name, variant] : golden.json.at("variants").items()) {
    std::vector<Tensors> passes;
    try {
      passes = runModelCase(caseOf(golden, name, variant), architecture);
    } catch (const Unmapped& reason) {
      std::fprintf(stderr, "%s: %s\n", name.c_str(), reason.what());
      continue;  // its tensors stay without counterpart and are counted so
    }
    whole.resize(std::max(whole.size(), passes.size()));
    for (std::size_t i = 0; i < passes.size(); ++i) {
      for (const auto& [tensor, value] : passes[i]) {
        const bool isOutput = tensor.starts_with("output/");
        whole[i][isOutput ? "output/" + name + "/" + tensor.substr(7) : name + "/" + tensor] =
            value;
      }
    }
  }
  return whole;
}

}  // namespace vitrine::testing
