// Stochastic interpolants (Ma et al. 2024, arXiv:2401.08740): states between noise at time 0
// and data at time 1, x_t = alpha_t data + sigma_t noise. A network predicts velocity, noise or
// score; each of these becomes another. States, data, noise and predictions are [B, ..] of one
// shape and type, `time` is [B] of that type.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "core/engine_export.h"

namespace vitrine::diffusion {

enum class Path {
  Linear,              ///< alpha = t, sigma = 1 - t
  Trigonometric,       ///< alpha = sin(pi t / 2), sigma = cos(pi t / 2); "GVP"
  VariancePreserving,  ///< alpha = exp(-(1 - t)^2 19.9 / 4 - (1 - t) 0.1 / 2), sigma^2 + alpha^2 =
                       ///< 1
};
enum class PathPrediction { Velocity, Noise, Score };
/// Of the losses of noise and score; kappa as in Transport::Drift.
enum class PathWeight {
  None,
  Velocity,    ///< (kappa / sigma)^2
  Likelihood,  ///< kappa / sigma^2
};
/// w in dx = (velocity + w score) dt + sqrt(2 w) dW, with a norm n that is usually 1.
enum class DiffusionForm {
  Constant,              ///< known to the paper's code, where it fails; refused
  Sbdm,                  ///< n kappa
  Sigma,                 ///< n sigma
  Linear,                ///< n (1 - t)
  Decreasing,            ///< (n cos(pi t) + 1)^2 / 4: the norm is inside of the square
  IncreasingDecreasing,  ///< n sin(pi t)^2
};

struct TransportOptions {
  Path path = Path::Linear;
  PathPrediction predicts = PathPrediction::Velocity;
  PathWeight weight = PathWeight::None;
};

class VITRINE_ENGINE_EXPORT Transport {
 public:
  explicit Transport(const TransportOptions& options = {}) : options_(options) {}
  [[nodiscard]] const TransportOptions& options() const noexcept { return options_; }

  /// Of the path at `time`, each broadcast over `like`.
  struct Shares {
    at::Tensor alpha, sigma;          ///< of data and of noise
    at::Tensor alphaRate, sigmaRate;  ///< their derivatives by time
    at::Tensor ratio;                 ///< alphaRate / alpha
  };
  [[nodiscard]] Shares shares(const at::Tensor& time, const at::Tensor& like) const;
  /// The path as a diffusion: velocity = kappa score - drift.
  struct Drift {
    at::Tensor drift;  ///< -ratio x
    at::Tensor kappa;
  };
  [[nodiscard]] Drift drift(const at::Tensor& state, const at::Tensor& time) const;

  /// alpha data + sigma noise
  [[nodiscard]] at::Tensor state(const at::Tensor& data, const at::Tensor& noise,
                                 const at::Tensor& time) const;
  /// alphaRate data + sigmaRate noise
  [[nodiscard]] at::Tensor velocity(const at::Tensor& data, const at::Tensor& noise,
                                    const at::Tensor& time) const;

  /// -noise / sigma, where noise = (a velocity - state) / (a sigmaRate - sigma) with
  /// a = alpha / alphaRate.
  [[nodiscard]] at::Tensor scoreFromVelocity(const at::Tensor& velocity, const at::Tensor& state,
                                             const at::Tensor& time) const;
  /// kappa score - drift
  [[nodiscard]] at::Tensor velocityFromScore(const at::Tensor& score, const at::Tensor& state,
                                             const at::Tensor& time) const;
  /// Velocity and score of a network's output, which is of kind `options().predicts`.
  [[nodiscard]] at::Tensor velocityOf(const at::Tensor& output, const at::Tensor& state,
                                      const at::Tensor& time) const;
  [[nodiscard]] at::Tensor scoreOf(const at::Tensor& output, const at::Tensor& state,
                                   const at::Tensor& time) const;
  /// The data that the state would come to: (x + sigma^2 score) / alpha.
  [[nodiscard]] at::Tensor dataOf(const at::Tensor& output, const at::Tensor& state,
                                  const at::Tensor& time) const;

  /// Mean over all but the batch, [B]: of (output - velocity)^2, w (output - noise)^2 or
  /// w (sigma output + noise)^2. Differentiable in `output`, a network's on state(data, noise,
  /// time).
  [[nodiscard]] at::Tensor loss(const at::Tensor& output, const at::Tensor& data,
                                const at::Tensor& noise, const at::Tensor& time) const;

  /// Times at which the network is called, without ends that divide by zero.
  struct Interval {
    double first = 0, last = 1;
  };
  [[nodiscard]] Interval trainingInterval() const;
  [[nodiscard]] Interval odeInterval() const;
  /// \param lastStep  length of the step that ends without noise; 0: there is none
  [[nodiscard]] Interval sdeInterval(DiffusionForm form, double lastStep) const;

  /// w at `time`, of the shape of `state`. \param norm  n of DiffusionForm
  /// \throws ConfigError  the form is not finite on this path with this prediction: says so and
  /// names those that are
  [[nodiscard]] at::Tensor diffusion(DiffusionForm form, const at::Tensor& state,
                                     const at::Tensor& time, double norm = 1) const;
  /// \throws ConfigError  as diffusion()
  void requireForm(DiffusionForm form) const;

 private:
  TransportOptions options_;
};

/// Words of configurations: linear gvp vp; velocity noise score; none velocity likelihood; constant
/// sbdm sigma linear decreasing increasing-decreasing.
/// \throws ConfigError  a word that is none of them: names them
[[nodiscard]] VITRINE_ENGINE_EXPORT Path pathOf(const std::string& word);
[[nodiscard]] VITRINE_ENGINE_EXPORT PathPrediction pathPredictionOf(const std::string& word);
[[nodiscard]] VITRINE_ENGINE_EXPORT PathWeight pathWeightOf(const std::string& word);
[[nodiscard]] VITRINE_ENGINE_EXPORT DiffusionForm diffusionFormOf(const std::string& word);

}  // namespace vitrine::diffusion
