// Drawing samples from a network: noise in, images out, one batch at a time.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/diffusion/ode.h"
#include "core/diffusion/sde.h"
#include "plugins/tasks/generation/generation.h"

namespace vitrine::generation {

enum class Method { Ddpm, Ddim, Ode, Sde };

struct DrawSettings {
  Method method = Method::Ode;
  std::int64_t steps = 50;
  diffusion::Guidance guidance{};
  bool isClipped = false;  ///< Ddpm and Ddim: predicted data are held in [-1, 1]
  double eta = 0;          ///< Ddim
  diffusion::OdeMethod solver = diffusion::OdeMethod::Heun;
  double absolute = 1e-6, relative = 1e-3;  ///< Dopri5
  diffusion::SdeOptions sde{};
};

/// \param config   the sampler's keys
/// \throws ConfigError  the run learned something else than this method goes back through
[[nodiscard]] DrawSettings drawSettings(const GenerationSession& session, Method method,
                                        const Config& config);
/// Of the task's own samples, where nothing is said: 50 Heun steps of a flow, 50 of DDIM.
[[nodiscard]] DrawSettings usualSettings(const GenerationSession& session);

struct Drawn {
  at::Tensor images;  ///< [B, C, H, W] in [-1, 1]
  std::int64_t evaluations = 0;
  bool isComplete = true;  ///< false: the watch ended it
};
/// Told after each step. \param data  what the network takes the sample for
using DrawWatch =
    std::function<bool(double share, double time, const std::function<at::Tensor()>& data)>;

/// \param seeds   one for each sample: noise is drawn from that alone
/// \param labels  [B] int64 on `device`
/// \throws ConfigError  guidance of a network that learned without label drop, a form that is not
///                      finite
[[nodiscard]] Drawn draw(const GenerationSession& session, const DrawSettings& settings,
                         const std::vector<std::uint64_t>& seeds, const at::Tensor& labels,
                         at::Device device, const DrawWatch& watch);

}  // namespace vitrine::generation
