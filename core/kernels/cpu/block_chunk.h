// Some images of a batch on their way through a fused block, forward and back, by the calling
// thread alone; fused_block.cpp hands them out.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

#include "core/kernels/cpu/attention_head.h"
#include "core/kernels/cpu/cpu_layers.h"
#include "core/kernels/cpu/gemm.h"

namespace vitrine::cpu {

/// Parameters of the tokens of one kind.
struct TokenKind {
  std::array<const float*, kBlockParameters> parameters{};
  std::array<bool, kBlockParameters> isTrained{};  ///< gradients that the backward pass computes
  std::array<bool, kBlockParameters> isOfImage{};  ///< those that are [batch, width]
};

/// The constants of a call, equal for all images.
struct BlockPlan {
  std::int64_t batch, tokens, width, hidden, heads;
  std::int64_t before;  ///< keys and values that are given, in front of those of the tokens
  std::int64_t firstRow,
      rowStep;        ///< tokens that continue after attention: firstRow, + rowStep, ...
  std::int64_t rows;  ///< how many of an image
  std::int64_t imagesAtOnce;
  NormKind norm;
  MlpKind mlp;
  float eps;
  Factor factor;
  HeadShape head;
  /// From one image's angles and additive mask to the next one's; 0: all share them.
  std::int64_t angleStep, additiveStep;
  std::int64_t headMaskStep;  ///< from one head's additive mask to the next one's; 0: one for all
  std::array<TokenKind, 2> kinds;
  std::int64_t firstOther;  ///< token of an image with which the second kind begins; `tokens`: none
  std::int64_t constantTokens;  ///< the first ones of an image, which need no gradient
  const float *attentionGain, *mlpGain;
  const float *attentionDropout, *mlpDropout, *hiddenDropout;
  const float *keysBefore, *valuesBefore;  ///< [batch, before, width]

  [[nodiscard]] bool hasAttention() const { return kinds[0].parameters[kQkvWeight] != nullptr; }
  [[nodiscard]] std::int64_t chunks() const { return (batch + imagesAtOnce - 1) / imagesAtOnce; }
  [[nodiscard]] std::int64_t keys() const { return before + tokens; }
  [[nodiscard]] std::int64_t probabilities() const { return heads * rows * keys(); }
};

/// Tensors of a call that the backward pass needs again; undefined ones are not saved.
struct SavedTensors {
  at::Tensor qkv, probabilities, attended, sum, hidden, up;
  at::Tensor attentionBranch, mlpBranch;  ///< before their gates
};

enum class Way { Forward, Backward };

/// Parameters of both kinds of tokens, one kind after the other; undefined where there is none.
constexpr std::size_t kBothKinds = 2 * kBlockParameters;
using BothParameters = std::array<at::Tensor, kBothKinds>;

/// The six maps of each kind as right factors: their transposes on the way forward, themselves on
/// the way back.
struct PackedMaps {
  struct Maps {
    AlignedFloats query, keyValue, proj, fc1, fc2, fc3;
  };
  std::array<Maps, 2> kinds;

  /// By all threads.
  PackedMaps& pack(const BlockPlan& plan, Way way);
  static PackedMaps& ofThread();
  /// Of a call without gradient: packed, or kept where a ConstantParameters lives.
  /// \param parameters  whose values `plan` points at
  static const PackedMaps& withoutGradient(const BlockPlan& plan, const BothParameters& parameters);
};

/// Offset of the gradient of each kind's parameters in a share: rows first, to which each chunk
/// adds, then maps, which its first chunk writes. Parameters that are not trained, or of each
/// image, take no room.
struct GradientLayout {
  explicit GradientLayout(const BlockPlan& p) {
    const std::int64_t d = p.width, h = p.hidden, up = p.mlp == MlpKind::SwiGlu ? h : 0;
    const std::array<std::int64_t, kBlockParameters> sizes{
        d, d, 3 * d * d, 3 * d, d * d, d, d, d, h * d, h, d * h, d, up * d, up, 0, 0, 0};
    for (const bool isMap : {false, true}) {
      for (std::size_t kind = 0; kind < p.kinds.size(); ++kind) {
        for (std::size_t i = 0; i < kBlockParameters; ++i) {
          const bool isOne = i == kQkvWeight || i == kProjWeight || i == kFc1Weight ||
                             i == kFc2Weight || i == kFc3Weight;
          if (isOne != isMap) continue;
          offsets[kind][i] = total;
          if (p.kinds[kind].isTrained[i] && !p.kinds[kind].isOfImage[i]) total += sizes[i];
        }
      }
      if (!isMap) rows = total;
    }
  }
  std::array<std::array<std::int64_t, kBlockParameters>, 2> offsets{};
  std::int64_t rows = 0, total = 0;  ///< floats of the rows, and of a share
};

/// \param stream  x of the whole batch
/// \param result  the whole batch's stream after the block
void forwardChunk(const BlockPlan& plan, std::int64_t index, const PackedMaps& maps,
                  const float* stream, const SavedTensors& saved, float* result);

/// Destinations of the backward pass.
struct BlockGradients {
  float* x;      ///< of the whole batch
  float* share;  ///< of the trained parameters, by the layout; added to
  bool isFirst;  ///< of the share's chunks: writes its maps
  /// Of the first kind's trained parameters of each image, [batch, width]; added to.
  std::array<float*, kBlockParameters> ofImages;
  /// Of the additive mask of each head, [batch, heads, rows, tokens]; null where it is not trained.
  float* mask = nullptr;
};

void backwardChunk(const BlockPlan& plan, std::int64_t index, const PackedMaps& maps,
                   const float* stream, const SavedTensors& saved, const float* outGradient,
                   const GradientLayout& layout, const BlockGradients& gradients);

}  // namespace vitrine::cpu
