// Masks between tokens: causal, modified causal, soft (arXiv:2404.06773, equations 1 and 2).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "core/nn/attention_mask.h"

namespace vitrine::illama {

enum class MaskKind {
  Causal,          ///< a token sees itself and those before it
  ModifiedCausal,  ///< causal, but the first token sees all (a leading class token)
  Soft,  ///< alpha where causal is 0, 1 elsewhere: bidirectional at alpha 1, causal at alpha 0
};

/// The factor S [tokens, tokens], float32 on the device of `alpha`: 1 sees, 0 does not, alpha in
/// between. \param alpha  0-d float32; read by Soft alone
[[nodiscard]] at::Tensor maskFactor(MaskKind kind, std::int64_t tokens, const at::Tensor& alpha);

class CausalMask final : public nn::SequenceMask {
 public:
  CausalMask(MaskKind kind, nn::MaskMode mode) : kind_(kind), mode_(mode) {}
  [[nodiscard]] at::Tensor factor(std::int64_t tokens, at::Device device) override;
  [[nodiscard]] nn::MaskMode mode() const override { return mode_; }
  [[nodiscard]] std::string name() const override;

  [[nodiscard]] bool isSoft() const noexcept { return kind_ == MaskKind::Soft; }
  /// The factor where causal is 0. Lives on the device; setting it waits for nothing.
  void setAlpha(double alpha);
  [[nodiscard]] double alpha() const noexcept { return alpha_; }

 private:
  MaskKind kind_;
  nn::MaskMode mode_;
  double alpha_ = 0;
  at::Tensor alphaOnDevice_;  ///< 0-d float32
  at::Tensor constant_;       ///< of the last length and device, where alpha does not matter
};

}  // namespace vitrine::illama
