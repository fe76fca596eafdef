// The networks of a run: the model, other trained networks, averages and frozen helpers.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "core/engine_export.h"
#include "core/plugin/registry.h"

namespace vitrine::train {

/// All networks to `device`.
VITRINE_ENGINE_EXPORT void moveModules(TaskSession& session, const at::Device& device);

enum class Mode { Train, Evaluate };
/// Networks that are not trained are always in evaluation mode. So is a module all of whose
/// parameters are frozen, with the modules it holds.
VITRINE_ENGINE_EXPORT void setMode(TaskSession& session, Mode mode);

/// Turns gradients off for parameters of trained networks that match one of `globs`, and for every
/// network that is not trained.
/// \param key  where the globs stand, for messages
/// \throws ConfigError  a glob matches nothing
VITRINE_ENGINE_EXPORT void freezeParameters(TaskSession& session,
                                            const std::vector<std::string>& globs,
                                            const std::string& key = "init.freeze");

/// The session's groups without frozen parameters; a trained network that no group mentions joins
/// by its shapes.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<ParameterGroup> trainedGroups(TaskSession& session);

/// Parameters and buffers of every network that a checkpoint holds, by name: the live tensors.
/// Frozen networks are not among them.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<std::pair<std::string, at::Tensor>> runTensors(
    TaskSession& session);

/// Buffers of the trained networks: what a forward pass in training mode may change.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<at::Tensor> runBuffers(TaskSession& session);

/// A tensor's name in checkpoints and groups: the model's own, "<network>.<tensor>" of the others.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::string nameIn(const Network& network,
                                                       const std::string& tensor);

}  // namespace vitrine::train
