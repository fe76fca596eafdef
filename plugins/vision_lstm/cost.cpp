// Cost of a Vision-LSTM, part by part.
#include "core/nn/cost.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/kernels/mlstm.h"
#include "plugins/vision_lstm/state.h"

namespace vitrine::vision_lstm {

namespace {

/// Chunk that the paper counts with where the configuration leaves the choice. What is executed
/// depends on the device: one chunk of short sequences (mlstmChunk()), or tiles of 32.
constexpr std::int64_t kCountedChunk = 64;

using nn::named;

std::int64_t numbersOf(const at::Tensor& tensor) { return tensor.defined() ? tensor.numel() : 0; }

std::string wayOf(const VisionLstmConfig& c) {
  switch (c.cell.form) {
    case kernels::MlstmForm::Recurrent:
      return "recurrent";
    case kernels::MlstmForm::Parallel:
      return "quadratic_full";
    case kernels::MlstmForm::Chunkwise:
      break;
  }
  return c.countsAsPaper ? "paper" : "chunkwise_exact";
}

BlockCost convolutionCost(const Layer& layer, const VisionLstmConfig& c, double tokens) {
  const double inner = static_cast<double>(c.inner());
  BlockCost cost{.kind = "convolution:none",
                 .flops = nn::kActivationCost * tokens * inner,
                 .activationBytes = nn::kFloatBytes * tokens * inner};
  if (!layer.convolution) return cost;
  const auto& convolution = *layer.convolution;
  cost.kind = std::string("convolution:depthwise, ") +
              (c.convolution == Convolution::Grid       ? "2-D"
               : c.convolution == Convolution::Causal1d ? "1-D, causal"
                                                        : "1-D") +
              ", kernel " + std::to_string(c.kernel);
  cost.parameters = convolution.weight.numel() + convolution.bias.numel();
  cost.macs = tokens * static_cast<double>(convolution.weight.numel());
  cost.flops += 2 * cost.macs + tokens * inner;
  cost.activationBytes += nn::kFloatBytes * tokens * inner;
  return cost;
}

BlockCost mixerCost(const Layer& layer, const VisionLstmConfig& c, double tokens) {
  const double inner = static_cast<double>(c.inner());
  BlockCost cost{.kind = "qkv:block-diagonal, " + std::to_string(c.qkvBlock) + " wide"};
  for (const auto& map : {layer.query, layer.key, layer.value})
    cost.parameters += map->weight.numel() + numbersOf(map->bias);
  cost.macs = 3 * tokens * inner * static_cast<double>(c.qkvBlock);
  cost.flops = 2 * cost.macs + (c.bias == nn::Bias::Present ? 3 * tokens * inner : 0);
  return cost;  // what it reads is kept by the convolution and the projection
}

BlockCost gateCost(const Layer& layer, const VisionLstmConfig& c, double tokens) {
  BlockCost cost{.kind = "gates:" + std::to_string(c.heads) + " heads"};
  for (const auto& gate : {layer.memory->inputGate, layer.memory->forgetGate}) {
    cost.parameters += gate->weight.numel() + gate->bias.numel();
    cost.macs += tokens * static_cast<double>(gate->weight.numel());
  }
  cost.flops =
      2 * cost.macs + 2 * tokens * static_cast<double>(c.heads) * (nn::kActivationCost + 1);
  cost.activationBytes = 4 * 8 * tokens * static_cast<double>(c.heads);  // float64 both ways
  return cost;
}

BlockCost cellCost(const VisionLstmConfig& c, std::int64_t tokens) {
  const double count = static_cast<double>(tokens), inner = static_cast<double>(c.inner());
  const std::string way = wayOf(c);
  BlockCost cost{.kind = "memory:mLSTM, counted as " + way,
                 .macs = cellMacs(way, {tokens, c.inner(), c.heads,
                                        c.cell.chunk > 0 ? c.cell.chunk : kCountedChunk})};
  cost.flops = 2 * cost.macs;
  // q, k, v and the output, with its stabiliser and sum.
  cost.activationBytes =
      nn::kFloatBytes * (4 * count * inner + 2 * count * static_cast<double>(c.heads));
  if (c.cell.form == kernels::MlstmForm::Chunkwise) {  // the scores within chunks, on a CPU
    const std::int64_t chunk =
        c.cell.chunk > 0 ? c.cell.chunk : kernels::mlstmChunk(tokens, c.inner() / c.heads);
    cost.activationBytes += nn::kFloatBytes * count * static_cast<double>(c.heads) *
                            static_cast<double>(std::min(chunk, tokens));
  }
  return cost;
}

BlockCost gatingCost(const Layer& layer, const VisionLstmConfig& c, double tokens) {
  const double inner = static_cast<double>(c.inner());
  const HeadNorm& norm = *layer.memory->norm;
  BlockCost cost{.kind = "norm:LayerNorm of heads, skip, gate",
                 .parameters = numbersOf(norm.weight) + numbersOf(norm.bias) + layer.skip.numel(),
                 .flops = (nn::kNormCost + nn::kActivationCost + 3) * tokens * inner};
  // Normed, with its gains, with the skip, and the gate's activation.
  cost.activationBytes =
      nn::kFloatBytes * (3 * tokens * inner + 2 * tokens * static_cast<double>(c.heads));
  return cost;
}

void addBlock(std::vector<BlockCost>& pieces, const Block& block, const VisionLstmConfig& c,
              const std::string& prefix) {
  const std::int64_t tokens = c.tokens();
  const double count = static_cast<double>(tokens);
  const Layer& layer = *block.layer;
  BlockCost up = layer.up->cost(count);
  up.activationBytes += nn::kFloatBytes * 2 * count * static_cast<double>(c.inner());  // a and z
  pieces.push_back(named(block.norm->cost(count), prefix + "norm"));
  pieces.push_back(named(up, prefix + "layer.proj_up"));
  pieces.push_back(named(convolutionCost(layer, c, count), prefix + "layer.conv"));
  pieces.push_back(named(mixerCost(layer, c, count), prefix + "layer.qkv"));
  pieces.push_back(named(gateCost(layer, c, count), prefix + "layer.gates"));
  pieces.push_back(named(cellCost(c, tokens), prefix + "layer.mlstm_cell"));
  pieces.push_back(named(gatingCost(layer, c, count), prefix + "layer.outnorm"));
  pieces.push_back(named(layer.down->cost(count), prefix + "layer.proj_down"));
}

}  // namespace

double cellMacs(const std::string& way, const CellCount& count) {
  const double t = static_cast<double>(count.tokens), d = static_cast<double>(count.inner),
               head = d / static_cast<double>(count.heads), s = static_cast<double>(count.chunk);
  if (way == "paper") return 2 * (s / 2 + 1) * t * d + t / s * d * d;
  if (way == "chunkwise_exact") return s * t * d + 2 * t * d * head;
  if (way == "chunkwise_exact_plus_diagonal") return 2 * (s / 2 + 1) * t * d + 2 * t * d * head;
  if (way == "chunkwise_pairs") {
    double pairs = 0;
    for (std::int64_t begin = 0; begin < count.tokens; begin += count.chunk) {
      const auto some = static_cast<double>(std::min(count.chunk, count.tokens - begin));
      pairs += some * (some + 1) / 2;
    }
    return 2 * pairs * d + 2 * t * d * head;
  }
  if (way == "quadratic_pairs") return t * (t + 1) * d;
  if (way == "quadratic_causal") return t * t * d;
  if (way == "quadratic_full") return 2 * t * t * d;
  if (way == "recurrent") return 2 * t * d * head;
  throw ConfigError("'" + way + "' is not a way of counting the multiply-adds of a memory");
}

std::vector<BlockCost> costOf(const Network& network, const VisionLstmConfig& c) {
  const double tokens = static_cast<double>(c.tokens());
  const Grid grid = c.grid();
  std::vector<BlockCost> pieces{
      named(network.projection->cost({grid.rows, grid.columns}), "patch_embed")};
  if (network.positions.defined() || network.classTokens.defined()) {
    const Grid stored = c.storedGrid();
    pieces.push_back({.name = "pos_embed",
                      .kind = network.positions.defined()
                                  ? "position:learned, " + std::to_string(stored.rows) + " x " +
                                        std::to_string(stored.columns) + " places"
                                  : "position:none",
                      .parameters = numbersOf(network.positions) + numbersOf(network.classTokens),
                      .flops = tokens * static_cast<double>(c.width)});
  }
  for (std::size_t i = 0; i < network.blocks.size(); ++i)
    addBlock(pieces, *network.blocks[i], c, blockPrefix(c, static_cast<std::int64_t>(i)));
  pieces.push_back(named(network.norm->cost(tokens), "norm"));
  if (network.headNorm) pieces.push_back(named(network.headNorm->cost(1), "legacy_norm"));
  if (network.head) {
    BlockCost head = named(network.head->cost(1), "head");
    head.kind = "head:" + std::to_string(c.classes) + " classes";
    head.activationBytes += nn::kFloatBytes * static_cast<double>(c.classes);  // the logits
    pieces.push_back(head);
  }
  return pieces;
}

}  // namespace vitrine::vision_lstm
