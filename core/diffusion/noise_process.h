// The diffusion of Ho et al. 2020 (arXiv:2006.11239), with the learned variances and the hybrid
// loss of Nichol & Dhariwal 2021 (arXiv:2102.09672). Steps back are those of DDPM and DDIM
// (arXiv:2010.02502). B samples, `step` is [B] int64: an index of this process, 0 the least noisy.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/diffusion/noise_schedule.h"
#include "core/engine_export.h"

namespace vitrine::diffusion {

/// Everything that depends on the step alone, [steps] float64 on the CPU. `alphaBar` is the
/// product of 1 - beta up to and including the step.
struct ProcessTables {
  at::Tensor beta, alphaBar, alphaBarPrevious, alphaBarNext;
  at::Tensor posteriorVariance;       ///< of q(x_(t-1) | x_t, x_0); 0 at step 0
  at::Tensor posteriorLogVariance;    ///< its logarithm, at step 0 that of step 1
  at::Tensor startShare, stateShare;  ///< of x_0 and x_t in the posterior's mean
  at::Tensor largeLogVariance;        ///< log beta, at step 0 the posterior's of step 1
};

enum class StepPrediction {
  Noise,
  Start,  ///< x_0
};
enum class StepVariance {
  LearnedRange,  ///< the output's second half: -1 the posterior's, 1 beta, log-linear between
  FixedSmall,    ///< the posterior's
  FixedLarge,    ///< beta
};
/// Meaning of a network's output [B, C or 2 C, H, W].
struct StepOutput {
  StepPrediction predicts = StepPrediction::Noise;
  StepVariance variance = StepVariance::LearnedRange;
  std::optional<double> clip{};  ///< x_0 is held in [-clip, clip]: pixels, not latents
};

/// p(x_(t-1) | x_t) as a network has it.
struct StepBack {
  at::Tensor mean, logVariance;  ///< of the shape of x_t
  at::Tensor start;              ///< x_0 as the network sees it
};

enum class StepLoss {
  Hybrid,          ///< squared error plus the bound, which moves the variance alone
  RescaledHybrid,  ///< the bound times steps / 1000
  Bound,           ///< the bound, in bits per dimension
  RescaledBound,   ///< times the number of steps
};
/// Per sample, [B], means over all other axes.
struct StepLosses {
  at::Tensor total;
  at::Tensor squaredError;  ///< undefined for a bound
  at::Tensor bound;         ///< undefined for a fixed variance under Hybrid
};

class VITRINE_ENGINE_EXPORT NoiseProcess {
 public:
  /// \param respacing  of respacedSteps()
  /// \throws ConfigError  as betasOf() and respacedSteps()
  NoiseProcess(BetaSchedule schedule, std::int64_t steps, const std::string& respacing = "");
  /// \param original  inputs of the network instead of 0, 1, ...; empty: those
  explicit NoiseProcess(const std::vector<double>& betas, std::vector<std::int64_t> original = {});
  /// The process whose states are the kept ones of this one.
  /// \pre the tables are on the CPU
  [[nodiscard]] NoiseProcess respaced(const std::vector<std::int64_t>& kept) const;
  /// The same with its tables on another device, so that no step of a training copies them there.
  [[nodiscard]] NoiseProcess to(at::Device device) const;

  [[nodiscard]] std::int64_t steps() const noexcept { return tables_.beta.size(0); }
  [[nodiscard]] const ProcessTables& tables() const noexcept { return tables_; }
  /// Step of the process before respacing, [steps] int64: the time that a network is given.
  [[nodiscard]] const at::Tensor& originalSteps() const noexcept { return original_; }

  /// sqrt(alphaBar) start + sqrt(1 - alphaBar) noise
  [[nodiscard]] at::Tensor noised(const at::Tensor& start, const at::Tensor& step,
                                  const at::Tensor& noise) const;
  /// q(x_(t-1) | x_t, x_0): mean and clipped log variance, both of the shape of `state`.
  [[nodiscard]] StepBack posterior(const at::Tensor& start, const at::Tensor& state,
                                   const at::Tensor& step) const;
  /// (state - sqrt(1 - alphaBar) noise) / sqrt(alphaBar)
  [[nodiscard]] at::Tensor startFromNoise(const at::Tensor& state, const at::Tensor& step,
                                          const at::Tensor& noise) const;
  /// (state - sqrt(alphaBar) start) / sqrt(1 - alphaBar)
  [[nodiscard]] at::Tensor noiseFromStart(const at::Tensor& state, const at::Tensor& step,
                                          const at::Tensor& start) const;
  /// \throws ShapeError  the output has not the channels that `form` reads
  [[nodiscard]] StepBack back(const at::Tensor& output, const at::Tensor& state,
                              const at::Tensor& step, const StepOutput& form) const;

  /// Differentiable in `output`, a network's on noised(start, step, noise). Under Hybrid the bound
  /// takes the predicted noise as a constant.
  [[nodiscard]] StepLosses loss(const at::Tensor& output, const at::Tensor& start,
                                const at::Tensor& step, const at::Tensor& noise,
                                const StepOutput& form, StepLoss kind = StepLoss::Hybrid) const;
  /// KL(q || p) in bits per dimension; at step 0 minus the log-likelihood of `start` as 8-bit
  /// values of [-1, 1]. [B]
  [[nodiscard]] at::Tensor bound(const StepBack& back, const at::Tensor& start,
                                 const at::Tensor& state, const at::Tensor& step) const;

  /// The step down: mean + deviation * noise, at step 0 the mean.
  [[nodiscard]] at::Tensor ddpmStep(const StepBack& back, const at::Tensor& step,
                                    const at::Tensor& noise) const;
  /// The step down of DDIM.
  /// \param eta  0: without noise, which is then not read; 1: as much as DDPM
  [[nodiscard]] at::Tensor ddimStep(const StepBack& back, const at::Tensor& state,
                                    const at::Tensor& step, double eta,
                                    const at::Tensor& noise = {}) const;

 private:
  /// Values of a table at `step`, in the type and on the device of `like`, broadcast over it.
  [[nodiscard]] at::Tensor at(const at::Tensor& table, const at::Tensor& step,
                              const at::Tensor& like) const;
  ProcessTables tables_;
  at::Tensor original_;
};

}  // namespace vitrine::diffusion
