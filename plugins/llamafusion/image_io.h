// From noised images to tokens and back. For source files only: this brings torch/nn/module.h.
#pragma once

#include <torch/nn/module.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/model/model.h"

namespace vitrine::llamafusion {

inline constexpr std::int64_t kNoiseSteps = 1000;  ///< of training

struct ImageIoConfig {
  bool isUNet = false;
  std::int64_t dim = 0;       ///< channels of a token
  std::int64_t channels = 0;  ///< of an image or latent
  std::array<std::int64_t, 2> size{0, 0};
  std::int64_t patch = 2;     ///< linear: side of a patch
  bool hasPositions = false;  ///< linear: a trained vector for each patch
  /// linear: the noise is sqrt(1 - alpha bar) x_t + sqrt(alpha bar) times what the tokens say
  bool addsNoised = false;
  std::array<std::int64_t, 2> unetChannels{0, 0};  ///< at full and at half size
  std::int64_t unetGroups = 32;
  bool hasAttention = false;  ///< U-Net: at half size
};

/// The module `img_io`: the only part that knows the time.
class ImageIo : public torch::nn::Module {
 public:
  /// Values of the way in that the way back needs.
  struct Entered {
    at::Tensor tokens;  ///< [images, tokens, dim], in raster order
    at::Tensor time;
    at::Tensor full,
        half;  ///< maps of a U-Net at two sizes; linear: x_t's part, and the rest's share
  };
  /// \param images  [images, channels, height, width] \param time  [images] int64
  [[nodiscard]] virtual Entered enter(const at::Tensor& images, const at::Tensor& time) const = 0;
  /// \param hidden  [images, tokens, dim] \returns  [images, channels, height, width]
  [[nodiscard]] virtual at::Tensor leave(const at::Tensor& hidden,
                                         const Entered& entered) const = 0;
  [[nodiscard]] virtual std::int64_t tokens() const = 0;
  [[nodiscard]] virtual std::vector<BlockCost> cost() const = 0;
};

/// \throws ConfigError  sizes that do not divide
[[nodiscard]] std::shared_ptr<ImageIo> makeImageIo(const ImageIoConfig& config);

/// First values: maps and kernels uniform in +-1 / sqrt(fan-in), biases 0, the last kernel of each
/// residual branch 0, vectors of patches N(0, 0.02).
void initialiseImageIo(ImageIo& io, const std::string& prefix, std::uint64_t seed);

/// Share of the clean image after each of `steps` steps of the cosine schedule: alpha bar, [steps]
/// float64. As in Nichol & Dhariwal 2021 (arXiv:2102.09672, equation 17), beta is at most 0.999.
[[nodiscard]] at::Tensor cosineShares(std::int64_t steps);

}  // namespace vitrine::llamafusion
