#include "core/plugin/task.h"

#include <torch/nn/module.h>

#include "core/base/error.h"
#include "core/base/joined.h"

namespace vitrine {

TaskSession::~TaskSession() = default;

std::vector<Network> TaskSession::networks() { return {{"", &model().module()}}; }
std::string TaskSession::bestBy() const { return ""; }
Scheduled* TaskSession::scheduled() { return nullptr; }

std::vector<ParameterGroup> TaskSession::parameterGroups() {
  ParameterGroup decay{"decay", {}, {}, 1, 1};
  ParameterGroup plain{"no_decay", {}, {}, 0, 1};
  const auto put = [&](const std::string& name, const at::Tensor& parameter, bool decays) {
    ParameterGroup& group = decays ? decay : plain;
    group.parameterNames.push_back(name);
    group.parameters.push_back(parameter);
  };
  for (const Network& network : networks()) {
    if (network.role != Network::Role::Trained) continue;
    const auto parameters = network.module->named_parameters();
    if (network.name.empty()) {
      for (const auto& [name, info] : model().parameterInfo())
        put(name, parameters[name], info.decays);
    } else {
      for (const auto& item : parameters)
        put(network.name + "." + item.key(), item.value(), item.value().dim() > 1);
    }
  }
  return {decay, plain};
}

const AuxiliaryNetwork& TaskSetup::auxiliary(const std::string& name) const {
  for (const AuxiliaryNetwork& each : auxiliaries) {
    if (each.name == name) return each;
  }
  const std::string known =
      joined(auxiliaries, [](const AuxiliaryNetwork& each) { return each.name; });
  throw ConfigError("the task needs [aux." + name + "], a trained model; " +
                    (known.empty() ? "the experiment has no [aux] table"
                                   : "the experiment has [aux] tables for " + known));
}

}  // namespace vitrine
