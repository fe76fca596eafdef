// Weight files in and out of a model.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/model/model.h"

namespace vitrine {

struct LoadOptions {
  std::vector<std::string> skip;  ///< parameter-name globs that keep their own values
  std::vector<std::pair<std::string, std::string>> rename;  ///< prefix or whole name in the file -> ours
  std::string resizePositions = "bicubic";  ///< see Model::adapt; "none" refuses other shapes
  bool strict = true;  ///< a parameter that is neither found nor skipped is an error
};

/// What a load did, for the log and for `show`.
struct LoadReport {
  std::vector<std::string> loaded, skipped, missing, unused, resized;
};

/// Copies a safetensors file into the model: its own names, or one of Model::otherNames(). The list of a file in shards
/// (`*.index.json`) or a folder will do as well (core/files/safetensors_set.h).
/// \throws FileError    the file breaks the format
/// \throws ConfigError  names that do not fit, shapes that do not fit; says which architecture the file looks made for
VITRINE_ENGINE_EXPORT LoadReport loadWeights(Model& model, const std::filesystem::path& file,
                                             const LoadOptions& options = {});

/// Tensors by name, on the CPU. \throws FileError
[[nodiscard]] VITRINE_ENGINE_EXPORT std::map<std::string, at::Tensor> readTensors(const std::filesystem::path& file);
/// Writes contiguous copies; fsyncs. \throws FileError
VITRINE_ENGINE_EXPORT void writeTensors(const std::filesystem::path& file,
                                        const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                                        const std::map<std::string, std::string>& metadata = {});

/// Parameters and buffers by name.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<std::pair<std::string, at::Tensor>> namedTensors(Model& model);
[[nodiscard]] VITRINE_ENGINE_EXPORT std::int64_t parameterCount(Model& model);

}  // namespace vitrine
