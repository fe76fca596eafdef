// The encoder's modules, named as public checkpoints name them, built from those of layers.h. For
// source files only: it brings torch/nn/module.h.
#pragma once

#include <ATen/core/Generator.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/model/capabilities.h"
#include "core/nn/layers.h"
#include "core/nn/multi_head_attention.h"
#include "core/nn/residual.h"
#include "core/nn/vision_transformer.h"

namespace vitrine::nn {

/// What the blocks of one forward pass share.
struct SequenceContext {
  at::Tensor angles;    ///< RoPE, or undefined
  at::Tensor additive;  ///< masks of AttentionInput
  at::Tensor multiplicative;
  at::Tensor positions;  ///< of Tokens, for taps
  at::Generator generator;
  const AttentionTap* tap = nullptr;
};

struct Block final : torch::nn::Module {
  Block(const VisionTransformerConfig& config, double dropPathRate);
  /// \param row  the one token that is wanted after this block, or -1 for all
  [[nodiscard]] Stream forward(const Stream& stream, std::int64_t layer, std::int64_t row,
                               const SequenceContext& context) const;
  /// Norms, attention (with what turns and masks it) and MLP, as pieces of `prefix`.
  /// \param isPruned  of the last block only one token is computed: less is kept, the published
  ///                  counts stay
  [[nodiscard]] std::vector<BlockCost> cost(const VisionTransformerConfig& config, double tokens,
                                            bool isPruned, const std::string& prefix) const;
  std::shared_ptr<Norm> norm1, norm2;
  std::shared_ptr<MultiHeadAttention> attn;
  std::shared_ptr<LayerScale> ls1, ls2;
  std::shared_ptr<Mlp> mlp;

 private:
  /// The block as one operation, where that can be done; undefined where not.
  [[nodiscard]] at::Tensor fused(const Stream& stream, std::int64_t row,
                                 const SequenceContext& context) const;
  NormKind norm_;
  double normEps_;
  double dropPathRate_, dropout_;
  Residual attentionBranch_, mlpBranch_;
};

/// The whole network; the root of all parameter names.
struct Encoder final : torch::nn::Module {
  explicit Encoder(const VisionTransformerConfig& config);
  [[nodiscard]] std::vector<BlockCost> cost(const VisionTransformerConfig& config) const;
  at::Tensor classToken, positions;
  at::Tensor fixedPositions;  ///< sin-cos table; not saved, follows the device of the input
  std::shared_ptr<PatchEmbed> projection;
  std::vector<std::shared_ptr<Block>> blocks;
  std::shared_ptr<Norm> norm, fcNorm;
  std::shared_ptr<Linear> head;
};

}  // namespace vitrine::nn
