// Tensors of tokens: targets, documents that share a row, and the choice of the next token.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/json.h"
#include "core/engine_export.h"
#include "core/text/tokenizer.h"

namespace vitrine::text {

/// Target of a token that has none.
inline constexpr std::int64_t kNoTarget = -100;

/// The next token of each place within its document, kNoTarget for the last of one.
/// \param tokens     [B, N] int64
/// \param documents  [B, N] int64: equal numbers follow one another, negative ones are filler;
///                   undefined: each row is one document
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor nextTokens(const at::Tensor& tokens,
                                                          const at::Tensor& documents = {});

/// The first place of each token's document in its row, [B, N] int64.
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor documentBegins(const at::Tensor& documents);

/// Rule that chooses the next token.
struct TokenChoice {
  double temperature = 0;              ///< 0: the likeliest
  std::optional<std::int64_t> topK{};  ///< among so many of the likeliest
};
/// \param logits   [vocabulary]
/// \param uniform  in [0, 1): decides where the choice is drawn
[[nodiscard]] VITRINE_ENGINE_EXPORT std::int64_t chooseToken(const at::Tensor& logits,
                                                             const TokenChoice& choice,
                                                             double uniform);

/// Bytes of text that each token stands for, [vocabulary] int64.
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor byteCounts(const Tokenizer& tokenizer);

/// Settings of `tokenize` in a run's pipeline.
struct TokenizeStage {
  std::shared_ptr<const Tokenizer> tokenizer;  ///< null where the pipeline has no such stage
  bool begins = false, ends = false;           ///< whether texts have a first and a last token
};
/// \param plan  of the pipeline
/// \throws ConfigError  training and evaluation have different tokenizers
[[nodiscard]] VITRINE_ENGINE_EXPORT TokenizeStage tokenizeStageOf(const Json& plan);

/// Why the tokens of a run are not those of the run whose weights it takes: another tokenizer, or
/// other words. "" where they are the same, and where a pipeline has no `tokenize`. A file of
/// another name that cannot be read any more is taken for the same.
/// \param plan    of this run's pipeline
/// \param before  of the pipeline of that other run
[[nodiscard]] VITRINE_ENGINE_EXPORT std::string tokenizerChange(const Json& plan,
                                                                const Json& before);

/// \throws ConfigError  the model has a vocabulary of another size: names both
VITRINE_ENGINE_EXPORT void requireVocabulary(const Tokenizer& tokenizer, std::int64_t ofModel);

}  // namespace vitrine::text
