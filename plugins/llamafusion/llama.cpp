#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "core/config/item_card.h"
#include "plugins/llamafusion/architectures.h"
#include "plugins/llamafusion/text_decoder.h"

namespace vitrine::llamafusion {

namespace {

constexpr std::int64_t kGreedyTokens = 20;
constexpr std::int64_t kCachedTokens = 5;  ///< that the cache outputs show
constexpr const char* kKeys = "cache/layer_<i>/key";
constexpr const char* kValues = "cache/layer_<i>/value";

class Llama final : public TextDecoder, public TensorProgram {
 public:
  Llama(const LlamaConfig& config, std::uint64_t seed)
      : TextDecoder(config, Separation::Dense, false) {
    initialiseDecoder(*this, seed);
  }

  std::vector<OfferedCapability> capabilities() override {
    return offersOf<LanguageModel, PackedLanguageModel, TensorProgram>(*this);
  }

  std::vector<TensorInput> tensorInputs() const override {
    return {{"ids", at::kLong, {kBatchAxis, "tokens"}, false, "tokens"},
            {"target",
             at::kLong,
             {kBatchAxis, "tokens"},
             true,
             "token at each place as the one before it should predict it; -100: no loss"},
            {"positions",
             at::kLong,
             {kBatchAxis, "tokens"},
             true,
             "of each token; else 0, 1, 2 and so on in every row",
             true},
            documentInput(),
            {"prompt", at::kLong, {"prompts", "prompt tokens"}, true, "what `greedy` continues"}};
  }

  std::vector<TensorOutput> tensorOutputs() const override {
    const std::vector<Axis> stream{kBatchAxis, "tokens", "channels"};
    const std::vector<Axis> cached{kBatchAxis, "key heads", "cached tokens", "head channels"};
    return {{"logits", {kBatchAxis, "tokens", "vocabulary"}},
            {"features", stream, {}, false, "what the head reads"},
            {"loss", {}, {"target"}, false, "mean cross-entropy of the next token"},
            {"greedy",
             {"prompts", Axis("prompt tokens", kGreedyTokens)},
             {"prompt"},
             false,
             "the prompt and the likeliest tokens after it"},
            {"inv_freq", {"pairs"}, {}, true, "radians per token of each channel pair"},
            {"block_<i>", stream, {}, true, "after every layer"},
            {"stepwise_logits",
             {kBatchAxis, "tokens", "vocabulary"},
             {},
             true,
             "through the cache: five tokens, then one at a time"},
            {kKeys, cached, {}, true, "keys of the first five tokens, turned"},
            {kValues, cached, {}, true, "values of the first five tokens"}};
  }

  TensorMap runTensors(const TensorMap& inputs, const std::set<std::string>& wanted) override {
    TensorMap out;
    const at::Tensor& ids = inputs.at("ids");
    requireTokens(ids);
    TokenRows rows{ids, {}, {}};
    if (const auto given = inputs.find("positions"); given != inputs.end())
      rows.positions = given->second;
    if (const auto given = inputs.find(kDocument); given != inputs.end())
      rows.firstKey = firstAllowedKey(given->second).to(ids.device());
    DecoderPass pass{.positions = rows.positions, .firstKey = rows.firstKey};
    if (wanted.contains("block_<i>")) {
      pass.tap = [&out](std::int64_t layer, const at::Tensor& stream) {
        out["block_" + std::to_string(layer)] = stream;
      };
    }
    out["features"] = finishText(text(ids, std::move(pass)));
    out["logits"] = Decoder::logits(out["features"]);
    if (wanted.contains("loss")) out["loss"] = lossOf(out["logits"], inputs.at("target"));
    if (wanted.contains("inv_freq")) out["inv_freq"] = llamaFrequencies(config());
    if (wanted.contains("greedy")) out["greedy"] = greedy(inputs.at("prompt"));
    if (wanted.contains("stepwise_logits") || wanted.contains(kKeys) || wanted.contains(kValues))
      addCached(rows, out);
    return out;
  }

 private:
  static at::Tensor lossOf(const at::Tensor& logits, const at::Tensor& target) {
    const std::int64_t predicting = logits.size(1) - 1;
    return at::cross_entropy_loss(logits.narrow(1, 0, predicting).flatten(0, 1),
                                  target.narrow(1, 1, predicting).flatten(), {},
                                  at::Reduction::Mean, kIgnoredTarget);
  }

  at::Tensor greedy(const at::Tensor& prompt) {
    const c10::NoGradGuard noGradient;
    const auto cache = makeCache(prompt.size(0));
    const at::Tensor logits = next(prompt, cache.get(), Rows::Last);
    return continuedGreedily(*this, *cache, prompt, logits, kGreedyTokens);
  }

  /// \param rows  positions and first keys of all rows may be one row
  void addCached(const TokenRows& rows, TensorMap& out) {
    const c10::NoGradGuard noGradient;
    const std::int64_t count = rows.tokens.size(1), first = std::min(kCachedTokens, count);
    const auto cache = makeCache(rows.tokens.size(0));
    const auto step = [&](std::int64_t begin, std::int64_t tokens) {
      const auto part = [&](const at::Tensor& all) {
        return all.defined() ? all.narrow(-1, begin, tokens) : all;
      };
      DecoderPass pass{.positions = part(rows.positions),
                       .firstKey = part(rows.firstKey),
                       .cache = &decoderCache(*cache),
                       .keepsKeys = true};
      return Decoder::logits(finishText(text(part(rows.tokens), std::move(pass))));
    };
    std::vector<at::Tensor> steps{step(0, first)};
    const auto heads = [](const at::Tensor& x) { return x.transpose(1, 2).contiguous(); };
    for (std::int64_t i = 0; i < config().depth; ++i) {
      const DecoderCache::Layer& layer = decoderCache(*cache).layer(i);
      const std::string name = "cache/layer_" + std::to_string(i);
      out[name + "/key"] = heads(layer.keys);
      out[name + "/value"] = heads(layer.values);
    }
    for (std::int64_t i = first; i < count; ++i) steps.push_back(step(i, 1));
    out["stepwise_logits"] = at::cat(steps, 1);
  }
};

/// Sizes of published models and of this project's small ones.
struct Size {
  const char *name, *doc;
  int dim, depth, heads, kvHeads, ffn, vocab;
  double theta;
  bool isTied;
  int context;
};
constexpr Size kSizes[] = {
    {"3_8b", "Llama 3 8B", 4096, 32, 32, 8, 14336, 128256, 5e5, false, 8192},
    {"3_70b", "Llama 3 70B", 8192, 80, 64, 8, 28672, 128256, 5e5, false, 8192},
    {"2_7b", "Llama 2 7B", 4096, 32, 32, 32, 11008, 32000, 1e4, false, 4096},
    {"stories_260k", "the smallest story teller of llama2.c", 64, 5, 8, 4, 172, 512, 1e4, true,
     512},
    {"stories_15m", "the 15M story teller of llama2.c", 288, 6, 6, 6, 768, 32000, 1e4, true, 256},
    {"bytes_128", "bytes, 0.8M parameters", 128, 4, 4, 2, 352, 264, 1e4, false, 512},
    {"bytes_192", "bytes, 2.5M parameters", 192, 6, 6, 3, 512, 264, 1e4, false, 512},
    {"bytes_64", "bytes, 0.2M parameters, for quick looks", 64, 4, 4, 2, 176, 264, 1e4, false, 512},
};

Schema makeSchema() {
  Schema schema{.fields = llamaFields(), .rules = llamaRules()};
  for (const Size& size : kSizes) {
    schema.presets.push_back({std::string("llama/") + size.name, size.doc,
                              Json{{"dim", size.dim},
                                   {"depth", size.depth},
                                   {"heads", size.heads},
                                   {"kv_heads", size.kvHeads},
                                   {"ffn_hidden", size.ffn},
                                   {"vocab", size.vocab},
                                   {"rope_theta", size.theta},
                                   {"tied", size.isTied},
                                   {"max_positions", size.context}}});
  }
  return schema;
}

}  // namespace

ItemCard LlamaArchitecture::card() const {
  ItemCard card = itemCard(ItemKind::Architecture, "llama", "Llama");
  card.paper = "Llama Team 2024, \"The Llama 3 Herd of Models\", arXiv:2407.21783";
  card.doc =
      "A decoder for text: grouped-query attention, RMSNorm, SwiGLU, rotary positions, key-value "
      "cache";
  card.offers = {LanguageModel::kId, PackedLanguageModel::kId, TensorProgram::kId};
  card.schema = makeSchema();
  return card;
}

std::shared_ptr<Model> LlamaArchitecture::build(const Config& config, std::uint64_t seed) const {
  return std::make_shared<Llama>(llamaConfig(config), seed);
}

std::vector<WeightSign> LlamaArchitecture::weightSigns() const {
  return {{"a Llama", llamaSigns(), {".img.", "vision"}},
          {"a Llama (the first authors' names)", {"tok_embeddings", "attention.wq"}}};
}

void registerAll(Registry& registry) {
  registry.add(std::make_unique<LlamaArchitecture>());
  registry.add(std::make_unique<LlamaFusionArchitecture>());
}

}  // namespace vitrine::llamafusion
