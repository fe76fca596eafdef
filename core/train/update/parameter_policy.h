// Update rules of single parameters: `[train] layer_decay` and `[train.groups]`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/engine_export.h"
#include "core/plugin/registry.h"

namespace vitrine::train {

/// One table of [train.groups].
struct ParameterGroupPolicy {
  std::string name;                ///< "head"
  std::vector<std::string> match;  ///< parameter-name globs: "head.*"
  double learningRateScale = 1, weightDecayScale = 1;
  bool isFrozen = false;
  Json settings = nullptr;  ///< keys of the optimizer that differ, or null

  [[nodiscard]] std::string key() const { return "train.groups." + name + ".match"; }
};

struct ParameterPolicy {
  std::optional<double> layerDecay;
  std::vector<ParameterGroupPolicy> groups;
};

/// Reads `layer_decay` and `groups` of a [train] table.
[[nodiscard]] VITRINE_ENGINE_EXPORT ParameterPolicy parameterPolicyFrom(const Config& train);

/// The groups, split where the policy says so; those that it leaves alone stay as they are.
///
/// The learning rate of layer l of L is multiplied by decay^(L - l) (Bao et al. 2021,
/// arXiv:2106.08254: L - 1 blocks). That of a parameter in a group is multiplied by the group's
/// scale as well.
/// \param groups  the trained parameters
/// \param layers  of each parameter by name, counted from 0; a parameter without one is of the last
/// \throws ConfigError  a pattern matches nothing that is trained, a parameter is in two groups, or
///                      there are no blocks to decay over
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<ParameterGroup> withPolicy(
    std::vector<ParameterGroup> groups, const ParameterPolicy& policy,
    const std::map<std::string, std::int64_t>& layers);

}  // namespace vitrine::train
