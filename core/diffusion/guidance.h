// Guidance without a classifier (Ho & Salimans 2022, arXiv:2207.12598).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/engine_export.h"
#include "core/model/capabilities.h"

namespace vitrine::diffusion {

/// A denoiser that was trained with and without its condition, and the unit of its time.
class VITRINE_ENGINE_EXPORT GuidedDenoiser : public Capability {
 public:
  static constexpr const char* kId = "guided_denoiser";
  enum class Time {
    Step,  ///< 0 the least noisy of the steps of a diffusion, outputs of StepOutput
    Flow,  ///< 0 noise to 1 data, outputs of Transport
  };
  [[nodiscard]] virtual Time timeUnit() const = 0;
  /// Share of the training samples whose label is replaced by "none of them", 0 to 1. 0: the
  /// network has no such label and cannot be guided.
  [[nodiscard]] virtual double labelDrop() const = 0;
};

struct Guidance {
  double scale = 1;           ///< 1: the conditional prediction alone
  std::int64_t channels = 0;  ///< guided ones, the first; 0: all of the state's
};

/// unconditional + scale (conditional - unconditional) in the first `channels`, the conditional
/// prediction in the others; of all where `channels` is 0. [B, C, H, W]
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor guided(const at::Tensor& conditional,
                                                      const at::Tensor& unconditional, double scale,
                                                      std::int64_t channels = 0);

/// The network's prediction at one time for all samples. A guided one computes both halves in one
/// pass.
/// \param state   [B, C, H, W]
/// \param labels  [B] int64
/// \throws ConfigError  guidance of a network that was trained without label drop
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor guidedPrediction(
    Denoiser& network, const GuidedDenoiser& drop, const at::Tensor& state, double time,
    const at::Tensor& labels, const Guidance& guidance);
/// \param labelDrop  share of the training samples that had no label
/// \throws ConfigError  the scale is not 1 and there were none
VITRINE_ENGINE_EXPORT void requireGuidable(double labelDrop, const Guidance& guidance);

}  // namespace vitrine::diffusion
