#include "plugins/visionllama/map_block.h"

#include <ATen/ATen.h>

#include "core/kernels/cpu/taken_paths.h"
#include "core/nn/block.h"
#include "core/nn/cost.h"
#include "core/nn/drop_path.h"

namespace vitrine::visionllama {

Sides windowsOf(Sides grid, std::int64_t side) {
  return {(grid[0] + side - 1) / side, (grid[1] + side - 1) / side};
}

at::Tensor mapOf(const at::Tensor& tokens, Sides grid) {
  return tokens.transpose(1, 2).unflatten(-1, {grid[0], grid[1]});
}

namespace {

nn::MultiHeadOptions attentionOptions(const MapBlockOptions& o) {
  nn::MultiHeadOptions options{.width = o.width, .heads = o.heads, .inBias = o.settings.qkvBias};
  if (o.sight == Sight::Cells) options.projections = nn::Projections::KeyValue;
  return options;
}

/// A grid cut into windows, [batch * windows, side * side, channels]; the grid is as many whole
/// ones.
at::Tensor cutIntoWindows(const at::Tensor& x, Sides grid, std::int64_t side) {
  const Sides count = windowsOf(grid, side);
  return x.reshape({x.size(0), count[0], side, count[1], side, x.size(2)})
      .transpose(2, 3)
      .reshape({-1, side * side, x.size(2)});
}
/// The way back, [batch, height * width, channels].
at::Tensor joinedWindows(const at::Tensor& windows, Sides grid, std::int64_t side) {
  const Sides count = windowsOf(grid, side);
  return windows.view({-1, count[0], count[1], side, side, windows.size(2)})
      .transpose(2, 3)
      .reshape({-1, count[0] * count[1] * side * side, windows.size(2)});
}

std::string sideText(std::int64_t side) {
  return std::to_string(side) + " x " + std::to_string(side);
}

}  // namespace

MapBlock::MapBlock(const MapBlockOptions& options) : options_(options) {
  const MapBlockOptions& o = options_;
  const BlockSettings& s = o.settings;
  const auto addNorm = [&](const char* name) {
    return register_module(name, std::make_shared<nn::Norm>(s.norm, o.width, s.normEps));
  };
  const nn::BlockNames names = s.names();
  const auto addGain = [&](const std::string& name) {
    if (!s.layerScale) return std::shared_ptr<nn::LayerScale>();
    auto scale = std::make_shared<nn::LayerScale>(o.width, *s.layerScale);
    (void)register_parameter(name, scale->gamma);
    return scale;
  };
  norm1_ = addNorm(o.isFused ? "ln1" : "norm1");
  attention_ =
      register_module("attn", std::make_shared<nn::MultiHeadAttention>(attentionOptions(o)));
  if (o.sight == Sight::Cells && o.reduction > 1) {
    reduce_ = attention_->register_module(
        "sr", std::make_shared<nn::PatchEmbed>(o.width, Sides{o.reduction, o.reduction}, o.width));
    cellNorm_ =
        attention_->register_module("norm", std::make_shared<nn::Norm>(s.norm, o.width, s.normEps));
  }
  gain1_ = addGain(names.attentionGain);
  norm2_ = addNorm(o.isFused ? "ln2" : "norm2");
  if (o.isFused) {
    auto feed = register_module("ffn", std::make_shared<torch::nn::Module>());
    gateUp_ = feed->register_module("w12",
                                    std::make_shared<nn::Linear>(o.width, 2 * o.hidden, s.mlpBias));
    down_ = feed->register_module("w3", std::make_shared<nn::Linear>(o.hidden, o.width, s.mlpBias));
  } else {
    mlp_ = register_module("mlp", std::make_shared<nn::Mlp>(nn::MlpOptions{
                                      o.width, o.hidden, s.mlp, s.mlpBias, 0, names.mlp}));
  }
  gain2_ = addGain(names.mlpGain);
  attentionBranch_ =
      nn::Residual({norm1_, gain1_, 0, {o.attentionDrop, nn::DropPath::Kind::Sample}});
  mlpBranch_ = nn::Residual({norm2_, gain2_, 0, {o.mlpDrop, nn::DropPath::Kind::Sample}});
}

at::Tensor MapBlock::attendWindows(const at::Tensor& x, const MapCall& call) const {
  const std::int64_t side = options_.window, batch = x.size(0), width = x.size(2);
  const Sides count = windowsOf(call.grid, side);
  const Sides padded{count[0] * side, count[1] * side};
  at::Tensor map = x.view({batch, call.grid[0], call.grid[1], width});
  // Zeros behind the norm: such keys and values are the biases of their maps.
  if (padded != call.grid) {
    map =
        at::constant_pad_nd(map, {0, 0, 0, padded[1] - call.grid[1], 0, padded[0] - call.grid[0]});
  }
  const at::Tensor windows = cutIntoWindows(map.view({batch, -1, width}), padded, side);
  nn::AttentionCall inner;
  inner.options.queryAngles = inner.options.keyAngles = call.angles->window;
  if (call.tap) {
    inner.tap = [&](const nn::AttentionOutput& output) {
      call.tap(output.softmax.unflatten(0, {batch, count[0] * count[1]}));
    };
  }
  const at::Tensor joined = joinedWindows(attention_->forward(windows, inner), padded, side);
  if (padded == call.grid) return joined;
  return joined.view({batch, padded[0], padded[1], width})
      .narrow(1, 0, call.grid[0])
      .narrow(2, 0, call.grid[1])
      .reshape({batch, -1, width});
}

at::Tensor MapBlock::attendCells(const at::Tensor& x, const MapCall& call) const {
  nn::AttentionCall inner;
  inner.options.queryAngles = call.angles->query;
  inner.options.keyAngles = call.angles->key;
  if (reduce_) inner.context = cellNorm_->forward(reduce_->forward(mapOf(x, call.grid)));
  if (call.tap) inner.tap = [&](const nn::AttentionOutput& output) { call.tap(output.softmax); };
  return attention_->forward(x, inner);
}

at::Tensor MapBlock::attendAll(const at::Tensor& x, const MapCall& call) const {
  nn::AttentionCall inner;
  inner.options.queryAngles = inner.options.keyAngles = call.angles->query;
  if (call.tap) inner.tap = [&](const nn::AttentionOutput& output) { call.tap(output.softmax); };
  return attention_->forward(x, inner);
}

at::Tensor MapBlock::feed(const at::Tensor& x) const {
  if (mlp_) return mlp_->forward(x);
  const at::Tensor both = gateUp_->forward(x);
  const std::vector<at::Tensor> halves = both.chunk(2, -1);
  return down_->forward(nn::swiGlu(halves[0].contiguous(), halves[1].contiguous()));
}

void MapBlock::setMlp(cpu::BlockInput& input) const {
  const BlockSettings& s = options_.settings;
  input.parameters[cpu::kNorm2Weight] = norm2_->gains();
  input.parameters[cpu::kNorm2Bias] = norm2_->bias;
  nn::setMap(input, cpu::kFc1Weight, *mlp_->in, {});
  nn::setMap(input, cpu::kFc2Weight, *mlp_->out, gain2_);
  if (mlp_->up) nn::setMap(input, cpu::kFc3Weight, *mlp_->up, {});
  input.norm = s.norm;
  input.normEps = s.normEps;
  input.mlp = s.mlp;
}

at::Tensor MapBlock::wholeMlp(const nn::Stream& stream, const at::Generator& generator) const {
  if (!stream.x.is_cpu() || !mlp_) return {};
  cpu::BlockInput input{.x = stream.x};
  setMlp(input);
  if (!cpu::takesBlock(input)) return {};
  input.x = stream.sum();
  if (is_training() && options_.mlpDrop > 0)
    input.mlpGain = nn::dropPath(at::ones({input.x.size(0)}), options_.mlpDrop, generator);
  return cpu::runBlock(input);
}

at::Tensor MapBlock::whole(const nn::Stream& stream, const MapCall& call) const {
  const MapBlockOptions& o = options_;
  const bool isWindowed = o.sight == Sight::Window;
  const bool isPadded = call.grid[0] % o.window != 0 || call.grid[1] % o.window != 0;
  // A cell of one token is that token.
  const bool seesAll = o.sight == Sight::All || (o.sight == Sight::Cells && !reduce_ &&
                                                 call.angles->query.is_same(call.angles->key));
  if (call.tap || !stream.x.is_cpu() || !mlp_ || (isWindowed ? isPadded : !seesAll)) return {};
  const at::Tensor sum = stream.sum();
  const std::int64_t batch = sum.size(0);
  cpu::BlockInput input{.x = isWindowed ? cutIntoWindows(sum, call.grid, o.window) : sum};
  input.parameters[cpu::kNorm1Weight] = norm1_->gains();
  input.parameters[cpu::kNorm1Bias] = norm1_->bias;
  if (attention_->all) {
    nn::setMap(input, cpu::kQkvWeight, *attention_->all, {});
  } else {
    const nn::Linear &query = *attention_->query, &keyValue = *attention_->keyValue;
    input.parameters[cpu::kQkvWeight] = at::cat({query.weight, keyValue.weight});
    if (query.bias.defined())
      input.parameters[cpu::kQkvBias] = at::cat({query.bias, keyValue.bias});
  }
  nn::setMap(input, cpu::kProjWeight, *attention_->out, gain1_);
  setMlp(input);
  input.heads = o.heads;
  input.angles = isWindowed ? call.angles->window : call.angles->query;
  if (!cpu::takesBlock(input)) return {};
  if (is_training()) {
    // In the order in which the layers draw; windows of an image are dropped together.
    const auto gains = [&](double rate) {
      if (rate == 0) return at::Tensor();
      const at::Tensor ofImages = nn::dropPath(at::ones({batch}), rate, call.generator);
      return ofImages.repeat_interleave(input.x.size(0) / batch);
    };
    input.attentionGain = gains(o.attentionDrop);
    input.mlpGain = gains(o.mlpDrop);
  }
  const at::Tensor out = cpu::runBlock(input);
  return isWindowed ? joinedWindows(out, call.grid, o.window) : out;
}

nn::Stream MapBlock::forward(const nn::Stream& stream, const MapCall& call) const {
  const at::Tensor sum = whole(stream, call);
  if (stream.x.is_cpu()) cpu::recordCall(cpu::CallKind::Block, sum.defined());
  if (sum.defined()) return {sum, {}};
  const nn::Stream after = attentionBranch_.advance(
      stream,
      [&](const at::Tensor& normed, const at::Tensor& /*samples*/) {
        switch (options_.sight) {
          case Sight::Window:
            return attendWindows(normed, call);
          case Sight::Cells:
            return attendCells(normed, call);
          case Sight::All:
            break;
        }
        return attendAll(normed, call);
      },
      is_training(), call.generator);
  const at::Tensor fed = wholeMlp(after, call.generator);
  if (fed.defined()) return {fed, {}};
  return mlpBranch_.advance(
      after, [&](const at::Tensor& normed, const at::Tensor& /*samples*/) { return feed(normed); },
      is_training(), call.generator);
}

std::vector<BlockCost> MapBlock::cost(Sides grid, const std::string& prefix,
                                      const std::string& rope) const {
  const MapBlockOptions& o = options_;
  const double tokens = static_cast<double>(grid[0] * grid[1]),
               width = static_cast<double>(o.width);
  const auto named = [&](BlockCost cost, const std::string& name) {
    cost.name = prefix + name;
    return cost;
  };
  std::vector<BlockCost> pieces{named(norm1_->cost(tokens), o.isFused ? "ln1" : "norm1")};
  if (rope != "none")
    pieces.push_back({prefix + "attn.rope", "rope:" + rope, 0, 6 * tokens * width, 0, 0});

  BlockCost attention;
  if (o.sight == Sight::Window) {
    const Sides count = windowsOf(grid, o.window);
    const double windows = static_cast<double>(count[0] * count[1]),
                 inside = static_cast<double>(o.window * o.window);
    attention = attention_->cost(inside, inside);
    for (double* number : {&attention.macs, &attention.flops, &attention.activationBytes})
      *number *= windows;
    attention.kind += ", windows of " + sideText(o.window);
  } else {
    const std::int64_t cell = o.sight == Sight::Cells ? o.reduction : 1;
    const double keys = static_cast<double>((grid[0] / cell) * (grid[1] / cell));
    attention = attention_->cost(tokens, keys);
    if (reduce_) {
      nn::addNumbers(attention, reduce_->cost(keys));
      nn::addNumbers(attention, cellNorm_->cost(keys));
      attention.kind += ", keys of cells of " + sideText(cell);
    }
  }
  pieces.push_back(named(attentionBranch_.branchCost(attention, tokens, width), "attn"));
  pieces.push_back(named(norm2_->cost(tokens), o.isFused ? "ln2" : "norm2"));
  BlockCost feed;
  if (mlp_) {
    feed = mlp_->cost(tokens);
  } else {
    const double hidden = static_cast<double>(o.hidden);
    nn::addNumbers(feed, gateUp_->cost(tokens));
    nn::addNumbers(feed, down_->cost(tokens));
    feed.flops += (nn::kActivationCost + 1) * tokens * hidden + tokens * width;
    feed.activationBytes = nn::kFloatBytes * 3 * tokens * hidden;
    feed.kind = "mlp:SwiGLU, " + std::to_string(o.hidden) + " wide, one map for gate and up";
  }
  pieces.push_back(named(mlpBranch_.branchCost(feed, tokens, width), o.isFused ? "ffn" : "mlp"));
  return pieces;
}

}  // namespace vitrine::visionllama
