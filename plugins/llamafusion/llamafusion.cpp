#include "core/base/error.h"
#include "core/config/item_card.h"
#include "plugins/llamafusion/architectures.h"
#include "plugins/llamafusion/fusion_model.h"

namespace vitrine::llamafusion {

namespace {

std::vector<Field> imageFields() {
  Field separation = choiceField("separation", "deep", {"dense", "shallow", "deep"},
                                 "modules that images have of their own")
                         .titled("Separation");
  separation.withChoiceDocs(
      {"none", "the SwiGLU and its norm", "also the attention's maps and its norm"});
  Field mask =
      choiceField("mask", "hybrid", {"hybrid", "causal"}, "tokens that see each other in an image")
          .titled("Mask");
  mask.withChoiceDocs({"all tokens of one image see each other", "each sees those before it"});
  Field positions = choiceField("image_positions", "sequential", {"sequential", "shared"},
                                "positions of the tokens of an image")
                        .titled("Image positions");
  positions.withChoiceDocs({"each its place in the sequence", "one for all of an image"});
  const auto token = [](const char* name, int value, const char* what) {
    return integerField(name, value, what).titled(what).range(0, 1 << 22);
  };
  return {
      separation,
      mask,
      positions,
      choiceField("final_norm_image", nullptr, {"own", "shared"},
                  "final norm of images; none: own for deep separation, shared for others")
          .titled("Final norm of images")
          .orNone(),
      token("bos_id", 256, "Token that begins a text"),
      token("eos_id", 257, "Token that ends a text"),
      token("boi_id", 258, "Token that begins an image"),
      token("eoi_id", 259, "Token that ends an image"),
      realField("lambda", 5.0, "weight of the squared error of the noise in the loss")
          .titled("Weight of images")
          .atLeast(0),
      choiceField("image_io", nullptr, {"linear", "unet"},
                  "map from images to tokens; none: image tokens are given")
          .titled("Image module")
          .orNone(),
      integerField("image_patch", 2, "side of a patch of the linear image module")
          .titled("Patch")
          .range(1, 1024),
      flagField("image_pos_embed", false,
                "the linear image module adds a trained vector to each patch")
          .titled("Positions of patches"),
      flagField("image_skip", false,
                "the linear image module adds the noised image to the noise, by its share of noise")
          .titled("Skip around the layers"),
      integerField("latent_channels", 1, "channels of an image, or of its latent")
          .titled("Image channels")
          .range(1, 4096),
      sizeField("latent_size", 28, "side of the image or latent, or [height, width]")
          .titled("Image size")
          .atLeast(1),
      listField("unet_channels", FieldType::Integer, {32, 64},
                "channels of the U-Net at full and at half size")
          .titled("U-Net channels"),
      integerField("unet_groups", 32, "groups of its norms").titled("U-Net groups").range(1, 1024),
      flagField("unet_attention", false, "attention at half size").titled("U-Net attention")};
}

FusionConfig fusionConfig(const Config& config) {
  FusionConfig c{.text = llamaConfig(config)};
  const std::string separation = config.text("separation");
  c.separation = separation == "deep"      ? Separation::Deep
                 : separation == "shallow" ? Separation::Shallow
                                           : Separation::Dense;
  const std::string norm = config.text("final_norm_image");
  c.ownImageNorm = norm.empty() ? c.separation == Separation::Deep : norm == "own";
  c.mask = config.text("mask") == "causal" ? ImageMask::Causal : ImageMask::Hybrid;
  c.positions = config.text("image_positions") == "shared" ? ImagePositions::Shared
                                                           : ImagePositions::Sequential;
  c.beginText = config.integer("bos_id");
  c.endText = config.integer("eos_id");
  c.beginImage = config.integer("boi_id");
  c.endImage = config.integer("eoi_id");
  for (const char* key : {"bos_id", "eos_id", "boi_id", "eoi_id"}) {
    if (config.integer(key) < c.text.vocab) continue;
    throw ConfigError("model." + std::string(key) + " = " + std::to_string(config.integer(key)) +
                      " is outside the vocabulary of " + std::to_string(c.text.vocab) +
                      "; name a token of it");
  }
  c.diffusionWeight = config.real("lambda");
  if (!config.has("image_io")) return c;
  ImageIoConfig io;
  io.isUNet = config.text("image_io") == "unet";
  io.dim = c.text.dim;
  io.channels = config.integer("latent_channels");
  io.size = config.size("latent_size");
  io.patch = config.integer("image_patch");
  // Runs of earlier versions have no such keys.
  const auto isOn = [&](const char* key) { return config.has(key) && config.flag(key); };
  io.hasPositions = isOn("image_pos_embed");
  io.addsNoised = isOn("image_skip");
  for (const char* key : {"image_pos_embed", "image_skip"}) {
    if (!io.isUNet || !isOn(key)) continue;
    throw ConfigError("model." + std::string(key) +
                      " = true is of the linear image module, and model.image_io is unet; leave it "
                      "out");
  }
  const std::vector<std::int64_t> channels = config.integers("unet_channels");
  if (channels.size() != 2 || channels[0] < 1 || channels[1] < 1) {
    throw ConfigError("model.unet_channels has " + std::to_string(channels.size()) +
                      " entries; it takes two positive ones, at full and at half size");
  }
  io.unetChannels = {channels[0], channels[1]};
  io.unetGroups = config.integer("unet_groups");
  io.hasAttention = config.flag("unet_attention");
  c.io = io;
  return c;
}

Json eightBillion(const char* separation) {
  return {{"dim", 4096},
          {"depth", 32},
          {"heads", 32},
          {"kv_heads", 8},
          {"ffn_hidden", 14336},
          {"vocab", 128256},
          {"rope_theta", 5e5},
          {"tied", false},
          {"max_positions", 4096},
          {"separation", separation},
          {"bos_id", 128000},
          {"eos_id", 128001},
          {"boi_id", 128002},
          {"eoi_id", 128003},
          {"image_io", "unet"},
          {"latent_channels", 8},
          {"latent_size", {32, 32}},
          {"unet_channels", {1024, 1792}},
          {"unet_groups", 32}};
}

Schema makeSchema() {
  Schema schema{.fields = llamaFields()};
  for (Field& field : imageFields()) schema.fields.push_back(std::move(field));
  schema.rules = llamaRules();
  schema.presets = {
      {"llamafusion/8b", "Llama 3 8B with image modules of its own size", eightBillion("deep")},
      {"llamafusion/8b_shallow", "the same with image SwiGLUs alone", eightBillion("shallow")},
      {"llamafusion/8b_dense", "the same without image modules", eightBillion("dense")},
      {"llamafusion/bytes_64",
       "bytes and images of 28 x 28 pixels, for quick looks",
       {{"dim", 64},
        {"depth", 4},
        {"heads", 4},
        {"kv_heads", 2},
        {"ffn_hidden", 176},
        {"vocab", 264},
        {"max_positions", 512},
        {"image_io", "linear"},
        {"image_patch", 4},
        {"latent_channels", 1},
        {"latent_size", {28, 28}}}}};
  return schema;
}

}  // namespace

ItemCard LlamaFusionArchitecture::card() const {
  ItemCard card = itemCard(ItemKind::Architecture, "llamafusion", "LlamaFusion");
  card.paper =
      "Shi et al. 2024, \"LlamaFusion: Adapting Pretrained Language Models for Multimodal "
      "Generation\", arXiv:2412.15188";
  card.doc = "A frozen language model with modules for images next to its own in every layer";
  card.offers = {LanguageModel::kId, PackedLanguageModel::kId, TextImageModel::kId,
                 AttentionSource::kId, TensorProgram::kId};
  card.schema = makeSchema();
  return card;
}

std::shared_ptr<Model> LlamaFusionArchitecture::build(const Config& config,
                                                      std::uint64_t seed) const {
  return std::make_shared<FusionModel>(fusionConfig(config), seed);
}

std::vector<WeightSign> LlamaFusionArchitecture::weightSigns() const {
  return {{"a LlamaFusion", {".img.", "self_attn.q_proj"}}};
}

}  // namespace vitrine::llamafusion
