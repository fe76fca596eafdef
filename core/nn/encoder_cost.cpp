// What the encoder costs: the sum of what its modules say, under the names of its pieces.
#include <string>

#include "core/kernels/cpu/cpu_layers.h"
#include "core/nn/cost.h"
#include "core/nn/modules.h"

namespace vitrine::nn {

namespace {

/// A batch that is large enough for every path: what a small one keeps is little.
constexpr std::int64_t kLargeBatch = 1024;

/// Whether a training batch goes through a block in one operation, which keeps no output of the
/// norms, one value for each of the nonlinearity's, and the probabilities.
bool isFusedBlock(const VisionTransformerConfig& c, double tokens) {
  return c.dropout <= 0 && !c.layerScale &&
         cpu::takesBlock({kLargeBatch, static_cast<std::int64_t>(tokens), c.width, c.heads});
}

// What stands behind the colon of BlockCost::kind: which operator it is.
std::string positionKind(const VisionTransformerConfig& c, std::int64_t tokens) {
  std::string kind = "position:";
  switch (c.positions) {
    case PositionKind::Learned:
      kind += "learned, " + std::to_string(tokens) + " places";
      break;
    case PositionKind::SinCos:
      kind += "sines and cosines";
      break;
    case PositionKind::None:
      kind += "none";
      break;
  }
  if (c.classToken == ClassToken::First) kind += ", class token first";
  if (c.classToken == ClassToken::Last) kind += ", class token last";
  return kind;
}

std::string maskKind(const SequenceMask& mask) {
  return "mask:" + mask.name() +
         (mask.mode() == MaskMode::Additive ? ", additive" : ", multiplicative");
}

BlockCost named(BlockCost cost, const std::string& name) {
  cost.name = name;
  return cost;
}

}  // namespace

std::vector<BlockCost> Block::cost(const VisionTransformerConfig& c, double tokens, bool isPruned,
                                   const std::string& prefix) const {
  const double width = static_cast<double>(c.width), hidden = static_cast<double>(c.mlpWidth),
               kept = isPruned ? 1 : tokens;
  const bool isFused = isFusedBlock(c, tokens);
  const bool hasFactor = c.mask && c.mask->mode() == MaskMode::Multiplicative;
  const auto norm = [&](const Norm& layer, double keptTokens, const char* name) {
    BlockCost cost = layer.cost(tokens);
    cost.activationBytes =
        isFused ? kFloatBytes * keptTokens * width : layer.cost(keptTokens).activationBytes;
    return named(cost, prefix + name);
  };
  std::vector<BlockCost> pieces{norm(*norm1, tokens, "norm1")};
  // The mask and the turning of queries and keys are pieces of their own: they keep nothing that
  // the attention does not count.
  if (c.ropeTheta) {
    pieces.push_back(
        {prefix + "attn.rope", "rope:1-D, along the sequence", 0, 6 * tokens * width, 0, 0});
  }
  if (c.mask) {
    pieces.push_back({prefix + "attn.mask", maskKind(*c.mask), 0,
                      static_cast<double>(c.heads) * tokens * tokens, 0, 0});
  }
  const BlockCost attention =
      attentionBranch_.branchCost(attn->cost(tokens, tokens, hasFactor), tokens, width);
  const BlockCost keptAttention =
      attentionBranch_.branchCost(attn->cost(kept, tokens, hasFactor), kept, width);
  pieces.push_back(named(attention, prefix + "attn"));
  pieces.back().activationBytes = keptAttention.activationBytes;
  pieces.push_back(norm(*norm2, kept, "norm2"));
  pieces.push_back(named(mlpBranch_.branchCost(mlp->cost(tokens), tokens, width), prefix + "mlp"));
  pieces.back().activationBytes =
      mlpBranch_.branchCost(mlp->cost(kept), kept, width).activationBytes -
      (isFused ? kFloatBytes * kept * hidden : 0);
  return pieces;
}

std::vector<BlockCost> Encoder::cost(const VisionTransformerConfig& c) const {
  const std::int64_t patches =
      (c.imageSize[0] / c.patchSize[0]) * (c.imageSize[1] / c.patchSize[1]);
  const std::int64_t tokens = patches + (classToken.defined() ? 1 : 0);
  const double count = static_cast<double>(tokens), width = static_cast<double>(c.width);
  std::vector<BlockCost> pieces{
      named(projection->cost(static_cast<double>(patches)), "patch_embed")};
  if (classToken.defined() || c.positions != PositionKind::None) {
    BlockCost position{"pos_embed", positionKind(c, tokens), 0, 0, 0, 0};
    if (classToken.defined()) position.parameters += classToken.numel();
    if (positions.defined()) position.parameters += positions.numel();
    if (c.positions != PositionKind::None) position.flops = count * width;
    if (c.dropout > 0) position.activationBytes = kFloatBytes * kDropoutKept * count * width;
    pieces.push_back(position);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool isPruned = i + 1 == blocks.size() && c.pool == Pool::ClassToken;
    const std::string prefix = "blocks." + std::to_string(i) + ".";
    for (BlockCost& piece : blocks[i]->cost(c, count, isPruned, prefix))
      pieces.push_back(std::move(piece));
  }
  pieces.push_back(named((norm ? norm : fcNorm)->cost(count), norm ? "norm" : "fc_norm"));
  BlockCost last = named(head->cost(1), "head");
  last.kind = "head:" + std::to_string(c.classes) + " classes";
  last.activationBytes += kFloatBytes * static_cast<double>(c.classes);  // the logits
  pieces.push_back(last);
  return pieces;
}

}  // namespace vitrine::nn
