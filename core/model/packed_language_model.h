// Rows of tokens in which several texts may follow one another. B rows, N tokens.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/model/model.h"

namespace vitrine {

struct TokenRows {
  at::Tensor tokens;  ///< [B, N] int64
  /// [B, N] int64: place of each token in its text, from 0; undefined: 0 .. N - 1 in every row. A
  /// text may begin at any place.
  at::Tensor positions;
  /// [B, N] int64: the first token of the row that each token sees; undefined: 0. A token sees
  /// none after itself.
  at::Tensor firstKey;
};

/// Next-token logits of texts that share rows and do not see each other.
class VITRINE_ENGINE_EXPORT PackedLanguageModel : public Capability {
 public:
  static constexpr const char* kId = "packed_language_model";
  /// Differentiable. \returns  [B, N, vocabulary]
  [[nodiscard]] virtual at::Tensor logits(const TokenRows& rows) = 0;
};

}  // namespace vitrine
