#include "plugins/vit/vit.h"

#include <utility>

#include "core/config/item_card.h"
#include "core/model/weights.h"
#include "core/nn/encoder_schema.h"
#include "plugins/vit/public_names.h"

namespace vitrine::vit {

namespace {

struct Size {
  const char* name;
  const char* doc;
  int width, depth, heads, mlpWidth, patch;
};

/// Table 1 of the paper at the patch sizes it uses, the two small sizes of the authors' code, and
/// the models of two figures.
constexpr Size kSizes[] = {
    {"ti16", "ViT-Ti/16 of the authors' code", 192, 12, 3, 768, 16},
    {"s16", "ViT-S/16 of the authors' code", 384, 12, 6, 1536, 16},
    {"s32", "ViT-S/32 of the authors' code", 384, 12, 6, 1536, 32},
    {"b14", "ViT-Base, 14 px patches", 768, 12, 12, 3072, 14},
    {"b16", "ViT-Base, 16 px patches", 768, 12, 12, 3072, 16},
    {"b32", "ViT-Base, 32 px patches", 768, 12, 12, 3072, 32},
    {"l14", "ViT-Large, 14 px patches", 1024, 24, 16, 4096, 14},
    {"l16", "ViT-Large, 16 px patches", 1024, 24, 16, 4096, 16},
    {"l32", "ViT-Large, 32 px patches", 1024, 24, 16, 4096, 32},
    {"h14", "ViT-Huge, 14 px patches", 1280, 32, 16, 5120, 14},
    {"h16", "ViT-Huge, 16 px patches", 1280, 32, 16, 5120, 16},
    {"h32", "ViT-Huge, 32 px patches", 1280, 32, 16, 5120, 32},
    {"b32_half", "ViT-b/32 of Figure 4: every width of B/32 halved", 384, 12, 6, 1536, 32},
    {"figure8_centre", "the model Figure 8 scales in depth, width and patches", 1024, 8, 16, 2048,
     32},
};

Schema makeSchema() {
  Schema schema{.fields = nn::sizeFields()};
  schema.fields.push_back(
      choiceField("mlp", "gelu_tanh", {"gelu_tanh", "gelu_erf"}, "activation of the MLP")
          .titled("MLP")
          .withChoiceDocs({"tanh approximation, what the authors' code computes",
                           "exact, what timm and Hugging Face compute"}));
  schema.fields.push_back(
      choiceField("norm", "layernorm", {"layernorm"}, "kind of every norm").titled("Norm"));
  schema.fields.push_back(choiceField("class_token", "first", {"first", "none"},
                                      "place of the class token in the sequence")
                              .titled("Class token"));
  schema.fields.push_back(
      choiceField("pos_embed", "learned", {"learned", "sincos", "none"},
                  "position embedding added to the tokens once")
          .titled("Position embedding")
          .withChoiceDocs({"one learned vector per token (1-D)", "fixed 2-D sines and cosines",
                           "none: the patches are a bag"})
          .refuse({"1d", "2d", "relative", "every_layer", "every_layer_shared", "1d_every_layer",
                   "1d_every_layer_shared"},
                  "2-D and relative positions and a table per layer (Appendix D.4) come in a later "
                  "version; the paper's default, "
                  "1-D, is \"learned\", and relative_position_bias adds relative ones to the "
                  "attention"));
  schema.fields.push_back(
      flagField("relative_position_bias", false,
                "a learned number for each head and each distance between two patches, added to "
                "the attention's scores in every block; zero at first")
          .titled("Relative position bias"));
  for (Field& field : nn::commonFields()) schema.fields.push_back(std::move(field));
  schema.fields.push_back(
      choiceField("stem", "patch", {"patch"}, "map from images to tokens")
          .titled("Stem")
          .refuse({"hybrid", "resnet", "r50", "r50_16", "r50_32"},
                  "the hybrid ResNet stem comes in a later version; use \"patch\""));
  schema.fields.push_back(
      choiceField("attention", "full", {"full"}, "tokens that see each other")
          .titled("Attention")
          .refuse({"axial"},
                  "axial attention (Appendix D.6) comes in a later version; use \"full\""));
  schema.fields.push_back(
      flagField("pre_logits", false,
                "a tanh layer between the class token and the classifier, for pre-training")
          .titled("Pre-logits layer")
          .refuse({true},
                  "the tanh layer before the classifier comes with the authors' own checkpoints in "
                  "a later version"));
  schema.fields.push_back(
      realField("head_bias", 0.0,
                "first value of the classifier's bias; -10 for pre-training with a sigmoid loss")
          .titled("Classifier bias"));
  schema.rules = nn::commonRules();
  schema.rules.push_back({Rule::Kind::Requires,
                          {"pool", "cls", "class_token", "first"},
                          "the classifier reads that token"});
  for (const Size& size : kSizes) {
    Json values = nn::imageNetSizes(size.patch, size.width, size.depth, size.heads);
    values["mlp_width"] = size.mlpWidth;
    schema.presets.push_back({std::string("vit/") + size.name, size.doc, std::move(values)});
  }
  Json demo = nn::demoSizes();
  demo["mlp_width"] = 256;
  schema.presets.push_back(
      {"vit/demo", "small enough for 28 px images on a laptop", std::move(demo)});
  return schema;
}

/// What the authors' code begins with: Xavier maps, LeCun-normal patch kernel, zero class token,
/// positions N(0, 0.02), zero head, MLP biases N(0, 1e-6).
nn::InitRule startOf(double headBias) {
  return [headBias](const std::string& name, const at::Tensor& value) -> std::optional<nn::Init> {
    if (name == "pos_embed") return nn::normalInit(0.02);
    if (name == "patch_embed.proj.weight")
      return nn::lecunNormalInit(value.size(1) * value.size(2) * value.size(3));
    if (name == "head.weight") return nn::constantInit(0);
    if (name == "head.bias") return nn::constantInit(headBias);
    // Per q, k and v, which are width x width each, however they are stored.
    if (name.ends_with("qkv.weight")) return nn::xavierUniformInit(value.size(1), value.size(1));
    if (value.dim() == 2) return nn::xavierUniformInit(value.size(1), value.size(0));
    if (name.find(".mlp.") != std::string::npos) return nn::normalInit(1e-6);
    return std::nullopt;
  };
}

/// The encoder, with weights under any of their public names.
class Vit final : public nn::VisionTransformer {
 public:
  using VisionTransformer::VisionTransformer;
  void transform(WeightSource& source) override {
    std::vector<std::string> own;
    for (const auto& [name, tensor] : namedTensors(*this)) own.push_back(name);
    renameByBestTable(source, own, publicNames(config()));
    VisionTransformer::transform(source);
  }
};

}  // namespace

ItemCard VitArchitecture::card() const {
  ItemCard card = itemCard(ItemKind::Architecture, "vit", "Vision Transformer");
  card.paper = "Dosovitskiy et al. 2021, \"An Image is Worth 16x16 Words\", arXiv:2010.11929";
  card.doc = "Patches as words: a plain transformer encoder over a sequence of image patches";
  card.offers = {ImageClassifier::kId, TokenEncoder::kId, AttentionSource::kId,
                 FeaturePyramid::kId};
  card.schema = makeSchema();
  return card;
}

std::shared_ptr<Model> VitArchitecture::build(const Config& config, std::uint64_t seed) const {
  nn::VisionTransformerConfig c = nn::commonConfig(config);
  c.init = startOf(config.real("head_bias"));
  // Runs from before there was such a table do not say.
  c.relativeBias = config.has("relative_position_bias") && config.flag("relative_position_bias");
  return std::make_shared<Vit>(c, seed);
}

std::vector<WeightSign> VitArchitecture::weightSigns() const { return publicSigns(); }

void registerAll(Registry& registry) {
  registry.add(std::make_unique<VitArchitecture>());
}

}  // namespace vitrine::vit
