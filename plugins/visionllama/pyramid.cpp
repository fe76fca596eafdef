#include <string>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/config/item_card.h"
#include "core/config/model_fields.h"
#include "plugins/visionllama/architectures.h"
#include "plugins/visionllama/pyramid_model.h"

namespace vitrine::visionllama {

namespace {

struct PyramidSize {
  const char* name;
  const char* doc;
  std::vector<int> width, depth, heads;
  double dropPath;
};

/// Table 17; heads are 32 channels wide, drop path as in Table 14.
const std::vector<PyramidSize>& sizes() {
  static const std::vector<PyramidSize> all{{"pyramid_s",
                                             "Pyramid VisionLLaMA-S",
                                             {64, 128, 256, 512},
                                             {2, 2, 10, 4},
                                             {2, 4, 8, 16},
                                             0.2},
                                            {"pyramid_b",
                                             "Pyramid VisionLLaMA-B",
                                             {96, 192, 384, 768},
                                             {2, 2, 18, 2},
                                             {3, 6, 12, 24},
                                             0.3},
                                            {"pyramid_l",
                                             "Pyramid VisionLLaMA-L",
                                             {128, 256, 512, 1024},
                                             {2, 2, 18, 2},
                                             {4, 8, 16, 32},
                                             0.5}};
  return all;
}

enum class Use { Classifier, Dense };

std::vector<Field> pyramidFields(Use use) {
  std::vector<Field> fields{
      imageSizeField(),
      patchSizeField(Json{4, 4},
                     "height and width of one patch of the first stage; each further stage halves "
                     "the grid"),
      inChannelsField()};
  if (use == Use::Classifier) fields.push_back(classesField());
  const auto perStage = [](const char* name, Json value, const char* doc) {
    return listField(name, FieldType::Integer, std::move(value), doc).range(1, 1048576);
  };
  fields.push_back(
      perStage("width", Json{64, 128, 256, 512}, "channels of the tokens of each stage")
          .titled("Widths"));
  fields.push_back(
      perStage("depth", Json{2, 2, 10, 4},
               "blocks of each stage: windows and sub-sampled keys in turn, windows first")
          .titled("Depths"));
  fields.push_back(
      perStage("heads", Json{2, 4, 8, 16}, "attention heads of each stage").titled("Heads"));
  fields.push_back(perStage("mlp_width", nullptr,
                            "hidden channels of the MLP of each stage; none: 8/3 x width rounded "
                            "up to a multiple of 256, with GELU 4 x width")
                       .titled("MLP widths")
                       .orNone());
  fields.push_back(integerField("window", 7, "tokens along a side of a window")
                       .titled("Window")
                       .range(1, 4096)
                       .withUnit("tokens"));
  fields.push_back(perStage("gsa_reduction", Json{8, 4, 2, 1},
                            "tokens along a side of the cell that one key of each stage stands for")
                       .titled("Key reduction"));
  for (Field& field : blockFields(1e-5, "linear")) fields.push_back(std::move(field));
  fields.push_back(
      choiceField("pe", "none", {"none", "peg"}, "positions besides RoPE")
          .titled("Position embedding")
          .withChoiceDocs({"none",
                           "a depthwise 3 x 3 convolution behind the first block of each "
                           "stage"}));
  fields.push_back(
      choiceField("gsa_key_pos", "calibrated", {"calibrated", "repo"},
                  "positions that sub-sampled keys turn by")
          .titled("Key positions")
          .withChoiceDocs({"the mean of the tokens of a cell (Figure 3)",
                           "as the released code computes them, for released weights"}));
  if (use == Use::Classifier) {
    fields.push_back(
        choiceField("pool", "gap", {"gap"}, "input of the classifier").titled("Pooling"));
    fields.push_back(choiceField("final_norm", "single", {"single", "double"},
                                 "the norm between the last stage and the classifier")
                         .titled("Final norm")
                         .withChoiceDocs({"on every token, then their mean",
                                          "and again on the mean, as in the released code"}));
  } else {
    fields.push_back(flagField("norm_after_stage", true,
                               "a norm behind each stage, whose result the next one reads")
                         .titled("Stage norms"));
  }
  fields.push_back(ropeField(RopeUse::Pyramid));
  return fields;
}

Schema pyramidSchema(Use use) {
  Schema schema;
  schema.fields = pyramidFields(use);
  schema.rules = {{Rule::Kind::Divides,
                   {"patch_size", "image_size"},
                   "each patch must lie wholly inside the image"}};
  for (const PyramidSize& size : sizes()) {
    Json values{{"image_size", Json{224, 224}},
                {"patch_size", Json{4, 4}},
                {"in_channels", 3},
                {"width", size.width},
                {"depth", size.depth},
                {"heads", size.heads},
                {"drop_path", size.dropPath},
                {"gsa_reduction", Json{8, 4, 2, 1}}};
    if (use == Use::Classifier) values["num_classes"] = 1000;
    const std::string suffix = use == Use::Dense ? "_dense" : "";
    schema.presets.push_back(
        {std::string("visionllama/") + size.name + suffix, size.doc, std::move(values)});
  }
  if (use == Use::Classifier) {
    schema.presets.push_back({"visionllama/pyramid_demo",
                              "two stages, small enough for 28 px images on a laptop",
                              Json{{"image_size", Json{28, 28}},
                                   {"patch_size", Json{2, 2}},
                                   {"in_channels", 1},
                                   {"num_classes", 10},
                                   {"width", Json{32, 64}},
                                   {"depth", Json{2, 2}},
                                   {"heads", Json{2, 4}},
                                   {"mlp_width", Json{96, 176}},
                                   {"gsa_reduction", Json{2, 1}},
                                   {"layer_scale", "none"},
                                   {"rope", {{"scale", "as"}}}}});
  }
  return schema;
}

/// A list with an entry for each of `stages`. \throws ConfigError
std::vector<std::int64_t> perStage(const Config& config, const char* key, std::size_t stages) {
  std::vector<std::int64_t> list = config.integers(key);
  if (list.size() != stages) {
    throw ConfigError(std::string(key) + " has " + std::to_string(list.size()) +
                      " entries and width " + std::to_string(stages) + "; give one for each stage");
  }
  return list;
}

PyramidOptions optionsOf(const Config& config, Use use) {
  PyramidOptions o{.imageSize = config.size("image_size")};
  const Sides patch = config.size("patch_size");
  if (patch[0] != patch[1]) {
    throw ConfigError("patch_size [" + std::to_string(patch[0]) + ", " + std::to_string(patch[1]) +
                      "] is not square; the stages of a pyramid have one stride");
  }
  o.patchSize = patch[0];
  o.inChannels = config.integer("in_channels");
  if (use == Use::Classifier) {
    o.classes = config.integer("num_classes");
    o.isNormedTwice = config.text("final_norm") == "double";
  } else {
    o.hasStageNorms = config.flag("norm_after_stage");
  }
  o.block = blockSettingsOf(config);
  o.window = config.integer("window");
  o.keyPlaces = config.text("gsa_key_pos") == "repo" ? KeyPlaces::Released : KeyPlaces::Calibrated;
  o.hasPeg = config.text("pe") == "peg";
  const std::vector<std::int64_t> width = config.integers("width");
  constexpr std::size_t kMostStages = 16;
  if (width.size() > kMostStages) {
    throw ConfigError("width has " + std::to_string(width.size()) +
                      " entries; a pyramid has at most " + std::to_string(kMostStages) + " stages");
  }
  const auto depth = perStage(config, "depth", width.size());
  const auto heads = perStage(config, "heads", width.size());
  const auto reduction = perStage(config, "gsa_reduction", width.size());
  std::vector<std::int64_t> hidden;
  if (config.has("mlp_width")) hidden = perStage(config, "mlp_width", width.size());
  for (std::size_t s = 0; s < width.size(); ++s) {
    o.stages.push_back({width[s], depth[s], heads[s],
                        hidden.empty() ? o.block.usualHidden(width[s]) : hidden[s], reduction[s]});
  }
  o.rope = ropeSettingsOf(config, o.imageSize, patch);
  return o;
}

}  // namespace

ItemCard PyramidArchitecture::card() const {
  ItemCard card = itemCard(ItemKind::Architecture, "visionllama_pyramid", "VisionLLaMA, pyramid");
  card.paper = kPaper;
  card.doc =
      "LLaMA blocks on grids of falling resolution: attention in windows and over "
      "sub-sampled keys in turn";
  card.offers = {ImageClassifier::kId, AttentionSource::kId, FeaturePyramid::kId,
                 TensorProgram::kId};
  card.schema = pyramidSchema(Use::Classifier);
  return card;
}

std::shared_ptr<Model> PyramidArchitecture::build(const Config& config, std::uint64_t seed) const {
  return std::make_shared<PyramidClassifier>(optionsOf(config, Use::Classifier), seed);
}

std::vector<WeightSign> PyramidArchitecture::weightSigns() const {
  return {{"a pyramid VisionLLaMA (authors' names)", {"patch_embeds.", "mlp.c_fc1."}}};
}

ItemCard DensePyramidArchitecture::card() const {
  ItemCard card = itemCard(ItemKind::Architecture, "visionllama_pyramid_dense",
                           "VisionLLaMA, pyramid backbone");
  card.paper = kPaper;
  card.doc =
      "The pyramid without its classifier and with a norm behind each stage, for "
      "segmentation and detection";
  card.offers = {AttentionSource::kId, FeaturePyramid::kId, TensorProgram::kId};
  card.schema = pyramidSchema(Use::Dense);
  return card;
}

std::shared_ptr<Model> DensePyramidArchitecture::build(const Config& config,
                                                       std::uint64_t seed) const {
  return std::make_shared<PyramidBackbone>(optionsOf(config, Use::Dense), seed);
}

}  // namespace vitrine::visionllama
