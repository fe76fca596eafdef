// The device of a model.
#pragma once

#include <torch/nn/module.h>

#include "core/model/model.h"

namespace vitrine {

/// The device of its parameters; the CPU where it has none.
[[nodiscard]] inline at::Device deviceOf(Model& model) {
  const std::vector<at::Tensor> parameters = model.module().parameters();
  return parameters.empty() ? at::Device(at::kCPU) : parameters.front().device();
}

}  // namespace vitrine
