// What the encoder costs, and what other programs call its weights.
#include <algorithm>
#include <numeric>
#include <string>

#include "core/nn/attention.h"
#include "core/nn/fused_block.h"
#include "core/nn/vision_transformer.h"

namespace vitrine::nn {

namespace {

constexpr double kNormCost = 4, kSoftmaxCost = 5, kActivationCost = 8;
constexpr double kFloatBytes = 4;
/// Dropout keeps what it multiplied with, and its temporaries leave gaps between what is kept:
/// measured as 2.1 (with GELU) and 3 (with SwiGLU) times the factors' own bytes.
constexpr double kDropoutKept = 2.25;

/// How Hugging Face writes one block. `q`, `k` and `v` are rows of our fused qkv.
struct BlockNames {
  std::string prefix, normBefore, query, key, value, output, normAfter, fc1, fc2;
};

void addPair(std::vector<WeightRename>& table, const std::string& theirs, const std::string& ours) {
  table.push_back({theirs + ".weight", ours + ".weight", 0, 1});
  table.push_back({theirs + ".bias", ours + ".bias", 0, 1});
}

std::vector<WeightRename> huggingFaceTable(const VisionTransformerConfig& config,
                                           const BlockNames& names) {
  std::vector<WeightRename> table;
  if (config.classToken != ClassToken::None)
    table.push_back({"vit.embeddings.cls_token", "cls_token", 0, 1});
  if (config.positions == PositionKind::Learned)
    table.push_back({"vit.embeddings.position_embeddings", "pos_embed", 0, 1});
  addPair(table, "vit.embeddings.patch_embeddings.projection", "patch_embed.proj");
  for (std::int64_t i = 0; i < config.depth; ++i) {
    const std::string theirs = names.prefix + std::to_string(i) + ".";
    const std::string ours = "blocks." + std::to_string(i) + ".";
    addPair(table, theirs + names.normBefore, ours + "norm1");
    int part = 0;
    for (const std::string& name : {names.query, names.key, names.value}) {
      table.push_back({theirs + name + ".weight", ours + "attn.qkv.weight", part, 3});
      if (config.qkvBias == Bias::Present)
        table.push_back({theirs + name + ".bias", ours + "attn.qkv.bias", part, 3});
      ++part;
    }
    addPair(table, theirs + names.output, ours + "attn.proj");
    addPair(table, theirs + names.normAfter, ours + "norm2");
    addPair(table, theirs + names.fc1, ours + "mlp.fc1");
    addPair(table, theirs + names.fc2, ours + "mlp.fc2");
  }
  addPair(table, "vit.layernorm", "norm");
  addPair(table, "classifier", "head");
  return table;
}

/// Whether a training batch goes through a block in one operation (fused_block.cpp), which keeps no
/// output of the norms, one value for each of the nonlinearity's, and the probabilities.
bool isFusedBlock(const VisionTransformerConfig& c, double tokens) {
  return c.dropout <= 0 && !c.layerScale && tokens <= static_cast<double>(kShortKeys) &&
         c.width <= kFusedWidth;
}

/// Kept for the backward pass of one block's attention: projections, result, and probabilities
/// where the path of that length keeps them (attention.cpp).
double attentionBytes(const VisionTransformerConfig& c, double queries, double tokens) {
  const double d = static_cast<double>(c.width),
               pairs = static_cast<double>(c.heads) * queries * tokens;
  const bool isShort = tokens <= static_cast<double>(kShortKeys);
  const bool isMultiplied =
      c.mask != MaskKind::Bidirectional && c.maskMode == MaskMode::Multiplicative;
  double floats = 2 * queries * d + 2 * tokens * d;
  if (isShort) {
    floats += pairs;
  } else if (isMultiplied) {
    floats += 2 * pairs + queries * d + 2 * tokens * d;
  } else {
    floats += static_cast<double>(c.heads) * queries;
  }
  return kFloatBytes * floats;
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

std::string attentionKind(const VisionTransformerConfig& c) {
  std::string kind = "attention:softmax, " + std::to_string(c.heads) + " heads of " +
                     std::to_string(c.width / std::max<std::int64_t>(c.heads, 1));
  if (c.qkvBias == Bias::None) kind += ", no bias";
  if (c.layerScale) kind += ", layer scale";
  return kind;
}

std::string maskKind(const VisionTransformerConfig& c) {
  std::string kind = "mask:";
  switch (c.mask) {
    case MaskKind::Bidirectional:
      kind += "none";
      break;
    case MaskKind::Causal:
      kind += "causal";
      break;
    case MaskKind::ModifiedCausal:
      kind += "modified causal";
      break;
    case MaskKind::Soft:
      kind += "soft";
      break;
  }
  return kind + (c.maskMode == MaskMode::Additive ? ", additive" : ", multiplicative");
}

std::string mlpKind(const VisionTransformerConfig& c) {
  const char* activation = c.mlp == MlpKind::SwiGlu     ? "SwiGLU"
                           : c.mlp == MlpKind::GeluTanh ? "GELU (tanh)"
                                                        : "GELU";
  std::string kind = std::string("mlp:") + activation + ", " + std::to_string(c.mlpWidth) + " wide";
  if (c.mlpBias == Bias::None) kind += ", no bias";
  if (c.layerScale) kind += ", layer scale";
  return kind;
}

}  // namespace

std::vector<std::vector<WeightRename>> VisionTransformer::otherNames() const {
  const VisionTransformerConfig& c = config();
  // Hugging Face's names are those of the plain encoder; nothing else has a place among them.
  const bool isPlain = c.norm == NormKind::Layer && c.mlp != MlpKind::SwiGlu &&
                       c.mlpBias == Bias::Present && c.finalNorm == FinalNorm::BeforePool &&
                       !c.layerScale && c.mask == MaskKind::Bidirectional && !c.ropeTheta;
  if (!isPlain) return {};
  const BlockNames recent{"vit.layers.",      "layernorm_before", "attention.q_proj",
                          "attention.k_proj", "attention.v_proj", "attention.o_proj",
                          "layernorm_after",  "mlp.fc1",          "mlp.fc2"};
  const BlockNames before{
      "vit.encoder.layer.",      "layernorm_before",          "attention.attention.query",
      "attention.attention.key", "attention.attention.value", "attention.output.dense",
      "layernorm_after",         "intermediate.dense",        "output.dense"};
  return {huggingFaceTable(c, recent), huggingFaceTable(c, before)};
}

std::vector<BlockCost> costOf(const VisionTransformerConfig& c) {
  const std::int64_t patches =
      (c.imageSize[0] / c.patchSize[0]) * (c.imageSize[1] / c.patchSize[1]);
  const std::int64_t tokens = patches + (c.classToken == ClassToken::None ? 0 : 1);
  const std::int64_t patchInputs = c.inChannels * c.patchSize[0] * c.patchSize[1];
  const double n = static_cast<double>(tokens), d = static_cast<double>(c.width),
               hidden = static_cast<double>(c.mlpWidth);
  const bool isSwiGlu = c.mlp == MlpKind::SwiGlu;
  const bool hasMlpBias = c.mlpBias == Bias::Present;
  std::vector<BlockCost> blocks;

  BlockCost patch{"patch_embed",
                  "patch_embed:" + std::to_string(c.patchSize[0]) + " x " +
                      std::to_string(c.patchSize[1]) + " px to " + std::to_string(c.width),
                  c.width * patchInputs + c.width,
                  0,
                  0,
                  0};
  patch.macs = static_cast<double>(patches) * static_cast<double>(patchInputs) * d;
  patch.flops = 2 * patch.macs + static_cast<double>(patches) * d;
  patch.activationBytes = kFloatBytes * static_cast<double>(patches * patchInputs);
  blocks.push_back(patch);

  BlockCost position{"pos_embed", positionKind(c, tokens), 0, 0, 0, 0};
  if (c.classToken != ClassToken::None) position.parameters += c.width;
  if (c.positions == PositionKind::Learned) position.parameters += tokens * c.width;
  if (c.positions != PositionKind::None) position.flops = n * d;
  // Drop path keeps one number per image.
  const double dropoutKept = c.dropout > 0 ? kDropoutKept : 0;
  position.activationBytes = kFloatBytes * dropoutKept * n * d;
  if (c.classToken != ClassToken::None || c.positions != PositionKind::None)
    blocks.push_back(position);

  BlockCost norm{"",
                 c.norm == NormKind::Layer ? "norm:LayerNorm" : "norm:RMSNorm",
                 c.norm == NormKind::Layer ? 2 * c.width : c.width,
                 0,
                 0,
                 0};
  norm.flops = kNormCost * n * d;
  // Input and output of the norm, and its statistics.
  norm.activationBytes = kFloatBytes * (2 * n * d + n * (c.norm == NormKind::Layer ? 2 : 1));

  const bool isFused = isFusedBlock(c, n);
  BlockCost inBlock = norm;
  if (isFused) inBlock.activationBytes = kFloatBytes * n * d;

  BlockCost attention{"", attentionKind(c), 4 * c.width * c.width + c.width, 0, 0, 0};
  if (c.qkvBias == Bias::Present) attention.parameters += 3 * c.width;
  if (c.layerScale) attention.parameters += c.width;
  const double pairs = static_cast<double>(c.heads) * n * n;
  attention.macs = 4 * n * d * d + 2 * n * n * d;
  attention.flops = 2 * attention.macs + (c.qkvBias == Bias::Present ? 3 : 0) * n * d + 2 * n * d +
                    (kSoftmaxCost + 1) * pairs;
  // The mask and the turning of queries and keys are pieces of their own: they keep nothing that
  // the attention does not count.
  BlockCost mask{"", maskKind(c), 0, pairs, 0, 0};
  BlockCost rope{"", "rope:1-D, along the sequence", 0, 6 * n * d, 0, 0};
  if (c.layerScale) attention.flops += n * d;
  // What comes out of a branch on its way to the stream: the dropout's factors, and what the layer
  // scale multiplied.
  const double branchEnd = kFloatBytes * d * (dropoutKept + (c.layerScale ? 1 : 0));
  attention.activationBytes = attentionBytes(c, n, n) + n * branchEnd;

  BlockCost mlp{"", mlpKind(c), (isSwiGlu ? 3 : 2) * c.width * c.mlpWidth, 0, 0, 0};
  if (hasMlpBias) mlp.parameters += (isSwiGlu ? 2 : 1) * c.mlpWidth + c.width;
  if (c.layerScale) mlp.parameters += c.width;
  mlp.macs = (isSwiGlu ? 3 : 2) * n * d * hidden;
  mlp.flops = 2 * mlp.macs + kActivationCost * n * hidden + n * d;
  if (hasMlpBias) mlp.flops += n * d + (isSwiGlu ? 2 : 1) * n * hidden;
  if (isSwiGlu) mlp.flops += n * hidden;
  if (c.layerScale) mlp.flops += n * d;
  mlp.activationBytes =
      kFloatBytes * ((isSwiGlu ? 3 : 2) - (isFused ? 1 : 0) + dropoutKept) * n * hidden +
      n * branchEnd;

  for (std::int64_t i = 0; i < c.depth; ++i) {
    const std::string prefix = "blocks." + std::to_string(i) + ".";
    const auto add = [&](BlockCost piece, const char* name) {
      piece.name = prefix + name;
      blocks.push_back(std::move(piece));
    };
    add(inBlock, "norm1");
    // Of the last block only the class token is computed where nothing else is read: less is kept,
    // the published counts stay.
    const bool isPruned = i + 1 == c.depth && c.pool == Pool::ClassToken;
    if (isPruned) attention.activationBytes = attentionBytes(c, 1, n) + branchEnd;
    if (c.ropeTheta) add(rope, "attn.rope");
    if (c.mask != MaskKind::Bidirectional) add(mask, "attn.mask");
    add(attention, "attn");
    BlockCost after = inBlock;
    if (isPruned) after.activationBytes /= n;
    add(std::move(after), "norm2");
    if (isPruned) mlp.activationBytes /= n;
    add(mlp, "mlp");
  }
  norm.name = c.finalNorm == FinalNorm::BeforePool ? "norm" : "fc_norm";
  blocks.push_back(norm);

  BlockCost head{"head",
                 "head:" + std::to_string(c.classes) + " classes",
                 c.width * c.classes + c.classes,
                 0,
                 0,
                 0};
  head.macs = d * static_cast<double>(c.classes);
  head.flops = 2 * head.macs + static_cast<double>(c.classes);
  head.activationBytes = kFloatBytes * (d + static_cast<double>(c.classes));
  blocks.push_back(head);
  return blocks;
}

}  // namespace vitrine::nn
