#include "core/nn/layers.h"

#include <ATen/ATen.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/kernels/linear.h"
#include "core/model/build_device.h"
#include "core/nn/cost.h"
#include "core/nn/drop_path.h"
#include "core/nn/patch_embed.h"

namespace vitrine::nn {

namespace {

/// Of a map of rows. \param from  its kind and inputs as a text
BlockCost mapCost(const std::string& from, const at::Tensor& weight, const at::Tensor& bias,
                  double rows) {
  const double out = static_cast<double>(weight.size(0)),
               in = static_cast<double>(weight.numel()) / out;
  BlockCost cost{.kind = from + " to " + std::to_string(weight.size(0)),
                 .parameters = weight.numel() + (bias.defined() ? bias.numel() : 0),
                 .macs = rows * in * out};
  cost.flops = 2 * cost.macs + (bias.defined() ? rows * out : 0);
  cost.activationBytes = kFloatBytes * rows * in;
  return cost;
}

}  // namespace

Linear::Linear(std::int64_t in, std::int64_t out, Bias hasBias) {
  weight = register_parameter("weight", builtTensor({out, in}));
  if (hasBias == Bias::Present) bias = register_parameter("bias", builtTensor({out}));
}
at::Tensor Linear::forward(const at::Tensor& x) const { return kernels::linear(x, weight, bias); }
at::Tensor Linear::forwardRows(const at::Tensor& x, std::int64_t first, std::int64_t count) const {
  return kernels::linear(x, weight.narrow(0, first, count),
                         bias.defined() ? bias.narrow(0, first, count) : at::Tensor());
}
BlockCost Linear::cost(double rows) const {
  return mapCost("linear:" + std::to_string(weight.size(1)), weight, bias, rows);
}

Conv2d::Conv2d(const ConvolutionOptions& options) : options_(options) {
  if (options.groups < 1 || options.in % options.groups != 0 || options.out % options.groups != 0) {
    throw ShapeError("a convolution of " + std::to_string(options.in) + " to " +
                     std::to_string(options.out) + " channels cannot have " +
                     std::to_string(options.groups) + " groups; they must divide both");
  }
  weight = register_parameter(
      "weight",
      builtTensor(
          {options.out, options.in / options.groups, options.kernel[0], options.kernel[1]}));
  if (options.bias == Bias::Present) bias = register_parameter("bias", builtTensor({options.out}));
}
at::Tensor Conv2d::forward(const at::Tensor& x) const {
  return at::conv2d(x, weight, bias, options_.stride, options_.padding, at::IntArrayRef({1, 1}),
                    options_.groups);
}
BlockCost Conv2d::cost(std::array<std::int64_t, 2> size) const {
  const double pixels = static_cast<double>(size[0] * size[1]);
  BlockCost cost;
  cost.kind = "convolution:" + formatSides(options_.kernel) + ", " + std::to_string(options_.in) +
              " to " + std::to_string(options_.out) + " channels";
  if (options_.groups > 1) cost.kind += ", " + std::to_string(options_.groups) + " groups";
  cost.parameters = weight.numel() + (bias.defined() ? bias.numel() : 0);
  cost.macs = pixels * static_cast<double>(weight.numel());
  cost.flops = 2 * cost.macs + (bias.defined() ? pixels * static_cast<double>(options_.out) : 0);
  cost.activationBytes = kFloatBytes * pixels *
                         static_cast<double>(options_.in * options_.stride[0] * options_.stride[1]);
  return cost;
}

std::pair<at::Tensor, at::Tensor> AnyNorm::forward(const at::Tensor& x,
                                                   const at::Tensor& branch) const {
  const at::Tensor sum = branch.defined() ? x + branch : x;
  return {sum, forward(sum)};
}

Norm::Norm(NormKind kind, std::int64_t width, double eps, Affine affine)
    : kind_(kind), affine_(affine), width_(width), eps_(eps) {
  if (affine == Affine::None) return;
  weight = register_parameter("weight", builtTensor({width}, affine == Affine::Present ? 1 : 0));
  if (kind == NormKind::Layer) bias = register_parameter("bias", builtTensor({width}));
}
at::Tensor Norm::forward(const at::Tensor& x) const {
  return normalise(kind_, x, gains(), bias, eps_);
}
std::pair<at::Tensor, at::Tensor> Norm::forward(const at::Tensor& x,
                                                const at::Tensor& branch) const {
  if (!weight.defined()) return AnyNorm::forward(x, branch);
  return addAndNormalise(kind_, x, branch, gains(), bias, eps_);
}
at::Tensor Norm::gains() const { return affine_ == Affine::OffsetFromOne ? 1 + weight : weight; }
BlockCost Norm::cost(double tokens) const {
  const double width = static_cast<double>(width_);
  BlockCost cost{.kind = kind_ == NormKind::Layer ? "norm:LayerNorm" : "norm:RMSNorm"};
  if (!weight.defined()) cost.kind += ", no gains";
  cost.parameters = (weight.defined() ? weight.numel() : 0) + (bias.defined() ? bias.numel() : 0);
  cost.flops = kNormCost * tokens * width;
  cost.activationBytes =
      kFloatBytes * (2 * tokens * width + tokens * (kind_ == NormKind::Layer ? 2 : 1));
  return cost;
}

GroupNorm::GroupNorm(std::int64_t groups, std::int64_t channels, double eps)
    : groups_(groups), eps_(eps) {
  if (groups < 1 || channels % groups != 0) {
    throw ShapeError(std::to_string(groups) + " groups do not divide " + std::to_string(channels) +
                     " channels");
  }
  weight = register_parameter("weight", builtTensor({channels}, 1));
  bias = register_parameter("bias", builtTensor({channels}));
}
at::Tensor GroupNorm::forward(const at::Tensor& x) const {
  return at::group_norm(x, groups_, weight, bias, eps_);
}
BlockCost GroupNorm::cost(double pixels) const {
  const double channels = static_cast<double>(weight.numel());
  BlockCost cost;
  cost.kind = "norm:GroupNorm, " + std::to_string(groups_) + " groups";
  cost.parameters = 2 * weight.numel();
  cost.flops = kNormCost * pixels * channels;
  cost.activationBytes = kFloatBytes * (2 * pixels * channels + 2 * static_cast<double>(groups_));
  return cost;
}

LayerScale::LayerScale(std::int64_t width, double first) {
  gamma = register_parameter("gamma", builtTensor({width}, first));
}
at::Tensor LayerScale::forward(const at::Tensor& x) const { return x * gamma; }
BlockCost LayerScale::cost(double tokens) const {
  BlockCost cost{.kind = "layer scale",
                 .parameters = gamma.numel(),
                 .flops = tokens * static_cast<double>(gamma.numel())};
  cost.activationBytes = kFloatBytes * cost.flops;
  return cost;
}

Mlp::Mlp(const MlpOptions& options) : options_(options) {
  const auto map = [&](const std::string& name, std::int64_t from, std::int64_t to) {
    return register_module(name, std::make_shared<Linear>(from, to, options.bias));
  };
  in = map(options.names.in, options.width, options.hidden);
  out = map(options.names.out, options.hidden, options.width);
  if (options.kind == MlpKind::SwiGlu) up = map(options.names.up, options.width, options.hidden);
}
at::Tensor Mlp::forward(const at::Tensor& x, const at::Generator& generator) const {
  at::Tensor hidden;
  if (up) {
    hidden = swiGlu(in->forward(x), up->forward(x));
  } else {
    hidden = gelu(in->forward(x), options_.kind == MlpKind::GeluTanh ? Gelu::Tanh : Gelu::Erf);
  }
  return out->forward(is_training() ? dropout(hidden, options_.dropout, generator) : hidden);
}
BlockCost Mlp::cost(double tokens) const {
  const double hidden = static_cast<double>(options_.hidden);
  BlockCost cost;
  for (const auto& map : {in, out, up}) {
    if (map) addNumbers(cost, map->cost(tokens));
  }
  const char* activation = up                                   ? "SwiGLU"
                           : options_.kind == MlpKind::GeluTanh ? "GELU (tanh)"
                                                                : "GELU";
  cost.kind = std::string("mlp:") + activation + ", " + std::to_string(options_.hidden) + " wide";
  if (options_.bias == Bias::None) cost.kind += ", no bias";
  // The gate's product, and the sum with the stream.
  cost.flops += kActivationCost * tokens * hidden + (up ? tokens * hidden : 0) +
                tokens * static_cast<double>(options_.width);
  cost.activationBytes =
      kFloatBytes * ((up ? 3 : 2) + (options_.dropout > 0 ? kDropoutKept : 0)) * tokens * hidden;
  return cost;
}

PatchEmbed::PatchEmbed(std::int64_t channels, std::array<std::int64_t, 2> patch, std::int64_t width,
                       Bias hasBias) {
  weight = register_parameter("weight", builtTensor({width, channels, patch[0], patch[1]}));
  if (hasBias == Bias::Present) bias = register_parameter("bias", builtTensor({width}));
}
at::Tensor PatchEmbed::forward(const at::Tensor& images) const {
  return patchEmbed(images, weight, bias);
}
BlockCost PatchEmbed::cost(double patches) const {
  return mapCost("patch_embed:" + formatSides({weight.size(2), weight.size(3)}) + " px", weight,
                 bias, patches);
}

LearnedPositions::LearnedPositions(std::int64_t places, std::int64_t width,
                                   const std::string& name) {
  table = register_parameter(name, builtTensor({1, places, width}));
}
at::Tensor LearnedPositions::forward(const at::Tensor& x) const {
  if (x.dim() != 3 || x.size(1) != table.size(1) || x.size(2) != table.size(2)) {
    throw ShapeError("positions " + c10::str(table.sizes()) + " do not fit tokens " +
                     c10::str(x.sizes()) +
                     "; give the place of each token where some are left out");
  }
  return x + table;
}
at::Tensor LearnedPositions::forward(const at::Tensor& x, const at::Tensor& places) const {
  if (places.dim() != 2 || x.dim() != 3 || places.size(0) != x.size(0) ||
      places.size(1) != x.size(1)) {
    throw ShapeError("places " + c10::str(places.sizes()) + " do not fit tokens " +
                     c10::str(x.sizes()) + "; they are [batch, tokens]");
  }
  return x + at::embedding(table[0], places);
}
BlockCost LearnedPositions::cost(double tokens) const {
  return {.kind = "position:learned, " + std::to_string(table.size(1)) + " places",
          .parameters = table.numel(),
          .flops = tokens * static_cast<double>(table.size(2))};
}

}  // namespace vitrine::nn
