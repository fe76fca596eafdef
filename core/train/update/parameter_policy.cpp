#include "core/train/update/parameter_policy.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"

namespace vitrine::train {

namespace {

/// Which group of the policy a parameter is in; -1: none.
int groupOf(const ParameterPolicy& policy, const std::string& name) {
  int found = -1;
  for (std::size_t i = 0; i < policy.groups.size(); ++i) {
    const ParameterGroupPolicy& group = policy.groups[i];
    const bool isIn = std::any_of(group.match.begin(), group.match.end(),
                                  [&](const std::string& glob) { return matchesGlob(glob, name); });
    if (!isIn) continue;
    if (found >= 0) {
      throw ConfigError("train.groups: parameter '" + name + "' is in the groups '" +
                        policy.groups[static_cast<std::size_t>(found)].name + "' and '" +
                        group.name + "'; it belongs in one");
    }
    found = static_cast<int>(i);
  }
  return found;
}

/// A frozen group's patterns are judged where it is frozen.
void requireMatches(const ParameterPolicy& policy, const std::vector<ParameterGroup>& groups) {
  for (const ParameterGroupPolicy& each : policy.groups) {
    if (each.isFrozen) continue;
    for (const std::string& glob : each.match) {
      const bool isUsed =
          std::any_of(groups.begin(), groups.end(), [&](const ParameterGroup& group) {
            return std::any_of(group.parameterNames.begin(), group.parameterNames.end(),
                               [&](const std::string& name) { return matchesGlob(glob, name); });
          });
      if (isUsed) continue;
      std::vector<std::string> names;
      for (const ParameterGroup& group : groups)
        names.insert(names.end(), group.parameterNames.begin(), group.parameterNames.end());
      throw ConfigError(each.key() + ": no trained parameter matches '" + glob +
                        "'; the first one is '" + (names.empty() ? "" : names.front()) + "'");
    }
  }
}

}  // namespace

ParameterPolicy parameterPolicyFrom(const Config& train) {
  ParameterPolicy policy{.layerDecay = train.maybeReal("layer_decay")};
  const Json groups = train.at("groups");
  if (!groups.is_object()) return policy;
  for (const auto& [name, table] : groups.items()) {
    const Config config(table);
    policy.groups.push_back({name, config.texts("match"), config.real("learning_rate_scale"),
                             config.real("weight_decay_scale"), config.flag("freeze"),
                             config.at("optimizer")});
  }
  return policy;
}

std::vector<ParameterGroup> withPolicy(std::vector<ParameterGroup> groups,
                                       const ParameterPolicy& policy,
                                       const std::map<std::string, std::int64_t>& layers) {
  requireMatches(policy, groups);
  std::int64_t last = 0;
  for (const auto& [name, layer] : layers) last = std::max(last, layer);
  if (policy.layerDecay && last == 0) {
    throw ConfigError(
        "train.layer_decay: the model has no parameters named 'blocks.N.', so that its layers "
        "are not known; leave it out, or name rates in train.groups");
  }
  const auto scaleOf = [&](const std::string& name) {
    if (!policy.layerDecay) return 1.0;
    const auto found = layers.find(name);
    const std::int64_t layer = found == layers.end() ? last : found->second;
    return std::pow(*policy.layerDecay, static_cast<double>(last - layer));
  };

  std::vector<ParameterGroup> all;
  for (ParameterGroup& given : groups) {
    // By rate and by group of the policy, in the order of the parameters.
    std::vector<std::pair<std::pair<double, int>, ParameterGroup>> parts;
    for (std::size_t i = 0; i < given.parameters.size(); ++i) {
      const std::string& name = given.parameterNames[i];
      const std::pair<double, int> kind{scaleOf(name), groupOf(policy, name)};
      auto part = std::find_if(parts.begin(), parts.end(),
                               [&](const auto& each) { return each.first == kind; });
      if (part == parts.end()) {
        ParameterGroup made{
            given.name,    {}, {}, given.weightDecayScale, given.learningRateScale * kind.first,
            given.settings};
        if (kind.second >= 0) {
          const auto& own = policy.groups[static_cast<std::size_t>(kind.second)];
          made.name += " " + own.name;
          made.weightDecayScale *= own.weightDecayScale;
          made.learningRateScale *= own.learningRateScale;
          if (own.settings.is_object()) made.settings = own.settings;
        }
        parts.emplace_back(kind, std::move(made));
        part = parts.end() - 1;
      }
      part->second.parameterNames.push_back(name);
      part->second.parameters.push_back(given.parameters[i]);
    }
    for (auto& part : parts) all.push_back(std::move(part.second));
  }
  return all;
}

}  // namespace vitrine::train
