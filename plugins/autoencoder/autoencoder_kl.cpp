#include <ATen/ATen.h>

#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/config/item_card.h"
#include "core/model/weights.h"
#include "plugins/autoencoder/architectures.h"
#include "plugins/autoencoder/kl_modules.h"
#include "plugins/autoencoder/kl_names.h"

namespace vitrine::autoencoder {

namespace {

constexpr double kLowestLogVariance = -30, kHighestLogVariance = 20;
constexpr std::int64_t kMostLevels = 8;

enum class QuantConvolutions { None, Present };

class KlCodec final : public Codec {
 public:
  KlCodec(KlSizes sizes, QuantConvolutions quant, std::optional<double> scale, Size image,
          std::uint64_t seed)
      : Codec(scale),
        sizes_(std::move(sizes)),
        image_(image),
        encoder_(register_module("encoder", std::make_shared<KlEncoder>(sizes_))),
        decoder_(register_module("decoder", std::make_shared<KlDecoder>(sizes_))) {
    const std::int64_t channels = sizes_.latentChannels;
    if (quant == QuantConvolutions::Present) {
      quant_ = register_module("quant_conv", convolution(2 * channels, 2 * channels, 1));
      postQuant_ = register_module("post_quant_conv", convolution(channels, channels, 1));
    }
    initialiseAsTorch(*this, seed);
  }

  std::vector<BlockCost> cost() const override {
    std::vector<BlockCost> all;
    const AddCost add = [&](const std::string& name, BlockCost cost) {
      cost.name = name;
      all.push_back(std::move(cost));
    };
    const Size latent = encoder_->cost("encoder", image_, add);
    if (quant_) {
      add("quant_conv", quant_->cost(latent));
      add("post_quant_conv", postQuant_->cost(latent));
    }
    decoder_->cost("decoder", latent, add);
    return all;
  }

  void transform(WeightSource& source) override {
    std::vector<std::string> own;
    for (const auto& item : named_parameters()) own.push_back(item.key());
    renameKl(source, own, sizes_.levels());
    if (source.has("encoder.conv_in.weight")) scale_.complete(source);
  }

  Pixels pixels() const override { return {sizes_.channels, -1, 1}; }
  std::int64_t factor() const override { return sizes_.factor(); }
  std::int64_t latentChannels() const override { return sizes_.latentChannels; }

  Latent encodeLatent(const at::Tensor& images) override { return latentOf(encodeRaw(images)); }
  at::Tensor decodeLatent(const at::Tensor& latent) override {
    requireLatents(latent, sizes_.latentChannels);
    return decoder_->forward(postQuant_ ? postQuant_->forward(latent) : latent);
  }

  std::vector<TensorInput> tensorInputs() const override {
    const Axis channels(sizes_.latentChannels);
    return {{"image",
             at::kFloat,
             {kBatchAxis, sizes_.channels, "height", "width"},
             true,
             "in [-1, 1], sides multiples of the factor"},
            {"noise",
             at::kFloat,
             {kBatchAxis, channels, "rows", "columns"},
             true,
             "noise that a latent is drawn with"},
            {"latent",
             at::kFloat,
             {kBatchAxis, channels, "latent_rows", "latent_columns"},
             true,
             "scaled, to be decoded"},
            {"probe",
             at::kFloat,
             {kBatchAxis, sizes_.channels, "height", "width"},
             true,
             "factor of the reconstruction in the loss"}};
  }
  std::vector<TensorOutput> tensorOutputs() const override {
    const Axis channels(sizes_.latentChannels);
    const std::vector<Axis> latent{kBatchAxis, channels, "rows", "columns"};
    const std::vector<Axis> image{kBatchAxis, sizes_.channels, "height", "width"};
    return {{"encoder_raw",
             {kBatchAxis, 2 * sizes_.latentChannels, "rows", "columns"},
             {"image"},
             false,
             "the encoder before quant_conv"},
            {"mean", latent, {"image"}},
            {"logvar", latent, {"image"}, false, "of the variance, within [-30, 20]"},
            {"sample", latent, {"image", "noise"}, false, "mean + exp(logvar / 2) noise"},
            {"scaled_latent", latent, {"image", "noise"}, false, "the sample times the scale"},
            {"reconstruction", image, {"image", "noise"}, false, "the decoded sample"},
            {"decoded",
             {kBatchAxis, sizes_.channels, "decoded_height", "decoded_width"},
             {"latent"},
             false,
             "the latent divided by the scale, decoded"},
            {"loss",
             {},
             {"image", "noise", "probe"},
             false,
             "mean(reconstruction probe) + mean((mean^2 + exp(logvar) - 1 - logvar) / 2)"}};
  }
  TensorMap runTensors(const TensorMap& inputs, const std::set<std::string>& wanted) override {
    TensorMap made;
    if (wanted.contains("decoded")) made["decoded"] = decodeLatent(inputs.at("latent") / scale());
    if (!inputs.contains("image")) return made;
    made["encoder_raw"] = encoder_->forward(checked(inputs.at("image")));
    const Latent latent = latentOf(quantised(made.at("encoder_raw")));
    made["mean"] = latent.mean;
    made["logvar"] = latent.logVariance;
    if (!inputs.contains("noise")) return made;
    const at::Tensor sample = latent.draw(inputs.at("noise"));
    made["sample"] = sample;
    if (wanted.contains("scaled_latent")) made["scaled_latent"] = sample * scale();
    if (wanted.contains("reconstruction") || wanted.contains("loss"))
      made["reconstruction"] = decodeLatent(sample);
    if (wanted.contains("loss")) {
      const at::Tensor divergence =
          latent.mean.square() + latent.logVariance.exp() - 1 - latent.logVariance;
      made["loss"] =
          (made.at("reconstruction") * inputs.at("probe")).mean() + (divergence / 2).mean();
    }
    return made;
  }

 private:
  const at::Tensor& checked(const at::Tensor& images) const {
    requireImages(images, sizes_.channels, sizes_.factor());
    return images;
  }
  at::Tensor quantised(const at::Tensor& raw) const { return quant_ ? quant_->forward(raw) : raw; }
  at::Tensor encodeRaw(const at::Tensor& images) const {
    return quantised(encoder_->forward(checked(images)));
  }
  static Latent latentOf(const at::Tensor& both) {
    const std::vector<at::Tensor> parts = both.chunk(2, 1);
    return {parts[0], parts[1].clamp(kLowestLogVariance, kHighestLogVariance)};
  }

  KlSizes sizes_;
  Size image_;
  std::shared_ptr<KlEncoder> encoder_;
  std::shared_ptr<KlDecoder> decoder_;
  std::shared_ptr<nn::Conv2d> quant_, postQuant_;
};

KlSizes sizesOf(const Config& config) {
  KlSizes sizes;
  sizes.channels = config.integer("in_channels");
  sizes.latentChannels = config.integer("latent_channels");
  sizes.widths = config.integers("block_out_channels");
  sizes.blocksPerLevel = config.integer("layers_per_block");
  sizes.groups = config.integer("norm_groups");
  sizes.eps = config.real("norm_eps");
  sizes.midAttention = config.flag("mid_attention") ? MidAttention::Present : MidAttention::None;
  if (sizes.widths.empty() || sizes.levels() > kMostLevels) {
    throw ConfigError("model.block_out_channels has " + std::to_string(sizes.levels()) +
                      " levels; give 1 to " + std::to_string(kMostLevels));
  }
  for (const std::int64_t width : sizes.widths) {
    if (width % sizes.groups == 0) continue;
    throw ConfigError("model.norm_groups = " + std::to_string(sizes.groups) +
                      " does not divide the width " + std::to_string(width) +
                      " of model.block_out_channels; choose a divisor of every width");
  }
  const auto stated = config.maybeInteger("downsample_factor");
  if (stated && *stated != sizes.factor()) {
    throw ConfigError("model.downsample_factor = " + std::to_string(*stated) + ", but " +
                      std::to_string(sizes.levels()) + " levels of block_out_channels make " +
                      std::to_string(sizes.factor()) + "; change one of them");
  }
  return sizes;
}

Schema makeSchema() {
  Schema schema{.fields = codecFields()};
  schema.fields.insert(
      schema.fields.end(),
      {listField("block_out_channels", FieldType::Integer, Json{128, 256, 512, 512},
                 "channels of each level, the finest first; all but the last halve the sides")
           .titled("Channels per level")
           .atLeast(1),
       integerField("layers_per_block", 2,
                    "residual blocks of each level of the encoder; the decoder's have one more")
           .titled("Blocks per level")
           .range(1, 64),
       integerField("norm_groups", 32, "groups of every GroupNorm; divides every width")
           .titled("Groups")
           .atLeast(1),
       realField("norm_eps", 1e-6, "added to the variance in every norm")
           .titled("Norm epsilon")
           .moreThan(0),
       flagField("mid_attention", true, "attention over all places at the coarsest level")
           .titled("Attention in the middle"),
       flagField("quant_convs", true, "1x1 convolutions on both sides of the latent")
           .titled("Convolutions around the latent"),
       integerField(
           "downsample_factor", nullptr,
           "pixels per side of a cell; follows from the levels and is checked against them")
           .titled("Factor")
           .orNone()
           .atLeast(1),
       scaleField(0.18215)});
  schema.presets = {
      {"autoencoder_kl/sd", "Stable Diffusion's f = 8 with 4 channels, as sd-vae-ft-ema",
       Json{{"image_size", Json{256, 256}},
            {"in_channels", 3},
            {"latent_channels", 4},
            {"block_out_channels", Json{128, 256, 512, 512}},
            {"layers_per_block", 2},
            {"norm_groups", 32},
            {"scaling_factor", 0.18215}}},
      {"autoencoder_kl/demo", "f = 4 for grey images of 28 or 32 px on a laptop",
       Json{{"image_size", Json{28, 28}},
            {"in_channels", 1},
            {"latent_channels", 4},
            {"block_out_channels", Json{16, 32, 32}},
            {"layers_per_block", 1},
            {"norm_groups", 8},
            {"scaling_factor", nullptr}}}};
  return schema;
}

}  // namespace

ItemCard KlArchitecture::card() const {
  ItemCard card = itemCard(ItemKind::Architecture, "autoencoder_kl", "KL autoencoder");
  card.paper =
      "Rombach et al. 2022, \"High-Resolution Image Synthesis with Latent Diffusion "
      "Models\", arXiv:2112.10752";
  card.doc = "Residual convolutions between images and a normal distribution over latents";
  card.offers = {LatentCodec::kId, MeasuredScale::kId, TensorProgram::kId};
  card.schema = makeSchema();
  return card;
}

std::shared_ptr<Model> KlArchitecture::build(const Config& config, std::uint64_t seed) const {
  KlSizes sizes = sizesOf(config);
  requireDivisible(config.size("image_size"), sizes.factor());
  const auto quant =
      config.flag("quant_convs") ? QuantConvolutions::Present : QuantConvolutions::None;
  return std::make_shared<KlCodec>(std::move(sizes), quant, config.maybeReal("scaling_factor"),
                                   config.size("image_size"), seed);
}

std::vector<WeightSign> KlArchitecture::weightSigns() const { return klSigns(); }

void registerAll(Registry& registry) {
  registry.add(std::make_unique<KlArchitecture>());
  registry.add(std::make_unique<TaesdArchitecture>());
}

}  // namespace vitrine::autoencoder
