// A transformer that takes noise away (Peebles & Xie 2022, arXiv:2212.09748): patches in, patches
// out, and a condition that shifts, scales and gates every branch. For source files only: it brings
// torch/nn/module.h.
#pragma once

#include <torch/nn/module.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/engine_export.h"
#include "core/nn/block.h"
#include "core/nn/layers.h"

namespace vitrine::nn {

/// [B, patches, patch h * patch w * C] -> images [B, C, H, W]: features of a token are (row,
/// column, channel), the channel fastest. \param grid  patches, [height, width]
/// \throws ShapeError  these are not the tokens of such a grid
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor unpatchify(const at::Tensor& tokens,
                                                          std::array<std::int64_t, 2> grid,
                                                          std::array<std::int64_t, 2> patch);

/// SiLU and one map of the condition to `chunks` vectors. Parameters: 1.weight, 1.bias.
struct VITRINE_ENGINE_EXPORT AdaptiveMap final : torch::nn::Module {
  AdaptiveMap(std::int64_t width, std::int64_t chunks);
  /// [B, width] -> chunks of [B, width]
  [[nodiscard]] std::vector<at::Tensor> forward(const at::Tensor& condition) const;
  std::shared_ptr<Linear> map;
};

/// Sinusoid, map, SiLU, map. Parameters: mlp.0.*, mlp.2.*.
struct VITRINE_ENGINE_EXPORT TimestepEmbedder final : torch::nn::Module {
  static constexpr std::int64_t kFrequencies = 256;
  explicit TimestepEmbedder(std::int64_t width);
  /// [B] -> [B, width]
  [[nodiscard]] at::Tensor forward(const at::Tensor& time) const;
  std::shared_ptr<Linear> first, second;
};

/// A row for each class. Parameter: embedding_table.weight.
struct VITRINE_ENGINE_EXPORT LabelEmbedder final : torch::nn::Module {
  /// \param rows  classes, and one more where "none of them" can be said
  LabelEmbedder(std::int64_t rows, std::int64_t width);
  /// [B] int64 -> [B, width]
  [[nodiscard]] at::Tensor forward(const at::Tensor& labels) const;
  at::Tensor weight;
};

/// A block whose norms and branches a condition shifts, scales and gates. The map of the condition
/// begins with zero, so the block begins as the identity. Parameters: attn.*, mlp.*,
/// adaLN_modulation.1.*, with affine norms norm1.* and norm2.*.
struct VITRINE_ENGINE_EXPORT AdaptiveBlock {
  explicit AdaptiveBlock(const BlockOptions& options);
  /// \param x          [B, tokens, width]
  /// \param condition  [B, width]
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, const at::Tensor& condition,
                                   BlockCall call) const;
  [[nodiscard]] std::vector<BlockCost> cost(const std::string& name, double tokens) const;
  std::shared_ptr<Block> block;
  std::shared_ptr<AdaptiveMap> adaptive;  ///< a child of `block`
};

struct DenoisingTransformerConfig {
  std::array<std::int64_t, 2> inputSize{32, 32}, patchSize{2, 2};
  std::int64_t inChannels = 4, outChannels = 8;
  std::int64_t width = 384, depth = 12, heads = 6, mlpWidth = 1536;
  MlpKind mlp = MlpKind::GeluTanh;
  NormKind norm = NormKind::Layer;
  double normEps = 1e-6;
  Affine normAffine = Affine::None;
  std::int64_t labels = 1001;  ///< rows of the label table
  [[nodiscard]] std::array<std::int64_t, 2> grid() const {
    return {inputSize[0] / patchSize[0], inputSize[1] / patchSize[1]};
  }
};

/// Parameters: x_embedder.proj.*, t_embedder.*, y_embedder.*, blocks.N.*, final_layer.linear.*,
/// final_layer.adaLN_modulation.1.*; buffer pos_embed, a fixed table [1, tokens, width]. SwiGLU has
/// no biases and the names mlp.c_fc1, c_fc2, c_proj, GELU has mlp.fc1 and fc2.
struct VITRINE_ENGINE_EXPORT DenoisingTransformer final : torch::nn::Module {
  explicit DenoisingTransformer(const DenoisingTransformerConfig& config);

  struct Call {
    bool addsPositions = true;  ///< pos_embed to the patches
    at::Tensor angles;          ///< of the attention, [tokens, pairs], or undefined
    std::function<void(std::int64_t block, const AttentionOutput&)> attentionTap;
    std::vector<bool> tapped;  ///< by block, where there is a tap
    std::function<void(std::int64_t block, const at::Tensor& stream)> blockTap;
  };
  /// \param x       [B, inChannels, H, W]
  /// \param time    [B], any number type
  /// \param labels  [B] int64
  /// \returns       [B, outChannels, H, W]
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, const at::Tensor& time,
                                   const at::Tensor& labels, const Call& call) const;
  /// Costs of all parts for one sample.
  [[nodiscard]] std::vector<BlockCost> cost() const;
  /// Xavier-uniform maps, embeddings normal 0.02, every map of the condition and the last map zero.
  void start(std::uint64_t seed);

  DenoisingTransformerConfig config;
  at::Tensor positions;
  std::shared_ptr<PatchEmbed> patches;
  std::shared_ptr<TimestepEmbedder> timeEmbedder;
  std::shared_ptr<LabelEmbedder> labelEmbedder;
  std::vector<AdaptiveBlock> blocks;
  std::shared_ptr<Norm> finalNorm;
  std::shared_ptr<AdaptiveMap> finalAdaptive;
  std::shared_ptr<Linear> finalMap;
};

}  // namespace vitrine::nn
