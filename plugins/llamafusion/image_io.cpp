#include "plugins/llamafusion/image_io.h"

#include <ATen/ATen.h>

#include "core/base/error.h"
#include "core/diffusion/noise_process.h"
#include "core/model/build_device.h"
#include "core/nn/cost.h"
#include "core/nn/init.h"
#include "core/nn/layers.h"
#include "core/nn/position/timestep_embedding.h"

namespace vitrine::llamafusion {

namespace {

constexpr double kNormEps = 1e-5;
constexpr const char* kPositions = "pos_embed";
using Pair = std::array<std::int64_t, 2>;

std::shared_ptr<nn::Conv2d> makeConv(std::int64_t in, std::int64_t out, std::int64_t kernel,
                                     std::int64_t stride = 1) {
  nn::ConvolutionOptions options;
  options.in = in;
  options.out = out;
  options.kernel = {kernel, kernel};
  options.stride = {stride, stride};
  options.padding = {kernel / 2, kernel / 2};
  return std::make_shared<nn::Conv2d>(options);
}

/// Linear, SiLU, Linear. Parameters: 0.*, 2.*
struct TimeMlp final : torch::nn::Module {
  TimeMlp(std::int64_t in, std::int64_t width)
      : first(register_module("0", std::make_shared<nn::Linear>(in, width))),
        second(register_module("2", std::make_shared<nn::Linear>(width, width))),
        width_(in) {}
  [[nodiscard]] at::Tensor forward(const at::Tensor& time) const {
    const at::Tensor wave = nn::timestepEmbedding(time, width_).to(first->weight.scalar_type());
    return second->forward(at::silu(first->forward(wave)));
  }
  std::shared_ptr<nn::Linear> first, second;

 private:
  std::int64_t width_;
};

/// conv1(SiLU(norm1 x)) + time, then conv2(SiLU(norm2 .)), added to x or its 1 x 1 map.
struct ResidualMaps final : torch::nn::Module {
  ResidualMaps(std::int64_t in, std::int64_t out, std::int64_t timeWidth, std::int64_t groups)
      : norm1(register_module("norm1", std::make_shared<nn::GroupNorm>(groups, in, kNormEps))),
        norm2(register_module("norm2", std::make_shared<nn::GroupNorm>(groups, out, kNormEps))),
        conv1(register_module("conv1", makeConv(in, out, 3))),
        conv2(register_module("conv2", makeConv(out, out, 3))),
        time(register_module("time", std::make_shared<nn::Linear>(timeWidth, out))) {
    if (in != out) skip = register_module("skip", makeConv(in, out, 1));
  }
  [[nodiscard]] at::Tensor forward(const at::Tensor& x, const at::Tensor& t) const {
    at::Tensor y = conv1->forward(at::silu(norm1->forward(x)));
    y = y + time->forward(at::silu(t)).unsqueeze(-1).unsqueeze(-1);
    y = conv2->forward(at::silu(norm2->forward(y)));
    return y + (skip ? skip->forward(x) : x);
  }
  [[nodiscard]] BlockCost cost(const Pair& size) const {
    BlockCost sum = conv1->cost(size);
    nn::addNumbers(sum, conv2->cost(size));
    nn::addNumbers(sum, time->cost(1));
    const auto pixels = static_cast<double>(size[0] * size[1]);
    nn::addNumbers(sum, norm1->cost(pixels));
    nn::addNumbers(sum, norm2->cost(pixels));
    if (skip) nn::addNumbers(sum, skip->cost(size));
    sum.kind = "residual:two 3 x 3 convolutions";
    return sum;
  }
  std::shared_ptr<nn::GroupNorm> norm1, norm2;
  std::shared_ptr<nn::Conv2d> conv1, conv2, skip;
  std::shared_ptr<nn::Linear> time;
};

/// One head over all places: x + proj(softmax(q k / sqrt(C)) v).
struct MapAttention final : torch::nn::Module {
  MapAttention(std::int64_t channels, std::int64_t groups)
      : norm(register_module("norm", std::make_shared<nn::GroupNorm>(groups, channels, kNormEps))),
        qkv(register_module("qkv", makeConv(channels, 3 * channels, 1))),
        proj(register_module("proj", makeConv(channels, channels, 1))) {}
  [[nodiscard]] at::Tensor forward(const at::Tensor& x) const {
    const at::Tensor packed = qkv->forward(norm->forward(x)).flatten(2).transpose(1, 2);
    const auto parts = packed.unsqueeze(1).chunk(3, -1);  // [images, 1 head, places, channels]
    const at::Tensor values = at::scaled_dot_product_attention(parts[0], parts[1], parts[2]);
    return x + proj->forward(values.squeeze(1).transpose(1, 2).reshape(x.sizes()));
  }
  [[nodiscard]] BlockCost cost(const Pair& size) const {
    BlockCost sum = qkv->cost(size);
    nn::addNumbers(sum, proj->cost(size));
    const auto pixels = static_cast<double>(size[0] * size[1]);
    nn::addNumbers(sum, norm->cost(pixels));
    const double products = 2 * pixels * pixels * static_cast<double>(proj->weight.size(0));
    sum.macs += products;
    sum.flops += 2 * products + nn::kSoftmaxCost * pixels * pixels;
    sum.kind = "attention:one head over the map";
    return sum;
  }
  std::shared_ptr<nn::GroupNorm> norm;
  std::shared_ptr<nn::Conv2d> qkv, proj;
};

BlockCost named(const std::string& name, BlockCost cost) {
  cost.name = "img_io." + name;
  return cost;
}

/// Patches through one map each way; the time is added to every token.
class LinearIo final : public ImageIo {
 public:
  explicit LinearIo(const ImageIoConfig& config)
      : config_(config),
        grid_{config.size[0] / config.patch, config.size[1] / config.patch},
        in_(register_module("proj_in", std::make_shared<nn::Linear>(patchWidth(), config.dim))),
        out_(register_module("proj_out", std::make_shared<nn::Linear>(config.dim, patchWidth()))),
        time_(register_module("time", std::make_shared<TimeMlp>(config.dim, config.dim))) {
    if (config.addsNoised) shares_ = cosineShares(kNoiseSteps);
    if (!config.hasPositions) return;
    positions_ = register_parameter(kPositions, builtTensor({tokens(), config.dim}));
  }

  Entered enter(const at::Tensor& images, const at::Tensor& time) const override {
    const std::int64_t p = config_.patch;
    const at::Tensor patches = images.view({-1, config_.channels, grid_[0], p, grid_[1], p})
                                   .permute({0, 2, 4, 1, 3, 5})
                                   .reshape({images.size(0), tokens(), patchWidth()});
    Entered entered{.time = time_->forward(time)};
    entered.tokens = in_->forward(patches) + entered.time.unsqueeze(1);
    if (positions_.defined()) entered.tokens = entered.tokens + positions_;
    if (!config_.addsNoised) return entered;
    const at::Tensor kept = shares_.to(time.device()).index_select(0, time).view({-1, 1, 1, 1});
    entered.full = (1 - kept).sqrt().to(images.scalar_type()) * images;
    entered.half = kept.sqrt().to(images.scalar_type());
    return entered;
  }
  at::Tensor leave(const at::Tensor& hidden, const Entered& entered) const override {
    const std::int64_t p = config_.patch;
    const at::Tensor output =
        out_->forward(hidden)
            .view({-1, grid_[0], grid_[1], config_.channels, p, p})
            .permute({0, 3, 1, 4, 2, 5})
            .reshape({hidden.size(0), config_.channels, config_.size[0], config_.size[1]});
    return config_.addsNoised ? entered.full + entered.half * output : output;
  }
  std::int64_t tokens() const override { return grid_[0] * grid_[1]; }
  std::vector<BlockCost> cost() const override {
    const auto rows = static_cast<double>(tokens());
    BlockCost time = time_->first->cost(1);
    nn::addNumbers(time, time_->second->cost(1));
    return {named("time", time), named("proj_in", in_->cost(rows)),
            named("proj_out", out_->cost(rows))};
  }

 private:
  [[nodiscard]] std::int64_t patchWidth() const {
    return config_.channels * config_.patch * config_.patch;
  }
  ImageIoConfig config_;
  Pair grid_;
  std::shared_ptr<nn::Linear> in_, out_;
  std::shared_ptr<TimeMlp> time_;
  at::Tensor positions_;  ///< [tokens, dim]; undefined: none
  at::Tensor shares_;     ///< alpha bar, [steps] float64; undefined where it is not needed
};

/// Two blocks down to half the size, two up again with skips; one time module for both ways.
class UNetIo final : public ImageIo {
 public:
  explicit UNetIo(const ImageIoConfig& config) : config_(config) {
    const auto [full, half] = config.unetChannels;
    const std::int64_t wide = 4 * full, groups = config.unetGroups;
    const auto residual = [&](const char* name, std::int64_t in, std::int64_t out) {
      return register_module(name, std::make_shared<ResidualMaps>(in, out, wide, groups));
    };
    time_ = register_module("time", std::make_shared<TimeMlp>(full, wide));
    downIn_ = register_module("down_in", makeConv(config.channels, full, 3));
    downRes0_ = residual("down_res0", full, full);
    downSample_ = register_module("down_sample", makeConv(full, full, 3, 2));
    downRes1_ = residual("down_res1", full, half);
    downOut_ = register_module("down_out", makeConv(half, config.dim, 1));
    upIn_ = register_module("up_in", makeConv(config.dim, half, 1));
    upRes1_ = residual("up_res1", 2 * half, half);
    upSample_ = register_module("up_sample", makeConv(half, full, 3));
    upRes0_ = residual("up_res0", 2 * full, full);
    upNorm_ = register_module("up_norm", std::make_shared<nn::GroupNorm>(groups, full, kNormEps));
    upOut_ = register_module("up_out", makeConv(full, config.channels, 3));
    if (!config.hasAttention) return;
    downAttention_ = register_module("down_attn", std::make_shared<MapAttention>(half, groups));
    upAttention_ = register_module("up_attn", std::make_shared<MapAttention>(half, groups));
  }

  Entered enter(const at::Tensor& images, const at::Tensor& time) const override {
    Entered entered{.time = time_->forward(time)};
    entered.full = downRes0_->forward(downIn_->forward(images), entered.time);
    entered.half = downRes1_->forward(downSample_->forward(entered.full), entered.time);
    if (downAttention_) entered.half = downAttention_->forward(entered.half);
    entered.tokens = downOut_->forward(entered.half).flatten(2).transpose(1, 2);
    return entered;
  }
  at::Tensor leave(const at::Tensor& hidden, const Entered& entered) const override {
    const at::Tensor map =
        hidden.transpose(1, 2).reshape({hidden.size(0), config_.dim, halved()[0], halved()[1]});
    at::Tensor y = upRes1_->forward(at::cat({upIn_->forward(map), entered.half}, 1), entered.time);
    if (upAttention_) y = upAttention_->forward(y);
    y = upSample_->forward(at::upsample_nearest2d(y, config_.size));
    y = upRes0_->forward(at::cat({y, entered.full}, 1), entered.time);
    return upOut_->forward(at::silu(upNorm_->forward(y)));
  }
  std::int64_t tokens() const override { return halved()[0] * halved()[1]; }
  std::vector<BlockCost> cost() const override {
    const Pair full = config_.size, half = halved();
    BlockCost time = time_->first->cost(1);
    nn::addNumbers(time, time_->second->cost(1));
    std::vector<BlockCost> all{
        named("time", time),
        named("down_in", downIn_->cost(full)),
        named("down_res0", downRes0_->cost(full)),
        named("down_sample", downSample_->cost(half)),
        named("down_res1", downRes1_->cost(half)),
        named("down_out", downOut_->cost(half)),
        named("up_in", upIn_->cost(half)),
        named("up_res1", upRes1_->cost(half)),
        named("up_sample", upSample_->cost(full)),
        named("up_res0", upRes0_->cost(full)),
        named("up_norm", upNorm_->cost(static_cast<double>(full[0] * full[1]))),
        named("up_out", upOut_->cost(full))};
    if (downAttention_) {
      all.push_back(named("down_attn", downAttention_->cost(half)));
      all.push_back(named("up_attn", upAttention_->cost(half)));
    }
    return all;
  }

 private:
  [[nodiscard]] Pair halved() const { return {config_.size[0] / 2, config_.size[1] / 2}; }
  ImageIoConfig config_;
  std::shared_ptr<TimeMlp> time_;
  std::shared_ptr<nn::Conv2d> downIn_, downSample_, downOut_, upIn_, upSample_, upOut_;
  std::shared_ptr<ResidualMaps> downRes0_, downRes1_, upRes1_, upRes0_;
  std::shared_ptr<nn::GroupNorm> upNorm_;
  std::shared_ptr<MapAttention> downAttention_, upAttention_;
};

void requireDivides(std::int64_t part, const Pair& size, const char* what) {
  if (size[0] % part == 0 && size[1] % part == 0) return;
  throw ConfigError("model.latent_size = [" + std::to_string(size[0]) + ", " +
                    std::to_string(size[1]) + "] is not a multiple of " + std::to_string(part) +
                    ", " + what);
}

}  // namespace

std::shared_ptr<ImageIo> makeImageIo(const ImageIoConfig& config) {
  if (!config.isUNet) {
    requireDivides(config.patch, config.size, "the side of a patch; change model.image_patch");
    return std::make_shared<LinearIo>(config);
  }
  requireDivides(2, config.size, "and the U-Net halves it");
  for (const std::int64_t channels : config.unetChannels) {
    if (channels % config.unetGroups == 0) continue;
    throw ConfigError("model.unet_channels " + std::to_string(channels) +
                      " is not a multiple of model.unet_groups = " +
                      std::to_string(config.unetGroups) + "; change one of them");
  }
  return std::make_shared<UNetIo>(config);
}

void initialiseImageIo(ImageIo& io, const std::string& prefix, std::uint64_t seed) {
  for (const auto& item : io.named_parameters()) {
    const std::string& name = item.key();
    const at::Tensor& value = item.value();
    if (value.dim() < 2) continue;  // norms are 1, biases 0
    if (name == kPositions) {
      nn::initialise(value, nn::normalInit(0.02), prefix + name, seed);
      continue;
    }
    const bool endsBranch = name.ends_with("conv2.weight") || name.ends_with("_attn.proj.weight");
    nn::initialise(
        value,
        endsBranch ? nn::constantInit(0) : nn::torchDefaultInit(value.numel() / value.size(0)),
        prefix + name, seed);
  }
}

at::Tensor cosineShares(std::int64_t steps) {
  return diffusion::NoiseProcess(diffusion::BetaSchedule::Cosine, steps).tables().alphaBar;
}

}  // namespace vitrine::llamafusion
