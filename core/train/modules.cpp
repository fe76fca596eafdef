#include "core/train/modules.h"

#include <torch/nn/module.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/model/weights.h"

namespace vitrine::train {

namespace {

bool isTrained(const Network& network) { return network.role == Network::Role::Trained; }

/// Evaluation mode for the modules of which every parameter is frozen, with all they hold: no
/// running statistics move in them, and nothing is dropped.
void restFrozen(torch::nn::Module& module) {
  const std::vector<at::Tensor> parameters = module.parameters();
  const bool isTrained = std::any_of(parameters.begin(), parameters.end(),
                                     [](const at::Tensor& each) { return each.requires_grad(); });
  if (!isTrained && !parameters.empty()) {
    module.eval();
    return;
  }
  for (const auto& child : module.children()) restFrozen(*child);
}

}  // namespace

std::string nameIn(const Network& network, const std::string& tensor) {
  return network.name.empty() ? tensor : network.name + "." + tensor;
}

void moveModules(TaskSession& session, const at::Device& device) {
  for (const Network& network : session.networks()) network.module->to(device);
}

void setMode(TaskSession& session, Mode mode) {
  for (const Network& network : session.networks()) {
    const bool trains = mode == Mode::Train && isTrained(network);
    network.module->train(trains);
    if (trains) restFrozen(*network.module);
  }
}

void freezeParameters(TaskSession& session, const std::vector<std::string>& globs,
                      const std::string& key) {
  std::vector<std::pair<std::string, at::Tensor>> named;
  for (const Network& network : session.networks()) {
    for (const auto& item : network.module->named_parameters()) {
      if (isTrained(network)) {
        named.emplace_back(nameIn(network, item.key()), item.value());
      } else {
        item.value().set_requires_grad(false);
      }
    }
  }
  for (const std::string& glob : globs) {
    bool isUsed = false;
    for (auto& [name, parameter] : named) {
      if (!matchesGlob(glob, name)) continue;
      parameter.set_requires_grad(false);
      isUsed = true;
    }
    if (!isUsed) {
      throw ConfigError(key + ": no parameter matches '" + glob + "'; the first parameter is '" +
                        (named.empty() ? std::string() : named.front().first) + "'");
    }
  }
}

namespace {

bool isMentioned(const Network& network, const std::vector<ParameterGroup>& groups) {
  const std::string prefix = nameIn(network, "");
  return std::any_of(groups.begin(), groups.end(), [&](const ParameterGroup& group) {
    return std::any_of(group.parameterNames.begin(), group.parameterNames.end(),
                       [&](const std::string& name) { return name.starts_with(prefix); });
  });
}

void addByShape(const Network& network, std::vector<ParameterGroup>& groups) {
  ParameterGroup decay{network.name + "_decay", {}, {}, 1, 1};
  ParameterGroup plain{network.name + "_no_decay", {}, {}, 0, 1};
  for (const auto& item : network.module->named_parameters()) {
    ParameterGroup& group = item.value().dim() <= 1 ? plain : decay;
    group.parameterNames.push_back(nameIn(network, item.key()));
    group.parameters.push_back(item.value());
  }
  groups.push_back(std::move(decay));
  groups.push_back(std::move(plain));
}

}  // namespace

std::vector<ParameterGroup> trainedGroups(TaskSession& session) {
  std::vector<ParameterGroup> groups = session.parameterGroups();
  for (const Network& network : session.networks()) {
    if (isTrained(network) && !network.name.empty() && !isMentioned(network, groups))
      addByShape(network, groups);
  }
  for (ParameterGroup& group : groups) {
    ParameterGroup trained{group.name,    {}, {}, group.weightDecayScale, group.learningRateScale,
                           group.settings};
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      if (!group.parameters[i].requires_grad()) continue;
      trained.parameterNames.push_back(group.parameterNames[i]);
      trained.parameters.push_back(group.parameters[i]);
    }
    group = std::move(trained);
  }
  return groups;
}

std::vector<std::pair<std::string, at::Tensor>> runTensors(TaskSession& session) {
  std::vector<std::pair<std::string, at::Tensor>> named;
  for (const Network& network : session.networks()) {
    if (network.role == Network::Role::Frozen) continue;
    for (auto& tensor : moduleTensors(*network.module, nameIn(network, "")))
      named.push_back(std::move(tensor));
  }
  return named;
}

std::vector<at::Tensor> runBuffers(TaskSession& session) {
  std::vector<at::Tensor> buffers;
  for (const Network& network : session.networks()) {
    if (!isTrained(network)) continue;
    for (const at::Tensor& buffer : network.module->buffers()) buffers.push_back(buffer);
  }
  return buffers;
}

}  // namespace vitrine::train
