#include "core/nn/encoder_schema.h"

#include "core/base/words.h"
#include "core/config/model_fields.h"
#include "core/nn/mlp.h"

namespace vitrine::nn {

std::vector<Field> sizeFields() {
  return {
      imageSizeField(),  patchSizeField(Json{16, 16}),
      inChannelsField(), classesField(),
      widthField(768),   depthField(12),
      headsField(12),    mlpWidthField(),
  };
}

std::vector<Field> commonFields() {
  std::vector<Field> fields{
      flagField("qkv_bias", true, "biases of the query, key and value maps").titled("QKV bias"),
      flagField("mlp_bias", true,
                "biases of the MLP's maps; none: with GELU, not with SwiGLU, as the papers have it")
          .titled("MLP bias"),
      choiceField("pool", "cls", {"cls", "gap"}, "input of the classifier")
          .titled("Pooling")
          .withChoiceDocs({"the class token", "the mean over patches, without the class token"}),
      choiceField("final_norm", "before_pool", {"before_pool", "after_pool"},
                  "place of the last norm")
          .titled("Final norm")
          .withChoiceDocs({"on every token, then pooled (norm)", "on the pooled token (fc_norm)"}),
      realField("norm_eps", 1e-6, "added to the variance in every norm")
          .titled("Norm epsilon")
          .moreThan(0)
          .lessThan(1),
      realField("layer_scale", nullptr,
                "first value of a gain per channel on each branch; none: no gains")
          .titled("Layer scale")
          .moreThan(0)
          .orNone(),
      realField("drop_path", 0.0,
                "rate at which the last block's branches are dropped per image, linear from 0 in "
                "the first")
          .titled("Drop path")
          .atLeast(0)
          .lessThan(1),
      realField("dropout", 0.0,
                "rate after positions, attention projection and both maps of the MLP")
          .titled("Dropout")
          .atLeast(0)
          .lessThan(1),
  };
  for (Field& field : fields) {
    if (field.name == "mlp_bias") field.orNone().defaultValue = nullptr;
  }
  return fields;
}

Json imageNetSizes(int patch, int width, int depth, int heads) {
  return {{"image_size", Json{224, 224}},
          {"patch_size", Json{patch, patch}},
          {"in_channels", 3},
          {"num_classes", 1000},
          {"width", width},
          {"depth", depth},
          {"heads", heads}};
}

Json demoSizes() {
  return {{"image_size", Json{28, 28}},
          {"patch_size", Json{7, 7}},
          {"in_channels", 1},
          {"num_classes", 10},
          {"width", 64},
          {"depth", 4},
          {"heads", 4}};
}

std::vector<Rule> commonRules() {
  return {
      {Rule::Kind::Divides,
       {"patch_size", "image_size"},
       "each patch must lie wholly inside the image"},
      {Rule::Kind::MultipleOf, {"width", "heads"}, "each head takes an equal share of the width"},
  };
}

VisionTransformerConfig commonConfig(const Config& config) {
  VisionTransformerConfig c;
  c.imageSize = config.size("image_size");
  c.patchSize = config.size("patch_size");
  c.inChannels = config.integer("in_channels");
  c.classes = config.integer("num_classes");
  c.width = config.integer("width");
  c.depth = config.integer("depth");
  c.heads = config.integer("heads");
  c.qkvBias = config.flag("qkv_bias") ? Bias::Present : Bias::None;
  c.pool = valueOf<Pool>("pool", config.text("pool"),
                         {{"cls", Pool::ClassToken}, {"gap", Pool::Average}});
  c.finalNorm = valueOf<FinalNorm>(
      "final_norm", config.text("final_norm"),
      {{"before_pool", FinalNorm::BeforePool}, {"after_pool", FinalNorm::AfterPool}});
  c.normEps = config.real("norm_eps");
  c.mlp = mlpKindOf(config.text("mlp"));
  const bool isSwiGlu = c.mlp == MlpKind::SwiGlu;
  c.mlpBias =
      (config.has("mlp_bias") ? config.flag("mlp_bias") : !isSwiGlu) ? Bias::Present : Bias::None;
  const std::int64_t usual = isSwiGlu ? swiGluHidden(c.width, 256) : 4 * c.width;
  c.mlpWidth = config.maybeInteger("mlp_width").value_or(usual);
  c.positions = positionKindOf(config.text("pos_embed"));
  c.classToken = classTokenOf(config.text("class_token"));
  c.layerScale = config.maybeReal("layer_scale");
  c.dropPath = config.real("drop_path");
  c.dropout = config.real("dropout");
  return c;
}

InitRule commonInit(std::int64_t patchInputs) {
  return [patchInputs](const std::string& name, const at::Tensor& value) -> std::optional<Init> {
    if (name.starts_with("patch_embed.proj.")) return torchDefaultInit(patchInputs);
    if (value.dim() < 2) return std::nullopt;
    return truncatedNormalInit(0.02, 100);
  };
}

ClassToken classTokenOf(const std::string& word) {
  return valueOf<ClassToken>(
      "class_token", word.empty() ? "none" : word,
      {{"none", ClassToken::None}, {"first", ClassToken::First}, {"last", ClassToken::Last}});
}
PositionKind positionKindOf(const std::string& word) {
  return valueOf<PositionKind>("pos_embed", word.empty() ? "none" : word,
                               {{"none", PositionKind::None},
                                {"learned", PositionKind::Learned},
                                {"sincos", PositionKind::SinCos}});
}
MlpKind mlpKindOf(const std::string& word) {
  return valueOf<MlpKind>("mlp", word,
                          {{"gelu_erf", MlpKind::GeluErf},
                           {"gelu_tanh", MlpKind::GeluTanh},
                           {"swiglu", MlpKind::SwiGlu}});
}
NormKind normKindOf(const std::string& word) {
  return valueOf<NormKind>("norm", word,
                           {{"layernorm", NormKind::Layer}, {"rmsnorm", NormKind::Rms}});
}
MaskMode maskModeOf(const std::string& word) {
  return valueOf<MaskMode>(
      "mask.mode", word,
      {{"additive", MaskMode::Additive}, {"multiplicative", MaskMode::Multiplicative}});
}

}  // namespace vitrine::nn
