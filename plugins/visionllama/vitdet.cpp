#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/config/item_card.h"
#include "core/model/tensor_program.h"
#include "core/model/weight_source.h"
#include "core/nn/drop_path.h"
#include "core/nn/encoder_schema.h"
#include "core/nn/init.h"
#include "plugins/visionllama/architectures.h"
#include "plugins/visionllama/map_block.h"

namespace vitrine::visionllama {

namespace {

struct VitDetOptions {
  Sides imageSize{1024, 1024}, patchSize{16, 16};
  std::int64_t inChannels = 3, width = 768, depth = 12, heads = 12, hidden = 2048;
  std::int64_t window = 14;
  std::vector<std::int64_t> windowBlocks;
  BlockSettings block;
  RopeSettings rope;
};

/// Maps truncated normal 0.02, the patch kernel as torch begins: runs start from trained weights.
nn::InitRule startOf(std::int64_t patchInputs) {
  return
      [patchInputs](const std::string& name, const at::Tensor& value) -> std::optional<nn::Init> {
        if (name.starts_with("patch_embed.")) return nn::torchDefaultInit(patchInputs);
        if (value.dim() != 2) return std::nullopt;
        return nn::truncatedNormalInit(0.02, 100);
      };
}

struct Network final : torch::nn::Module {
  explicit Network(const VitDetOptions& o) {
    auto embedding = register_module("patch_embed", std::make_shared<torch::nn::Module>());
    projection = embedding->register_module(
        "projection", std::make_shared<nn::PatchEmbed>(o.inChannels, o.patchSize, o.width));
    auto list = register_module("layers", std::make_shared<torch::nn::Module>());
    std::vector<double> rates = nn::dropPathRates(o.block.dropPath, o.depth);
    if (o.block.dropPathRule == nn::DropPathRule::Constant)
      std::fill(rates.begin(), rates.end(), o.block.dropPath);
    for (std::int64_t i = 0; i < o.depth; ++i) {
      MapBlockOptions options{.width = o.width, .heads = o.heads, .hidden = o.hidden};
      const bool isWindowed =
          std::find(o.windowBlocks.begin(), o.windowBlocks.end(), i) != o.windowBlocks.end();
      options.sight = isWindowed ? Sight::Window : Sight::All;
      options.window = o.window;
      options.settings = o.block;
      // The released class hands its MLP no drop path.
      options.attentionDrop = rates[static_cast<std::size_t>(i)];
      options.isFused = true;
      blocks.push_back(
          list->register_module(std::to_string(i), std::make_shared<MapBlock>(options)));
    }
  }
  std::shared_ptr<nn::PatchEmbed> projection;
  std::vector<std::shared_ptr<MapBlock>> blocks;
};

class VitDet final : public Model, public FeaturePyramid, public TensorProgram {
 public:
  VitDet(VitDetOptions options, std::uint64_t seed)
      : options_(std::move(options)),
        rotation_(options_.rope, options_.heads, options_.width / options_.heads),
        network_(std::make_shared<Network>(options_)),
        generator_(at::detail::createCPUGenerator(seed)) {
    nn::initialise(*network_,
                   startOf(options_.inChannels * options_.patchSize[0] * options_.patchSize[1]),
                   seed);
  }

  torch::nn::Module& module() override { return *network_; }
  void setGenerator(const at::Generator& generator) override { generator_ = generator; }
  std::vector<OfferedCapability> capabilities() override {
    return offersOf<FeaturePyramid, TensorProgram>(*this);
  }
  /// The files hold a table of positions that nothing reads.
  void transform(WeightSource& source) override {
    if (source.has("pos_embed")) source.drop("pos_embed");
  }

  std::vector<BlockCost> cost() const override {
    const Sides grid{options_.imageSize[0] / options_.patchSize[0],
                     options_.imageSize[1] / options_.patchSize[1]};
    std::vector<BlockCost> pieces{
        network_->projection->cost(static_cast<double>(grid[0] * grid[1]))};
    pieces[0].name = "patch_embed";
    for (std::size_t i = 0; i < network_->blocks.size(); ++i) {
      const std::string prefix = "layers." + std::to_string(i) + ".";
      for (BlockCost& piece : network_->blocks[i]->cost(grid, prefix, rotation_.name()))
        pieces.push_back(std::move(piece));
    }
    return pieces;
  }

  std::vector<Level> levels(const std::vector<std::int64_t>& blocks) const override {
    for (const std::int64_t block : blocks) {
      if (block < 0 || block >= options_.depth) {
        throw ConfigError("there is no block " + std::to_string(block) +
                          "; the model has blocks 0 to " + std::to_string(options_.depth - 1));
      }
    }
    if (options_.patchSize[0] != options_.patchSize[1])
      throw ConfigError("a feature map has one stride; use square patches");
    return std::vector<Level>(std::max<std::size_t>(blocks.size(), 1),
                              Level{options_.width, options_.patchSize[0]});
  }

  std::vector<at::Tensor> pyramid(const at::Tensor& images,
                                  const std::vector<std::int64_t>& blocks) override {
    (void)levels(blocks);
    const std::vector<at::Tensor> streams = run(images);
    const Sides grid{images.size(2) / options_.patchSize[0],
                     images.size(3) / options_.patchSize[1]};
    if (blocks.empty()) return {mapOf(streams.back(), grid)};
    std::vector<at::Tensor> maps;
    for (const std::int64_t block : blocks)
      maps.push_back(mapOf(streams[static_cast<std::size_t>(block)], grid));
    return maps;
  }

  std::vector<TensorInput> tensorInputs() const override {
    const Sides& image = options_.imageSize;
    return {{"image", at::kFloat, {kBatchAxis, options_.inChannels, image[0], image[1]}, false, ""},
            {"probe_0",
             at::kFloat,
             {kBatchAxis, options_.width, image[0] / options_.patchSize[0],
              image[1] / options_.patchSize[1]},
             true,
             "weights of the map in the loss"}};
  }

  std::vector<TensorOutput> tensorOutputs() const override {
    return {{"map", {kBatchAxis, options_.width, "rows", "columns"}, {}, false, "the last block's"},
            {"loss", {}, {"probe_0"}, false, "mean(map * probe_0)"},
            {"block_<i>", {kBatchAxis, "tokens", options_.width}, {}, true, "after every block"}};
  }

  TensorMap runTensors(const TensorMap& inputs, const std::set<std::string>& wanted) override {
    const at::Tensor& image = inputs.at("image");
    const std::vector<at::Tensor> streams = run(image);
    TensorMap out;
    out["map"] = mapOf(streams.back(), {image.size(2) / options_.patchSize[0],
                                        image.size(3) / options_.patchSize[1]})
                     .contiguous();
    if (wanted.contains("loss")) out["loss"] = (out["map"] * inputs.at("probe_0")).mean();
    if (wanted.contains("block_<i>")) {
      for (std::size_t i = 0; i < streams.size(); ++i)
        out["block_" + std::to_string(i)] = streams[i];
    }
    return out;
  }

 private:
  /// The stream after every block.
  std::vector<at::Tensor> run(const at::Tensor& images) const {
    nn::Stream stream{network_->projection->forward(images), {}};
    const Sides image{images.size(2), images.size(3)};
    const Sides grid{image[0] / options_.patchSize[0], image[1] / options_.patchSize[1]};
    const std::array<double, 2> scale = options_.rope.scaleOf(image);
    const std::array<double, 2> windowScale =
        options_.rope.isWindowScaled ? scale : std::array<double, 2>{1, 1};
    const Sides window{options_.window, options_.window};
    using Base = HeadRotation::Base;
    const auto onDevice = [&](const at::Tensor& made) {
      return made.defined() ? made.to(images.device()) : made;
    };
    GridAngles angles;
    angles.window = onDevice(
        rotation_.angles(nn::gridPositions(window), windowScale, window[1], Base::Training));
    angles.query =
        onDevice(rotation_.angles(nn::gridPositions(grid), scale, grid[1], Base::Scaled));
    std::vector<at::Tensor> streams;
    for (const auto& block : network_->blocks) {
      stream = block->forward(stream, {grid, &angles, generator_, {}});
      stream = {stream.sum(), {}};
      streams.push_back(stream.x);
    }
    return streams;
  }

  VitDetOptions options_;
  HeadRotation rotation_;
  std::shared_ptr<Network> network_;
  at::Generator generator_;
};

Schema makeSchema() {
  Schema schema;
  for (Field& field : nn::sizeFields()) {
    if (field.name == "num_classes") continue;
    if (field.name == "image_size") field.defaultValue = Json{1024, 1024};
    schema.fields.push_back(std::move(field));
  }
  schema.fields.push_back(
      integerField("feedforward_channels", nullptr,
                   "width from which the released code computes mlp_width, where that is none: 8/3 "
                   "of it rounded up to a multiple of 256")
          .titled("Feed-forward channels")
          .range(1, 1048576)
          .orNone()
          .withUnit("channels"));
  for (Field& field : blockFields(1e-6, "linear")) {
    if (field.name == "mlp")
      field =
          choiceField("mlp", "swiglu", {"swiglu"}, "feed-forward part of a block").titled("MLP");
    if (field.name == "mlp_bias")
      field = flagField("mlp_bias", true, "biases of the MLP's maps").titled("MLP bias");
    if (field.name == "layer_scale") field.defaultValue = nullptr;
    if (field.name == "drop_path") field.doc = "rate at which the attention is dropped per image";
    schema.fields.push_back(std::move(field));
  }
  schema.fields.push_back(integerField("window", 14, "tokens along a side of a window")
                              .titled("Window")
                              .range(1, 4096)
                              .withUnit("tokens"));
  schema.fields.push_back(listField("window_blocks", FieldType::Integer,
                                    Json{0, 1, 3, 4, 6, 7, 9, 10},
                                    "blocks that see windows; the others see all tokens")
                              .titled("Windowed blocks")
                              .atLeast(0));
  Field rope = ropeField(RopeUse::Windowed);
  rope.fields.push_back(
      choiceField("window_positions", "local", {"local"}, "start of positions in a window")
          .titled("Window positions"));
  schema.fields.push_back(std::move(rope));
  schema.rules = nn::commonRules();
  schema.presets.push_back({"visionllama/vitdet_b", "VisionLLaMA-B for detection at 1024 px",
                            Json{{"image_size", Json{1024, 1024}},
                                 {"patch_size", Json{16, 16}},
                                 {"in_channels", 3},
                                 {"width", 768},
                                 {"depth", 12},
                                 {"heads", 12},
                                 {"drop_path", 0.1}}});
  return schema;
}

}  // namespace

ItemCard VitDetArchitecture::card() const {
  ItemCard card =
      itemCard(ItemKind::Architecture, "visionllama_vitdet", "VisionLLaMA, detection backbone");
  card.paper = kPaper;
  card.doc = "The plain model on large images: most blocks see windows, some see all tokens";
  card.offers = {FeaturePyramid::kId, TensorProgram::kId};
  card.schema = makeSchema();
  return card;
}

std::shared_ptr<Model> VitDetArchitecture::build(const Config& config, std::uint64_t seed) const {
  VitDetOptions o;
  o.imageSize = config.size("image_size");
  o.patchSize = config.size("patch_size");
  o.inChannels = config.integer("in_channels");
  o.width = config.integer("width");
  o.depth = config.integer("depth");
  o.heads = config.integer("heads");
  o.block = blockSettingsOf(config);
  o.hidden = o.block.usualHidden(o.width);
  // The released code means 8/3 of four times the width.
  if (const auto wide = config.maybeInteger("feedforward_channels"))
    o.hidden = nn::swiGluHidden(*wide, 256);
  o.hidden = config.maybeInteger("mlp_width").value_or(o.hidden);
  o.window = config.integer("window");
  o.windowBlocks = config.integers("window_blocks");
  for (const std::int64_t block : o.windowBlocks) {
    if (block >= o.depth) {
      throw ConfigError("window_blocks names block " + std::to_string(block) + ", and a depth of " +
                        std::to_string(o.depth) + " has blocks 0 to " +
                        std::to_string(o.depth - 1));
    }
  }
  o.rope = ropeSettingsOf(config, o.imageSize, o.patchSize);
  return std::make_shared<VitDet>(std::move(o), seed);
}

std::vector<WeightSign> VitDetArchitecture::weightSigns() const {
  return {{"a VisionLLaMA of the MAE code", {"ffn.w12."}}};
}

}  // namespace vitrine::visionllama
