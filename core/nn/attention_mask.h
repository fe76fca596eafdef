// A mask between tokens that a model brings, such as a causal one.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "core/engine_export.h"

namespace vitrine::nn {

enum class MaskMode {
  Additive,        ///< log(factor) is added to the logits: 0 or -inf
  Multiplicative,  ///< the factor multiplies the probabilities after the softmax; rows are not
                   ///< renormalised
};

class VITRINE_ENGINE_EXPORT SequenceMask {
 public:
  virtual ~SequenceMask();
  /// [tokens, tokens] float32: 1 where a query (row) sees a key (column), 0 where not, a number
  /// between them where in part. Called before each pass, so constant factors are made once.
  [[nodiscard]] virtual at::Tensor factor(std::int64_t tokens, at::Device device) = 0;
  [[nodiscard]] virtual MaskMode mode() const = 0;
  /// Name in a cost table: "causal".
  [[nodiscard]] virtual std::string name() const = 0;
};

}  // namespace vitrine::nn
