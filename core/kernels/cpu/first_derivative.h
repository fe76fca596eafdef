// For operations that compute their gradients outside autograd.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <string>

#include "core/base/error.h"

namespace vitrine::kernels {

/// Whether what is computed from these tensors, some of them undefined, is to be differentiated.
inline bool isDifferentiated(at::TensorList tensors) {
  return at::GradMode::is_enabled() &&
         std::any_of(tensors.begin(), tensors.end(), [](const at::Tensor& tensor) {
           return tensor.defined() && tensor.requires_grad();
         });
}

/// The first line of such a backward pass. A gradient with a graph of its own (create_graph, for a
/// second derivative) would silently lack the terms that go through `operation`.
/// \throws Error  such a graph is asked for
inline void refuseSecondDerivative(const char* operation) {
  if (!at::GradMode::is_enabled()) return;
  throw Error(std::string("the gradient of ") + operation +
              " cannot be differentiated again; call backward() or grad() without create_graph");
}

}  // namespace vitrine::kernels
