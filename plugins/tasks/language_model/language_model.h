// Language models: the next token of every token, and texts that continue a prompt.
#pragma once

#include <memory>

#include "core/plugin/registry.h"

namespace vitrine::language_model {

/// Scores of a split: loss (nats per token), perplexity, token_accuracy, and where a tokenizer is
/// known bits_per_byte. Reads `tokens` in rows, packed or padded; rows with `targets` are learned
/// from those.
class LanguageModelTask final : public Task {
 public:
  [[nodiscard]] ItemCard card() const override;
  /// \pre setup.pipeline is set
  /// \throws ConfigError  tokens are not in rows, rows do not fit into the model's context, or the
  ///                      tokenizer has another vocabulary
  [[nodiscard]] std::unique_ptr<TaskSession> open(const TaskSetup& setup) const override;
};

/// Texts that continue a prompt, greedy or drawn, through the model's cache.
class TextSampler final : public Sampler {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] Fit fit(TaskSession& session) const override;
  [[nodiscard]] bool makesTexts(const Config& /*config*/) const override { return true; }
  /// \throws ConfigError  prompt and new tokens do not fit into the model's context
  void sample(const SampleRequest& request, Results& results) const override;
};

}  // namespace vitrine::language_model
