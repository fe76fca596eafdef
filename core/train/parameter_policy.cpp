#include "core/train/parameter_policy.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"

namespace vitrine {

namespace {

/// "stages.1.blocks.3" of "stages.1.blocks.3.norm.weight"; "" where the name is of no block.
std::string blockOf(const std::string& name) {
  constexpr std::string_view kWord = "blocks.";
  for (std::size_t at = name.find(kWord); at != std::string::npos; at = name.find(kWord, at + 1)) {
    if (at != 0 && name[at - 1] != '.') continue;
    const std::size_t first = at + kWord.size();
    std::size_t end = first;
    while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
    if (end > first && end < name.size() && name[end] == '.') return name.substr(0, end);
  }
  return "";
}

bool isOfTask(const std::string& name) { return name.starts_with("task."); }

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
  ParameterPolicy policy;
  policy.layerDecay = train.maybeReal("layer_decay");
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

std::vector<std::int64_t> layersOf(const std::vector<std::string>& names) {
  std::vector<std::int64_t> layers(names.size(), 0);
  std::map<std::string, std::int64_t> blocks;
  std::size_t behind = 0;  // the first place behind the last block
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string block = isOfTask(names[i]) ? "" : blockOf(names[i]);
    const auto begun = static_cast<std::int64_t>(blocks.size());
    if (block.empty()) {
      layers[i] = begun == 0 ? 0 : begun + 1;
      continue;
    }
    layers[i] = blocks.try_emplace(block, begun + 1).first->second;
    behind = i + 1;
  }
  const auto depth = static_cast<std::int64_t>(blocks.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i >= behind || isOfTask(names[i])) layers[i] = depth == 0 ? 0 : depth + 1;
  }
  return layers;
}

std::vector<ParameterGroup> withPolicy(std::vector<ParameterGroup> groups,
                                       const ParameterPolicy& policy,
                                       const std::vector<std::string>& names) {
  requireMatches(policy, groups);
  std::map<std::string, double> scales;
  if (policy.layerDecay) {
    const std::vector<std::int64_t> layers = layersOf(names);
    const std::int64_t last = layers.empty() ? 0 : *std::max_element(layers.begin(), layers.end());
    if (last == 0) {
      throw ConfigError(
          "train.layer_decay: the model has no parameters named 'blocks.N.', so that its layers "
          "are not known; leave it out, or name rates in train.groups");
    }
    for (std::size_t i = 0; i < names.size(); ++i)
      scales[names[i]] = std::pow(*policy.layerDecay, static_cast<double>(last - layers[i]));
  }

  std::vector<ParameterGroup> all;
  for (ParameterGroup& given : groups) {
    // By rate and by group of the policy, in the order of the parameters.
    std::vector<std::pair<std::pair<double, int>, ParameterGroup>> parts;
    for (std::size_t i = 0; i < given.parameters.size(); ++i) {
      const std::string& name = given.parameterNames[i];
      const auto scale = scales.find(name);
      const std::pair<double, int> kind{scale == scales.end() ? 1 : scale->second,
                                        groupOf(policy, name)};
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

}  // namespace vitrine
