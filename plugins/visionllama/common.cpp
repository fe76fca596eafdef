#include "plugins/visionllama/common.h"

namespace vitrine::visionllama {

std::vector<Field> blockFields(double eps, const char* rule) {
  std::vector<Field> fields{
      choiceField("mlp", "swiglu", {"swiglu", "gelu"}, "feed-forward part of a block")
          .titled("MLP")
          .withChoiceDocs({"silu(c_fc1 x) * (c_fc2 x), then c_proj", "fc1, exact GELU, fc2"}),
      flagField(
          "mlp_bias", true,
          "biases of the MLP's maps; none: with GELU, not with SwiGLU, as the authors have it")
          .titled("MLP bias"),
      tableField("norm",
                 {choiceField("kind", "ln", {"ln", "rms"}, "kind of every norm")
                      .titled("Norm")
                      .withChoiceDocs({"LayerNorm", "RMSNorm"}),
                  realField("eps", eps, "added to the variance")
                      .titled("Norm epsilon")
                      .moreThan(0)
                      .lessThan(1)},
                 "norms")
          .titled("Norms"),
      flagField("qkv_bias", true, "biases of the query, key and value maps").titled("QKV bias"),
      realField("layer_scale", 1e-4,
                "first value of a gain per channel on each branch; none: no gains")
          .titled("Layer scale")
          .moreThan(0)
          .orNone(),
      realField("drop_path", 0.0, "rate at which a branch is dropped per image")
          .titled("Drop path")
          .atLeast(0)
          .lessThan(1),
      choiceField("drop_path_rule", rule, {"constant", "linear"}, "drop path over the blocks")
          .titled("Drop path rule")
          .withChoiceDocs(
              {"the same rate in every block", "from 0 in the first to the last one's"})};
  for (Field& field : fields) {
    if (field.name == "mlp_bias") field.orNone().defaultValue = nullptr;
  }
  return fields;
}

std::int64_t BlockSettings::usualHidden(std::int64_t width) const {
  return mlp == nn::MlpKind::SwiGlu ? nn::swiGluHidden(width, 256) : 4 * width;
}

nn::BlockNames BlockSettings::names() const {
  nn::BlockNames names{.attentionGain = "gamma_1", .mlpGain = "gamma_2"};
  if (mlp == nn::MlpKind::SwiGlu) names.mlp = {"c_fc1", "c_proj", "c_fc2"};
  return names;
}

BlockSettings blockSettingsOf(const Config& config) {
  BlockSettings s;
  const bool isSwiGlu = config.text("mlp") == "swiglu";
  s.mlp = isSwiGlu ? nn::MlpKind::SwiGlu : nn::MlpKind::GeluErf;
  const bool hasBias = config.has("mlp_bias") ? config.flag("mlp_bias") : !isSwiGlu;
  s.mlpBias = hasBias ? nn::Bias::Present : nn::Bias::None;
  s.qkvBias = config.flag("qkv_bias") ? nn::Bias::Present : nn::Bias::None;
  s.norm = config.text("norm.kind") == "rms" ? nn::NormKind::Rms : nn::NormKind::Layer;
  s.normEps = config.real("norm.eps");
  s.layerScale = config.maybeReal("layer_scale");
  s.dropPath = config.real("drop_path");
  s.dropPathRule = config.text("drop_path_rule") == "linear" ? nn::DropPathRule::Linear
                                                             : nn::DropPathRule::Constant;
  return s;
}

}  // namespace vitrine::visionllama
