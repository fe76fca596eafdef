// Layers that this room computes on the CPU: whole pre-norm blocks, attention of short sequences,
// the sum and norm between two branches, nonlinearities. A layer asks whether a call can be taken
// and hands it over; which call is taken at which shape is decided in path_rule.cpp alone.
//
// In a block each thread takes a few images through norm, attention and MLP while they lie in its
// cache, and back again. Layer by layer, a small encoder spends most of its time on forks, joins
// and memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "core/engine_export.h"
#include "core/kernels/cpu/layer_kinds.h"

namespace vitrine::cpu {

using kernels::Gelu;
using kernels::MlpKind;
using kernels::NormKind;

/// Parameters of a block in the order in which they are handed over; undefined where there is none.
/// Those of the norms may be [batch, width], of each image its own: gains 1 + scale and shift of an
/// adaptive norm, for one. A gain per channel of a branch is a factor of the last map's rows.
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
  kAttentionGate,  ///< [batch, width]: multiplies the branch of each image, or undefined
  kMlpGate,
  kAttentionBias,  ///< set by runBlock() alone: additive values of each head
  kBlockParameters
};
using BlockParameters = std::array<at::Tensor, kBlockParameters>;

struct BlockInput {
  at::Tensor x;  ///< [batch, tokens, width]; float32, under autocast bfloat16 as well
  /// Without kQkvWeight it is the MLP branch alone, of any number of tokens: nothing of the
  /// attention is read.
  BlockParameters parameters;
  /// Tokens from `firstOther` on of every image have these instead: two kinds of tokens that meet
  /// in the attention. -1: one kind. Both kinds have the same sizes. Without `row`, given keys,
  /// gates and parameters of each image.
  BlockParameters others;
  std::int64_t firstOther = -1;
  /// So many tokens of every image, the first, are constants: they see each other alone, their
  /// parameters are not trained, and no gradient goes to them. With `firstOther` only.
  std::int64_t constantTokens = 0;
  NormKind norm = NormKind::Layer;
  double normEps = 1e-6;
  MlpKind mlp = MlpKind::GeluErf;
  std::int64_t heads = 1;
  std::int64_t row = -1;  ///< the one token wanted, or -1 for all
  at::Tensor angles;      ///< [tokens, pairs], or of each image, or undefined
  /// Keys, turned, and values of tokens before these, [batch, before, width] each, which all tokens
  /// see; or undefined. Without gradient, masks and `row`.
  at::Tensor keysBefore, valuesBefore;
  /// Constant, [queries, keys] values, or so many of each image; or of each head, [1, heads,
  /// queries, keys], which may be trained.
  at::Tensor additive;
  at::Tensor multiplicative;  ///< constant, [queries, keys] values, or undefined
  /// Factors of the two branches, [batch] values each, or undefined for one: drop path.
  at::Tensor attentionGain, mlpGain;
  /// Constant factors of single elements, or undefined for one. They are dropout of the two
  /// branches, [batch, rows, width], and of what the nonlinearity gives, [batch, rows, hidden].
  at::Tensor attentionDropout, mlpDropout, hiddenDropout;
};

/// Sizes of a block's call, where there are no tensors to ask about yet.
struct BlockShape {
  std::int64_t batch = 1, tokens = 1, width = 1, heads = 1;
  bool hasGradient = true;  ///< of anything: a backward pass follows
};

/// Whether runBlock() is the faster way at that shape, for float32 on the CPU and constant masks
/// that all heads share.
[[nodiscard]] VITRINE_ENGINE_EXPORT bool takesBlock(const BlockShape& shape);
/// Whether it is the faster way for an MLP branch alone.
[[nodiscard]] VITRINE_ENGINE_EXPORT bool takesMlpBranch(const BlockShape& shape);
/// Whether runBlock() takes this call.
[[nodiscard]] VITRINE_ENGINE_EXPORT bool takesBlock(const BlockInput& input);
/// \returns  [batch, tokens or 1, width] float32: the residual stream after the block
/// \pre  takesBlock(input)
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor runBlock(const BlockInput& input);

/// While one lives, no parameter of the blocks that this thread computes without a gradient
/// changes. Their maps are packed once, for 256 MiB of them: for the steps of drawing.
class VITRINE_ENGINE_EXPORT ConstantParameters {
 public:
  ConstantParameters();
  ~ConstantParameters();
  ConstantParameters(const ConstantParameters&) = delete;
  ConstantParameters& operator=(const ConstantParameters&) = delete;
};

/// Self-attention straight from packed projections. Channels of q, k and v are [heads, headDim]
/// flattened, heads outermost.
struct PackedAttention {
  at::Tensor query;     ///< [batch, queries, width]
  at::Tensor keyValue;  ///< [batch, keys, 2 * width]: k, then v; undefined when `query` is [.., 3 *
                        ///< width]: q, k, v
  std::int64_t heads = 1;
  std::int64_t firstQuery = 0;  ///< which key the first query is: with fewer queries than keys,
                                ///< they are keys firstQuery, firstQuery + 1, ...
  at::Tensor angles;            ///< [keys, pairs], or undefined
  at::Tensor additive;          ///< added to the logits, or undefined; see canAttend()
  at::Tensor multiplicative;    ///< multiplies the probabilities, or undefined
};

struct AttentionShape {
  std::int64_t queries = 1, keys = 1, heads = 1, headDim = 1;
};

/// Whether attention() is the faster way at that shape, where canAttend() holds.
[[nodiscard]] VITRINE_ENGINE_EXPORT bool takesAttention(const AttentionShape& shape);
/// Whether attention() can compute it: short sequences on the CPU in float32, or in a half type,
/// which the caller widens. Masks are constants for all samples; an additive one may be of each
/// head, and may then be trained.
[[nodiscard]] VITRINE_ENGINE_EXPORT bool canAttend(const at::Tensor& query,
                                                   const AttentionShape& shape,
                                                   const at::Tensor& additive,
                                                   const at::Tensor& multiplicative);
/// The conditions of canAttend(), for messages.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::string attentionLimits();
/// Differentiable in `query`, `keyValue` and an additive mask of each head; keeps the probabilities
/// for that.
/// \returns  [batch, queries, width]
/// \pre  canAttend(), float32, angles (if any) are [keys, headDim / 2]
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor attention(const PackedAttention& input);

/// Whether attendOneQuery() takes this call: one query a head on the CPU, in float32, without a
/// gradient.
[[nodiscard]] VITRINE_ENGINE_EXPORT bool takesOneQuery(const at::Tensor& query,
                                                       const at::Tensor& key,
                                                       const at::Tensor& value);
/// softmax(scale * q k^T) v over all keys.
/// \param query  [batch, heads, 1, headDim]
/// \param key    [batch, keyHeads, keys, headDim]; keyHeads divides heads
/// \param value  [batch, keyHeads, keys, valueDim]
/// \returns  [batch, heads, 1, valueDim]
/// \pre  takesOneQuery()
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor attendOneQuery(const at::Tensor& query,
                                                              const at::Tensor& key,
                                                              const at::Tensor& value,
                                                              double scale);

/// Whether addAndNormalise() takes these.
[[nodiscard]] VITRINE_ENGINE_EXPORT bool takesAddAndNormalise(const at::Tensor& x,
                                                              const at::Tensor& branch,
                                                              const at::Tensor& weight);
/// {x + branch, norm(x + branch)}, one pass over memory each way; both [.., width].
/// \pre  takesAddAndNormalise(x, branch, weight)
[[nodiscard]] VITRINE_ENGINE_EXPORT std::pair<at::Tensor, at::Tensor> addAndNormalise(
    NormKind kind, const at::Tensor& x, const at::Tensor& branch, const at::Tensor& weight,
    const at::Tensor& bias, double eps);

/// Whether rmsNorm() takes these.
[[nodiscard]] VITRINE_ENGINE_EXPORT bool takesRmsNorm(const at::Tensor& x,
                                                      const at::Tensor& weight);
/// x / sqrt(mean(x^2) + eps) * weight over the last axis, one pass over memory each way.
/// \pre  takesRmsNorm(x, weight)
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor rmsNorm(const at::Tensor& x,
                                                       const at::Tensor& weight, double eps);

/// Whether gelu() takes it: without a gradient to prepare for, a library writes half as much.
[[nodiscard]] VITRINE_ENGINE_EXPORT bool takesGelu(const at::Tensor& x);
/// The forward pass already knows the slope, so the backward pass is one product.
/// \pre  takesGelu(x)
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor gelu(const at::Tensor& x, Gelu form);

/// Whether swiGlu() takes these: float32 rows on the CPU.
[[nodiscard]] VITRINE_ENGINE_EXPORT bool takesSwiGlu(const at::Tensor& gate, const at::Tensor& up);
/// silu(gate) * up. \pre  takesSwiGlu(gate, up)
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor swiGlu(const at::Tensor& gate, const at::Tensor& up);

}  // namespace vitrine::cpu
