// A pre-norm block: attention and MLP, each behind a norm and next to the residual stream. On the
// CPU it goes as one operation where core/kernels/cpu takes it, layer by layer elsewhere. For
// source files only: it brings torch/nn/module.h.
#pragma once

#include <ATen/core/Generator.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/engine_export.h"
#include "core/kernels/cpu/cpu_layers.h"
#include "core/nn/layers.h"
#include "core/nn/multi_head_attention.h"
#include "core/nn/residual.h"

namespace vitrine::nn {

/// Sets a map and its bias at `place` and behind it. A gain per channel of what the map makes is a
/// factor of its rows: width * width products more in place of one for each token and channel.
/// \param gain  null for none
VITRINE_ENGINE_EXPORT void setMap(cpu::BlockInput& input, cpu::BlockParameter place,
                                  const Linear& map, const std::shared_ptr<LayerScale>& gain);

struct BlockOptions {
  std::int64_t width = 0, heads = 1, hidden = 0;
  MlpKind mlp = MlpKind::GeluErf;
  Bias mlpBias = Bias::Present, qkvBias = Bias::Present;
  NormKind norm = NormKind::Layer;
  double normEps = 1e-6;
  Affine affine = Affine::Present;   ///< of both norms
  std::optional<double> layerScale;  ///< first value of a gain per channel on each branch
  double dropPath = 0;               ///< rate, by sample
  double dropout = 0;                ///< rate, after the attention's last map and both of the MLP's
  std::int64_t relativeRows = 0;     ///< of a table of relative positions; 0: none
  BlockNames names = {};
};

/// The effect of a condition on one block (Peebles & Xie 2023, arXiv:2212.09748, adaLN):
/// norm(x) * (1 + scale) + shift, and the branch times its gate. Each is [batch, width], or
/// undefined for none.
struct Modulation {
  at::Tensor attentionShift, attentionScale, attentionGate;
  at::Tensor mlpShift, mlpScale, mlpGate;
};

/// Inputs that the blocks of one forward pass share.
struct BlockCall {
  at::Tensor angles;    ///< RoPE, or undefined
  at::Tensor additive;  ///< masks of AttentionInput
  at::Tensor multiplicative;
  at::Generator generator;  ///< of dropout in training
  std::int64_t row = -1;    ///< the one token that is wanted after this block, or -1 for all
  Modulation modulation = {};
  /// Sees the probabilities, [batch, heads, queries, keys].
  std::function<void(const AttentionOutput&)> tap = {};
};

/// Parameters: norm1, attn.qkv, attn.proj, ls1, norm2, mlp.fc1, mlp.fc2, (mlp.fc3), ls2, unless
/// the options name them otherwise. Also attn.relative_position_bias_table, which the caller makes
/// the additive mask of (position/relative_bias.h).
struct VITRINE_ENGINE_EXPORT Block final : torch::nn::Module {
  explicit Block(const BlockOptions& options);
  /// \param stream  [batch, tokens, width]
  /// \returns       the same, or [batch, 1, width] with `call.row`
  [[nodiscard]] Stream forward(const Stream& stream, const BlockCall& call) const;
  /// Attention and MLP with what stands between them and the stream, without the norms. Published
  /// counts of all `tokens`; `kept` of them continue after the attention, and what is kept is
  /// theirs.
  [[nodiscard]] BlockCost attentionCost(double kept, double tokens, bool hasFactor) const;
  [[nodiscard]] BlockCost mlpCost(double kept, double tokens) const;
  /// Of the norm before a branch.
  [[nodiscard]] BlockCost normCost(const Norm& norm, double kept, double tokens) const;
  [[nodiscard]] const BlockOptions& options() const { return options_; }

  std::shared_ptr<Norm> norm1, norm2;
  std::shared_ptr<MultiHeadAttention> attn;
  at::Tensor relativeTable;  ///< [relativeRows, heads], zero at first; or undefined
  std::shared_ptr<LayerScale> ls1, ls2;
  std::shared_ptr<Mlp> mlp;

 private:
  [[nodiscard]] at::Tensor whole(const Stream& stream, const BlockCall& call) const;
  /// The MLP with its norm and sum as one operation, or undefined.
  [[nodiscard]] at::Tensor wholeMlp(const Stream& stream, const BlockCall& call) const;
  void setMlp(cpu::BlockInput& input, const Modulation& modulation) const;
  /// What training drops of the MLP, `rows` of each sample.
  void drawMlp(cpu::BlockInput& input, std::int64_t rows, const at::Generator& generator) const;
  [[nodiscard]] Stream byLayers(const Stream& stream, const BlockCall& call) const;
  /// Whether a training batch of many images goes as one operation on the CPU.
  [[nodiscard]] bool isWhole(double tokens) const;
  BlockOptions options_;
  Residual attentionBranch_, mlpBranch_;
};

}  // namespace vitrine::nn
