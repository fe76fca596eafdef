#include "plugins/vit/public_names.h"

#include <string>

namespace vitrine::vit {

using nn::Bias;
using nn::ClassToken;
using nn::FinalNorm;
using nn::MlpKind;
using nn::NormKind;
using nn::PositionKind;
using nn::VisionTransformerConfig;

namespace {

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

}  // namespace

std::vector<std::vector<WeightRename>> publicNames(const nn::VisionTransformerConfig& c) {
  // Hugging Face's names are those of the plain encoder; nothing else has a place among them.
  const bool isPlain = c.norm == NormKind::Layer && c.mlp != MlpKind::SwiGlu &&
                       c.mlpBias == Bias::Present && c.finalNorm == FinalNorm::BeforePool &&
                       !c.layerScale && !c.mask && !c.ropeTheta;
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

std::vector<WeightSign> publicSigns() {
  return {{"a ViT with Hugging Face's names", {"vit.embeddings."}},
          {"a ViT with the names of the authors' JAX code", {"Transformer/encoderblock"}},
          {"a distilled DeiT", {"distill_token"}},
          {"a distilled DeiT", {"dist_token"}},
          {"a ViT with timm's names",
           {"attn.qkv."},
           {"mlp.fc3.", "mlp.c_fc1.", "vit.embeddings.", "distill_token", "dist_token"}},
          {"a ResNet", {"layer4."}, {"attn.qkv."}}};
}

}  // namespace vitrine::vit
