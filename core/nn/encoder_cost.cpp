// Cost of the encoder: the sum over its modules, under the names of its pieces.
#include <string>

#include "core/nn/cost.h"
#include "core/nn/modules.h"

namespace vitrine::nn {

namespace {

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

/// Norms, attention (with what turns and masks it) and MLP, as pieces of `prefix`.
/// \param isPruned  of the last block only one token is computed: less is kept, the published
/// counts
///                  stay
std::vector<BlockCost> blockCost(const Block& block, const VisionTransformerConfig& c,
                                 double tokens, bool isPruned, const std::string& prefix) {
  const double width = static_cast<double>(c.width), kept = isPruned ? 1 : tokens;
  const bool hasFactor = c.mask && c.mask->mode() == MaskMode::Multiplicative;
  std::vector<BlockCost> pieces{
      named(block.normCost(*block.norm1, tokens, tokens), prefix + "norm1")};
  // The mask and the turning of queries and keys are pieces of their own: they keep nothing that
  // the attention does not count.
  if (c.ropeTheta) {
    pieces.push_back(
        {prefix + "attn.rope", "rope:1-D, along the sequence", 0, 6 * tokens * width, 0, 0});
  }
  if (c.rotation) {
    pieces.push_back(
        {prefix + "attn.rope", "rope:" + c.rotation->name(), 0, 6 * tokens * width, 0, 0});
  }
  if (block.relativeTable.defined()) {
    const at::Tensor& table = block.relativeTable;
    pieces.push_back({prefix + "attn.position",
                      "position:relative bias, " + std::to_string(table.size(0)) + " rows",
                      table.numel(), static_cast<double>(c.heads) * tokens * tokens, 0, 0});
  }
  if (c.mask) {
    pieces.push_back({prefix + "attn.mask", maskKind(*c.mask), 0,
                      static_cast<double>(c.heads) * tokens * tokens, 0, 0});
  }
  pieces.push_back(named(block.attentionCost(kept, tokens, hasFactor), prefix + "attn"));
  pieces.push_back(named(block.normCost(*block.norm2, kept, tokens), prefix + "norm2"));
  pieces.push_back(named(block.mlpCost(kept, tokens), prefix + "mlp"));
  return pieces;
}

}  // namespace

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
    for (BlockCost& piece : blockCost(*blocks[i], c, count, isPruned, prefix))
      pieces.push_back(std::move(piece));
  }
  pieces.push_back(norm ? named(norm->cost(count), "norm")
                        : named(fcNorm->cost(1), c.names.pooledNorm));
  BlockCost last = named(head->cost(1), "head");
  last.kind = "head:" + std::to_string(c.classes) + " classes";
  last.activationBytes += kFloatBytes * static_cast<double>(c.classes);  // the logits
  pieces.push_back(last);
  return pieces;
}

}  // namespace vitrine::nn
