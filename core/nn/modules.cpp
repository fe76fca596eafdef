#include "core/nn/modules.h"

#include <ATen/ATen.h>

#include "core/base/error.h"
#include "core/kernels/cpu/cpu_layers.h"
#include "core/kernels/cpu/taken_paths.h"
#include "core/model/build_device.h"
#include "core/nn/drop_path.h"

namespace vitrine::nn {

namespace {

at::Tensor space(at::IntArrayRef shape) {
  return at::zeros(shape, at::TensorOptions(at::kFloat).device(buildDevice()));
}

/// Hands one layer's probabilities to a tap.
void report(const AttentionTap& tap, std::int64_t layer, const at::Tensor& positions,
            const AttentionOutput& output) {
  AttentionRecord record;
  record.layer = layer;
  record.weights = tap.kind == AttentionTap::Kind::Softmax ? output.softmax : output.effective;
  record.queryPositions = positions;
  record.keyPositions = positions;
  tap.receive(record);
}

}  // namespace

Block::Block(const VisionTransformerConfig& config, double dropPathRate)
    : norm_(config.norm),
      normEps_(config.normEps),
      dropPathRate_(dropPathRate),
      dropout_(config.dropout) {
  const auto addNorm = [&](const char* name) {
    return register_module(name, std::make_shared<Norm>(config.norm, config.width, config.normEps));
  };
  const auto addScale = [&](const char* name) {
    if (!config.layerScale) return std::shared_ptr<LayerScale>();
    return register_module(name, std::make_shared<LayerScale>(config.width, *config.layerScale));
  };
  norm1 = addNorm("norm1");
  MultiHeadOptions attention;
  attention.width = config.width;
  attention.heads = config.heads;
  attention.inBias = config.qkvBias;
  attn = register_module("attn", std::make_shared<MultiHeadAttention>(attention));
  ls1 = addScale("ls1");
  norm2 = addNorm("norm2");
  mlp = register_module(
      "mlp", std::make_shared<Mlp>(MlpOptions{
                 config.width, config.mlpWidth, config.mlp, config.mlpBias, config.dropout, {}}));
  ls2 = addScale("ls2");
  const DropPath path{dropPathRate, DropPath::Kind::Sample};
  attentionBranch_ = Residual({norm1, ls1, config.dropout, path});
  mlpBranch_ = Residual({norm2, ls2, config.dropout, path});
}

at::Tensor Block::fused(const Stream& stream, std::int64_t row,
                        const SequenceContext& context) const {
  const bool isDropping = is_training() && dropout_ > 0;
  if (context.tap != nullptr || isDropping || ls1 || ls2) return {};
  cpu::BlockInput input;
  input.x = stream.x;
  input.parameters = {norm1->weight,     norm1->bias,     attn->all->weight, attn->all->bias,
                      attn->out->weight, attn->out->bias, norm2->weight,     norm2->bias,
                      mlp->in->weight,   mlp->in->bias,   mlp->out->weight,  mlp->out->bias};
  if (mlp->up) {
    input.parameters[cpu::kFc3Weight] = mlp->up->weight;
    input.parameters[cpu::kFc3Bias] = mlp->up->bias;
  }
  input.norm = norm_;
  input.normEps = normEps_;
  input.mlp = mlp->kind();
  input.heads = attn->options().heads;
  input.row = row;
  input.angles = context.angles;
  input.additive = maskOfRow(context.additive, row);
  input.multiplicative = maskOfRow(context.multiplicative, row);
  if (!cpu::takesBlock(input)) return {};
  const std::pair<cpu::BlockParameter, const Linear*> maps[] = {{cpu::kQkvWeight, attn->all.get()},
                                                                {cpu::kProjWeight, attn->out.get()},
                                                                {cpu::kFc1Weight, mlp->in.get()},
                                                                {cpu::kFc2Weight, mlp->out.get()},
                                                                {cpu::kFc3Weight, mlp->up.get()}};
  for (const auto& [place, map] : maps) {
    if (map != nullptr) input.parameters[place] = map->effectiveWeight().contiguous();
  }
  if (stream.branch.defined()) input.x = stream.x + stream.branch;
  if (is_training()) {
    const std::int64_t batch = input.x.size(0);
    input.attentionGain = dropPathGains(batch, norm1->weight, dropPathRate_, context.generator);
    input.mlpGain = dropPathGains(batch, norm1->weight, dropPathRate_, context.generator);
  }
  return cpu::runBlock(input);
}

Stream Block::forward(const Stream& stream, std::int64_t layer, std::int64_t row,
                      const SequenceContext& context) const {
  const at::Tensor sum = fused(stream, row, context);
  if (stream.x.is_cpu()) cpu::recordCall(cpu::CallKind::Block, sum.defined());
  if (sum.defined()) return {sum, {}};
  AttentionCall call;
  call.options.queryAngles = call.options.keyAngles = context.angles;
  call.options.bias = context.additive;
  call.options.factor = context.multiplicative;
  call.row = row;
  if (context.tap != nullptr) {
    call.tap = [&](const AttentionOutput& output) {
      report(*context.tap, layer, context.positions, output);
    };
  }
  Stream after = attentionBranch_.advance(
      stream,
      [&](const at::Tensor& y, const at::Tensor& /*samples*/) { return attn->forward(y, call); },
      is_training(), context.generator);
  if (row >= 0) after.x = after.x.narrow(1, row, 1);
  return mlpBranch_.advance(
      after,
      [&](const at::Tensor& y, const at::Tensor& /*samples*/) {
        return mlp->forward(y, context.generator);
      },
      is_training(), context.generator);
}

Encoder::Encoder(const VisionTransformerConfig& config) {
  const std::array<std::int64_t, 2> grid{config.imageSize[0] / config.patchSize[0],
                                         config.imageSize[1] / config.patchSize[1]};
  const bool hasClass = config.classToken != ClassToken::None;
  if (hasClass) classToken = register_parameter("cls_token", space({1, 1, config.width}));
  if (config.positions == PositionKind::Learned) {
    positions = register_parameter(
        "pos_embed", space({1, grid[0] * grid[1] + (hasClass ? 1 : 0), config.width}));
  } else if (config.positions == PositionKind::SinCos) {
    fixedPositions = sinCosPositions(grid, config.width, config.classToken);
  }
  auto embedding = register_module("patch_embed", std::make_shared<torch::nn::Module>());
  projection = embedding->register_module(
      "proj", std::make_shared<PatchEmbed>(config.inChannels, config.patchSize, config.width));
  auto list = register_module("blocks", std::make_shared<torch::nn::Module>());
  const std::vector<double> rates = dropPathRates(config.dropPath, config.depth);
  for (std::int64_t i = 0; i < config.depth; ++i) {
    blocks.push_back(list->register_module(
        std::to_string(i), std::make_shared<Block>(config, rates[static_cast<std::size_t>(i)])));
  }
  auto last = std::make_shared<Norm>(config.norm, config.width, config.normEps);
  if (config.finalNorm == FinalNorm::BeforePool) {
    norm = register_module("norm", last);
  } else {
    fcNorm = register_module("fc_norm", last);
  }
  head = register_module("head",
                         std::make_shared<Linear>(config.width, config.classes, Bias::Present));
}

}  // namespace vitrine::nn
