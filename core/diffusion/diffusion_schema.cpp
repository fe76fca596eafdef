#include "core/diffusion/diffusion_schema.h"

#include "core/base/words.h"
#include "core/config/item_card.h"
#include "core/config/model_fields.h"

namespace vitrine::diffusion {

namespace {

constexpr std::int64_t kSwiGluMultiple = 256, kMlpRatio = 4;

struct Size {
  const char* name;
  int width, depth, heads;
};
/// Table 1 of arXiv:2212.09748.
constexpr Size kSizes[] = {
    {"s", 384, 12, 6}, {"b", 768, 12, 12}, {"l", 1024, 24, 16}, {"xl", 1152, 28, 16}};

std::vector<Field> ropeFields(BlockStyle style) {
  return {
      choiceField("mode", style == BlockStyle::Rotary ? "2d" : "none", {"none", "1d", "2d"},
                  "rotary positions of queries and keys")
          .titled("RoPE mode")
          .withChoiceDocs({"none", "along the raster", "by row and column"}),
      realField("base", 10000.0, "base of the frequencies").titled("RoPE base").moreThan(1),
      realField("ratio", 1.0, "share of a head's channels that turn")
          .titled("RoPE share")
          .moreThan(0)
          .range(0, 1),
      flagField("shared", true, "every head has the same frequencies").titled("Shared frequencies"),
      choiceField("axis_order", "col_first", {"col_first", "row_first"},
                  "axis that turns the first pair of each four channels")
          .titled("Axis order"),
      choiceField("scale", "none", {"none", "as", "ntk"},
                  "rule for a grid other than that of training")
          .titled("RoPE scale")
          .withChoiceDocs({"not at all", "positions times anchor / grid", "a larger base"}),
      sizeField("anchor", nullptr, "grid of training, for scale as; none: this model's own")
          .titled("Anchor grid")
          .range(1, 4096)
          .orNone()
          .withUnit("patches"),
      flagField("per_axis", false, "each axis by its own ratio").titled("Per axis"),
      realField("ntk_alpha", 1.0, "for scale ntk").titled("NTK factor").atLeast(1),
      choiceField("ntk_form", "mul", {"mul", "d_minus_2", "d_minus_4"}, "growth of the base")
          .titled("NTK form")
          .withChoiceDocs(
              {"times alpha", "times alpha^(d / (d - 2))", "times alpha^(d / (d - 4))"}),
  };
}

std::vector<Field> fieldsOf(BlockStyle style) {
  const bool isRotary = style == BlockStyle::Rotary;
  return {
      sizeField("input_size", Json{32, 32}, "height and width of the denoised tensor")
          .titled("Input size")
          .range(1, 4096)
          .withUnit("cells"),
      patchSizeField(Json{2, 2}).withUnit("cells"),
      inChannelsField(4, "channels of the denoised tensor"),
      widthField(384).range(4, 65536),
      depthField(12),
      headsField(6),
      mlpWidthField(),
      choiceField("mlp", isRotary ? "swiglu" : "gelu_tanh", {"swiglu", "gelu_erf", "gelu_tanh"},
                  "feed-forward part of a block; SwiGLU has no biases")
          .titled("MLP"),
      classesField("classes that steer a generation"),
      flagField("learn_sigma", true, "the head has twice the channels: a variance next to the rest")
          .titled("Learned variance"),
      realField("class_dropout_prob", 0.1,
                "share of training samples without their label; 0: the model cannot be guided")
          .titled("Label drop")
          .range(0, 1),
      tableField(
          "norm",
          {choiceField("kind", "ln", {"ln", "rms"}, "kind of every norm").titled("Norm"),
           realField("eps", 1e-6, "added to the variance in every norm")
               .titled("Norm epsilon")
               .moreThan(0)
               .lessThan(1),
           flagField("affine", false, "gains and biases of the norms' own").titled("Affine norm")},
          "norms")
          .titled("Norms"),
      choiceField("pe", isRotary ? "none" : "sincos", {"none", "sincos"},
                  "position table added to the patches")
          .titled("Added positions"),
      tableField("rope", ropeFields(style), "rotary position embedding").titled("Rotary positions"),
  };
}

nn::MlpKind mlpOf(const std::string& word) {
  return valueOf<nn::MlpKind>("mlp", word,
                              {{"swiglu", nn::MlpKind::SwiGlu},
                               {"gelu_erf", nn::MlpKind::GeluErf},
                               {"gelu_tanh", nn::MlpKind::GeluTanh}});
}

RotaryChoice ropeOf(const Config& c) {
  RotaryChoice rope;
  rope.mode = valueOf<RotaryChoice::Mode>("rope.mode", c.text("mode"),
                                          {{"none", RotaryChoice::Mode::None},
                                           {"1d", RotaryChoice::Mode::Line},
                                           {"2d", RotaryChoice::Mode::Grid}});
  rope.theta = c.real("base");
  rope.ratio = c.real("ratio");
  rope.isShared = c.flag("shared");
  rope.isRowFirst = c.text("axis_order") == "row_first";
  rope.scale = valueOf<RotaryChoice::Scale>("rope.scale", c.text("scale"),
                                            {{"none", RotaryChoice::Scale::None},
                                             {"as", RotaryChoice::Scale::Anchor},
                                             {"ntk", RotaryChoice::Scale::Ntk}});
  if (c.has("anchor")) rope.anchor = c.size("anchor");
  rope.isPerAxis = c.flag("per_axis");
  rope.ntkAlpha = c.real("ntk_alpha");
  rope.ntkRule = valueOf<nn::NtkRule>("rope.ntk_form", c.text("ntk_form"),
                                      {{"mul", nn::NtkRule::Plain},
                                       {"d_minus_2", nn::NtkRule::LowestLine},
                                       {"d_minus_4", nn::NtkRule::LowestGrid}});
  return rope;
}

}  // namespace

Schema diffusionSchema(BlockStyle style, const std::string& prefix) {
  Schema schema;
  schema.fields = fieldsOf(style);
  schema.rules = {
      {Rule::Kind::Divides,
       {"patch_size", "input_size"},
       "each patch must lie wholly inside the input"},
      {Rule::Kind::MultipleOf, {"width", "heads"}, "each head takes an equal share of the width"},
  };
  for (const Size& size : kSizes) {
    for (const int patch : {2, 4, 8}) {
      std::string title = size.name;
      for (char& letter : title) letter = static_cast<char>(letter - 'a' + 'A');
      schema.presets.push_back({prefix + "/" + size.name + std::to_string(patch),
                                "size " + title + ", patches of " + std::to_string(patch) +
                                    ", for latents of 256 px images",
                                Json{{"input_size", Json{32, 32}},
                                     {"patch_size", Json{patch, patch}},
                                     {"in_channels", 4},
                                     {"width", size.width},
                                     {"depth", size.depth},
                                     {"heads", size.heads},
                                     {"num_classes", 1000}}});
    }
  }
  // Width 96: a SwiGLU of 256 channels has as many weights as a GELU of 384.
  schema.presets.push_back({prefix + "/demo", "small enough for 28 px grey images on a laptop",
                            Json{{"input_size", Json{28, 28}},
                                 {"patch_size", Json{4, 4}},
                                 {"in_channels", 1},
                                 {"width", 96},
                                 {"depth", 4},
                                 {"heads", 4},
                                 {"num_classes", 10}}});
  return schema;
}

ItemCard diffusionCard(BlockStyle style, const char* id, const char* title) {
  ItemCard card = itemCard(ItemKind::Architecture, id, title);
  card.offers = {Denoiser::kId, GuidedDenoiser::kId, AttentionSource::kId, TensorProgram::kId};
  card.schema = diffusionSchema(style, id);
  return card;
}

DiffusionTransformerOptions diffusionOptions(const Config& config, GuidedDenoiser::Time time) {
  DiffusionTransformerOptions o;
  o.time = time;
  o.inputSize = config.size("input_size");
  o.patchSize = config.size("patch_size");
  o.channels = config.integer("in_channels");
  o.width = config.integer("width");
  o.depth = config.integer("depth");
  o.heads = config.integer("heads");
  o.mlp = mlpOf(config.text("mlp"));
  const std::int64_t usual = o.mlp == nn::MlpKind::SwiGlu
                                 ? nn::swiGluHidden(o.width, kSwiGluMultiple)
                                 : kMlpRatio * o.width;
  o.mlpWidth = config.maybeInteger("mlp_width").value_or(usual);
  o.classes = config.integer("num_classes");
  o.learnsSigma = config.flag("learn_sigma");
  o.labelDrop = config.real("class_dropout_prob");
  o.norm = config.text("norm.kind") == "rms" ? nn::NormKind::Rms : nn::NormKind::Layer;
  o.normEps = config.real("norm.eps");
  o.isNormAffine = config.flag("norm.affine");
  o.addsPositions = config.text("pe") == "sincos";
  o.rope = ropeOf(config.table("rope"));
  requireSizes(o);
  return o;
}

std::shared_ptr<Model> makeDiffusionTransformer(const Config& config, GuidedDenoiser::Time time,
                                                std::uint64_t seed) {
  return std::make_shared<DiffusionTransformer>(diffusionOptions(config, time), seed);
}

}  // namespace vitrine::diffusion
