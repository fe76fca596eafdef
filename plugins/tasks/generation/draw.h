// Drawing samples from a network: noise in, images out, one batch at a time.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/diffusion/ode.h"
#include "core/diffusion/patch_attention.h"
#include "core/diffusion/sde.h"
#include "plugins/tasks/generation/generation.h"

namespace vitrine::generation {

enum class Method { Ddpm, Ddim, Ode, Sde };

/// DiT's and SiT's published samplers guide the first three of four latent channels.
inline constexpr std::int64_t kGuidedChannels = 3;

struct DrawSettings {
  Method method = Method::Ode;
  std::int64_t steps = 50;
  diffusion::Guidance guidance{1, kGuidedChannels};
  bool isClipped = false;  ///< Ddpm and Ddim: predicted data are held in [-1, 1]
  double eta = 0;          ///< Ddim
  diffusion::OdeMethod solver = diffusion::OdeMethod::Heun;
  double absolute = 1e-6, relative = 1e-3;  ///< Dopri5
  diffusion::SdeOptions sde{};
  std::optional<std::array<std::int64_t, 2>> asked{};  ///< patch whose attention a watch hears of
};

/// "ddpm", "ddim", "ode" or "sde".
[[nodiscard]] std::string samplerName(Method method);
/// \throws ConfigError  the method goes back through another process than that one
void requireProcess(diffusion::GuidedDenoiser::Time process, Method method);

/// \param config   the sampler's keys
/// \throws ConfigError  the run learned something else than this method goes back through, or its
///                      model offers no attention and a patch is asked about
[[nodiscard]] DrawSettings drawSettings(const GenerationSession& session, Method method,
                                        const Config& config);

struct Drawn {
  at::Tensor images;  ///< [B, C, H, W] in [-1, 1]
  std::int64_t evaluations = 0;
  bool isComplete = true;  ///< false: the watch ended it
};
/// One step of a drawing, as it ended.
struct DrawStep {
  double share = 0;                  ///< of the whole way
  double time = 0;                   ///< of the network's last evaluation, in its own units
  std::function<at::Tensor()> data;  ///< what the network then took the samples for: states
  const PatchAttention* attention = nullptr;  ///< of that evaluation, where a patch is asked about
};
/// Called after each step; false ends the drawing.
using DrawWatch = std::function<bool(const DrawStep& step)>;

/// \param seeds   one for each sample: noise is drawn from that alone
/// \param labels  [B] int64 on `device`
/// \throws ConfigError  guidance of a network that learned without label drop, a form that is not
///                      finite, a patch outside of the grid
[[nodiscard]] Drawn draw(const GenerationSession& session, const DrawSettings& settings,
                         const std::vector<std::uint64_t>& seeds, const at::Tensor& labels,
                         at::Device device, const DrawWatch& watch);

/// 8-bit values of images in [-1, 1], as DiT's sampler writes them: 127.5 x + 128, clamped and cut.
/// \returns  [B, C, H, W] bytes
[[nodiscard]] at::Tensor bytesOf(const at::Tensor& images);

}  // namespace vitrine::generation
