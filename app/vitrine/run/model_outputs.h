// Outputs of a model for named tensors: for `infer`, on the command line and in `serve`.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/model/tensor_program.h"
#include "core/train/device.h"

namespace vitrine::app {

/// Families of outputs that have options of their own.
inline constexpr const char* kBlockOutputs = "block_<i>";
inline constexpr const char* kAttentionOutputs = "attention_<i>";
inline constexpr const char* kEffectiveOutputs = "attention_masked_<i>";

struct OutputChoice {
  std::set<std::string> names;  ///< of TensorProgram::tensorOutputs()
  /// kEffectiveOutputs are written under the names of kAttentionOutputs.
  bool isEffective = false;
  std::int64_t batchSize = 64;  ///< samples per pass
};

/// Inputs as the program reads them, some samples at a time, on the CPU.
struct InputSource {
  std::int64_t count = 0;
  std::function<TensorMap(std::int64_t first, std::int64_t number)> read;
};
/// Of tensors that lie in memory. What cannot be split goes through in one pass.
/// \param inputs  checked
[[nodiscard]] InputSource inputSource(const TensorProgram& program, const TensorMap& inputs,
                                      OutputChoice& choice);

/// \param asked  names of outputs, with or without the "_<i>" of a family; "all": whatever
///               `inputs` suffice for
/// \throws ConfigError  there is no such output, or it needs more inputs
[[nodiscard]] std::set<std::string> outputNames(const TensorProgram& program,
                                                const TensorMap& inputs,
                                                const std::vector<std::string>& asked);

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// On the CPU, float32 where it was computed in half precision. The model is in evaluation mode and
/// on `device`.
/// \param passed  called after every pass with the samples done so far; what it throws comes
/// through
[[nodiscard]] NamedTensors modelOutputs(TensorProgram& program, const InputSource& inputs,
                                        const OutputChoice& choice, at::Device device,
                                        train::Precision precision,
                                        const std::function<void(std::int64_t)>& passed = {});

}  // namespace vitrine::app
