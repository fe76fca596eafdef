// Modules of Stable Diffusion's autoencoder, named as diffusers names them. For source files only:
// this brings torch/nn/module.h.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/nn/layers.h"
#include "plugins/autoencoder/codec_parts.h"

namespace vitrine::autoencoder {

enum class MidAttention { None, Present };

struct KlSizes {
  std::int64_t channels = 3;                             ///< of images
  std::int64_t latentChannels = 4;                       ///< of latents
  std::vector<std::int64_t> widths{128, 256, 512, 512};  ///< of the levels, the finest first
  std::int64_t blocksPerLevel = 2;  ///< residual blocks of an encoder's level; a decoder's has one
                                    ///< more
  std::int64_t groups = 32;         ///< of every GroupNorm; divide every width
  double eps = 1e-6;                ///< of every GroupNorm
  MidAttention midAttention = MidAttention::Present;
  /// Number of resolutions.
  [[nodiscard]] std::int64_t levels() const { return static_cast<std::int64_t>(widths.size()); }
  /// Pixels along a side of a cell of a latent.
  [[nodiscard]] std::int64_t factor() const { return std::int64_t{1} << (levels() - 1); }
};

using AddCost = std::function<void(const std::string& name, BlockCost cost)>;

/// x' + conv2(silu(norm2(conv1(silu(norm1(x)))))); x' is x, or conv_shortcut(x) where the widths
/// differ.
struct ResidualBlock final : torch::nn::Module {
  ResidualBlock(std::int64_t in, std::int64_t out, const KlSizes& sizes);
  /// [batch, in, height, width] -> [batch, out, height, width]
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const;
  [[nodiscard]] BlockCost cost(Size size) const;
  std::shared_ptr<nn::GroupNorm> norm1, norm2;
  std::shared_ptr<nn::Conv2d> conv1, conv2, shortcut;
};

/// One head over all places: x + to_out(attention(norm(x))).
struct PlaceAttention final : torch::nn::Module {
  PlaceAttention(std::int64_t width, const KlSizes& sizes);
  /// [batch, width, height, width of the map], the same out
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const;
  [[nodiscard]] BlockCost cost(Size size) const;
  std::shared_ptr<nn::GroupNorm> norm;
  std::shared_ptr<nn::Linear> query, key, value, out;
};

/// Residual block, attention, residual block, at the coarsest level.
struct MidBlock final : torch::nn::Module {
  MidBlock(std::int64_t width, const KlSizes& sizes);
  /// [batch, width, height, width of the map], the same out
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const;
  void cost(const std::string& name, Size size, const AddCost& add) const;
  std::vector<std::shared_ptr<ResidualBlock>> resnets;
  std::shared_ptr<PlaceAttention> attention;  ///< nullptr without
};

/// Residual blocks of one width, then a change of resolution, or none at the last level.
struct Level final : torch::nn::Module {
  enum class Change { None, Halve, Double };
  Level(std::int64_t in, std::int64_t out, std::int64_t blocks, Change change,
        const KlSizes& sizes);
  /// Halving pads one row below and one column on the right with zeros, then takes every second
  /// place; doubling repeats every place and convolves.
  [[nodiscard]] at::Tensor forward(at::Tensor x) const;
  /// \returns  the size behind it
  Size cost(const std::string& name, Size size, const AddCost& add) const;
  std::vector<std::shared_ptr<ResidualBlock>> resnets;
  Change change;
  std::shared_ptr<nn::Conv2d> conv;  ///< of the change; nullptr without
};

/// Images to twice the channels of a latent: means, then logarithms of variances.
struct KlEncoder final : torch::nn::Module {
  explicit KlEncoder(const KlSizes& sizes);
  /// [batch, channels, height, width] -> [batch, 2 latentChannels, height / factor, width / factor]
  [[nodiscard]] at::Tensor forward(const at::Tensor& images) const;
  /// \param size  of an image \returns  of its latent
  Size cost(const std::string& name, Size size, const AddCost& add) const;
  std::shared_ptr<nn::Conv2d> convIn, convOut;
  std::vector<std::shared_ptr<Level>> levels;
  std::shared_ptr<MidBlock> mid;
  std::shared_ptr<nn::GroupNorm> normOut;
};

/// Latents to images.
struct KlDecoder final : torch::nn::Module {
  explicit KlDecoder(const KlSizes& sizes);
  /// [batch, latentChannels, height, width] -> [batch, channels, height * factor, width * factor]
  [[nodiscard]] at::Tensor forward(const at::Tensor& latents) const;
  /// \param size  of a latent
  void cost(const std::string& name, Size size, const AddCost& add) const;
  std::shared_ptr<nn::Conv2d> convIn, convOut;
  std::vector<std::shared_ptr<Level>> levels;
  std::shared_ptr<MidBlock> mid;
  std::shared_ptr<nn::GroupNorm> normOut;
};

}  // namespace vitrine::autoencoder
