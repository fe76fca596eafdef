// A block on the tokens of a grid: attention inside of windows, over sub-sampled keys, or of all
// tokens, then the MLP. For source files only: it brings torch/nn/module.h.
#pragma once

#include <ATen/core/Generator.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/kernels/cpu/cpu_layers.h"
#include "core/nn/block_names.h"
#include "core/nn/layers.h"
#include "core/nn/multi_head_attention.h"
#include "core/nn/residual.h"
#include "plugins/visionllama/common.h"
#include "plugins/visionllama/rope_settings.h"

namespace vitrine::visionllama {

/// Tokens that a token sees.
enum class Sight {
  Window,  ///< those of its window (LSA)
  Cells,   ///< every cell of a reduced grid (GSA)
  All,
};

struct MapBlockOptions {
  std::int64_t width = 0, heads = 1, hidden = 0;
  Sight sight = Sight::Window;
  std::int64_t window = 7;     ///< tokens along a side, of Sight::Window
  std::int64_t reduction = 1;  ///< tokens along a side of a cell, of Sight::Cells
  BlockSettings settings;
  double attentionDrop = 0, mlpDrop = 0;  ///< rates of drop path
  /// Names of mmpretrain's classes: ln1, ln2, ffn.w12 (gate and up in one map), ffn.w3.
  bool isFused = false;
};

struct GridAngles {
  at::Tensor window;      ///< inside of a window, [window^2, pairs]
  at::Tensor query, key;  ///< of the grid, and of what its tokens see
};

/// Inputs that the blocks of a grid share in one pass.
struct MapCall {
  Sides grid{};
  const GridAngles* angles = nullptr;
  at::Generator generator = {};
  /// Sees the probabilities: of windows [batch, windows, heads, window^2, window^2], padding
  /// included; else [batch, heads, queries, keys].
  std::function<void(const at::Tensor&)> tap = {};
};

/// Parameters by the authors' names: norm1, attn.{qkv,proj} or attn.{q,kv,proj,sr,norm}, gamma_1,
/// norm2, mlp.{c_fc1,c_fc2,c_proj}, gamma_2.
struct MapBlock final : torch::nn::Module {
  explicit MapBlock(const MapBlockOptions& options);
  /// [batch, height * width, channels] each
  [[nodiscard]] nn::Stream forward(const nn::Stream& stream, const MapCall& call) const;
  /// \param grid  of the tokens
  [[nodiscard]] std::vector<BlockCost> cost(Sides grid, const std::string& prefix,
                                            const std::string& rope) const;
  [[nodiscard]] const MapBlockOptions& options() const { return options_; }

 private:
  /// The block as one operation on the CPU, window by window where it sees windows. Undefined with
  /// padding, sub-sampled keys, a tap, or one map for gate and up.
  [[nodiscard]] at::Tensor whole(const nn::Stream& stream, const MapCall& call) const;
  /// The MLP with its norm and sum as one operation on the CPU, or undefined.
  [[nodiscard]] at::Tensor wholeMlp(const nn::Stream& stream, const at::Generator& generator) const;
  void setMlp(cpu::BlockInput& input) const;
  [[nodiscard]] at::Tensor attendWindows(const at::Tensor& x, const MapCall& call) const;
  [[nodiscard]] at::Tensor attendCells(const at::Tensor& x, const MapCall& call) const;
  [[nodiscard]] at::Tensor attendAll(const at::Tensor& x, const MapCall& call) const;
  [[nodiscard]] at::Tensor feed(const at::Tensor& x) const;

  MapBlockOptions options_;
  std::shared_ptr<nn::Norm> norm1_, norm2_, cellNorm_;
  std::shared_ptr<nn::LayerScale> gain1_, gain2_;
  std::shared_ptr<nn::MultiHeadAttention> attention_;
  std::shared_ptr<nn::PatchEmbed> reduce_;
  std::shared_ptr<nn::Mlp> mlp_;
  std::shared_ptr<nn::Linear> gateUp_, down_;
  nn::Residual attentionBranch_, mlpBranch_;
};

/// Windows of `side` tokens that cover a grid, [rows, columns]: the last ones may reach beyond it.
[[nodiscard]] Sides windowsOf(Sides grid, std::int64_t side);

/// [batch, channels, height, width] of [batch, height * width, channels], a view.
[[nodiscard]] at::Tensor mapOf(const at::Tensor& tokens, Sides grid);

}  // namespace vitrine::visionllama
