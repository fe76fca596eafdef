#include "core/train/modules.h"

#include <torch/nn/module.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/model/weights.h"

namespace vitrine {

namespace {

constexpr const char* kTaskPrefix = "task.";

/// What may be trained, by name.
std::vector<std::pair<std::string, at::Tensor>> parametersOf(Model& model, TaskSession& session) {
  std::vector<std::pair<std::string, at::Tensor>> named;
  for (const auto& item : model.module().named_parameters())
    named.emplace_back(item.key(), item.value());
  if (torch::nn::Module* head = session.head()) {
    for (const auto& item : head->named_parameters()) {
      named.emplace_back(kTaskPrefix + item.key(), item.value());
    }
  }
  return named;
}

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

void setModeOf(torch::nn::Module& module, Mode mode) {
  module.train(mode == Mode::Train);
  if (mode == Mode::Train) restFrozen(module);
}

}  // namespace

void moveModules(Model& model, TaskSession& session, const at::Device& device) {
  model.module().to(device);
  if (torch::nn::Module* head = session.head()) head->to(device);
  for (torch::nn::Module* helper : session.frozen()) helper->to(device);
}

void setMode(Model& model, TaskSession& session, Mode mode) {
  setModeOf(model.module(), mode);
  if (torch::nn::Module* head = session.head()) setModeOf(*head, mode);
  for (torch::nn::Module* helper : session.frozen()) helper->eval();
}

void freezeParameters(Model& model, TaskSession& session, const std::vector<std::string>& globs) {
  auto named = parametersOf(model, session);
  for (const std::string& glob : globs) {
    bool isUsed = false;
    for (auto& [name, parameter] : named) {
      if (!matchesGlob(glob, name)) continue;
      parameter.set_requires_grad(false);
      isUsed = true;
    }
    if (!isUsed) {
      throw ConfigError("init.freeze: no parameter matches '" + glob +
                        "'; the first parameter is '" +
                        (named.empty() ? std::string() : named.front().first) + "'");
    }
  }
  for (torch::nn::Module* helper : session.frozen()) {
    for (at::Tensor& parameter : helper->parameters()) parameter.set_requires_grad(false);
  }
}

std::vector<ParameterGroup> trainedGroups(Model& model, TaskSession& session) {
  std::vector<ParameterGroup> groups = session.parameterGroups(model);
  const bool hasHead = std::any_of(groups.begin(), groups.end(), [](const ParameterGroup& group) {
    return std::any_of(group.parameterNames.begin(), group.parameterNames.end(),
                       [](const std::string& name) { return name.starts_with(kTaskPrefix); });
  });
  if (torch::nn::Module* head = session.head(); head != nullptr && !hasHead) {
    ParameterGroup decay{"task_decay", {}, {}, 1, 1};
    ParameterGroup plain{"task_no_decay", {}, {}, 0, 1};
    for (const auto& item : head->named_parameters()) {
      ParameterGroup& group = item.value().dim() <= 1 ? plain : decay;
      group.parameterNames.push_back(kTaskPrefix + item.key());
      group.parameters.push_back(item.value());
    }
    groups.push_back(std::move(decay));
    groups.push_back(std::move(plain));
  }
  for (ParameterGroup& group : groups) {
    ParameterGroup trained{group.name, {}, {}, group.weightDecayScale, group.learningRateScale};
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      if (!group.parameters[i].requires_grad()) continue;
      trained.parameterNames.push_back(group.parameterNames[i]);
      trained.parameters.push_back(group.parameters[i]);
    }
    group = std::move(trained);
  }
  return groups;
}

std::vector<std::pair<std::string, at::Tensor>> runTensors(Model& model, TaskSession& session) {
  std::vector<std::pair<std::string, at::Tensor>> named = namedTensors(model);
  if (torch::nn::Module* head = session.head()) {
    for (const auto& item : head->named_parameters())
      named.emplace_back(kTaskPrefix + item.key(), item.value());
    for (const auto& item : head->named_buffers())
      named.emplace_back(kTaskPrefix + item.key(), item.value());
  }
  return named;
}

std::vector<at::Tensor> runBuffers(Model& model, TaskSession& session) {
  std::vector<at::Tensor> buffers = model.module().buffers();
  if (torch::nn::Module* head = session.head()) {
    for (const at::Tensor& buffer : head->buffers()) buffers.push_back(buffer);
  }
  return buffers;
}

}  // namespace vitrine
