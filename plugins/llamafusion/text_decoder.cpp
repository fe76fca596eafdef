#include "plugins/llamafusion/text_decoder.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>

#include "core/base/error.h"
#include "core/model/weights.h"

namespace vitrine::llamafusion {

namespace {

struct NamePair {
  const char *theirs, *ours;
};
constexpr NamePair kOutside[] = {{"tok_embeddings.weight", "model.embed_tokens.weight"},
                                 {"norm.weight", "model.norm.weight"},
                                 {"output.weight", "lm_head.weight"}};
constexpr NamePair kInLayers[] = {
    {"attention.wq.weight", "self_attn.q_proj.weight"},
    {"attention.wk.weight", "self_attn.k_proj.weight"},
    {"attention.wv.weight", "self_attn.v_proj.weight"},
    {"attention.wo.weight", "self_attn.o_proj.weight"},
    {"attention_norm.weight", "input_layernorm.weight"},
    {"feed_forward.w1.weight", "mlp.gate_proj.weight"},
    {"feed_forward.w2.weight", "mlp.down_proj.weight"},
    {"feed_forward.w3.weight", "mlp.up_proj.weight"},
    {"ffn_norm.weight", "post_attention_layernorm.weight"},
};

/// The names of the first authors' files.
std::vector<WeightRename> authorsNames(const LlamaConfig& config) {
  std::vector<WeightRename> table;
  for (const NamePair& pair : kOutside) {
    if (!config.isTied || std::string(pair.ours) != "lm_head.weight")
      table.push_back({pair.theirs, pair.ours});
  }
  for (std::int64_t i = 0; i < config.depth; ++i) {
    const std::string layer = "layers." + std::to_string(i) + ".";
    for (const NamePair& pair : kInLayers)
      table.push_back({layer + pair.theirs, "model." + layer + pair.ours});
  }
  return table;
}

/// Rows of each head from interleaved pairs to half-split ones: even rows first, then odd ones.
at::Tensor halfSplitRows(const at::Tensor& weight, std::int64_t headDim) {
  return weight.view({-1, headDim / 2, 2, weight.size(1)}).transpose(1, 2).reshape(weight.sizes());
}

/// Image copies that a file lacks begin as the text's modules.
void copyText(WeightSource& source, const std::vector<std::string>& own) {
  for (const std::string& name : own) {
    const std::string text = textCounterpart(name);
    if (!text.empty() && !source.has(name) && source.has(text)) source.copy(text, name);
  }
}

}  // namespace

std::vector<BlockCost> TextDecoder::cost() const {
  return decoderCost(*this, static_cast<double>(config().context));
}

void TextDecoder::transform(WeightSource& source) {
  std::vector<std::string> own;
  for (const auto& [name, tensor] : namedTensors(*this)) own.push_back(name);
  const bool isAuthors = source.has("tok_embeddings.weight");
  renameByBestTable(source, own, {authorsNames(config())});
  for (const std::string& name : source.names()) {
    const bool isTable = name == "rope.freqs" || name.ends_with("rotary_emb.inv_freq");
    const bool isSecondTable =
        config().isTied && (name == "lm_head.weight" || name == "output.weight");
    if (isTable || isSecondTable) {
      source.drop(name);
    } else if (isAuthors && (name.ends_with("q_proj.weight") || name.ends_with("k_proj.weight"))) {
      source.change(name, source.shape(name), [headDim = config().headDim](const at::Tensor& rows) {
        return halfSplitRows(rows, headDim);
      });
    }
  }
  copyText(source, own);
}

void TextDecoder::requireTokens(const at::Tensor& tokens) const {
  // Values on a device are not looked at: training does not wait for it.
  if (!tokens.is_cpu() || tokens.numel() == 0) return;
  const auto least = tokens.min().item<std::int64_t>(), most = tokens.max().item<std::int64_t>();
  if (least >= 0 && most < config().vocab) return;
  throw ConfigError("token " + std::to_string(least < 0 ? least : most) +
                    " is outside the model's vocabulary of " + std::to_string(config().vocab) +
                    "; the tokenizer is that of another vocabulary");
}

DecoderCache& TextDecoder::decoderCache(Cache& cache) {
  auto* own = dynamic_cast<DecoderCache*>(&cache);
  if (own == nullptr) throw ShapeError("this cache was made by another model; use makeCache()");
  return *own;
}

std::unique_ptr<LanguageModel::Cache> TextDecoder::makeCache(std::int64_t batch) {
  return std::make_unique<DecoderCache>(batch, config().depth);
}

at::Tensor TextDecoder::next(const at::Tensor& tokens, Cache* cache, Rows rows) {
  requireTokens(tokens);
  DecoderPass pass;
  if (cache != nullptr) {
    pass.cache = &decoderCache(*cache);
    pass.keepsKeys = true;
  }
  const auto logitsOf = [&] {
    at::Tensor stream = text(tokens, std::move(pass));
    if (rows == Rows::Last) stream = stream.narrow(1, stream.size(1) - 1, 1);
    return Decoder::logits(finishText(stream));
  };
  if (cache == nullptr || at::GradMode::is_enabled()) return logitsOf();
  at::Tensor logits;
  {
    const c10::InferenceMode inference;
    logits = logitsOf();
  }
  return logits.clone();  // a tensor that callers may change
}

at::Tensor TextDecoder::logits(const TokenRows& rows) {
  requireTokens(rows.tokens);
  DecoderPass pass{.positions = rows.positions, .firstKey = rows.firstKey};
  return Decoder::logits(finishText(text(rows.tokens, std::move(pass))));
}

at::Tensor continuedGreedily(LanguageModel& model, LanguageModel::Cache& cache,
                             const at::Tensor& ids, const at::Tensor& logits, std::int64_t count) {
  const c10::NoGradGuard noGradient;
  std::vector<at::Tensor> all{ids};
  at::Tensor next = logits;
  for (std::int64_t i = 0; i < count; ++i) {
    all.push_back(next.select(1, next.size(1) - 1).argmax(-1, true));
    if (i + 1 < count) next = model.next(all.back(), &cache, LanguageModel::Rows::Last);
  }
  return at::cat(all, 1);
}

TensorInput documentInput() {
  return {kDocument,
          at::kLong,
          {kBatchAxis, "tokens"},
          true,
          "equal numbers of tokens that follow one another are one document, which sees no other",
          true};
}

std::vector<std::string> llamaSigns() { return {"self_attn.q_proj", "mlp.gate_proj"}; }

}  // namespace vitrine::llamafusion
