// Weight files in and out of a model.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/model/model.h"
#include "core/model/weight_source.h"

namespace vitrine {

struct LoadOptions {
  std::vector<std::string> skip;  ///< parameter-name globs that keep their own values
  std::vector<std::pair<std::string, std::string>>
      rename;                               ///< prefix or whole name in the file -> ours
  std::string resizePositions = "bicubic";  ///< see WeightSource; "none" refuses other shapes
  bool strict = true;  ///< a parameter that is neither found nor skipped is an error
  /// Which family of models names its tensors like these, for refusals: "a ResNet"; "" where none
  /// knows. See Registry::weightFamily().
  std::function<std::string(const std::vector<std::string>& names)> family{};
};

/// Report of a load, for the log and for `show`.
struct LoadReport {
  std::vector<std::string> loaded, skipped, missing, unused, resized;
  std::map<std::string, WeightOrigin> origins;  ///< of those of `loaded` that came unchanged
};

/// Tensors that a weight file does not hold but takes from another one as they are there.
struct WeightReference {
  std::filesystem::path file;  ///< in a file: relative to its folder, or absolute
  std::string sha256;
  std::map<std::string, std::vector<std::string>>
      tensors;  ///< by name here: as WeightOrigin::names
};
/// Metadata for writeTensors() by which openWeightSource() finds them: one entry, or none.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::map<std::string, std::string> referenceMetadata(
    const std::vector<WeightReference>& references);

/// Copies a safetensors file into the model, as Model::transform() says. The list of a file in
/// shards (`*.index.json`) or a folder will do as well (core/files/safetensors_set.h). For a model
/// on the meta device names and shapes are checked, and no value is read.
/// \throws FileError    the file breaks the format
/// \throws ConfigError  names that do not fit, shapes that do not fit; says which architecture the
/// file looks made for
VITRINE_ENGINE_EXPORT LoadReport loadWeights(Model& model, const std::filesystem::path& file,
                                             const LoadOptions& options = {});

/// The tensors of a file, none of them read yet, with those that it refers to.
/// \throws FileError, ConfigError
/// \throws NotFoundError  a file that it refers to is not there: names both
/// \throws RefusedError   a file that it refers to is another one by now
[[nodiscard]] VITRINE_ENGINE_EXPORT WeightSource openWeightSource(const std::filesystem::path& file,
                                                                  const LoadOptions& options = {});

/// Tensors by name, on the CPU. \throws FileError
[[nodiscard]] VITRINE_ENGINE_EXPORT std::map<std::string, at::Tensor> readTensors(
    const std::filesystem::path& file);
/// Writes contiguous copies; fsyncs. \throws FileError
VITRINE_ENGINE_EXPORT void writeTensors(
    const std::filesystem::path& file,
    const std::vector<std::pair<std::string, at::Tensor>>& tensors,
    const std::map<std::string, std::string>& metadata = {});

/// Parameters and buffers by name: the live tensors. \param prefix  of every name
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<std::pair<std::string, at::Tensor>> moduleTensors(
    const torch::nn::Module& module, const std::string& prefix = "");
/// Those of a model's module.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<std::pair<std::string, at::Tensor>> namedTensors(
    Model& model);
[[nodiscard]] VITRINE_ENGINE_EXPORT std::int64_t parameterCount(Model& model);

}  // namespace vitrine
