// Detects changes of a language model: the hash of its logits on texts that never change.
// LlamaFusion keeps a language model as it is (Shi et al. 2024, arXiv:2412.15188, section 3.2): the
// hash of every checkpoint is then that of the language model.
#pragma once

#include "core/plugin/registry.h"

namespace vitrine::analyses {

/// Artifact "logits", a table of one row: texts, tokens, vocabulary, norm, sha256. The hash is of
/// the logits [texts, tokens, vocabulary], float32 in C order; two are equal when every bit of the
/// logits is.
class TextLogits final : public Analysis {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] Kind kind() const noexcept override { return Kind::Probe; }
  [[nodiscard]] std::function<Findings()> probe(const Config& config,
                                                ProbeContext& context) const override;
};

}  // namespace vitrine::analyses
