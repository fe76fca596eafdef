#include "plugins/llamafusion/llama_config.h"

#include <ATen/ATen.h>

#include <numbers>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/nn/position/rope.h"

namespace vitrine::llamafusion {

namespace {

RopeScaling scalingFrom(const Config& config, double theta) {
  RopeScaling scaling;
  const std::string kind = config.text("rope_type");
  scaling.kind = kind == "llama3"   ? RopeScaling::Kind::Llama3
                 : kind == "linear" ? RopeScaling::Kind::Linear
                                    : RopeScaling::Kind::Default;
  scaling.factor = config.real("factor");
  scaling.lowFactor = config.real("low_freq_factor");
  scaling.highFactor = config.real("high_freq_factor");
  scaling.originalContext = config.real("original_max_position_embeddings");
  const std::optional<double> own = config.maybeReal("rope_theta");
  if (own && *own != theta) {
    throw ConfigError("model.rope_scaling.rope_theta = " + formatReal(*own) +
                      " and model.rope_theta = " + formatReal(theta) +
                      " are the same number; give them one value");
  }
  if (scaling.kind == RopeScaling::Kind::Llama3 && scaling.highFactor <= scaling.lowFactor) {
    throw ConfigError("model.rope_scaling.high_freq_factor = " + formatReal(scaling.highFactor) +
                      " is not above low_freq_factor = " + formatReal(scaling.lowFactor) +
                      "; published models have 4 and 1");
  }
  return scaling;
}

Field scalingField() {
  Field field =
      tableField(
          "rope_scaling",
          {choiceField("rope_type", "llama3", {"llama3", "linear", "default"},
                       "frequencies that change")
               .titled("Rule"),
           realField("factor", 8.0, "by which slow frequencies are divided")
               .titled("Factor")
               .atLeast(1),
           realField("low_freq_factor", 1.0,
                     "turns within the original context below which a pair is slow")
               .titled("Slow below")
               .moreThan(0),
           realField("high_freq_factor", 4.0,
                     "turns within the original context above which a pair stays")
               .titled("Fast above")
               .moreThan(0),
           realField("original_max_position_embeddings", 8192.0, "context of the first training")
               .titled("Original context")
               .atLeast(1)
               .withUnit("tokens"),
           realField("rope_theta", nullptr, "the model's own, repeated; none: not repeated")
               .titled("RoPE theta, repeated")
               .orNone()},
          "rotary frequencies for longer texts; none: those of theta")
          .titled("RoPE scaling");
  field.defaultValue = nullptr;
  return field.orNone();
}

}  // namespace

std::vector<Field> llamaFields() {
  return {
      integerField("dim", 128, "channels of a token").titled("Width").range(2, 1 << 16),
      integerField("depth", 4, "decoder layers").titled("Depth").range(1, 1024).withUnit("layers"),
      integerField("heads", 4, "query heads").titled("Query heads").range(1, 1024),
      integerField("kv_heads", 2, "key and value heads, each shared by heads / kv_heads queries")
          .titled("Key heads")
          .range(1, 1024),
      integerField("head_dim", nullptr, "channels of a head; none: dim / heads")
          .titled("Head width")
          .range(2, 4096)
          .orNone(),
      integerField("ffn_hidden", 352, "hidden channels of the SwiGLU")
          .titled("SwiGLU width")
          .range(1, 1 << 20),
      integerField("vocab", 264, "tokens of the vocabulary; 264: bytes and 8 specials")
          .titled("Vocabulary")
          .range(2, 1 << 22)
          .withUnit("tokens"),
      realField("rope_theta", 1e4, "base of the rotary frequencies")
          .titled("RoPE theta")
          .moreThan(1),
      scalingField(),
      realField("rms_eps", 1e-5, "added to the mean square of every norm")
          .titled("Norm epsilon")
          .moreThan(0),
      flagField("tied", false, "logits are products with the embedding table")
          .titled("Tied embeddings"),
      integerField("max_positions", 2048, "context: tokens that the model was made for")
          .titled("Context")
          .range(1, 1 << 24)
          .withUnit("tokens"),
  };
}

std::vector<Rule> llamaRules() {
  return {{Rule::Kind::MultipleOf,
           {"heads", "kv_heads"},
           "every key head serves the same number of query heads"}};
}

LlamaConfig llamaConfig(const Config& config) {
  LlamaConfig c;
  c.dim = config.integer("dim");
  c.depth = config.integer("depth");
  c.heads = config.integer("heads");
  c.kvHeads = config.integer("kv_heads");
  c.ffnHidden = config.integer("ffn_hidden");
  c.vocab = config.integer("vocab");
  c.ropeTheta = config.real("rope_theta");
  c.eps = config.real("rms_eps");
  c.isTied = config.flag("tied");
  c.context = config.integer("max_positions");
  const std::optional<std::int64_t> headDim = config.maybeInteger("head_dim");
  if (!headDim && c.dim % c.heads != 0) {
    throw ConfigError("model.dim = " + std::to_string(c.dim) +
                      " is not a multiple of model.heads = " + std::to_string(c.heads) +
                      "; change one, or set model.head_dim");
  }
  c.headDim = headDim.value_or(c.dim / c.heads);
  if (c.headDim % 2 != 0) {
    throw ConfigError("a head of " + std::to_string(c.headDim) +
                      " channels has no whole number of pairs to turn; set model.head_dim to an "
                      "even number");
  }
  if (config.has("rope_scaling"))
    c.ropeScaling = scalingFrom(config.table("rope_scaling"), c.ropeTheta);
  return c;
}

at::Tensor llamaFrequencies(const LlamaConfig& config) {
  const at::Tensor plain =
      nn::ropeFrequencies({config.headDim, nn::RopeAxes::Line, config.ropeTheta, 0});
  if (!config.ropeScaling || config.ropeScaling->kind == RopeScaling::Kind::Default) return plain;
  const RopeScaling& s = *config.ropeScaling;
  if (s.kind == RopeScaling::Kind::Linear) return plain / s.factor;
  // Turns of each pair within the original context; the mixture is linear in them.
  const at::Tensor turns = plain * (s.originalContext / (2 * std::numbers::pi));
  const at::Tensor kept = turns.sub(s.lowFactor).div(s.highFactor - s.lowFactor).clamp(0.0, 1.0);
  return kept * plain + (1 - kept) * (plain / s.factor);
}

}  // namespace vitrine::llamafusion
