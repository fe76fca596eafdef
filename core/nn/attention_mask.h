// A mask between tokens that belongs to a model: which it is, is the model's business.
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
  /// [tokens, tokens] float32: 1 where a query (row) sees a key (column), 0 where not, between them
  /// in part. Asked before each pass; what does not change is made once.
  [[nodiscard]] virtual at::Tensor factor(std::int64_t tokens, at::Device device) = 0;
  [[nodiscard]] virtual MaskMode mode() const = 0;
  /// "causal": what a cost table calls it.
  [[nodiscard]] virtual std::string name() const = 0;
};

}  // namespace vitrine::nn
