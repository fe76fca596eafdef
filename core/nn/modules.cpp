#include "core/nn/modules.h"

#include <ATen/ATen.h>

#include "core/base/error.h"
#include "core/model/build_device.h"
#include "core/nn/drop_path.h"
#include "core/nn/fused_block.h"
#include "core/nn/init.h"
#include "core/nn/mlp.h"
#include "core/nn/patch_embed.h"

namespace vitrine::nn {

namespace {

at::Tensor space(at::IntArrayRef shape) {
  return at::empty(shape, at::TensorOptions(at::kFloat).device(buildDevice()));
}

}  // namespace

Linear::Linear(std::int64_t in, std::int64_t out, Bias hasBias) {
  weight = register_parameter("weight", space({out, in}));
  if (hasBias == Bias::Present) bias = register_parameter("bias", space({out}));
}
at::Tensor Linear::forward(const at::Tensor& x) const { return at::linear(x, weight, bias); }
at::Tensor Linear::forwardRows(const at::Tensor& x, std::int64_t first, std::int64_t count) const {
  return at::linear(x, weight.narrow(0, first, count),
                    bias.defined() ? bias.narrow(0, first, count) : at::Tensor());
}

Norm::Norm(NormKind kind, std::int64_t width, double eps) : kind_(kind), eps_(eps) {
  weight = register_parameter("weight", space({width}));
  if (kind == NormKind::Layer) bias = register_parameter("bias", space({width}));
}
at::Tensor Norm::forward(const at::Tensor& x) const {
  return normalise(kind_, x, weight, bias, eps_);
}
std::pair<at::Tensor, at::Tensor> Norm::forward(const at::Tensor& x,
                                                const at::Tensor& branch) const {
  return addAndNormalise(kind_, x, branch, weight, bias, eps_);
}

LayerScale::LayerScale(std::int64_t width) { gamma = register_parameter("gamma", space({width})); }

PatchProjection::PatchProjection(const VisionTransformerConfig& config) {
  weight = register_parameter(
      "weight", space({config.width, config.inChannels, config.patchSize[0], config.patchSize[1]}));
  bias = register_parameter("bias", space({config.width}));
}
at::Tensor PatchProjection::forward(const at::Tensor& images) const {
  return patchEmbed(images, weight, bias);
}

Mlp::Mlp(const VisionTransformerConfig& config) : kind_(config.mlp) {
  fc1 = register_module("fc1",
                        std::make_shared<Linear>(config.width, config.mlpWidth, config.mlpBias));
  fc2 = register_module("fc2",
                        std::make_shared<Linear>(config.mlpWidth, config.width, config.mlpBias));
  if (kind_ == MlpKind::SwiGlu) {
    fc3 = register_module("fc3",
                          std::make_shared<Linear>(config.width, config.mlpWidth, config.mlpBias));
  }
}
at::Tensor Mlp::forward(const at::Tensor& x, double dropoutRate,
                        const at::Generator& generator) const {
  at::Tensor hidden;
  if (kind_ == MlpKind::SwiGlu) {
    hidden = swiGlu(fc1->forward(x), fc3->forward(x));
  } else {
    hidden = gelu(fc1->forward(x), kind_ == MlpKind::GeluTanh ? Gelu::Tanh : Gelu::Erf);
  }
  return fc2->forward(is_training() ? dropout(hidden, dropoutRate, generator) : hidden);
}

SelfAttention::SelfAttention(const VisionTransformerConfig& config) : heads_(config.heads) {
  qkv = register_module("qkv",
                        std::make_shared<Linear>(config.width, 3 * config.width, config.qkvBias));
  proj =
      register_module("proj", std::make_shared<Linear>(config.width, config.width, Bias::Present));
}

at::Tensor maskOfRow(const at::Tensor& mask, std::int64_t row) {
  return mask.defined() && row >= 0 && mask.size(-2) > 1 ? mask.narrow(-2, row, 1) : mask;
}

at::Tensor SelfAttention::forward(const at::Tensor& x, std::int64_t layer, std::int64_t row,
                                  const SequenceContext& context) const {
  const std::int64_t width = x.size(-1);
  AttentionInput input;
  input.heads = heads_;
  input.angles = context.angles;
  input.additive = context.additive;
  input.multiplicative = context.multiplicative;
  if (row < 0) {
    input.query = qkv->forward(x);
  } else {
    input.query = qkv->forwardRows(x.narrow(1, row, 1), 0, width);
    input.keyValue = qkv->forwardRows(x, width, 2 * width);
    input.firstQuery = row;
    input.additive = maskOfRow(context.additive, row);
    input.multiplicative = maskOfRow(context.multiplicative, row);
  }
  if (context.tap == nullptr) return proj->forward(attend(input).values);
  const AttentionOutput output = attend(input, AttentionPath::Explicit);
  AttentionRecord record;
  record.layer = layer;
  record.weights =
      context.tap->kind == AttentionTap::Kind::Softmax ? output.softmax : output.effective;
  record.queryPositions = context.positions;
  record.keyPositions = context.positions;
  context.tap->receive(record);
  return proj->forward(output.values);
}

Block::Block(const VisionTransformerConfig& config, double dropPathRate)
    : norm_(config.norm),
      normEps_(config.normEps),
      mlp_(config.mlp),
      heads_(config.heads),
      dropPathRate_(dropPathRate),
      dropout_(config.dropout) {
  norm1 =
      register_module("norm1", std::make_shared<Norm>(config.norm, config.width, config.normEps));
  attn = register_module("attn", std::make_shared<SelfAttention>(config));
  if (config.layerScale) ls1 = register_module("ls1", std::make_shared<LayerScale>(config.width));
  norm2 =
      register_module("norm2", std::make_shared<Norm>(config.norm, config.width, config.normEps));
  mlp = register_module("mlp", std::make_shared<Mlp>(config));
  if (config.layerScale) ls2 = register_module("ls2", std::make_shared<LayerScale>(config.width));
}

at::Tensor Block::finish(const at::Tensor& branch, const std::shared_ptr<LayerScale>& scale,
                         const at::Generator& generator) const {
  at::Tensor result = is_training() ? dropout(branch, dropout_, generator) : branch;
  if (scale) result = result * scale->gamma;
  return is_training() ? dropPath(result, dropPathRate_, generator) : result;
}

at::Tensor Block::fused(const Stream& stream, std::int64_t row,
                        const SequenceContext& context) const {
  const std::optional<Factor> factor = fusedFactor();
  const bool isDropping = is_training() && dropout_ > 0;
  if (!factor || context.tap != nullptr || isDropping || ls1 || ls2) return {};
  BlockInput input;
  input.x = stream.x;
  input.parameters = {norm1->weight,      norm1->bias,      attn->qkv->weight, attn->qkv->bias,
                      attn->proj->weight, attn->proj->bias, norm2->weight,     norm2->bias,
                      mlp->fc1->weight,   mlp->fc1->bias,   mlp->fc2->weight,  mlp->fc2->bias};
  if (mlp->fc3) {
    input.parameters[kFc3Weight] = mlp->fc3->weight;
    input.parameters[kFc3Bias] = mlp->fc3->bias;
  }
  input.norm = norm_;
  input.normEps = normEps_;
  input.mlp = mlp_;
  input.heads = heads_;
  input.row = row;
  input.angles = context.angles;
  input.additive = maskOfRow(context.additive, row);
  input.multiplicative = maskOfRow(context.multiplicative, row);
  input.factor = *factor;
  if (!isFusable(input)) return {};
  if (stream.branch.defined()) input.x = stream.x + stream.branch;
  if (is_training()) {
    const std::int64_t batch = input.x.size(0);
    input.attentionGain = dropPathGains(batch, norm1->weight, dropPathRate_, context.generator);
    input.mlpGain = dropPathGains(batch, norm1->weight, dropPathRate_, context.generator);
  }
  return fusedBlock(input);
}

Stream Block::forward(const Stream& stream, std::int64_t layer, std::int64_t row,
                      const SequenceContext& context) const {
  if (const at::Tensor sum = fused(stream, row, context); sum.defined()) return {sum, {}};
  auto [x, y] = norm1->forward(stream.x, stream.branch);
  at::Tensor branch = finish(attn->forward(y, layer, row, context), ls1, context.generator);
  if (row >= 0) x = x.narrow(1, row, 1);
  std::tie(x, y) = norm2->forward(x, branch);
  return {x, finish(mlp->forward(y, dropout_, context.generator), ls2, context.generator)};
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
  projection = embedding->register_module("proj", std::make_shared<PatchProjection>(config));
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

void Encoder::initialiseAll(const VisionTransformerConfig& config, std::uint64_t seed) {
  const bool isXavier = config.init == InitRecipe::Xavier;
  const Init small =
      truncatedNormalInit(0.02, 100);  // the authors cut at +-2, a hundred deviations
  const std::int64_t patchInputs = config.inChannels * config.patchSize[0] * config.patchSize[1];
  const auto endsWith = [](const std::string& text, const char* tail) {
    const std::string end(tail);
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
  };
  for (const auto& item : named_parameters()) {
    const std::string& name = item.key();
    const at::Tensor& value = item.value();
    Init init = constantInit(0);
    if (name == "cls_token") {
      init = isXavier ? constantInit(0) : small;
    } else if (name == "pos_embed") {
      init = isXavier ? normalInit(0.02) : small;
    } else if (name == "patch_embed.proj.weight") {
      init = isXavier ? lecunNormalInit(patchInputs) : torchDefaultInit(patchInputs);
    } else if (name == "patch_embed.proj.bias") {
      init = isXavier ? constantInit(0) : torchDefaultInit(patchInputs);
    } else if (name == "head.weight") {
      init = isXavier ? constantInit(0) : small;
    } else if (name == "head.bias") {
      init = constantInit(config.headBias);
    } else if (endsWith(name, ".gamma")) {
      init = constantInit(config.layerScale.value_or(1));
    } else if (endsWith(name, "qkv.weight")) {
      // Per q, k and v, which are width x width each, however they are stored.
      init = isXavier ? xavierUniformInit(config.width, config.width) : small;
    } else if (value.dim() == 2) {
      init = isXavier ? xavierUniformInit(value.size(1), value.size(0)) : small;
    } else if (endsWith(name, "norm.weight") || endsWith(name, "norm1.weight") ||
               endsWith(name, "norm2.weight")) {
      init = constantInit(1);
    } else if (isXavier && name.find(".mlp.") != std::string::npos) {
      init = normalInit(1e-6);
    }
    initialise(value, init, name, seed);
  }
}

}  // namespace vitrine::nn
