// A whole pre-norm block as one differentiable operation on the CPU: each thread takes a few images
// through norm, attention and MLP while they lie in its cache, and back again. Layer by layer, a
// small encoder spends most of its time on forks, joins and memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <optional>

#include "core/nn/tile_product.h"
#include "core/nn/vision_transformer.h"

namespace vitrine::nn {

/// Above, an image no longer fits a core's cache, and a library's products are as good. Sequences
/// are those of short attention (kShortKeys).
inline constexpr std::int64_t kFusedWidth = 512;

/// Parameters of a block in the order in which they are handed over; undefined where there is none.
enum BlockParameter : std::size_t {
  kNorm1Weight,
  kNorm1Bias,
  kQkvWeight,
  kQkvBias,
  kProjWeight,
  kProjBias,
  kNorm2Weight,
  kNorm2Bias,
  kFc1Weight,
  kFc1Bias,
  kFc2Weight,
  kFc2Bias,
  kFc3Weight,  ///< SwiGLU only
  kFc3Bias,
  kBlockParameters
};
using BlockParameters = std::array<at::Tensor, kBlockParameters>;

struct BlockInput {
  at::Tensor x;  ///< [batch, tokens, width]; float32, under autocast bfloat16 as well
  BlockParameters parameters;
  NormKind norm = NormKind::Layer;
  double normEps = 1e-6;
  MlpKind mlp = MlpKind::GeluErf;
  std::int64_t heads = 1;
  std::int64_t row = -1;      ///< the one token wanted, or -1 for all
  at::Tensor angles;          ///< as in AttentionInput
  at::Tensor additive;        ///< constant, [queries, keys] values, or undefined
  at::Tensor multiplicative;  ///< constant, [queries, keys] values, or undefined
  /// Factors of the two branches, [batch] values each, or undefined for one: drop path.
  at::Tensor attentionGain, mlpGain;
  Factor factor = Factor::Float32;  ///< of the matrix products of the six maps
};

/// How a block's maps are multiplied when it is fused: float32, or bfloat16 under autocast to that.
/// Nothing where the machine or the autocast asks for something else.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::optional<Factor> fusedFactor();

/// Whether fusedBlock() takes it and is the faster way: plain float32 on the CPU, constant masks, a
/// batch of several images, sequences whose probabilities are small beside the rest.
[[nodiscard]] bool isFusable(const BlockInput& input);

/// \returns  [batch, tokens or 1, width] float32: the residual stream after the block
/// \pre  isFusable(input)
[[nodiscard]] at::Tensor fusedBlock(const BlockInput& input);

}  // namespace vitrine::nn
