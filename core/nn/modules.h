// Layers as torch modules, named as public checkpoints name them. For source files only: it brings
// torch/nn/module.h.
#pragma once

#include <ATen/core/Generator.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/model/capabilities.h"
#include "core/nn/attention.h"
#include "core/nn/vision_transformer.h"

namespace vitrine::nn {

/// weight [out, in], bias [out] or undefined.
struct Linear final : torch::nn::Module {
  Linear(std::int64_t in, std::int64_t out, Bias hasBias);
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const;
  /// Rows [first, first + count) of the map alone.
  [[nodiscard]] at::Tensor forwardRows(const at::Tensor& x, std::int64_t first,
                                       std::int64_t count) const;
  at::Tensor weight, bias;
};

/// weight [width], and for LayerNorm bias [width].
struct Norm final : torch::nn::Module {
  Norm(NormKind kind, std::int64_t width, double eps);
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const;
  /// {x + branch, norm(x + branch)}
  [[nodiscard]] std::pair<at::Tensor, at::Tensor> forward(const at::Tensor& x,
                                                          const at::Tensor& branch) const;
  at::Tensor weight, bias;

 private:
  NormKind kind_;
  double eps_;
};

/// A gain per channel: gamma [width].
struct LayerScale final : torch::nn::Module {
  explicit LayerScale(std::int64_t width);
  at::Tensor gamma;
};

/// A convolution whose stride is its kernel, computed as one matrix product: weight [width,
/// channels, height, width].
struct PatchProjection final : torch::nn::Module {
  explicit PatchProjection(const VisionTransformerConfig& config);
  /// images [batch, channels, height, width] -> [batch, patches, width]
  [[nodiscard]] at::Tensor forward(const at::Tensor& images) const;
  at::Tensor weight, bias;
};

struct Mlp final : torch::nn::Module {
  explicit Mlp(const VisionTransformerConfig& config);
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, double dropoutRate,
                                   const at::Generator& generator) const;
  std::shared_ptr<Linear> fc1, fc2, fc3;

 private:
  MlpKind kind_;
};

/// What the blocks of one forward pass share.
struct SequenceContext {
  at::Tensor angles;    ///< RoPE, or undefined
  at::Tensor additive;  ///< masks of AttentionInput
  at::Tensor multiplicative;
  at::Tensor positions;  ///< [tokens, 2], for taps
  at::Generator generator;
  const AttentionTap* tap = nullptr;
};

struct SelfAttention final : torch::nn::Module {
  explicit SelfAttention(const VisionTransformerConfig& config);
  /// \param row  the one token whose output is wanted, or -1 for all
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, std::int64_t layer, std::int64_t row,
                                   const SequenceContext& context) const;
  std::shared_ptr<Linear> qkv, proj;

 private:
  std::int64_t heads_;
};

/// The row of each query, where a mask is not broadcast over queries.
[[nodiscard]] at::Tensor maskOfRow(const at::Tensor& mask, std::int64_t row);

/// Residual stream and the branch that has not been added to it yet (undefined: none).
struct Stream {
  at::Tensor x, branch;
};

struct Block final : torch::nn::Module {
  Block(const VisionTransformerConfig& config, double dropPathRate);
  /// \param row  the one token that is wanted after this block, or -1 for all
  [[nodiscard]] Stream forward(const Stream& stream, std::int64_t layer, std::int64_t row,
                               const SequenceContext& context) const;
  std::shared_ptr<Norm> norm1, norm2;
  std::shared_ptr<SelfAttention> attn;
  std::shared_ptr<LayerScale> ls1, ls2;
  std::shared_ptr<Mlp> mlp;

 private:
  /// The block as one operation, where that can be done; undefined where not.
  [[nodiscard]] at::Tensor fused(const Stream& stream, std::int64_t row,
                                 const SequenceContext& context) const;
  [[nodiscard]] at::Tensor finish(const at::Tensor& branch,
                                  const std::shared_ptr<LayerScale>& scale,
                                  const at::Generator& generator) const;
  NormKind norm_;
  double normEps_;
  MlpKind mlp_;
  std::int64_t heads_;
  double dropPathRate_, dropout_;
};

/// The whole network; the root of all parameter names.
struct Encoder final : torch::nn::Module {
  explicit Encoder(const VisionTransformerConfig& config);
  void initialiseAll(const VisionTransformerConfig& config, std::uint64_t seed);
  at::Tensor classToken, positions;
  at::Tensor fixedPositions;  ///< sin-cos table; not saved, follows the device of the input
  std::shared_ptr<PatchProjection> projection;
  std::vector<std::shared_ptr<Block>> blocks;
  std::shared_ptr<Norm> norm, fcNorm;
  std::shared_ptr<Linear> head;
};

}  // namespace vitrine::nn
