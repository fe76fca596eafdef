#include <ATen/ATen.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/config/item_card.h"
#include "core/model/build_device.h"
#include "core/nn/cost.h"
#include "plugins/autoencoder/architectures.h"
#include "plugins/autoencoder/codec_parts.h"

namespace vitrine::autoencoder {

namespace {

constexpr double kClamp = 3;  // latents go through 3 tanh(x / 3)
constexpr const char* kImageLow = "image_low";

struct TaesdSizes {
  std::int64_t channels = 3, latentChannels = 4, width = 64;
  std::int64_t stages = 3;  ///< halvings
  std::int64_t blocks = 3;  ///< at each resolution but the finest, which has one
  [[nodiscard]] std::int64_t factor() const { return std::int64_t{1} << stages; }
};

double pixelsOf(Size size) { return static_cast<double>(size[0] * size[1]); }

/// A piece of a half, by its number there.
struct Piece : torch::nn::Module {
  [[nodiscard]] virtual at::Tensor forward(const at::Tensor& x) const = 0;
  /// \param size  in front of it \returns  with the size behind it
  [[nodiscard]] virtual std::pair<BlockCost, Size> cost(Size size) const = 0;
};

/// relu(conv(relu(conv(relu(conv(x))))) + x)
struct ReluBlock final : Piece {
  explicit ReluBlock(std::int64_t width) {
    for (const char* name : {"conv.0", "conv.2", "conv.4"})
      convs.push_back(place(*this, name, convolution(width, width, 3, 1, 1)));
  }
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const override {
    at::Tensor hidden = at::relu(convs[0]->forward(x));
    hidden = at::relu(convs[1]->forward(hidden));
    return at::relu(convs[2]->forward(hidden) + x);
  }
  [[nodiscard]] std::pair<BlockCost, Size> cost(Size size) const override {
    BlockCost cost;
    for (const auto& conv : convs) nn::addNumbers(cost, conv->cost(size));
    const double values = pixelsOf(size) * static_cast<double>(convs[0]->weight.size(0));
    cost.flops += 4 * values;
    cost.activationBytes += nn::kFloatBytes * values;
    cost.kind =
        "block:three convolutions, " + std::to_string(convs[0]->weight.size(0)) + " channels";
    return {cost, size};
  }
  std::vector<std::shared_ptr<nn::Conv2d>> convs;
};

/// One convolution under the name of the piece itself.
struct ConvPiece final : Piece {
  ConvPiece(std::int64_t in, std::int64_t out, std::int64_t strideHere, nn::Bias hasBias)
      : stride(strideHere), conv(convolution(in, out, 3, stride, 1, hasBias)) {
    weight = register_parameter("weight", conv->weight);
    if (conv->bias.defined()) bias = register_parameter("bias", conv->bias);
  }
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const override {
    return at::conv2d(x, weight, bias, {stride, stride}, {1, 1});
  }
  [[nodiscard]] std::pair<BlockCost, Size> cost(Size size) const override {
    const Size behind{size[0] / stride, size[1] / stride};
    return {conv->cost(behind), behind};
  }
  std::int64_t stride;
  std::shared_ptr<nn::Conv2d> conv;  // not registered: it has the cost, this the parameters
  at::Tensor weight, bias;
};

/// Something without parameters.
struct Function final : Piece {
  enum class Kind { Clamp, Relu, Double };
  explicit Function(Kind which) : kind(which) {}
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const override {
    switch (kind) {
      case Kind::Clamp:
        return (x / kClamp).tanh() * kClamp;
      case Kind::Relu:
        return at::relu(x);
      case Kind::Double:
        return at::upsample_nearest2d(x, {2 * x.size(2), 2 * x.size(3)});
    }
    return x;
  }
  [[nodiscard]] std::pair<BlockCost, Size> cost(Size size) const override {
    if (kind == Kind::Double) size = {2 * size[0], 2 * size[1]};
    return {{}, size};
  }
  Kind kind;
};

/// Pieces in a row, named by their place: encoder or decoder.
struct Half final : torch::nn::Module {
  template <class Made, class... Arguments>
  void add(Arguments... arguments) {
    auto piece = std::make_shared<Made>(arguments...);
    pieces.push_back(register_module(std::to_string(pieces.size()), piece));
  }
  [[nodiscard]] at::Tensor forward(at::Tensor x) const {
    for (const auto& piece : pieces) x = piece->forward(x);
    return x;
  }
  Size cost(const std::string& name, Size size, std::vector<BlockCost>& all) const {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      auto [cost, behind] = pieces[i]->cost(size);
      size = behind;
      if (cost.parameters == 0) continue;
      cost.name = name + "." + std::to_string(i);
      all.push_back(std::move(cost));
    }
    return size;
  }
  std::vector<std::shared_ptr<Piece>> pieces;
};

std::shared_ptr<Half> makeEncoder(const TaesdSizes& sizes) {
  auto half = std::make_shared<Half>();
  half->add<ConvPiece>(sizes.channels, sizes.width, 1, nn::Bias::Present);
  half->add<ReluBlock>(sizes.width);
  for (std::int64_t i = 0; i < sizes.stages; ++i) {
    half->add<ConvPiece>(sizes.width, sizes.width, 2, nn::Bias::None);
    for (std::int64_t j = 0; j < sizes.blocks; ++j) half->add<ReluBlock>(sizes.width);
  }
  half->add<ConvPiece>(sizes.width, sizes.latentChannels, 1, nn::Bias::Present);
  return half;
}

std::shared_ptr<Half> makeDecoder(const TaesdSizes& sizes) {
  auto half = std::make_shared<Half>();
  half->add<Function>(Function::Kind::Clamp);
  half->add<ConvPiece>(sizes.latentChannels, sizes.width, 1, nn::Bias::Present);
  half->add<Function>(Function::Kind::Relu);
  for (std::int64_t i = 0; i < sizes.stages; ++i) {
    for (std::int64_t j = 0; j < sizes.blocks; ++j) half->add<ReluBlock>(sizes.width);
    half->add<Function>(Function::Kind::Double);
    half->add<ConvPiece>(sizes.width, sizes.width, 1, nn::Bias::None);
  }
  half->add<ReluBlock>(sizes.width);
  half->add<ConvPiece>(sizes.width, sizes.channels, 1, nn::Bias::Present);
  return half;
}

/// Black of images when their white is 1. In a model of an unknown naming it is a buffer, which the
/// names of a weight file decide and checkpoints keep.
enum class PixelRange { Auto, Unit, Signed };

class Taesd final : public Codec {
 public:
  Taesd(const TaesdSizes& sizes, PixelRange range, std::optional<double> scale, Size image,
        std::uint64_t seed)
      : Codec(scale),
        sizes_(sizes),
        range_(range),
        image_(image),
        encoder_(register_module("encoder", makeEncoder(sizes))),
        decoder_(register_module("decoder", makeDecoder(sizes))) {
    low_ = builtTensor({}, range == PixelRange::Signed ? -1 : 0);
    if (range == PixelRange::Auto) low_ = register_buffer(kImageLow, low_);
    initialiseAsTorch(*this, seed);
  }

  std::vector<BlockCost> cost() const override {
    std::vector<BlockCost> all;
    decoder_->cost("decoder", encoder_->cost("encoder", image_, all), all);
    return all;
  }

  void transform(WeightSource& source) override {
    // diffusers counts without the clamp, which has no weights.
    static const std::string kEncoder = "encoder.layers.", kDecoder = "decoder.layers.";
    bool isTheirs = false;
    for (const std::string& name : source.names()) {
      const bool isDecoder = name.starts_with(kDecoder);
      if (!isDecoder && !name.starts_with(kEncoder)) continue;
      const std::size_t digits = kEncoder.size(), end = name.find('.', digits);
      if (end == std::string::npos || end == digits || end > digits + 3 ||
          name.find_first_not_of("0123456789", digits) != end)
        continue;
      const std::int64_t number = std::stoll(name.substr(digits, end - digits));
      source.rename(name, (isDecoder ? "decoder." : "encoder.") +
                              std::to_string(number + (isDecoder ? 1 : 0)) + name.substr(end));
      isTheirs = true;
    }
    if (!source.has("encoder.0.weight")) return;
    scale_.complete(source);
    if (range_ != PixelRange::Auto) {
      if (source.has(kImageLow)) source.drop(kImageLow);
    } else if (!source.has(kImageLow)) {
      source.add(kImageLow, {}, [isTheirs] { return at::full({}, isTheirs ? -1.0 : 0.0); }, {});
    }
  }

  Pixels pixels() const override {
    // A model without memory, whose cost is counted, has no values to read.
    const double first = range_ == PixelRange::Signed ? -1 : 0;
    return {sizes_.channels, low_.is_meta() ? first : seenLow_.of(low_).item<double>(), 1};
  }
  std::int64_t factor() const override { return sizes_.factor(); }
  std::int64_t latentChannels() const override { return sizes_.latentChannels; }

  Latent encodeLatent(const at::Tensor& images) override {
    requireImages(images, sizes_.channels, sizes_.factor());
    const at::Tensor low = low_.to(images.device());
    return {encoder_->forward((images - low) / (1 - low)), {}};
  }
  at::Tensor decodeLatent(const at::Tensor& latent) override {
    requireLatents(latent, sizes_.latentChannels);
    const at::Tensor low = low_.to(latent.device());
    return decoder_->forward(latent) * (1 - low) + low;
  }

  std::vector<TensorInput> tensorInputs() const override {
    const std::vector<Axis> image{kBatchAxis, sizes_.channels, "height", "width"};
    return {{"image", at::kFloat, image, true, "sides multiples of the factor"},
            {"latent",
             at::kFloat,
             {kBatchAxis, sizes_.latentChannels, "rows", "columns"},
             true,
             "scaled, to be decoded"},
            {"probe", at::kFloat, image, true, "factor of the decoded images in the loss"}};
  }
  std::vector<TensorOutput> tensorOutputs() const override {
    const std::vector<Axis> image{kBatchAxis, sizes_.channels, "height", "width"};
    return {{"latent",
             {kBatchAxis, sizes_.latentChannels, "rows", "columns"},
             {"image"},
             false,
             "of the image, scaled"},
            {"reconstruction", image, {"image"}, false, "the latent of the image, decoded"},
            {"decoded", image, {"latent"}, false, "the latent that is given, decoded"},
            {"loss",
             {},
             {"image", "latent"},
             false,
             "mean(reconstruction probe) + mean(decoded probe); without a probe mean(latent^2) + "
             "mean(decoded^2)"}};
  }
  TensorMap runTensors(const TensorMap& inputs, const std::set<std::string>& wanted) override {
    TensorMap made;
    const bool hasImage = inputs.contains("image"), hasLatent = inputs.contains("latent");
    const bool hasProbe = inputs.contains("probe"), isLoss = wanted.contains("loss");
    if (hasLatent && (wanted.contains("decoded") || isLoss))
      made["decoded"] = decodeLatent(inputs.at("latent") / scale());
    if (!hasImage) return made;
    const at::Tensor latent = encodeLatent(inputs.at("image")).mean;
    made["latent"] = latent * scale();
    if (wanted.contains("reconstruction") || (isLoss && hasProbe))
      made["reconstruction"] = decodeLatent(latent);
    if (!isLoss) return made;
    const at::Tensor& decoded = made.at("decoded");
    if (hasProbe) {
      const at::Tensor& probe = inputs.at("probe");
      made["loss"] = (made.at("reconstruction") * probe).mean() + (decoded * probe).mean();
    } else {
      made["loss"] = made.at("latent").square().mean() + decoded.square().mean();
    }
    return made;
  }

 private:
  TaesdSizes sizes_;
  PixelRange range_;
  Size image_;
  std::shared_ptr<Half> encoder_, decoder_;
  at::Tensor low_;  // []
  HostCopy seenLow_;
};

TaesdSizes sizesOf(const Config& config) {
  TaesdSizes sizes;
  sizes.channels = config.integer("in_channels");
  sizes.latentChannels = config.integer("latent_channels");
  sizes.width = config.integer("width");
  sizes.blocks = config.integer("layers_per_block");
  const std::int64_t factor = config.integer("downsample_factor");
  sizes.stages = 0;
  while (sizes.factor() < factor) ++sizes.stages;
  if (sizes.factor() != factor) {
    throw ConfigError("model.downsample_factor = " + std::to_string(factor) +
                      " is not a power of two; the codec halves the sides, use " +
                      std::to_string(sizes.factor() / 2) + " or " + std::to_string(sizes.factor()));
  }
  return sizes;
}

Schema makeSchema() {
  Schema schema{.fields = codecFields()};
  schema.fields.insert(
      schema.fields.end(),
      {integerField("width", 64, "channels of every layer between").titled("Width").atLeast(1),
       integerField("layers_per_block", 3,
                    "blocks of three convolutions at each coarser resolution")
           .titled("Blocks per level")
           .range(1, 64),
       integerField("downsample_factor", 8, "pixels per side of a cell, a power of two")
           .titled("Factor")
           .range(1, 256),
       choiceField("pixel_range", "auto", {"auto", "unit", "signed"},
                   "black and white of the images that it reads and makes")
           .titled("Pixel range")
           .withChoiceDocs({"[0, 1], and [-1, 1] with weights under diffusers' names",
                            "[0, 1], as taesd.py", "[-1, 1], as diffusers"}),
       scaleField(1.0)});
  schema.presets = {{"taesd/sd", "the released size: f = 8, 4 channels, 64 wide",
                     Json{{"image_size", Json{256, 256}},
                          {"in_channels", 3},
                          {"latent_channels", 4},
                          {"width", 64},
                          {"layers_per_block", 3},
                          {"downsample_factor", 8},
                          {"scaling_factor", 1.0}}},
                    {"taesd/demo", "f = 4 for grey images of 28 or 32 px on a laptop",
                     Json{{"image_size", Json{28, 28}},
                          {"in_channels", 1},
                          {"latent_channels", 4},
                          {"width", 32},
                          {"layers_per_block", 1},
                          {"downsample_factor", 4},
                          {"scaling_factor", nullptr}}}};
  return schema;
}

}  // namespace

ItemCard TaesdArchitecture::card() const {
  ItemCard card = itemCard(ItemKind::Architecture, "taesd", "TAESD");
  card.paper = "madebyollin/taesd";
  card.doc = "A small autoencoder of convolutions and ReLU in the latent space of a larger one";
  card.offers = {LatentCodec::kId, MeasuredScale::kId, TensorProgram::kId};
  card.schema = makeSchema();
  return card;
}

std::shared_ptr<Model> TaesdArchitecture::build(const Config& config, std::uint64_t seed) const {
  const TaesdSizes sizes = sizesOf(config);
  requireDivisible(config.size("image_size"), sizes.factor());
  const std::string range = config.text("pixel_range");
  return std::make_shared<Taesd>(sizes,
                                 range == "auto"   ? PixelRange::Auto
                                 : range == "unit" ? PixelRange::Unit
                                                   : PixelRange::Signed,
                                 config.maybeReal("scaling_factor"), config.size("image_size"),
                                 seed);
}

std::vector<WeightSign> TaesdArchitecture::weightSigns() const {
  return {
      {"a TAESD with the names of taesd.py", {"encoder.1.conv.0.", "decoder.3.conv.0."}},
      {"a TAESD with diffusers' names", {"encoder.layers.1.conv.0.", "decoder.layers.2.conv.0."}}};
}

}  // namespace vitrine::autoencoder
