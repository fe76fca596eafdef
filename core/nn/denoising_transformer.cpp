#include "core/nn/denoising_transformer.h"

#include <ATen/ATen.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/model/build_device.h"
#include "core/nn/cost.h"
#include "core/nn/init.h"
#include "core/nn/position/position_embedding.h"
#include "core/nn/position/timestep_embedding.h"

namespace vitrine::nn {

namespace {

constexpr std::int64_t kBlockChunks = 6, kFinalChunks = 2;
constexpr double kEmbeddingDeviation = 0.02;

/// A module that only lends its name.
std::shared_ptr<torch::nn::Module> emptyModule() { return std::make_shared<torch::nn::Module>(); }

std::shared_ptr<Norm> normOf(torch::nn::Module& parent, const std::string& name, NormKind kind,
                             std::int64_t width, double eps, Affine affine) {
  auto norm = std::make_shared<Norm>(kind, width, eps, affine);
  if (affine != Affine::None) parent.register_module(name, norm);
  return norm;
}

/// Of modulation and gate: one product or sum an element each.
BlockCost adaptiveCost(const Linear& map, double chunks, double tokens, double width) {
  BlockCost cost = map.cost(1);
  cost.kind = "condition:adaLN, " + std::to_string(static_cast<int>(chunks)) + " vectors";
  cost.flops += kActivationCost * width + tokens * width * chunks;
  cost.activationBytes += kFloatBytes * tokens * width * chunks / 3;
  return cost;
}

}  // namespace

at::Tensor unpatchify(const at::Tensor& tokens, std::array<std::int64_t, 2> grid,
                      std::array<std::int64_t, 2> patch) {
  const std::int64_t area = patch[0] * patch[1];
  if (tokens.dim() != 3 || tokens.size(1) != grid[0] * grid[1] || tokens.size(2) % area != 0) {
    throw ShapeError("tokens " + c10::str(tokens.sizes()) + " are not those of a grid of " +
                     formatSides(grid) + " patches of " + formatSides(patch));
  }
  const std::int64_t channels = tokens.size(2) / area;
  return tokens.view({tokens.size(0), grid[0], grid[1], patch[0], patch[1], channels})
      .permute({0, 5, 1, 3, 2, 4})
      .reshape({tokens.size(0), channels, grid[0] * patch[0], grid[1] * patch[1]});
}

AdaptiveMap::AdaptiveMap(std::int64_t width, std::int64_t chunks)
    : map(register_module("1", std::make_shared<Linear>(width, chunks * width))) {}
std::vector<at::Tensor> AdaptiveMap::forward(const at::Tensor& condition) const {
  const std::int64_t chunks = map->weight.size(0) / map->weight.size(1);
  return map->forward(at::silu(condition)).chunk(chunks, 1);
}

TimestepEmbedder::TimestepEmbedder(std::int64_t width)
    : first(std::make_shared<Linear>(kFrequencies, width)),
      second(std::make_shared<Linear>(width, width)) {
  const auto mlp = register_module("mlp", emptyModule());
  mlp->register_module("0", first);
  mlp->register_module("2", second);
}
at::Tensor TimestepEmbedder::forward(const at::Tensor& time) const {
  const at::Tensor wave = timestepEmbedding(time, kFrequencies).to(first->weight.scalar_type());
  return second->forward(at::silu(first->forward(wave)));
}

LabelEmbedder::LabelEmbedder(std::int64_t rows, std::int64_t width) {
  const auto table = register_module("embedding_table", emptyModule());
  weight = table->register_parameter("weight", builtTensor({rows, width}));
}
at::Tensor LabelEmbedder::forward(const at::Tensor& labels) const {
  return at::embedding(weight, labels);
}

AdaptiveBlock::AdaptiveBlock(const BlockOptions& options)
    : block(std::make_shared<Block>(options)),
      adaptive(std::make_shared<AdaptiveMap>(options.width, kBlockChunks)) {
  block->register_module("adaLN_modulation", adaptive);
}

at::Tensor AdaptiveBlock::forward(const at::Tensor& x, const at::Tensor& condition,
                                  BlockCall call) const {
  const std::vector<at::Tensor> six = adaptive->forward(condition);
  call.modulation = {six[0], six[1], six[2], six[3], six[4], six[5]};
  return block->forward({x, {}}, call).sum();
}

std::vector<BlockCost> AdaptiveBlock::cost(const std::string& name, double tokens) const {
  std::vector<BlockCost> parts;
  const auto add = [&](const std::string& part, BlockCost cost) {
    cost.name = name + "." + part;
    parts.push_back(std::move(cost));
  };
  add("adaLN_modulation", adaptiveCost(*adaptive->map, static_cast<double>(kBlockChunks), tokens,
                                       static_cast<double>(block->options().width)));
  add("norm1", block->normCost(*block->norm1, tokens, tokens));
  add("attn", block->attentionCost(tokens, tokens, false));
  add("norm2", block->normCost(*block->norm2, tokens, tokens));
  add("mlp", block->mlpCost(tokens, tokens));
  return parts;
}

DenoisingTransformer::DenoisingTransformer(const DenoisingTransformerConfig& c) : config(c) {
  patches = std::make_shared<PatchEmbed>(c.inChannels, c.patchSize, c.width);
  register_module("x_embedder", emptyModule())->register_module("proj", patches);
  timeEmbedder = register_module("t_embedder", std::make_shared<TimestepEmbedder>(c.width));
  labelEmbedder = register_module("y_embedder", std::make_shared<LabelEmbedder>(c.labels, c.width));
  // A width that the table cannot have is that of a model which never adds it.
  const std::int64_t tokens = c.grid()[0] * c.grid()[1];
  const at::Tensor table = c.width % 4 == 0 ? sinCosPositions(c.grid(), c.width, ClassToken::None)
                                            : at::zeros({1, tokens, c.width});
  positions = register_buffer("pos_embed", table.to(buildDevice()));
  const bool isGated = c.mlp == MlpKind::SwiGlu;
  BlockOptions block{.width = c.width, .heads = c.heads, .hidden = c.mlpWidth, .mlp = c.mlp};
  if (isGated) {
    block.mlpBias = Bias::None;
    block.names.mlp = {"c_fc1", "c_proj", "c_fc2"};
  }
  block.norm = c.norm;
  block.normEps = c.normEps;
  block.affine = c.normAffine;
  const auto list = register_module("blocks", emptyModule());
  for (std::int64_t i = 0; i < c.depth; ++i) {
    blocks.emplace_back(block);
    list->register_module(std::to_string(i), blocks.back().block);
  }
  const auto last = register_module("final_layer", emptyModule());
  finalNorm = normOf(*last, "norm_final", c.norm, c.width, c.normEps, c.normAffine);
  finalMap = std::make_shared<Linear>(c.width, c.patchSize[0] * c.patchSize[1] * c.outChannels);
  last->register_module("linear", finalMap);
  finalAdaptive = std::make_shared<AdaptiveMap>(c.width, kFinalChunks);
  last->register_module("adaLN_modulation", finalAdaptive);
}

void DenoisingTransformer::start(std::uint64_t seed) {
  initialise(
      *this,
      [](const std::string& name, const at::Tensor& value) -> std::optional<Init> {
        if (name.starts_with("t_embedder.") || name.starts_with("y_embedder."))
          return value.dim() > 1 ? normalInit(kEmbeddingDeviation) : constantInit(0);
        if (value.dim() < 2) return std::nullopt;
        const bool isZero =
            name.find("adaLN_modulation.") != std::string::npos || name.starts_with("final_layer.");
        if (isZero) return constantInit(0);
        return xavierUniformInit(value.numel() / value.size(0), value.size(0));
      },
      seed);
}

at::Tensor DenoisingTransformer::forward(const at::Tensor& x, const at::Tensor& time,
                                         const at::Tensor& labels, const Call& call) const {
  const at::Tensor condition = timeEmbedder->forward(time) + labelEmbedder->forward(labels);
  at::Tensor stream = patches->forward(x);
  if (call.addsPositions) stream = stream + positions.to(stream.scalar_type());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    BlockCall inner{.angles = call.angles};
    if (call.attentionTap && call.tapped.at(i))
      inner.tap = [&](const AttentionOutput& output) { call.attentionTap(index, output); };
    stream = blocks[i].forward(stream, condition, inner);
    if (call.blockTap) call.blockTap(index, stream);
  }
  const std::vector<at::Tensor> two = finalAdaptive->forward(condition);
  const at::Tensor adapted =
      at::addcmul(two[0].unsqueeze(1), finalNorm->forward(stream), 1 + two[1].unsqueeze(1));
  return unpatchify(finalMap->forward(adapted), config.grid(), config.patchSize);
}

std::vector<BlockCost> DenoisingTransformer::cost() const {
  const double tokens = static_cast<double>(config.grid()[0] * config.grid()[1]);
  const double width = static_cast<double>(config.width);
  std::vector<BlockCost> parts;
  const auto add = [&](const std::string& name, BlockCost cost) {
    cost.name = name;
    parts.push_back(std::move(cost));
  };
  add("x_embedder.proj", patches->cost(tokens));
  BlockCost time = timeEmbedder->first->cost(1);
  addNumbers(time, timeEmbedder->second->cost(1));
  time.kind = "embedding:time";
  time.flops += kActivationCost * width;
  add("t_embedder", time);
  add("y_embedder", {.kind = "embedding:label", .parameters = labelEmbedder->weight.numel()});
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (BlockCost& part : blocks[i].cost("blocks." + std::to_string(i), tokens))
      parts.push_back(std::move(part));
  }
  add("final_layer.adaLN_modulation",
      adaptiveCost(*finalAdaptive->map, static_cast<double>(kFinalChunks), tokens, width));
  add("final_layer.norm_final", finalNorm->cost(tokens));
  add("final_layer.linear", finalMap->cost(tokens));
  return parts;
}

}  // namespace vitrine::nn
