// The steps from noise to an image: some of a diffusion's steps. Each is taken as Ho et al. 2020
// (arXiv:2006.11239) do with the small fixed variance.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace vitrine::text_image {

/// Numbers of one step down, from the share of the clean image before and after it.
struct NoiseStep {
  std::int64_t time = 0;              ///< step of the whole diffusion: input of the network
  double kept = 1;                    ///< share of the clean image now: alpha bar
  double cleanPart = 0, nowPart = 0;  ///< of x_0 and x_t in the mean of the posterior
  double variance = 0;                ///< of the posterior; 0 at the last step
};

/// `count` of the steps of a diffusion, evenly from the first to the last and rounded half to even,
/// the noisiest first. As in Nichol & Dhariwal 2021 (arXiv:2102.09672, section 4).
/// \param shares  [steps] float64: alpha bar
/// \throws ConfigError  there are not so many steps, or fewer than one are asked for
[[nodiscard]] std::vector<NoiseStep> noiseSteps(const at::Tensor& shares, std::int64_t count);

/// Result of one step.
struct SteppedDown {
  at::Tensor clean;  ///< x_0 as the network sees it, clipped
  at::Tensor mean;   ///< of the image before this step's noise
};
/// \param noise  as the network predicts it
/// \param clip   of x_0; nothing leaves it as it is
[[nodiscard]] SteppedDown stepDown(const NoiseStep& step, const at::Tensor& image,
                                   const at::Tensor& noise, std::optional<double> clip);

/// Squared errors of the velocity: those of the noise over the share of the clean image (Salimans &
/// Ho 2022, arXiv:2202.00512, section 4). The share counts as 0.001 at least.
/// \param errors  [images] float32, of the noise
/// \param shares  [images] float64: alpha bar
[[nodiscard]] at::Tensor velocityErrors(const at::Tensor& errors, const at::Tensor& shares);

}  // namespace vitrine::text_image
