#include "plugins/autoencoder/kl_modules.h"

#include <ATen/ATen.h>

#include "core/nn/attend.h"
#include "core/nn/cost.h"

namespace vitrine::autoencoder {

namespace {

std::shared_ptr<nn::GroupNorm> groupNorm(std::int64_t width, const KlSizes& sizes) {
  return std::make_shared<nn::GroupNorm>(sizes.groups, width, sizes.eps);
}

double pixelsOf(Size size) { return static_cast<double>(size[0] * size[1]); }

/// SiLU keeps what it read.
void addSilu(BlockCost& cost, double values) {
  cost.flops += nn::kActivationCost * values;
  cost.activationBytes += nn::kFloatBytes * values;
}

BlockCost normAndConvolution(const nn::GroupNorm& norm, const nn::Conv2d& conv, Size size) {
  BlockCost cost = norm.cost(pixelsOf(size));
  addSilu(cost, pixelsOf(size) * static_cast<double>(norm.weight.size(0)));
  const BlockCost second = conv.cost(size);
  nn::addNumbers(cost, second);
  cost.kind = second.kind;
  return cost;
}

}  // namespace

ResidualBlock::ResidualBlock(std::int64_t in, std::int64_t out, const KlSizes& sizes)
    : norm1(register_module("norm1", groupNorm(in, sizes))),
      norm2(register_module("norm2", groupNorm(out, sizes))),
      conv1(register_module("conv1", convolution(in, out, 3, 1, 1))),
      conv2(register_module("conv2", convolution(out, out, 3, 1, 1))) {
  if (in != out) shortcut = register_module("conv_shortcut", convolution(in, out, 1));
}

at::Tensor ResidualBlock::forward(const at::Tensor& x) const {
  const at::Tensor hidden = conv1->forward(at::silu(norm1->forward(x)));
  const at::Tensor branch = conv2->forward(at::silu(norm2->forward(hidden)));
  return (shortcut ? shortcut->forward(x) : x) + branch;
}

BlockCost ResidualBlock::cost(Size size) const {
  BlockCost cost = normAndConvolution(*norm1, *conv1, size);
  nn::addNumbers(cost, normAndConvolution(*norm2, *conv2, size));
  if (shortcut) nn::addNumbers(cost, shortcut->cost(size));
  cost.flops += pixelsOf(size) * static_cast<double>(conv2->weight.size(0));
  cost.kind = "resnet:" + std::to_string(conv1->weight.size(1)) + " to " +
              std::to_string(conv1->weight.size(0)) + " channels";
  return cost;
}

PlaceAttention::PlaceAttention(std::int64_t width, const KlSizes& sizes)
    : norm(register_module("group_norm", groupNorm(width, sizes))),
      query(register_module("to_q", std::make_shared<nn::Linear>(width, width))),
      key(register_module("to_k", std::make_shared<nn::Linear>(width, width))),
      value(register_module("to_v", std::make_shared<nn::Linear>(width, width))),
      out(place(*this, "to_out.0", std::make_shared<nn::Linear>(width, width))) {}

at::Tensor PlaceAttention::forward(const at::Tensor& x) const {
  const at::Tensor places = norm->forward(x).flatten(2).transpose(1, 2).contiguous();
  const auto headed = [&](const nn::Linear& map) { return map.forward(places).unsqueeze(2); };
  const at::Tensor mixed =
      nn::attend(headed(*query), headed(*key), headed(*value)).values.flatten(2);
  return x + out->forward(mixed).transpose(1, 2).reshape(x.sizes());
}

BlockCost PlaceAttention::cost(Size size) const {
  const double places = pixelsOf(size), width = static_cast<double>(norm->weight.size(0));
  BlockCost cost = norm->cost(places);
  for (const auto& map : {query, key, value, out}) nn::addNumbers(cost, map->cost(places));
  const double products = 2 * places * places * width;
  cost.macs += products;
  cost.flops += 2 * products + nn::kSoftmaxCost * places * places + places * width;
  cost.activationBytes += nn::kFloatBytes * (3 * places * width + places * places);
  cost.kind = "attention:1 head";
  return cost;
}

MidBlock::MidBlock(std::int64_t width, const KlSizes& sizes) {
  for (const char* name : {"resnets.0", "resnets.1"})
    resnets.push_back(place(*this, name, std::make_shared<ResidualBlock>(width, width, sizes)));
  if (sizes.midAttention == MidAttention::Present)
    attention = place(*this, "attentions.0", std::make_shared<PlaceAttention>(width, sizes));
}

at::Tensor MidBlock::forward(const at::Tensor& x) const {
  const at::Tensor hidden = resnets[0]->forward(x);
  return resnets[1]->forward(attention ? attention->forward(hidden) : hidden);
}

void MidBlock::cost(const std::string& name, Size size, const AddCost& add) const {
  add(name + ".resnets.0", resnets[0]->cost(size));
  if (attention) add(name + ".attentions.0", attention->cost(size));
  add(name + ".resnets.1", resnets[1]->cost(size));
}

Level::Level(std::int64_t in, std::int64_t out, std::int64_t blocks, Change changes,
             const KlSizes& sizes)
    : change(changes) {
  for (std::int64_t i = 0; i < blocks; ++i) {
    resnets.push_back(place(*this, "resnets." + std::to_string(i),
                            std::make_shared<ResidualBlock>(i == 0 ? in : out, out, sizes)));
  }
  if (change == Change::Halve)
    conv = place(*this, "downsamplers.0.conv", convolution(out, out, 3, 2, 0));
  if (change == Change::Double)
    conv = place(*this, "upsamplers.0.conv", convolution(out, out, 3, 1, 1));
}

at::Tensor Level::forward(at::Tensor x) const {
  for (const auto& resnet : resnets) x = resnet->forward(x);
  switch (change) {
    case Change::None:
      break;
    case Change::Halve:
      return conv->forward(at::constant_pad_nd(x, {0, 1, 0, 1}));
    case Change::Double:
      return conv->forward(at::upsample_nearest2d(x, {2 * x.size(2), 2 * x.size(3)}));
  }
  return x;
}

Size Level::cost(const std::string& name, Size size, const AddCost& add) const {
  for (std::size_t i = 0; i < resnets.size(); ++i)
    add(name + ".resnets." + std::to_string(i), resnets[i]->cost(size));
  if (change == Change::None) return size;
  const bool isHalved = change == Change::Halve;
  for (std::int64_t& side : size) side = isHalved ? side / 2 : side * 2;
  add(name + (isHalved ? ".downsamplers.0" : ".upsamplers.0"), conv->cost(size));
  return size;
}

KlEncoder::KlEncoder(const KlSizes& sizes)
    : convIn(
          register_module("conv_in", convolution(sizes.channels, sizes.widths.front(), 3, 1, 1))) {
  std::int64_t in = sizes.widths.front();
  for (std::int64_t i = 0; i < sizes.levels(); ++i) {
    const std::int64_t out = sizes.widths[static_cast<std::size_t>(i)];
    const auto change = i + 1 < sizes.levels() ? Level::Change::Halve : Level::Change::None;
    levels.push_back(place(*this, "down_blocks." + std::to_string(i),
                           std::make_shared<Level>(in, out, sizes.blocksPerLevel, change, sizes)));
    in = out;
  }
  mid = register_module("mid_block", std::make_shared<MidBlock>(in, sizes));
  normOut = register_module("conv_norm_out", groupNorm(in, sizes));
  convOut = register_module("conv_out", convolution(in, 2 * sizes.latentChannels, 3, 1, 1));
}

at::Tensor KlEncoder::forward(const at::Tensor& images) const {
  at::Tensor x = convIn->forward(images);
  for (const auto& level : levels) x = level->forward(x);
  return convOut->forward(at::silu(normOut->forward(mid->forward(x))));
}

Size KlEncoder::cost(const std::string& name, Size size, const AddCost& add) const {
  add(name + ".conv_in", convIn->cost(size));
  for (std::size_t i = 0; i < levels.size(); ++i)
    size = levels[i]->cost(name + ".down_blocks." + std::to_string(i), size, add);
  mid->cost(name + ".mid_block", size, add);
  add(name + ".conv_out", normAndConvolution(*normOut, *convOut, size));
  return size;
}

KlDecoder::KlDecoder(const KlSizes& sizes)
    : convIn(register_module("conv_in",
                             convolution(sizes.latentChannels, sizes.widths.back(), 3, 1, 1))) {
  std::int64_t in = sizes.widths.back();
  mid = register_module("mid_block", std::make_shared<MidBlock>(in, sizes));
  for (std::int64_t i = 0; i < sizes.levels(); ++i) {
    const std::int64_t out = sizes.widths[static_cast<std::size_t>(sizes.levels() - 1 - i)];
    const auto change = i + 1 < sizes.levels() ? Level::Change::Double : Level::Change::None;
    levels.push_back(
        place(*this, "up_blocks." + std::to_string(i),
              std::make_shared<Level>(in, out, sizes.blocksPerLevel + 1, change, sizes)));
    in = out;
  }
  normOut = register_module("conv_norm_out", groupNorm(in, sizes));
  convOut = register_module("conv_out", convolution(in, sizes.channels, 3, 1, 1));
}

at::Tensor KlDecoder::forward(const at::Tensor& latents) const {
  at::Tensor x = mid->forward(convIn->forward(latents));
  for (const auto& level : levels) x = level->forward(x);
  return convOut->forward(at::silu(normOut->forward(x)));
}

void KlDecoder::cost(const std::string& name, Size size, const AddCost& add) const {
  add(name + ".conv_in", convIn->cost(size));
  mid->cost(name + ".mid_block", size, add);
  for (std::size_t i = 0; i < levels.size(); ++i)
    size = levels[i]->cost(name + ".up_blocks." + std::to_string(i), size, add);
  add(name + ".conv_out", normAndConvolution(*normOut, *convOut, size));
}

}  // namespace vitrine::autoencoder
