#include "core/nn/block.h"

#include <ATen/ATen.h>

#include <utility>

#include "core/kernels/cpu/taken_paths.h"
#include "core/model/build_device.h"
#include "core/nn/cost.h"
#include "core/nn/drop_path.h"
#include "core/nn/position/relative_bias.h"

namespace vitrine::nn {

namespace {

/// A batch that is large enough for every path: what a small one keeps is little.
constexpr std::int64_t kLargeBatch = 1024;

at::Tensor modulated(const at::Tensor& normed, const at::Tensor& shift, const at::Tensor& scale) {
  at::Tensor out = normed;
  if (scale.defined()) out = out * (1 + scale.unsqueeze(1));
  if (shift.defined()) out = out + shift.unsqueeze(1);
  return out;
}

at::Tensor gated(const at::Tensor& branch, const at::Tensor& gate) {
  return gate.defined() ? branch * gate.unsqueeze(1) : branch;
}

/// Gains and offset of a norm, [width] or [batch, width], with what a condition makes of them.
struct NormGains {
  at::Tensor weight, bias;
};
NormGains gainsOf(const Norm& norm, std::int64_t width, const at::Tensor& shift,
                  const at::Tensor& scale) {
  NormGains gains{norm.gains(), norm.bias};
  if (!gains.weight.defined()) gains.weight = at::ones({width});
  if (scale.defined()) {
    gains.weight = gains.weight * (1 + scale);
    if (gains.bias.defined()) gains.bias = gains.bias * (1 + scale);
  }
  if (shift.defined()) gains.bias = gains.bias.defined() ? gains.bias + shift : shift;
  gains.weight = gains.weight.contiguous();
  if (gains.bias.defined()) gains.bias = gains.bias.contiguous();
  return gains;
}

}  // namespace

void setMap(cpu::BlockInput& input, cpu::BlockParameter place, const Linear& map,
            const std::shared_ptr<LayerScale>& gain) {
  at::Tensor weight = map.weight.contiguous(), bias = map.bias;
  if (gain) {
    weight = weight * gain->gamma.unsqueeze(1);
    if (bias.defined()) bias = bias * gain->gamma;
  }
  input.parameters[place] = weight;
  input.parameters[place + 1] = bias;
}

Block::Block(const BlockOptions& options) : options_(options) {
  const auto addNorm = [&](const char* name) {
    return register_module(
        name, std::make_shared<Norm>(options.norm, options.width, options.normEps, options.affine));
  };
  const auto addScale = [&](const char* name, const std::string& bare) {
    if (!options.layerScale) return std::shared_ptr<LayerScale>();
    auto scale = std::make_shared<LayerScale>(options.width, *options.layerScale);
    if (bare.empty()) return register_module(name, scale);
    (void)register_parameter(bare, scale->gamma);
    return scale;
  };
  norm1 = addNorm("norm1");
  attn = register_module(
      "attn", std::make_shared<MultiHeadAttention>(MultiHeadOptions{
                  .width = options.width, .heads = options.heads, .inBias = options.qkvBias}));
  if (options.relativeRows > 0) {
    relativeTable = attn->register_parameter(kRelativeTable,
                                             builtTensor({options.relativeRows, options.heads}));
  }
  ls1 = addScale("ls1", options.names.attentionGain);
  norm2 = addNorm("norm2");
  mlp = register_module("mlp", std::make_shared<Mlp>(MlpOptions{
                                   options.width, options.hidden, options.mlp, options.mlpBias,
                                   options.dropout, options.names.mlp}));
  ls2 = addScale("ls2", options.names.mlpGain);
  const DropPath path{options.dropPath, DropPath::Kind::Sample};
  attentionBranch_ = Residual({norm1, ls1, options.dropout, path});
  mlpBranch_ = Residual({norm2, ls2, options.dropout, path});
}

void Block::setMlp(cpu::BlockInput& input, const Modulation& m) const {
  auto& places = input.parameters;
  const NormGains gains = gainsOf(*norm2, options_.width, m.mlpShift, m.mlpScale);
  places[cpu::kNorm2Weight] = gains.weight;
  places[cpu::kNorm2Bias] = gains.bias;
  setMap(input, cpu::kFc1Weight, *mlp->in, nullptr);
  setMap(input, cpu::kFc2Weight, *mlp->out, ls2);
  if (mlp->up) setMap(input, cpu::kFc3Weight, *mlp->up, nullptr);
  if (m.mlpGate.defined()) places[cpu::kMlpGate] = m.mlpGate.contiguous();
  input.norm = options_.norm;
  input.normEps = options_.normEps;
  input.mlp = options_.mlp;
}

void Block::drawMlp(cpu::BlockInput& input, std::int64_t rows,
                    const at::Generator& generator) const {
  // In the order in which the layers draw.
  const std::int64_t batch = input.x.size(0);
  const at::Tensor& like = mlp->out->weight;
  const auto dropped = [&](std::int64_t channels) {
    return dropoutFactors({batch, rows, channels}, like, options_.dropout, generator);
  };
  input.hiddenDropout = dropped(options_.hidden);
  input.mlpDropout = dropped(options_.width);
  input.mlpGain = dropPathGains(batch, like, options_.dropPath, generator);
}

at::Tensor Block::wholeMlp(const Stream& stream, const BlockCall& call) const {
  if (!stream.x.is_cpu()) return {};
  cpu::BlockInput input{.x = stream.x};
  setMlp(input, call.modulation);
  if (!cpu::takesBlock(input)) return {};
  input.x = stream.sum();
  if (is_training()) drawMlp(input, input.x.size(1), call.generator);
  return cpu::runBlock(input);
}

at::Tensor Block::whole(const Stream& stream, const BlockCall& call) const {
  if (call.tap || !stream.x.is_cpu()) return {};
  const Modulation& m = call.modulation;
  cpu::BlockInput input{.x = stream.x};
  const NormGains gains = gainsOf(*norm1, options_.width, m.attentionShift, m.attentionScale);
  input.parameters[cpu::kNorm1Weight] = gains.weight;
  input.parameters[cpu::kNorm1Bias] = gains.bias;
  setMap(input, cpu::kQkvWeight, *attn->all, nullptr);
  setMap(input, cpu::kProjWeight, *attn->out, ls1);
  if (m.attentionGate.defined())
    input.parameters[cpu::kAttentionGate] = m.attentionGate.contiguous();
  setMlp(input, m);
  input.heads = options_.heads;
  input.row = call.row;
  input.angles = call.angles;
  input.additive = maskOfRow(call.additive, call.row);
  input.multiplicative = maskOfRow(call.multiplicative, call.row);
  if (!cpu::takesBlock(input)) return {};
  input.x = stream.sum();
  if (is_training()) {
    // In the order in which the layers draw.
    const std::int64_t batch = input.x.size(0), rows = call.row < 0 ? input.x.size(1) : 1;
    const at::Tensor& like = attn->out->weight;
    input.attentionDropout =
        dropoutFactors({batch, rows, options_.width}, like, options_.dropout, call.generator);
    input.attentionGain = dropPathGains(batch, like, options_.dropPath, call.generator);
    drawMlp(input, rows, call.generator);
  }
  return cpu::runBlock(input);
}

Stream Block::byLayers(const Stream& stream, const BlockCall& call) const {
  const Modulation& m = call.modulation;
  AttentionCall inner;
  inner.options.queryAngles = inner.options.keyAngles = call.angles;
  inner.options.bias = call.additive;
  inner.options.factor = call.multiplicative;
  inner.row = call.row;
  inner.tap = call.tap;
  Stream after = attentionBranch_.advance(
      stream,
      [&](const at::Tensor& y, const at::Tensor& /*samples*/) {
        return attn->forward(modulated(y, m.attentionShift, m.attentionScale), inner);
      },
      is_training(), call.generator);
  if (after.branch.defined()) after.branch = gated(after.branch, m.attentionGate);
  if (call.row >= 0) after.x = after.x.narrow(1, call.row, 1);
  const at::Tensor fed = wholeMlp(after, call);
  if (fed.defined()) return {fed, {}};
  after = mlpBranch_.advance(
      after,
      [&](const at::Tensor& y, const at::Tensor& /*samples*/) {
        return mlp->forward(modulated(y, m.mlpShift, m.mlpScale), call.generator);
      },
      is_training(), call.generator);
  if (after.branch.defined()) after.branch = gated(after.branch, m.mlpGate);
  return after;
}

Stream Block::forward(const Stream& stream, const BlockCall& call) const {
  const at::Tensor sum = whole(stream, call);
  if (stream.x.is_cpu()) cpu::recordCall(cpu::CallKind::Block, sum.defined());
  return sum.defined() ? Stream{sum, {}} : byLayers(stream, call);
}

bool Block::isWhole(double tokens) const {
  return cpu::takesBlock(
      {kLargeBatch, static_cast<std::int64_t>(tokens), options_.width, options_.heads});
}

// As one operation a block keeps its input and the stream between its branches. It keeps queries,
// keys and values, probabilities and the attention's result, one value before each nonlinearity,
// and the factors of dropout.

BlockCost Block::attentionCost(double kept, double tokens, bool hasFactor) const {
  const double width = static_cast<double>(options_.width);
  BlockCost cost =
      attentionBranch_.branchCost(attn->cost(tokens, tokens, hasFactor), tokens, width);
  if (isWhole(tokens)) {
    cost.activationBytes = attn->keptBytes(kept, tokens, hasFactor);
    if (options_.dropout > 0) cost.activationBytes += kFloatBytes * kept * width;
  } else {
    cost.activationBytes =
        attentionBranch_.branchCost(attn->cost(kept, tokens, hasFactor), kept, width)
            .activationBytes;
  }
  return cost;
}

BlockCost Block::mlpCost(double kept, double tokens) const {
  const double width = static_cast<double>(options_.width),
               hidden = static_cast<double>(options_.hidden);
  BlockCost cost = mlpBranch_.branchCost(mlp->cost(tokens), tokens, width);
  if (isWhole(tokens) || cpu::takesMlpBranch({kLargeBatch, 1, options_.width})) {
    const double maps = mlp->up ? 2 : 1;
    cost.activationBytes = kFloatBytes * kept * hidden * maps;
    if (options_.dropout > 0) cost.activationBytes += kFloatBytes * kept * (hidden + width);
  } else {
    cost.activationBytes = mlpBranch_.branchCost(mlp->cost(kept), kept, width).activationBytes;
  }
  return cost;
}

BlockCost Block::normCost(const Norm& norm, double kept, double tokens) const {
  BlockCost cost = norm.cost(tokens);
  cost.activationBytes = isWhole(tokens) ? kFloatBytes * kept * static_cast<double>(options_.width)
                                         : norm.cost(kept).activationBytes;
  return cost;
}

}  // namespace vitrine::nn
