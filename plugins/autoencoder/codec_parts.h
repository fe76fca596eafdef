// Parts that both autoencoders share: fields, checks of sizes, first values, and the scale of
// latents. For source files only: this brings torch/nn/module.h.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config/schema.h"
#include "core/model/capabilities.h"
#include "core/model/measured_scale.h"
#include "core/model/tensor_program.h"
#include "core/model/weight_source.h"
#include "core/nn/layers.h"

namespace vitrine::autoencoder {

using Size = std::array<std::int64_t, 2>;  ///< height and width

/// The fields that a codec begins with: image_size in_channels latent_channels.
[[nodiscard]] std::vector<Field> codecFields();
/// scaling_factor. \param usual  of the released weights
[[nodiscard]] Field scaleField(double usual);

/// A convolution with square kernel, stride and padding, pixels.
[[nodiscard]] std::shared_ptr<nn::Conv2d> convolution(std::int64_t in, std::int64_t out,
                                                      std::int64_t kernel, std::int64_t stride = 1,
                                                      std::int64_t padding = 0,
                                                      nn::Bias bias = nn::Bias::Present);

/// Registers `child` as `name` of `parent`, where a name with dots makes the modules between.
template <class Child>
std::shared_ptr<Child> place(torch::nn::Module& parent, const std::string& name,
                             std::shared_ptr<Child> child) {
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) return parent.register_module(name, std::move(child));
  const std::string first = name.substr(0, dot);
  const auto children = parent.named_children();
  const auto* found = children.find(first);
  const std::shared_ptr<torch::nn::Module> between =
      found != nullptr ? *found
                       : parent.register_module(first, std::make_shared<torch::nn::Module>());
  return place(*between, name.substr(dot + 1), std::move(child));
}

/// Every weight and bias uniform in +-1 / sqrt(fan in) of its map, as PyTorch begins; norms with
/// gain 1 and offset 0.
void initialiseAsTorch(torch::nn::Module& module, std::uint64_t seed);

/// \throws ConfigError  a side of `image` is not a multiple of `factor`: names the next smaller
void requireDivisible(Size image, std::int64_t factor);
/// \param images  [batch, channels, height, width]
/// \throws ShapeError  other channels, or a side that the factor does not divide
void requireImages(const at::Tensor& images, std::int64_t channels, std::int64_t factor);
/// \param latents  [batch, channels, height, width]
/// \throws ShapeError  other channels: they are another codec's
void requireLatents(const at::Tensor& latents, std::int64_t channels);

/// Copy of a buffer as float64 on the CPU. It waits for the device only after the buffer was
/// written, so a frozen codec never delays a step.
class HostCopy {
 public:
  /// \param buffer  the same one at each call
  [[nodiscard]] const at::Tensor& of(const at::Tensor& buffer) const;

 private:
  mutable at::Tensor copy_;
  mutable std::uint32_t version_ = 0;  // of the buffer when it was copied
};

/// The factor between latents and the input of networks. It is a number of the configuration, or 1
/// over the standard deviation of the training latents, whose moments are the buffer
/// `latent_moments`.
class LatentScale {
 public:
  /// \param fixed  nothing: measured, with a buffer of `owner`
  LatentScale(torch::nn::Module& owner, std::optional<double> fixed);
  /// \throws ConfigError  nothing was measured yet
  [[nodiscard]] double scale() const;
  /// Whether scale() gives a number.
  [[nodiscard]] bool isKnown() const;
  [[nodiscard]] bool isMeasured() const { return moments_.defined(); }
  /// Counts latents in, those of the last 100 batches most; latents that are not finite are left
  /// out. Never waits for the device.
  void observe(const at::Tensor& latents);
  /// Adds the tensors that a file of public weights lacks.
  void complete(WeightSource& source) const;

 private:
  std::optional<double> fixed_;
  at::Tensor moments_;  // [3] float32: weight of what was seen, weighted mean, weighted mean square
  HostCopy seen_;
};

/// Base class of the codecs, with their capabilities and scale.
class Codec : public torch::nn::Module,
              public Model,
              public LatentCodec,
              public MeasuredScale,
              public TensorProgram {
 public:
  torch::nn::Module& module() override { return *this; }
  std::vector<OfferedCapability> capabilities() override {
    return offersOf<LatentCodec, MeasuredScale, TensorProgram>(*this);
  }
  void setGenerator(const at::Generator&) override {}  // noise is the caller's

  double scale() const override { return scale_.scale(); }
  bool isMeasured() const override { return scale_.isMeasured(); }
  bool isScaleKnown() const override { return scale_.isKnown(); }
  void observeLatents(const at::Tensor& latents) override { scale_.observe(latents); }

 protected:
  explicit Codec(std::optional<double> scale) : scale_(*this, scale) {}

  LatentScale scale_;
};

}  // namespace vitrine::autoencoder
