// A model from a file of weights, without a run.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/vitrine/run/engine.h"
#include "core/model/tensor_program.h"
#include "core/model/weights.h"

namespace vitrine::app {

/// The [model] table that "model.architecture=NAME model.preset=NAME model.depth=6 ..." means.
/// \throws ConfigError  a key of another table, no architecture, problems
[[nodiscard]] Json modelTable(const Registry& registry, const std::vector<std::string>& texts);

struct WeightsModel {
  std::shared_ptr<Model> model;  ///< in evaluation mode, on the CPU
  LoadReport report;
};
/// Built and loaded; tensors that the model has no use for are warnings.
/// \param resizePositions  see LoadOptions
[[nodiscard]] WeightsModel openWeights(const Registry& registry, const Config& model,
                                       const std::filesystem::path& weights,
                                       const std::string& resizePositions);

/// Of one file its own hash; of a list and its shards that of their hashes.
/// \param files  as weightFiles() has them
[[nodiscard]] std::string sha256OfWeights(const std::vector<std::filesystem::path>& files);

/// The images that a model of this [model] table reads; any where it does not say.
[[nodiscard]] ImageShape imageShapeOf(const Config& model);

}  // namespace vitrine::app
