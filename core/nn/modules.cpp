#include "core/nn/modules.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "core/model/build_device.h"
#include "core/nn/drop_path.h"
#include "core/nn/position/relative_bias.h"

namespace vitrine::nn {

namespace {

BlockOptions blockOptions(const VisionTransformerConfig& c, double dropPath) {
  BlockOptions options;
  options.width = c.width;
  options.heads = c.heads;
  options.hidden = c.mlpWidth;
  options.mlp = c.mlp;
  options.mlpBias = c.mlpBias;
  options.qkvBias = c.qkvBias;
  options.norm = c.norm;
  options.normEps = c.normEps;
  options.layerScale = c.layerScale;
  options.dropPath = dropPath;
  options.dropout = c.dropout;
  if (c.relativeBias) {
    options.relativeRows = relativeRows(
        {c.imageSize[0] / c.patchSize[0], c.imageSize[1] / c.patchSize[1]}, c.classToken);
  }
  options.names = c.names.block;
  return options;
}

}  // namespace

Encoder::Encoder(const VisionTransformerConfig& config) {
  const std::array<std::int64_t, 2> grid{config.imageSize[0] / config.patchSize[0],
                                         config.imageSize[1] / config.patchSize[1]};
  const bool hasClass = config.classToken != ClassToken::None;
  if (hasClass) classToken = register_parameter("cls_token", builtTensor({1, 1, config.width}));
  if (config.positions == PositionKind::Learned) {
    positions = register_parameter(
        "pos_embed", builtTensor({1, grid[0] * grid[1] + (hasClass ? 1 : 0), config.width}));
  } else if (config.positions == PositionKind::SinCos) {
    fixedPositions = sinCosPositions(grid, config.width, config.classToken);
  }
  auto embedding = register_module("patch_embed", std::make_shared<torch::nn::Module>());
  projection = embedding->register_module(
      "proj", std::make_shared<PatchEmbed>(config.inChannels, config.patchSize, config.width));
  auto list = register_module("blocks", std::make_shared<torch::nn::Module>());
  std::vector<double> rates = dropPathRates(config.dropPath, config.depth);
  if (config.dropPathRule == DropPathRule::Constant)
    std::fill(rates.begin(), rates.end(), config.dropPath);
  for (std::int64_t i = 0; i < config.depth; ++i) {
    blocks.push_back(list->register_module(
        std::to_string(i),
        std::make_shared<Block>(blockOptions(config, rates[static_cast<std::size_t>(i)]))));
  }
  auto last = std::make_shared<Norm>(config.norm, config.width, config.normEps);
  if (config.finalNorm == FinalNorm::BeforePool) {
    norm = register_module("norm", last);
  } else {
    fcNorm = register_module(config.names.pooledNorm, last);
  }
  head = register_module("head",
                         std::make_shared<Linear>(config.width, config.classes, Bias::Present));
}

}  // namespace vitrine::nn
