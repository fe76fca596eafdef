// Masks between tokens: causal, modified causal, soft (arXiv:2404.06773, equations 1 and 2).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/engine_export.h"

namespace vitrine::nn {

enum class MaskKind {
  Bidirectional,   ///< every token sees every token
  Causal,          ///< a token sees itself and those before it
  ModifiedCausal,  ///< causal, but the first token sees all (a leading class token)
  Soft,  ///< alpha where causal is 0, 1 elsewhere: bidirectional at alpha 1, causal at alpha 0
};

enum class MaskMode {
  Additive,        ///< log(factor) is added to the logits: 0 or -inf
  Multiplicative,  ///< the factor multiplies the probabilities after the softmax; rows are not
                   ///< renormalised
};

/// The factor S [tokens, tokens], float32 on the device of `alpha`: 1 sees, 0 does not, alpha in
/// between. \param alpha  0-d float32; read by Soft alone
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor maskFactor(MaskKind kind, std::int64_t tokens,
                                                          const at::Tensor& alpha);

}  // namespace vitrine::nn
