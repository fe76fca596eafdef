#include "plugins/vision_lstm/block.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>

#include "core/base/cpu_path.h"
#include "core/kernels/block_linear.h"
#include "core/model/build_device.h"
#include "core/nn/cost.h"
#include "core/nn/drop_path.h"

namespace vitrine::vision_lstm {

namespace {

void tell(const Internals& internals, const char* name, const at::Tensor& value) {
  if (internals) internals(name, value);
}

/// Whether what a memory is given is computed in float64. Where readings of a head nearly cancel,
/// its norm amplifies the rounding of all before it by some dozen times. The paths without fused
/// multiply-add round most, and are there for their results, not for speed.
bool isWide(const at::Tensor& x) {
  return x.is_cpu() && x.scalar_type() == at::kFloat && cpuPath() < CpuPath::Avx2 &&
         !at::autocast::is_autocast_enabled(at::kCPU);
}

/// A parameter in float64 where `x` is.
at::Tensor matching(const at::Tensor& x, const at::Tensor& parameter) {
  const bool isChanged = parameter.defined() && x.scalar_type() == at::kDouble;
  return isChanged ? parameter.to(at::kDouble) : parameter;
}

}  // namespace

OffsetNorm::OffsetNorm(std::int64_t width, double eps, nn::Bias hasBias) : eps_(eps) {
  weight = register_parameter("weight", builtTensor({width}));
  if (hasBias == nn::Bias::Present) bias = register_parameter("bias", builtTensor({width}));
}
at::Tensor OffsetNorm::forward(const at::Tensor& x) const {
  if (!isWide(x)) return nn::normalise(nn::NormKind::Layer, x, 1 + weight, bias, eps_);
  const at::Tensor wide = x.to(at::kDouble);
  return nn::normalise(nn::NormKind::Layer, wide, 1 + matching(wide, weight), matching(wide, bias),
                       eps_)
      .to(at::kFloat);
}
BlockCost OffsetNorm::cost(double tokens) const {
  const double width = static_cast<double>(weight.numel());
  return {.kind = "norm:LayerNorm, gains 1 + w",
          .parameters = weight.numel() + (bias.defined() ? bias.numel() : 0),
          .flops = nn::kNormCost * tokens * width,
          .activationBytes = nn::kFloatBytes * (2 * tokens * width + 2 * tokens)};
}

HeadNorm::HeadNorm(std::int64_t width, double eps, nn::Bias hasBias) : eps_(eps) {
  weight = register_parameter("weight", builtTensor({width}));
  if (hasBias == nn::Bias::Present) bias = register_parameter("bias", builtTensor({width}));
}
at::Tensor HeadNorm::forward(const at::Tensor& readings) const {
  const std::int64_t width = readings.size(3);
  // In memory already as [batch, tokens, heads, width].
  const at::Tensor rows = readings.transpose(1, 2);
  const at::Tensor unit = at::layer_norm(rows, {width}, {}, {}, eps_).flatten(2);
  return bias.defined() ? at::addcmul(bias, unit, 1 + weight) : unit * (1 + weight);
}

HeadwiseLinear::HeadwiseLinear(std::int64_t width, std::int64_t block, nn::Bias hasBias) {
  weight = register_parameter("weight", builtTensor({width / block, block, block}));
  if (hasBias == nn::Bias::Present) bias = register_parameter("bias", builtTensor({width}));
}
at::Tensor HeadwiseLinear::forward(const at::Tensor& x) const {
  return kernels::blockLinear(x, matching(x, weight), matching(x, bias));
}

DepthwiseConvolution::DepthwiseConvolution(Convolution kind, std::int64_t width,
                                           std::int64_t kernel)
    : kind_(kind), kernel_(kernel) {
  if (kind == Convolution::Grid) {
    weight = register_parameter("weight", builtTensor({width, 1, kernel, kernel}));
    bias = register_parameter("bias", builtTensor({width}));
    return;
  }
  auto inside = register_module("conv", std::make_shared<torch::nn::Module>());
  weight = inside->register_parameter("weight", builtTensor({width, 1, kernel}));
  bias = inside->register_parameter("bias", builtTensor({width}));
}
at::Tensor DepthwiseConvolution::forward(const at::Tensor& x, Grid grid) const {
  const at::Tensor channels = x.transpose(1, 2);
  const at::Tensor kernel = matching(x, weight), offset = matching(x, bias);
  const std::int64_t width = x.size(2), tokens = x.size(1);
  if (kind_ == Convolution::Grid) {
    const at::Tensor image = channels.unflatten(2, {grid.rows, grid.columns});
    const std::int64_t around = kernel_ / 2;
    return at::conv2d(image, kernel, offset, at::IntArrayRef({1, 1}),
                      at::IntArrayRef({around, around}), at::IntArrayRef({1, 1}), width)
        .flatten(2)
        .transpose(1, 2);
  }
  const std::int64_t around = kind_ == Convolution::Causal1d ? kernel_ - 1 : kernel_ / 2;
  return at::conv1d(channels, kernel, offset, at::IntArrayRef({1}), at::IntArrayRef({around}),
                    at::IntArrayRef({1}), width)
      .narrow(2, 0, tokens)
      .transpose(1, 2);
}

MatrixMemory::MatrixMemory(const VisionLstmConfig& c) {
  inputGate = register_module("igate", std::make_shared<nn::Linear>(3 * c.inner(), c.heads));
  forgetGate = register_module("fgate", std::make_shared<nn::Linear>(3 * c.inner(), c.heads));
  norm = register_module("outnorm", std::make_shared<HeadNorm>(c.inner(), c.outNormEps, c.bias));
}

Layer::Layer(const VisionLstmConfig& c) : heads_(c.heads), cell_(c.cell) {
  const auto mixer = [&](const char* name) {
    return register_module(name, std::make_shared<HeadwiseLinear>(c.inner(), c.qkvBlock, c.bias));
  };
  skip = register_parameter("learnable_skip", builtTensor({c.inner()}, 1));
  up = register_module("proj_up", std::make_shared<nn::Linear>(c.width, 2 * c.inner(), c.bias));
  query = mixer("q_proj"), key = mixer("k_proj"), value = mixer("v_proj");
  if (c.convolution != Convolution::None) {
    convolution = register_module(
        "conv", std::make_shared<DepthwiseConvolution>(c.convolution, c.inner(), c.kernel));
  }
  memory = register_module("mlstm_cell", std::make_shared<MatrixMemory>(c));
  down = register_module("proj_down", std::make_shared<nn::Linear>(c.inner(), c.width, c.bias));
}

CellInput Layer::cellInput(const at::Tensor& x, Grid grid) const {
  const bool isRounded = isWide(x);
  const at::Tensor rows = isRounded ? x.to(at::kDouble) : x;
  const at::Tensor both =
      isRounded ? at::linear(rows, matching(rows, up->weight), matching(rows, up->bias))
                : up->forward(rows);
  const std::int64_t inner = both.size(2) / 2;
  CellInput in{.a = both.narrow(2, 0, inner), .z = both.narrow(2, inner, inner)};
  in.convolved = convolution ? convolution->forward(in.a, grid) : in.a;
  in.c = at::silu(in.convolved);
  in.q = query->forward(in.c);
  in.k = key->forward(in.c);
  in.v = value->forward(in.a);
  // Both gates of q, k and v side by side, without putting these side by side.
  const at::Tensor weight =
      matching(rows, at::cat({memory->inputGate->weight, memory->forgetGate->weight}))
          .unflatten(1, {3, inner});
  const at::Tensor bias =
      matching(rows, at::cat({memory->inputGate->bias, memory->forgetGate->bias}));
  at::Tensor gates = at::linear(in.q, weight.select(1, 0), bias) +
                     at::linear(in.k, weight.select(1, 1)) + at::linear(in.v, weight.select(1, 2));
  if (isRounded) {
    for (at::Tensor* each : {&in.a, &in.z, &in.convolved, &in.c, &in.q, &in.k, &in.v, &gates})
      *each = each->to(at::kFloat);
  }
  const auto perHead = [&](const at::Tensor& channels) {
    return channels.unflatten(2, {heads_, inner / heads_}).transpose(1, 2);
  };
  in.cell.q = perHead(in.q), in.cell.k = perHead(in.k), in.cell.v = perHead(in.v);
  in.cell.inputGate = gates.narrow(2, 0, heads_).transpose(1, 2);
  in.cell.forgetGate = gates.narrow(2, heads_, heads_).transpose(1, 2);
  return in;
}

at::Tensor Layer::forward(const at::Tensor& x, Grid grid, const Internals& internals) const {
  const CellInput in = cellInput(x, grid);
  const kernels::MlstmOutput read = kernels::mlstm(in.cell, cell_);
  const at::Tensor normed = memory->norm->forward(read.h);
  const at::Tensor gated = at::addcmul(normed, skip, in.c) * at::silu(in.z);
  const at::Tensor branch = down->forward(gated);
  if (internals) {
    tell(internals, "a", in.a), tell(internals, "z", in.z), tell(internals, "conv", in.convolved);
    tell(internals, "c", in.c), tell(internals, "q", in.q), tell(internals, "k", in.k);
    tell(internals, "v", in.v), tell(internals, "igate", in.cell.inputGate);
    tell(internals, "fgate", in.cell.forgetGate), tell(internals, "m", read.stabiliser);
    tell(internals, "signed_sum", read.signedSum);
    tell(internals, "normaliser", at::maximum(read.signedSum.abs(), read.stabiliser.neg().exp()));
    tell(internals, "h", read.h), tell(internals, "h_norm", normed);
    tell(internals, "gated", gated);
  }
  return branch;
}

namespace {

at::Tensor inOrder(const at::Tensor& x, const at::Tensor& order) {
  return order.defined() ? x.index_select(1, order) : x;
}

}  // namespace

Block::Block(const VisionLstmConfig& c, double dropPath) {
  norm = register_module("norm", std::make_shared<OffsetNorm>(c.width, c.blockNormEps, c.bias));
  layer = register_module("layer", std::make_shared<Layer>(c));
  residual_ = nn::Residual({.norm = norm, .dropPath = {dropPath, nn::DropPath::Kind::Subset}});
}
nn::Stream Block::forward(const at::Tensor& x, const Scan& scan, const at::Generator& generator,
                          const Internals& internals) const {
  const nn::Mixer mixer = [&](const at::Tensor& normed, const at::Tensor&) {
    const at::Tensor branch =
        inOrder(layer->forward(inOrder(normed, scan.order), scan.grid, internals), scan.inverse);
    tell(internals, "norm", normed), tell(internals, "branch", branch);
    return branch;
  };
  return residual_.advance({x, {}}, mixer, is_training(), generator);
}
CellInput Block::cellInput(const at::Tensor& x, const Scan& scan) const {
  return layer->cellInput(inOrder(norm->forward(x), scan.order), scan.grid);
}

std::string blockPrefix(const VisionLstmConfig& config, std::int64_t block) {
  if (!config.hasPairNames()) return "blocks." + std::to_string(block) + ".";
  return "blocks." + std::to_string(block / 2) +
         (block % 2 == 0 ? ".rowwise_from_top_left." : ".rowwise_from_bot_right.");
}

Network::Network(const VisionLstmConfig& c) {
  auto embedding = register_module("patch_embed", std::make_shared<torch::nn::Module>());
  nn::ConvolutionOptions patches;
  patches.in = c.inChannels, patches.out = c.width;
  patches.kernel = c.patch, patches.stride = c.stride;
  projection = embedding->register_module("proj", std::make_shared<nn::Conv2d>(patches));
  if (c.hasPositions) {
    const Grid stored = c.storedGrid();
    auto table = register_module("pos_embed", std::make_shared<torch::nn::Module>());
    positions =
        table->register_parameter("embed", builtTensor({1, stored.rows, stored.columns, c.width}));
  }
  if (c.classTokens() > 0) {
    auto tokens = register_module("cls_tokens", std::make_shared<torch::nn::Module>());
    classTokens = tokens->register_parameter("tokens", builtTensor({1, c.classTokens(), c.width}));
  }
  auto list = register_module("blocks", std::make_shared<torch::nn::Module>());
  const std::vector<double> rates =
      c.dropPathGrows ? nn::dropPathRates(c.dropPath, c.depth)
                      : std::vector<double>(static_cast<std::size_t>(c.depth), c.dropPath);
  std::shared_ptr<torch::nn::Module> pair;
  for (std::int64_t i = 0; i < c.depth; ++i) {
    auto block = std::make_shared<Block>(c, rates[static_cast<std::size_t>(i)]);
    blocks.push_back(block);
    if (!c.hasPairNames()) {
      list->register_module(std::to_string(i), block);
      continue;
    }
    if (i % 2 == 0)
      pair = list->register_module(std::to_string(i / 2), std::make_shared<torch::nn::Module>());
    pair->register_module(i % 2 == 0 ? "rowwise_from_top_left" : "rowwise_from_bot_right", block);
  }
  norm = register_module("norm", std::make_shared<OffsetNorm>(c.width, c.normEps, c.bias));
  const bool isPooled = c.pooling != Pooling::Tokens && c.pooling != Pooling::Image;
  if (c.hasHeadNorm && isPooled) {
    headNorm = register_module(
        "legacy_norm",
        std::make_shared<nn::Norm>(nn::NormKind::Layer, c.pooledWidth(), c.headNormEps));
  }
  if (c.classes > 0)
    head = register_module("head", std::make_shared<nn::Linear>(c.pooledWidth(), c.classes));
}

}  // namespace vitrine::vision_lstm
