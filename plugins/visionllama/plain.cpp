#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/config/item_card.h"
#include "core/model/weight_source.h"
#include "core/nn/encoder_schema.h"
#include "plugins/visionllama/architectures.h"
#include "plugins/visionllama/common.h"
#include "plugins/visionllama/rope_settings.h"

namespace vitrine::visionllama {

namespace {

struct Size {
  const char* name;
  const char* doc;
  int width, depth, heads;
  double dropPath;
};

/// Table 18, with the drop path rates of the authors' commands.
constexpr Size kSizes[] = {
    {"plain_s", "VisionLLaMA-S, 22 M parameters", 384, 12, 6, 0.05},
    {"plain_b", "VisionLLaMA-B, 86 M parameters", 768, 12, 12, 0.2},
    {"plain_l", "VisionLLaMA-L, 310 M parameters", 1024, 24, 16, 0.45},
};

Schema makeSchema() {
  Schema schema{.fields = nn::sizeFields()};
  for (Field& field : blockFields(1e-6, "constant")) schema.fields.push_back(std::move(field));
  schema.fields.push_back(choiceField("pool", "cls", {"cls", "gap"}, "input of the classifier")
                              .titled("Pooling")
                              .withChoiceDocs({"a class token, after the final norm",
                                               "the mean over patches, then the final norm; "
                                               "there is no class token"}));
  schema.fields.push_back(choiceField("pe", "none", {"none", "learnable", "sincos"},
                                      "position embedding added to the tokens besides RoPE")
                              .titled("Position embedding"));
  schema.fields.push_back(ropeField(RopeUse::Plain));
  schema.rules = nn::commonRules();
  for (const Size& size : kSizes) {
    Json values = nn::imageNetSizes(16, size.width, size.depth, size.heads);
    values["drop_path"] = size.dropPath;
    schema.presets.push_back(
        {std::string("visionllama/") + size.name, size.doc, std::move(values)});
  }
  Json demo = nn::demoSizes();
  demo.update(Json{
      {"mlp_width", 176}, {"pool", "gap"}, {"layer_scale", "none"}, {"rope", {{"scale", "as"}}}});
  schema.presets.push_back(
      {"visionllama/demo", "small enough for 28 px images on a laptop", std::move(demo)});
  return schema;
}

/// The encoder, which takes a fixed table of positions in a file for what it is.
class Plain final : public nn::VisionTransformer {
 public:
  using VisionTransformer::VisionTransformer;
  void transform(WeightSource& source) override {
    const bool isFixed = config().positions == nn::PositionKind::SinCos;
    if (isFixed && source.has("pos_embed")) source.drop("pos_embed");
    VisionTransformer::transform(source);
  }
};

}  // namespace

ItemCard PlainArchitecture::card() const {
  ItemCard card = itemCard(ItemKind::Architecture, "visionllama_plain", "VisionLLaMA, plain");
  card.paper = kPaper;
  card.doc =
      "LLaMA blocks over image patches: SwiGLU and 2-D rotary positions that scale to other "
      "resolutions";
  card.offers = {ImageClassifier::kId, TokenEncoder::kId, AttentionSource::kId,
                 FeaturePyramid::kId};
  card.schema = makeSchema();
  return card;
}

std::shared_ptr<Model> PlainArchitecture::build(const Config& config, std::uint64_t seed) const {
  const BlockSettings block = blockSettingsOf(config);
  nn::VisionTransformerConfig c;
  c.imageSize = config.size("image_size");
  c.patchSize = config.size("patch_size");
  c.inChannels = config.integer("in_channels");
  c.classes = config.integer("num_classes");
  c.width = config.integer("width");
  c.depth = config.integer("depth");
  c.heads = config.integer("heads");
  c.mlpWidth = config.maybeInteger("mlp_width").value_or(block.usualHidden(c.width));
  c.mlp = block.mlp;
  c.mlpBias = block.mlpBias;
  c.qkvBias = block.qkvBias;
  c.norm = block.norm;
  c.normEps = block.normEps;
  c.layerScale = block.layerScale;
  c.dropPath = block.dropPath;
  c.dropPathRule = block.dropPathRule;
  const std::string pe = config.text("pe");
  if (pe == "sincos" && c.width % 4 != 0) {
    throw ConfigError("pe = \"sincos\" needs a width that is a multiple of 4, not " +
                      std::to_string(c.width));
  }
  c.positions = pe == "learnable" ? nn::PositionKind::Learned
                : pe == "sincos"  ? nn::PositionKind::SinCos
                                  : nn::PositionKind::None;
  const bool isPooled = config.text("pool") == "gap";
  c.classToken = isPooled ? nn::ClassToken::None : nn::ClassToken::First;
  c.pool = isPooled ? nn::Pool::Average : nn::Pool::ClassToken;
  c.finalNorm = isPooled ? nn::FinalNorm::AfterPool : nn::FinalNorm::BeforePool;
  c.names = {block.names(), "norm"};
  c.init = nn::commonInit(c.inChannels * c.patchSize[0] * c.patchSize[1]);
  const RopeSettings rope = ropeSettingsOf(config, c.imageSize, c.patchSize);
  if (rope.mode != RopeMode::None) {
    c.rotation = std::make_shared<PlainRotation>(rope, c.heads, c.width / c.heads, c.patchSize,
                                                 classPlaceOf(config.text("rope.cls_pos")));
  }
  return std::make_shared<Plain>(c, seed);
}

std::vector<WeightSign> PlainArchitecture::weightSigns() const {
  return {{"a plain VisionLLaMA (authors' names)",
           {"mlp.c_fc1.", "patch_embed.proj."},
           {"patch_embeds.", "adaLN_modulation."}}};
}

void registerAll(Registry& registry) {
  registry.add(std::make_unique<PlainArchitecture>());
  registry.add(std::make_unique<PyramidArchitecture>());
  registry.add(std::make_unique<DensePyramidArchitecture>());
  registry.add(std::make_unique<VitDetArchitecture>());
}

}  // namespace vitrine::visionllama
