// Cost of layers: operations of one image's forward pass, and the memory it keeps.
//
// `macs` counts matrix products and convolutions (papers' "FLOPs"). `flops` is twice that plus, per
// element, 1 for a bias, sum or scale, and the numbers below. `activationBytes` is float32.
#pragma once

#include <string>

#include "core/model/model.h"

namespace vitrine::nn {

inline constexpr double kNormCost = 4, kSoftmaxCost = 5, kActivationCost = 8;
inline constexpr double kFloatBytes = 4;
/// Dropout keeps its factors, and its temporaries leave gaps between kept tensors. Measured: 2.1
/// (with GELU) and 3 (with SwiGLU) times the bytes of the factors.
inline constexpr double kDropoutKept = 2.25;

[[nodiscard]] inline BlockCost named(BlockCost cost, const std::string& name) {
  cost.name = name;
  return cost;
}

/// Of a sum's numbers; name and kind stay.
inline void addNumbers(BlockCost& sum, const BlockCost& part) {
  sum.parameters += part.parameters;
  sum.flops += part.flops;
  sum.macs += part.macs;
  sum.activationBytes += part.activationBytes;
}

}  // namespace vitrine::nn
