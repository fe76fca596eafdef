// Layers as torch modules, for models of any kind. They read no configuration, take their
// parameters' names from the module that registers them, and stand on buildDevice(). They draw from
// generators of the caller and give their costs.
//
// A new layer has gains of one, and zero biases and maps; initialise() of init.h gives other first
// values. For source files only: this brings torch/nn/module.h.
#pragma once

#include <ATen/core/Generator.h>
#include <torch/nn/module.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/engine_export.h"
#include "core/model/model.h"
#include "core/nn/bias.h"
#include "core/nn/block_names.h"
#include "core/nn/mlp.h"
#include "core/nn/norm.h"
#include "core/nn/position/position_embedding.h"

namespace vitrine::nn {

/// x W^T + b. Parameters: weight [out, in], bias [out].
struct VITRINE_ENGINE_EXPORT Linear : torch::nn::Module {
  Linear(std::int64_t in, std::int64_t out, Bias hasBias = Bias::Present);
  /// [.., in] -> [.., out]
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const;
  /// Rows [first, first + count) of the map alone.
  [[nodiscard]] at::Tensor forwardRows(const at::Tensor& x, std::int64_t first,
                                       std::int64_t count) const;
  /// \param rows  that go through; their input is kept
  [[nodiscard]] BlockCost cost(double rows) const;
  at::Tensor weight, bias;
};

struct ConvolutionOptions {
  std::int64_t in = 0, out = 0;  ///< channels
  std::array<std::int64_t, 2> kernel{1, 1}, stride{1, 1}, padding{0, 0};
  std::int64_t groups = 1;
  Bias bias = Bias::Present;
};

/// Parameters: weight [out, in / groups, height, width], bias [out].
struct VITRINE_ENGINE_EXPORT Conv2d : torch::nn::Module {
  explicit Conv2d(const ConvolutionOptions& options);
  /// [batch, in, height, width] -> [batch, out, height', width']
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const;
  /// \param size  of the output, [height, width]; the input is kept
  [[nodiscard]] BlockCost cost(std::array<std::int64_t, 2> size) const;
  at::Tensor weight, bias;

 private:
  ConvolutionOptions options_;
};

/// The norm at the beginning of a residual branch; tensors keep their shapes.
struct VITRINE_ENGINE_EXPORT AnyNorm : torch::nn::Module {
  [[nodiscard]] virtual at::Tensor forward(const at::Tensor& x) const = 0;
  /// {x + branch, norm(x + branch)}; an undefined branch is zero.
  [[nodiscard]] virtual std::pair<at::Tensor, at::Tensor> forward(const at::Tensor& x,
                                                                  const at::Tensor& branch) const;
  /// \param places  tokens or pixels
  [[nodiscard]] virtual BlockCost cost(double places) const = 0;
};

enum class Affine {
  None,
  Present,
  OffsetFromOne,  ///< gains are 1 + weight, and weight begins with zero
};

/// LayerNorm or RMSNorm over the last axis. Parameters: weight [width], LayerNorm also bias
/// [width]; none without Affine.
struct VITRINE_ENGINE_EXPORT Norm final : AnyNorm {
  Norm(NormKind kind, std::int64_t width, double eps, Affine affine = Affine::Present);
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const override;
  [[nodiscard]] std::pair<at::Tensor, at::Tensor> forward(const at::Tensor& x,
                                                          const at::Tensor& branch) const override;
  /// Kept for the backward pass: input, output and the statistics.
  [[nodiscard]] BlockCost cost(double tokens) const override;
  /// Factors of the channels, [width]; undefined without Affine.
  [[nodiscard]] at::Tensor gains() const;
  at::Tensor weight, bias;

 private:
  NormKind kind_;
  Affine affine_;
  std::int64_t width_;
  double eps_;
};

/// Wu & He 2018: channels in groups, each with its mean and variance. [batch, channels, ..].
/// Parameters: weight, bias [channels].
struct VITRINE_ENGINE_EXPORT GroupNorm final : AnyNorm {
  GroupNorm(std::int64_t groups, std::int64_t channels, double eps);
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const override;
  using AnyNorm::forward;
  [[nodiscard]] BlockCost cost(double pixels) const override;
  at::Tensor weight, bias;

 private:
  std::int64_t groups_;
  double eps_;
};

/// A gain per channel. Parameter: gamma [width].
struct VITRINE_ENGINE_EXPORT LayerScale final : torch::nn::Module {
  LayerScale(std::int64_t width, double first);
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const;
  [[nodiscard]] BlockCost cost(double tokens) const;
  at::Tensor gamma;
};

struct MlpOptions {
  std::int64_t width = 0, hidden = 0;
  MlpKind kind = MlpKind::GeluErf;
  Bias bias = Bias::Present;
  double dropout = 0;  ///< after the nonlinearity
  MlpNames names = {};
};

/// out(gelu(in(x))) or out(silu(in(x)) * up(x)).
struct VITRINE_ENGINE_EXPORT Mlp final : torch::nn::Module {
  explicit Mlp(const MlpOptions& options);
  /// \param generator  for dropout in training
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, const at::Generator& generator = {}) const;
  /// Kept for the backward pass: inputs of the nonlinearity and of the last map.
  [[nodiscard]] BlockCost cost(double tokens) const;
  [[nodiscard]] MlpKind kind() const { return options_.kind; }
  std::shared_ptr<Linear> in, out, up;

 private:
  MlpOptions options_;
};

/// A convolution whose stride is its kernel, computed as one matrix product. Parameters: weight
/// [width, channels, height, width], bias [width].
struct VITRINE_ENGINE_EXPORT PatchEmbed final : torch::nn::Module {
  /// \param patch  [height, width] in pixels
  PatchEmbed(std::int64_t channels, std::array<std::int64_t, 2> patch, std::int64_t width,
             Bias hasBias = Bias::Present);
  /// images [batch, channels, height, width] -> [batch, patches, width]
  [[nodiscard]] at::Tensor forward(const at::Tensor& images) const;
  [[nodiscard]] BlockCost cost(double patches) const;
  at::Tensor weight, bias;
};

/// A learned row for each place. Parameter, under the name given: [1, places, width].
struct VITRINE_ENGINE_EXPORT LearnedPositions final : torch::nn::Module {
  LearnedPositions(std::int64_t places, std::int64_t width, const std::string& name = "weight");
  /// [batch, places, width], with the table added. \throws ShapeError  another number of places
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const;
  /// \param places  [batch, tokens] integers: which row each token takes
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, const at::Tensor& places) const;
  [[nodiscard]] BlockCost cost(double tokens) const;
  at::Tensor table;
};

}  // namespace vitrine::nn
