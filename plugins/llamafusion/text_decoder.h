// A decoder as a language model: what a plain Llama and LlamaFusion share. For source files only.
#pragma once

#include "core/model/packed_language_model.h"
#include "core/model/tensor_program.h"
#include "plugins/llamafusion/decoder.h"

namespace vitrine::llamafusion {

inline constexpr std::int64_t kIgnoredTarget = -100;  ///< of a token without a loss

class TextDecoder : public Decoder, public Model, public LanguageModel, public PackedLanguageModel {
 public:
  using Decoder::Decoder;

  torch::nn::Module& module() override { return *this; }
  [[nodiscard]] std::vector<BlockCost> cost() const override;
  /// Public names of the same weights: transformers' and the first authors' (whose rotary pairs are
  /// interleaved). Image copies that a file lacks take the text's own.
  void transform(WeightSource& source) override;
  void setGenerator(const at::Generator&) override {}  // nothing is drawn

  [[nodiscard]] std::int64_t vocabularySize() const override { return config().vocab; }
  [[nodiscard]] std::int64_t contextLength() const override { return config().context; }
  [[nodiscard]] std::unique_ptr<Cache> makeCache(std::int64_t batch) override;
  [[nodiscard]] at::Tensor next(const at::Tensor& tokens, Cache* cache, Rows rows) override;
  [[nodiscard]] at::Tensor logits(const TokenRows& rows) override;

 protected:
  /// \throws ConfigError  a token that the vocabulary lacks
  void requireTokens(const at::Tensor& tokens) const;
  /// \throws ShapeError  another model's
  [[nodiscard]] static DecoderCache& decoderCache(Cache& cache);
};

/// `ids` [batch, tokens] with `count` more tokens, each the likeliest; nothing ends them.
[[nodiscard]] at::Tensor continuedGreedily(LanguageModel& model, LanguageModel::Cache& cache,
                                           const at::Tensor& ids, const at::Tensor& logits,
                                           std::int64_t count);

inline constexpr const char* kDocument = "document";
/// What tells the documents of a row apart: equal numbers follow one another, and tokens see no
/// other document.
[[nodiscard]] TensorInput documentInput();

/// Weights of a Llama under any of its public names.
[[nodiscard]] std::vector<std::string> llamaSigns();

}  // namespace vitrine::llamafusion
