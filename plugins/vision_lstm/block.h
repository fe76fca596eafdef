// The block of a Vision-LSTM and what it is made of, named as the published package names it. For
// source files only.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/kernels/mlstm.h"
#include "core/nn/layers.h"
#include "core/nn/residual.h"
#include "plugins/vision_lstm/config.h"

namespace vitrine::vision_lstm {

/// LayerNorm whose gains are 1 + weight, with or without offsets. Parameters: weight, bias [width].
struct OffsetNorm final : nn::AnyNorm {
  OffsetNorm(std::int64_t width, double eps, nn::Bias hasBias);
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const override;
  using AnyNorm::forward;
  [[nodiscard]] BlockCost cost(double tokens) const override;
  at::Tensor weight, bias;

 private:
  double eps_;
};

/// The same of each head by itself, of readings [batch, heads, tokens, width] to [batch, tokens,
/// heads x width]. Parameters: weight, bias [heads x width].
struct HeadNorm final : torch::nn::Module {
  HeadNorm(std::int64_t width, double eps, nn::Bias hasBias);
  [[nodiscard]] at::Tensor forward(const at::Tensor& readings) const;
  at::Tensor weight, bias;

 private:
  double eps_;
};

/// A map that mixes channels in groups of a few: block-diagonal. Parameters: weight [groups, out,
/// in], bias [groups x out].
struct HeadwiseLinear final : torch::nn::Module {
  HeadwiseLinear(std::int64_t width, std::int64_t block, nn::Bias hasBias);
  /// [.., width] -> [.., width]
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const;
  at::Tensor weight, bias;
};

/// Each channel by itself along the scan or over its grid. Parameters: weight [width, 1, kernel(,
/// kernel)], bias [width], of 1-D ones below `conv`.
struct DepthwiseConvolution final : torch::nn::Module {
  DepthwiseConvolution(Convolution kind, std::int64_t width, std::int64_t kernel);
  /// \param x  [batch, tokens, width] in the order of the scan; \param grid  as the scan sees it
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, Grid grid) const;
  at::Tensor weight, bias;

 private:
  Convolution kind_;
  std::int64_t kernel_;
};

/// Gates, memory and the norm of its output. Parameters: igate, fgate, outnorm.
struct MatrixMemory final : torch::nn::Module {
  explicit MatrixMemory(const VisionLstmConfig& config);
  std::shared_ptr<nn::Linear> inputGate, forgetGate;
  std::shared_ptr<HeadNorm> norm;
};

/// Receives named activations of one block.
using Internals = std::function<void(const std::string& name, const at::Tensor& value)>;

/// Order in which a block scans the tokens.
struct Scan {
  at::Tensor order, inverse;  ///< [tokens] int64; undefined: in raster order
  Grid grid;                  ///< as it sees them
};

/// Queries, keys, values and gates of a block, in scan order.
struct CellInput {
  at::Tensor a, z, convolved, c, q, k, v;  ///< [batch, tokens, inner width]
  kernels::MlstmInput cell;
};

/// Projection up, convolution, memory, gating, projection down.
struct Layer final : torch::nn::Module {
  explicit Layer(const VisionLstmConfig& config);
  /// \param x  [batch, tokens, width], normed, in the order of the scan
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, Grid grid,
                                   const Internals& internals) const;
  [[nodiscard]] CellInput cellInput(const at::Tensor& x, Grid grid) const;

  at::Tensor skip;
  std::shared_ptr<nn::Linear> up, down;
  std::shared_ptr<HeadwiseLinear> query, key, value;
  std::shared_ptr<DepthwiseConvolution> convolution;
  std::shared_ptr<MatrixMemory> memory;

 private:
  std::int64_t heads_;
  kernels::MlstmOptions cell_;
};

/// x + layer(norm(x)), in the order of a scan. Parameters: norm, layer.
struct Block final : torch::nn::Module {
  Block(const VisionLstmConfig& config, double dropPath);
  /// \returns  stream and branch, not added up yet unless drop path left samples out
  [[nodiscard]] nn::Stream forward(const at::Tensor& x, const Scan& scan,
                                   const at::Generator& generator,
                                   const Internals& internals) const;
  [[nodiscard]] CellInput cellInput(const at::Tensor& x, const Scan& scan) const;

  std::shared_ptr<OffsetNorm> norm;
  std::shared_ptr<Layer> layer;

 private:
  nn::Residual residual_;
};

/// The whole network; the root of all parameter names.
struct Network final : torch::nn::Module {
  explicit Network(const VisionLstmConfig& config);
  std::shared_ptr<nn::Conv2d> projection;  ///< patch_embed.proj
  at::Tensor positions;                    ///< pos_embed.embed: [1, rows, columns, width]
  at::Tensor classTokens;                  ///< cls_tokens.tokens: [1, count, width]
  std::vector<std::shared_ptr<Block>> blocks;
  std::shared_ptr<OffsetNorm> norm;
  std::shared_ptr<nn::Norm> headNorm;  ///< legacy_norm
  std::shared_ptr<nn::Linear> head;
};

/// "blocks.3." or, of pairs, "blocks.1.rowwise_from_bot_right.".
[[nodiscard]] std::string blockPrefix(const VisionLstmConfig& config, std::int64_t block);

/// First values of everything. \param seed  of the run
void initialiseNetwork(Network& network, const VisionLstmConfig& config, std::uint64_t seed);

}  // namespace vitrine::vision_lstm
