#include "plugins/visionllama/pyramid_model.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/model/chosen_layers.h"
#include "core/nn/cost.h"
#include "core/nn/drop_path.h"
#include "core/nn/init.h"

namespace vitrine::visionllama {

namespace {

/// A depthwise convolution added to its input, called proj.0.
struct PositionGenerator final : torch::nn::Module {
  explicit PositionGenerator(std::int64_t width) {
    auto list = register_module("proj", std::make_shared<torch::nn::Module>());
    convolution = list->register_module("0", std::make_shared<nn::Conv2d>(nn::ConvolutionOptions{
                                                 width, width, {3, 3}, {1, 1}, {1, 1}, width}));
  }
  [[nodiscard]] at::Tensor forward(const at::Tensor& tokens, Sides grid) const {
    const at::Tensor map = mapOf(tokens, grid).contiguous();
    return tokens + convolution->forward(map).flatten(2).transpose(1, 2);
  }
  std::shared_ptr<nn::Conv2d> convolution;
};

/// Maps truncated normal 0.02 (cut at +-2), kernels normal with variance 2 / fan-out, the rest as
/// its layer has it.
std::optional<nn::Init> pyramidInit(const std::string& name, const at::Tensor& value) {
  if (value.dim() == 2) return nn::truncatedNormalInit(0.02, 100);
  if (value.dim() != 4) return std::nullopt;
  const bool isDepthwise = name.starts_with("pegs.");
  const std::int64_t fanOut = value.size(2) * value.size(3) * (isDepthwise ? 1 : value.size(0));
  return nn::normalInit(std::sqrt(2.0 / static_cast<double>(fanOut)));
}

/// The grid of a stage, or nothing where patches or cells do not tile the image.
std::optional<Sides> gridIn(const PyramidOptions& o, Sides image, std::size_t stage) {
  const std::int64_t stride = o.stride(stage), whole = stride * o.stages[stage].reduction;
  if (image[0] % whole != 0 || image[1] % whole != 0) return std::nullopt;
  return Sides{image[0] / stride, image[1] / stride};
}

/// Why gridIn() has nothing, and which sides are right.
std::string misfitText(const PyramidOptions& o, Sides image, std::size_t stage) {
  std::int64_t multiple = 1;
  for (std::size_t s = 0; s < o.stages.size(); ++s)
    multiple = std::lcm(multiple, o.stride(s) * o.stages[s].reduction);
  const std::int64_t stride = o.stride(stage), reduction = o.stages[stage].reduction;
  const bool isTiled = image[0] % stride == 0 && image[1] % stride == 0;
  const std::string parts =
      isTiled ? "cells of " + formatSides({reduction, reduction}) +
                    " tokens (gsa_reduction) do not "
                    "tile its grid of " +
                    formatSides({image[0] / stride, image[1] / stride})
              : "patches of " + formatSides({stride, stride}) + " pixels do not tile it";
  return "stage " + std::to_string(stage) + " cannot read an image of " + formatSides(image) +
         " pixels: " + parts + "; use sides that are multiples of " + std::to_string(multiple);
}

}  // namespace

struct PyramidModel::Network final : torch::nn::Module {
  explicit Network(const PyramidOptions& o) {
    std::int64_t blocksBefore = 0, depth = 0;
    for (const StageOptions& stage : o.stages) depth += stage.depth;
    std::vector<double> rates = nn::dropPathRates(o.block.dropPath, depth);
    if (o.block.dropPathRule == nn::DropPathRule::Constant)
      std::fill(rates.begin(), rates.end(), o.block.dropPath);
    auto embeddings = register_module("patch_embeds", std::make_shared<torch::nn::Module>());
    auto lists = register_module("blocks", std::make_shared<torch::nn::Module>());
    const auto addNorm = [&](torch::nn::Module& to, const std::string& name, std::int64_t width) {
      return to.register_module(name,
                                std::make_shared<nn::Norm>(o.block.norm, width, o.block.normEps));
    };
    std::shared_ptr<torch::nn::Module> pegList, normList;
    if (o.hasPeg) pegList = register_module("pegs", std::make_shared<torch::nn::Module>());
    if (o.hasStageNorms)
      normList = register_module("norm_list", std::make_shared<torch::nn::Module>());
    std::int64_t channels = o.inChannels;
    for (std::size_t s = 0; s < o.stages.size(); ++s) {
      const StageOptions& stage = o.stages[s];
      const std::string number = std::to_string(s);
      const std::int64_t side = s == 0 ? o.patchSize : 2;
      auto embedding = embeddings->register_module(number, std::make_shared<torch::nn::Module>());
      patches.push_back(embedding->register_module(
          "proj", std::make_shared<nn::PatchEmbed>(channels, Sides{side, side}, stage.width)));
      patchNorms.push_back(addNorm(*embedding, "norm", stage.width));
      auto list = lists->register_module(number, std::make_shared<torch::nn::Module>());
      blocks.emplace_back();
      for (std::int64_t j = 0; j < stage.depth; ++j) {
        const double rate = rates[static_cast<std::size_t>(blocksBefore + j)];
        const MapBlockOptions options{
            stage.width, stage.heads,     stage.hidden, j % 2 == 0 ? Sight::Window : Sight::Cells,
            o.window,    stage.reduction, o.block,      rate,
            rate};
        blocks.back().push_back(
            list->register_module(std::to_string(j), std::make_shared<MapBlock>(options)));
      }
      if (pegList) {
        pegs.push_back(
            pegList->register_module(number, std::make_shared<PositionGenerator>(stage.width)));
      }
      if (normList) stageNorms.push_back(addNorm(*normList, number, stage.width));
      blocksBefore += stage.depth;
      channels = stage.width;
    }
    if (o.classes < 1) return;
    norm = addNorm(*this, "norm", channels);
    head = register_module("head", std::make_shared<nn::Linear>(channels, o.classes));
  }

  std::vector<std::shared_ptr<nn::PatchEmbed>> patches;
  std::vector<std::shared_ptr<nn::Norm>> patchNorms, stageNorms;
  std::vector<std::vector<std::shared_ptr<MapBlock>>> blocks;
  std::vector<std::shared_ptr<PositionGenerator>> pegs;
  std::shared_ptr<nn::Norm> norm;
  std::shared_ptr<nn::Linear> head;
};

PyramidModel::PyramidModel(PyramidOptions options, std::uint64_t seed)
    : options_(std::move(options)) {
  checkSizes();
  for (const StageOptions& stage : options_.stages)
    rotations_.emplace_back(options_.rope, stage.heads, stage.width / stage.heads);
  network_ = std::make_shared<Network>(options_);
  nn::initialise(*network_, pyramidInit, seed);
  generator_ = at::detail::createCPUGenerator(seed);
}
PyramidModel::~PyramidModel() = default;

void PyramidModel::checkSizes() const {
  if (options_.stages.empty()) throw ConfigError("a pyramid has at least one stage; give width");
  for (std::size_t s = 0; s < options_.stages.size(); ++s) {
    const StageOptions& stage = options_.stages[s];
    const std::string where = " of stage " + std::to_string(s) + " is ";
    const std::pair<const char*, std::int64_t> numbers[] = {{"width", stage.width},
                                                            {"depth", stage.depth},
                                                            {"heads", stage.heads},
                                                            {"mlp_width", stage.hidden},
                                                            {"gsa_reduction", stage.reduction}};
    for (const auto& [key, value] : numbers) {
      if (value < 1)
        throw ConfigError(key + where + std::to_string(value) + "; it must be at least 1");
    }
    if (stage.width % stage.heads != 0) {
      throw ConfigError("heads" + where + std::to_string(stage.heads) +
                        ", which does not divide its width " + std::to_string(stage.width));
    }
    if (!gridIn(options_, options_.imageSize, s))
      throw ConfigError(misfitText(options_, options_.imageSize, s));
  }
}

torch::nn::Module& PyramidModel::module() { return *network_; }

std::vector<BlockCost> PyramidModel::cost() const {
  std::vector<BlockCost> pieces;
  const auto add = [&](BlockCost cost, const std::string& name) {
    cost.name = name;
    pieces.push_back(std::move(cost));
  };
  double last = 0;
  for (std::size_t s = 0; s < options_.stages.size(); ++s) {
    const Sides grid = *gridIn(options_, options_.imageSize, s);
    const double tokens = static_cast<double>(grid[0] * grid[1]);
    const std::string number = std::to_string(s);
    add(network_->patches[s]->cost(tokens), "patch_embeds." + number + ".proj");
    add(network_->patchNorms[s]->cost(tokens), "patch_embeds." + number + ".norm");
    for (std::size_t j = 0; j < network_->blocks[s].size(); ++j) {
      const std::string prefix = "blocks." + number + "." + std::to_string(j) + ".";
      for (BlockCost& piece : network_->blocks[s][j]->cost(grid, prefix, rotations_[s].name()))
        pieces.push_back(std::move(piece));
      if (j == 0 && options_.hasPeg) {
        BlockCost peg = network_->pegs[s]->convolution->cost(grid);
        peg.kind = "position:depthwise 3 x 3";
        peg.flops += tokens * static_cast<double>(options_.stages[s].width);
        add(peg, "pegs." + number);
      }
    }
    if (options_.hasStageNorms) add(network_->stageNorms[s]->cost(tokens), "norm_list." + number);
    last = tokens;
  }
  if (!network_->head) return pieces;
  add(network_->norm->cost(last), "norm");
  BlockCost head = network_->head->cost(1);
  head.kind = "head:" + std::to_string(options_.classes) + " classes";
  add(head, "head");
  return pieces;
}

std::vector<std::pair<std::string, ParameterInfo>> PyramidModel::parameterInfo() {
  std::vector<std::int64_t> first;  // layers before the blocks of a stage
  std::int64_t depth = 0;
  for (const StageOptions& stage : options_.stages) {
    first.push_back(1 + depth);
    depth += stage.depth;
  }
  first.push_back(1 + depth);
  auto infos = Model::parameterInfo();
  for (auto& [name, info] : infos) {
    info.layers = depth + 2;
    info.layer = depth + 1;
    const std::size_t dot = name.find('.');
    const std::string kind = name.substr(0, dot);
    if (kind == "norm" || kind == "head") continue;
    const std::size_t end = name.find('.', dot + 1);
    const auto stage = static_cast<std::size_t>(std::stoul(name.substr(dot + 1, end - dot - 1)));
    // What stands between two blocks is of the one that follows.
    if (kind == "patch_embeds") info.layer = stage == 0 ? 0 : first[stage];
    if (kind == "pegs") info.layer = first[stage] + 1;
    if (kind == "norm_list") info.layer = first[stage + 1];
    if (kind == "blocks") info.layer = first[stage] + std::stol(name.substr(end + 1));
  }
  return infos;
}

Sides PyramidModel::gridOf(const at::Tensor& images, std::size_t stage) const {
  if (images.dim() != 4 || images.size(1) != options_.inChannels) {
    throw ShapeError("images " + c10::str(images.sizes()) + " do not fit a model of " +
                     std::to_string(options_.inChannels) +
                     " channels; images are [batch, channels, height, width]");
  }
  const Sides size{images.size(2), images.size(3)};
  const std::optional<Sides> grid = gridIn(options_, size, stage);
  if (!grid) throw ShapeError(misfitText(options_, size, stage));
  return *grid;
}

const GridAngles& PyramidModel::anglesOf(std::size_t stage, Sides grid, at::Device device) {
  const std::array<std::int64_t, 3> key{static_cast<std::int64_t>(stage), grid[0], grid[1]};
  const auto known = angles_.find(key);
  if (known != angles_.end() && known->second.first == device) return known->second.second;
  constexpr std::size_t kMostGrids = 64;
  if (angles_.size() >= kMostGrids) angles_.clear();
  const RopeSettings& rope = options_.rope;
  const HeadRotation& heads = rotations_[stage];
  const std::int64_t stride = options_.stride(stage), cell = options_.stages[stage].reduction;
  std::array<double, 2> scale = rope.scaleOf({grid[0] * stride, grid[1] * stride});
  if (rope.scale == RopeScale::Anchor && rope.anchorMode == AnchorMode::Fourteen)
    scale[0] = scale[1] = 14.0 / static_cast<double>(grid[0]);
  const std::array<double, 2> windowScale =
      rope.isWindowScaled ? scale : std::array<double, 2>{1, 1};
  const Sides window{options_.window, options_.window};
  using Base = HeadRotation::Base;
  const auto onDevice = [&](const at::Tensor& made) {
    return made.defined() ? made.to(device) : made;
  };
  GridAngles angles;
  angles.window =
      onDevice(heads.angles(nn::gridPositions(window), windowScale, window[1], Base::Training));
  angles.query = onDevice(heads.angles(nn::gridPositions(grid), scale, grid[1], Base::Scaled));
  const Base keyBase = rope.isNtkOfKeys ? Base::Scaled : Base::Training;
  angles.key =
      cell == 1 && keyBase == Base::Scaled
          ? angles.query
          : onDevice(heads.angles(
                keyPositions(options_.keyPlaces, {grid[0] / cell, grid[1] / cell}, cell, grid[1]),
                scale, grid[1], keyBase));
  return angles_.insert_or_assign(key, std::pair(device, angles)).first->second.second;
}

std::vector<at::Tensor> PyramidModel::run(const at::Tensor& images, const Watch& watch) {
  std::vector<at::Tensor> all;
  at::Tensor map = images;
  std::int64_t layer = 0;
  for (std::size_t s = 0; s < options_.stages.size(); ++s) {
    const Sides grid = gridOf(images, s);
    const GridAngles angles = anglesOf(s, grid, images.device());
    nn::Stream stream{network_->patchNorms[s]->forward(network_->patches[s]->forward(map)), {}};
    for (std::size_t j = 0; j < network_->blocks[s].size(); ++j, ++layer) {
      const MapBlock& block = *network_->blocks[s][j];
      MapCall call{grid, &angles, generator_, {}};
      if (isTapped(layer) || watch.attention) {
        call.tap = [&, layer](const at::Tensor& softmax) {
          if (watch.attention) watch.attention(layer, softmax);
          if (isTapped(layer)) report(layer, block.options(), grid, softmax);
        };
      }
      stream = block.forward(stream, call);
      if (watch.block) {
        stream = {stream.sum(), {}};
        watch.block(s, j, stream.x);
      }
      if (j == 0 && options_.hasPeg) {
        stream = {network_->pegs[s]->forward(stream.sum(), grid), {}};
        if (watch.peg) watch.peg(s, stream.x);
      }
    }
    at::Tensor tokens = stream.sum();
    if (options_.hasStageNorms) tokens = network_->stageNorms[s]->forward(tokens);
    all.push_back(tokens);
    map = mapOf(tokens, grid);
  }
  return all;
}

at::Tensor PyramidModel::normed(const at::Tensor& features) const {
  return network_->norm->forward(features);
}
at::Tensor PyramidModel::pooled(const at::Tensor& tokens) const { return normed(tokens).mean(1); }
at::Tensor PyramidModel::classified(const at::Tensor& features) const {
  return network_->head->forward(features);
}

std::vector<FeaturePyramid::Level> PyramidModel::levels(
    const std::vector<std::int64_t>& blocks) const {
  if (!blocks.empty()) {
    throw ConfigError("the levels of this model are its " + std::to_string(options_.stages.size()) +
                      " stages; name no blocks, that is for plain models");
  }
  std::vector<Level> levels;
  for (std::size_t s = 0; s < options_.stages.size(); ++s)
    levels.push_back({options_.stages[s].width, options_.stride(s)});
  return levels;
}

std::vector<at::Tensor> PyramidModel::pyramid(const at::Tensor& images,
                                              const std::vector<std::int64_t>& blocks) {
  (void)levels(blocks);
  std::vector<at::Tensor> maps = run(images, {});
  for (std::size_t s = 0; s < maps.size(); ++s) maps[s] = mapOf(maps[s], gridOf(images, s));
  return maps;
}

std::int64_t PyramidModel::attentionLayers() const {
  std::int64_t depth = 0;
  for (const StageOptions& stage : options_.stages) depth += stage.depth;
  return depth;
}

std::int64_t PyramidModel::attentionHeads(std::int64_t layer) const {
  for (const StageOptions& stage : options_.stages) {
    if (layer < stage.depth) return stage.heads;
    layer -= stage.depth;
  }
  throw ConfigError("there is no attention layer so high; the model has " +
                    std::to_string(attentionLayers()));
}

void PyramidModel::setAttentionTap(std::shared_ptr<const AttentionTap> tap) {
  tap_ = std::move(tap);
}

bool PyramidModel::isTapped(std::int64_t layer) const {
  return tap_ && isChosenLayer(tap_->layers, layer);
}

void PyramidModel::report(std::int64_t layer, const MapBlockOptions& block, Sides grid,
                          const at::Tensor& softmax) const {
  AttentionRecord record{.layer = layer};
  if (block.sight != Sight::Window) {
    record.weights = softmax;
    record.queryPositions = nn::gridPositions(grid);
    // Where a cell is, whatever its key turns by.
    const std::int64_t cell = block.reduction;
    record.keyPositions = nn::cellPositions({grid[0] / cell, grid[1] / cell}, cell);
    tap_->receive(record);
    return;
  }
  const Sides count = windowsOf(grid, block.window);
  const at::Tensor inside = nn::gridPositions({block.window, block.window});
  for (std::int64_t w = 0; w < count[0] * count[1]; ++w) {
    const at::Tensor corner = at::tensor(
        std::vector<std::int64_t>{w / count[1] * block.window, w % count[1] * block.window});
    const at::Tensor places = inside + corner;
    const at::Tensor kept = places.select(1, 0)
                                .lt(grid[0])
                                .logical_and(places.select(1, 1).lt(grid[1]))
                                .nonzero()
                                .squeeze(1);
    record.window = w;
    record.weights = softmax.select(1, w);
    if (kept.size(0) < places.size(0)) {
      const at::Tensor rows = kept.to(softmax.device());
      record.weights = record.weights.index_select(2, rows).index_select(3, rows);
    }
    record.queryPositions = record.keyPositions = places.index_select(0, kept);
    tap_->receive(record);
  }
}

}  // namespace vitrine::visionllama
