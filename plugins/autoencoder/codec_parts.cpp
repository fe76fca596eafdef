#include "plugins/autoencoder/codec_parts.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/model/build_device.h"
#include "core/nn/init.h"

namespace vitrine::autoencoder {

namespace {

constexpr const char* kMoments = "latent_moments";
constexpr double kKept = 0.99;  // of the moments, per batch

bool fits(Size image, std::int64_t factor) {
  return image[0] > 0 && image[1] > 0 && image[0] % factor == 0 && image[1] % factor == 0;
}

/// What does not fit, and the next smaller size that does.
std::string sideProblem(Size image, std::int64_t factor) {
  const auto fitting = [&](std::int64_t side) {
    return std::max(side / factor, std::int64_t{1}) * factor;
  };
  return formatSides(image) + " px does not fit a codec whose cells are " +
         formatSides({factor, factor}) + " px; crop or resize it to " +
         formatSides({fitting(image[0]), fitting(image[1])}) + " px";
}

}  // namespace

std::vector<Field> codecFields() {
  return {sizeField("image_size", 256,
                    "images of a run are resized to it, and costs are counted for it; the codec "
                    "itself takes any multiple of its factor")
              .titled("Image size")
              .atLeast(1)
              .withUnit("px"),
          integerField("in_channels", 3, "channels of an image: 1 grey, 3 colour")
              .titled("Input channels")
              .atLeast(1),
          integerField("latent_channels", 4, "channels of a latent")
              .titled("Latent channels")
              .range(1, 4096)};
}

Field scaleField(double usual) {
  return realField("scaling_factor", usual,
                   "latents times this have about unit variance; none: measured in training and "
                   "kept with the weights")
      .titled("Scale of latents")
      .orNone()
      .moreThan(0);
}

std::shared_ptr<nn::Conv2d> convolution(std::int64_t in, std::int64_t out, std::int64_t kernel,
                                        std::int64_t stride, std::int64_t padding, nn::Bias bias) {
  return std::make_shared<nn::Conv2d>(nn::ConvolutionOptions{
      in, out, {kernel, kernel}, {stride, stride}, {padding, padding}, 1, bias});
}

void initialiseAsTorch(torch::nn::Module& module, std::uint64_t seed) {
  std::map<std::string, std::int64_t> fanIn;  // by the name of the map
  for (const auto& item : module.named_parameters()) {
    if (item.key().ends_with(".weight") && item.value().dim() > 1)
      fanIn[item.key().substr(0, item.key().size() - 7)] =
          item.value().numel() / item.value().size(0);
  }
  nn::initialise(
      module,
      [&](const std::string& name, const at::Tensor&) -> std::optional<nn::Init> {
        const auto found = fanIn.find(name.substr(0, name.rfind('.')));
        if (found == fanIn.end()) return std::nullopt;
        return nn::torchDefaultInit(found->second);
      },
      seed);
}

void requireDivisible(Size image, std::int64_t factor) {
  if (!fits(image, factor)) throw ConfigError("image_size " + sideProblem(image, factor));
}

void requireImages(const at::Tensor& images, std::int64_t channels, std::int64_t factor) {
  if (images.dim() != 4 || images.size(1) != channels) {
    throw ShapeError("the codec reads images [batch, " + std::to_string(channels) +
                     ", height, width], not " + c10::str(images.sizes()) +
                     "; set model.in_channels or choose other images");
  }
  const Size size{images.size(2), images.size(3)};
  if (!fits(size, factor)) throw ShapeError("an image of " + sideProblem(size, factor));
}

void requireLatents(const at::Tensor& latents, std::int64_t channels) {
  if (latents.dim() == 4 && latents.size(1) == channels) return;
  throw ShapeError("the codec decodes latents [batch, " + std::to_string(channels) +
                   ", height, width], not " + c10::str(latents.sizes()) +
                   "; these are latents of another codec, decode them with that one");
}

const at::Tensor& HostCopy::of(const at::Tensor& buffer) const {
  if (!copy_.defined() || version_ != buffer._version()) {
    version_ = buffer._version();
    copy_ = buffer.detach().to(at::kCPU, at::kDouble);
  }
  return copy_;
}

LatentScale::LatentScale(torch::nn::Module& owner, std::optional<double> fixed) : fixed_(fixed) {
  if (fixed_) return;
  moments_ = owner.register_buffer(kMoments, builtTensor({3}));
}

bool LatentScale::isKnown() const {
  return fixed_ || seen_.of(moments_).const_data_ptr<double>()[0] > 0;
}

double LatentScale::scale() const {
  if (fixed_) return *fixed_;
  const auto* values = seen_.of(moments_).const_data_ptr<double>();
  const double mean = values[1] / values[0], square = values[2] / values[0];
  const double deviation = std::sqrt(square - mean * mean);
  if (!(values[0] > 0) || !(deviation > 0)) {
    throw ConfigError(
        "the scale of this codec's latents was never measured; train it, or set "
        "model.scaling_factor to the number that its weights were published with");
  }
  return 1 / deviation;
}

void LatentScale::observe(const at::Tensor& latents) {
  if (fixed_) return;
  const c10::NoGradGuard noGrad;
  const at::Tensor values = latents.detach().to(at::kFloat);
  const at::Tensor mean = values.mean();
  const at::Tensor seen = at::stack({at::ones_like(mean), mean, values.square().mean()});
  const at::Tensor after = moments_ * kKept + seen * (1 - kKept);
  moments_.copy_(at::where(seen.isfinite().all(), after, moments_));
}

void LatentScale::complete(WeightSource& source) const {
  if (fixed_) {
    if (source.has(kMoments)) source.drop(kMoments);
    return;
  }
  if (!source.has(kMoments)) source.add(kMoments, {3}, [] { return at::zeros({3}); }, {});
}

}  // namespace vitrine::autoencoder
