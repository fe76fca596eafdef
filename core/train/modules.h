// The modules of a run: the model, the task's head and the task's frozen helpers.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "core/engine_export.h"
#include "core/plugin/registry.h"

namespace vitrine {

/// Model, head and helpers to `device`.
VITRINE_ENGINE_EXPORT void moveModules(Model& model, TaskSession& session,
                                       const at::Device& device);

enum class Mode { Train, Evaluate };
/// Helpers are always in evaluation mode, and so is a module all of whose parameters are frozen,
/// with the modules it holds.
VITRINE_ENGINE_EXPORT void setMode(Model& model, TaskSession& session, Mode mode);

/// Turns gradients off for parameters that match one of `globs`, and for every helper.
/// \throws ConfigError  a glob matches nothing
VITRINE_ENGINE_EXPORT void freezeParameters(Model& model, TaskSession& session,
                                            const std::vector<std::string>& globs);

/// The session's groups without what is frozen; a head that no group mentions joins by the usual
/// rule.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<ParameterGroup> trainedGroups(Model& model,
                                                                              TaskSession& session);

/// Parameters and buffers of the model, then those of the head under "task.": the live tensors.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<std::pair<std::string, at::Tensor>> runTensors(
    Model& model, TaskSession& session);

/// Buffers of the model and the head: what a forward pass in training mode may change.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<at::Tensor> runBuffers(Model& model,
                                                                       TaskSession& session);

}  // namespace vitrine
