#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/config/item_card.h"
#include "core/model/capabilities.h"
#include "core/model/model_device.h"
#include "plugins/analyses/analyses.h"

namespace vitrine::analyses {

namespace {

/// Token ids that depend on nothing but the vocabulary: every part of it occurs, no text is like
/// another.
at::Tensor fixedTexts(std::int64_t texts, std::int64_t tokens, std::int64_t vocabulary) {
  constexpr std::int64_t kStride = 7919;  // a prime
  return at::arange(texts * tokens, at::kLong)
      .mul(kStride)
      .add(1)
      .remainder(vocabulary)
      .view({texts, tokens});
}

/// The first bits of a hash as a share of one: equal where the hash is, for curves and claims.
double fingerprintOf(const std::string& sha256) {
  constexpr std::size_t kDigits = 13;
  constexpr int kBits = 52;  // which a double holds
  return std::ldexp(static_cast<double>(std::stoull(sha256.substr(0, kDigits), nullptr, 16)),
                    -kBits);
}

class TextLogits final : public Analysis {
 public:
  ItemCard card() const override {
    ItemCard card = itemCard(
        ItemKind::Analysis, "text_logits", "Text logits",
        "Hash of a model's logits on fixed texts, equal as long as it says the same of text; "
        "fingerprint is the hash's first 52 bits as a share of one");
    card.needs = {LanguageModel::kId};
    card.schema.fields = {
        integerField("texts", 4, "texts to look at").titled("Texts").range(1, 256),
        integerField("tokens", 64, "tokens of each, at most the model's context")
            .titled("Tokens")
            .range(1, 4096)};
    return card;
  }
  Kind kind() const noexcept override { return Kind::Probe; }

  std::function<Findings()> probe(const Config& config, ProbeContext& context) const override {
    auto* model = capabilityOf<LanguageModel>(context.model);
    if (model == nullptr) throw ConfigError("text_logits needs a language model");
    const std::int64_t vocabulary = model->vocabularySize(), longest = model->contextLength();
    std::int64_t tokens = config.integer("tokens");
    if (longest > 0) tokens = std::min(tokens, longest);
    const c10::NoGradGuard noGradient;
    const at::Tensor texts =
        fixedTexts(config.integer("texts"), tokens, vocabulary).to(deviceOf(context.model));
    const at::Tensor logits = model->next(texts, nullptr, LanguageModel::Rows::All)
                                  .to(at::kCPU, at::kFloat)
                                  .contiguous()
                                  .clone();
    return [logits] {
      Sha256 hash;
      hash.update({static_cast<const std::byte*>(logits.const_data_ptr()), logits.nbytes()});
      const std::string sha256 = hash.finish();
      Artifact artifact{"text_logits", "logits", artifact_kind::kTable};
      setJson(artifact, {{"columns", {"texts", "tokens", "vocabulary", "norm", "sha256"}},
                         {"rows",
                          {{logits.size(0), logits.size(1), logits.size(2),
                            logits.to(at::kDouble).norm().item<double>(), sha256}}}});
      Findings findings;
      findings.scores.emplace_back("fingerprint", fingerprintOf(sha256));
      findings.artifacts.push_back(std::move(artifact));
      return findings;
    };
  }
};

}  // namespace

std::unique_ptr<Analysis> makeTextLogits() { return std::make_unique<TextLogits>(); }

}  // namespace vitrine::analyses
