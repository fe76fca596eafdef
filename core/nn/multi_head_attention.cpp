#include "core/nn/multi_head_attention.h"

#include <ATen/ATen.h>

#include "core/base/error.h"
#include "core/kernels/cpu/cpu_layers.h"
#include "core/nn/attention.h"
#include "core/nn/cost.h"

namespace vitrine::nn {

at::Tensor maskOfRow(const at::Tensor& mask, std::int64_t row) {
  return mask.defined() && row >= 0 && mask.size(-2) > 1 ? mask.narrow(-2, row, 1) : mask;
}

MultiHeadAttention::MultiHeadAttention(const MultiHeadOptions& options) : options_(options) {
  MultiHeadOptions& o = options_;
  if (o.keyHeads == 0) o.keyHeads = o.heads;
  if (o.contextWidth == 0) o.contextWidth = o.width;
  if (o.heads < 1 || o.keyHeads < 1 || o.heads % o.keyHeads != 0 ||
      (o.headDim == 0 && o.width % o.heads != 0)) {
    throw ShapeError("attention of " + std::to_string(o.heads) + " heads over " +
                     std::to_string(o.keyHeads) + " key heads does not fit a width of " +
                     std::to_string(o.width) + "; key heads divide heads, heads divide the width");
  }
  if (o.headDim == 0) o.headDim = o.width / o.heads;
  if (o.projections == Projections::One && o.contextWidth != o.width) {
    throw ShapeError(
        "one map cannot make queries and keys of tokens of two widths; give keys a map of their "
        "own");
  }
  const std::int64_t queryRows = o.heads * o.headDim, keyRows = o.keyHeads * o.headDim;
  const auto map = [&](const std::string& name, std::int64_t from, std::int64_t to) {
    return register_module(name, std::make_shared<Linear>(from, to, o.inBias));
  };
  switch (o.projections) {
    case Projections::One:
      all = map(o.names.all, o.width, queryRows + 2 * keyRows);
      break;
    case Projections::KeyValue:
      query = map(o.names.query, o.width, queryRows);
      keyValue = map(o.names.keyValue, o.contextWidth, 2 * keyRows);
      break;
    case Projections::Separate:
      query = map(o.names.query, o.width, queryRows);
      key = map(o.names.key, o.contextWidth, keyRows);
      value = map(o.names.value, o.contextWidth, keyRows);
      break;
  }
  out = register_module(o.names.out, std::make_shared<Linear>(queryRows, o.width, o.outBias));
}

MultiHeadAttention::Projected MultiHeadAttention::project(const at::Tensor& x,
                                                          const at::Tensor& context) const {
  const MultiHeadOptions& o = options_;
  const at::Tensor& source = context.defined() ? context : x;
  const std::int64_t queryRows = o.heads * o.headDim, keyRows = o.keyHeads * o.headDim;
  at::Tensor q, k, v;
  if (all && !context.defined()) {
    const at::Tensor packed = all->forward(x);
    const auto parts = packed.split_with_sizes({queryRows, keyRows, keyRows}, -1);
    q = parts[0], k = parts[1], v = parts[2];
  } else if (all || keyValue) {
    const at::Tensor packed =
        all ? all->forwardRows(source, queryRows, 2 * keyRows) : keyValue->forward(source);
    q = all ? all->forwardRows(x, 0, queryRows) : query->forward(x);
    const auto parts = packed.split_with_sizes({keyRows, keyRows}, -1);
    k = parts[0], v = parts[1];
  } else {
    q = query->forward(x);
    k = key->forward(source);
    v = value->forward(source);
  }
  return {q.unflatten(-1, {o.heads, o.headDim}), k.unflatten(-1, {o.keyHeads, o.headDim}),
          v.unflatten(-1, {o.keyHeads, o.headDim})};
}

at::Tensor MultiHeadAttention::join(const at::Tensor& values) const {
  return out->forward(values.flatten(2));
}

/// Whether AttentionInput can express the call: it reads the map's output where it lies.
bool MultiHeadAttention::isPacked(const AttentionCall& call) const {
  const AttendOptions& o = call.options;
  const bool isOneTable = !o.queryAngles.defined() && !o.keyAngles.defined();
  return all && options_.keyHeads == options_.heads && !call.context.defined() &&
         (isOneTable || o.queryAngles.is_same(o.keyAngles)) && o.pairs == RopePairs::Interleaved &&
         !o.isCausal && !o.scale && !o.firstAllowedKey.defined() && !o.lastAllowedKey.defined();
}

AttentionOutput MultiHeadAttention::attendPacked(const at::Tensor& x,
                                                 const AttentionCall& call) const {
  const std::int64_t rows = options_.heads * options_.headDim;
  AttentionInput input;
  input.heads = options_.heads;
  input.angles = call.options.queryAngles;
  input.additive = maskOfRow(call.options.bias, call.row);
  input.multiplicative = maskOfRow(call.options.factor, call.row);
  if (call.row < 0) {
    input.query = all->forward(x);
  } else {
    input.query = all->forwardRows(x.narrow(1, call.row, 1), 0, rows);
    input.keyValue = all->forwardRows(x, rows, 2 * rows);
    input.firstQuery = call.row;
  }
  return attend(input, call.tap ? AttentionPath::Explicit : call.options.path);
}

at::Tensor MultiHeadAttention::forward(const at::Tensor& x, const AttentionCall& call) const {
  if (isPacked(call)) {
    const AttentionOutput output = attendPacked(x, call);
    if (call.tap) call.tap(output);
    return out->forward(output.values);
  }
  const Projected parts = project(x, call.context);
  AttendOptions options = call.options;
  if (call.tap) options.path = AttentionPath::Explicit;
  const AttentionOutput output = attend(parts.query, parts.key, parts.value, options);
  if (call.tap) call.tap(output);
  return join(call.row < 0 ? output.values : output.values.narrow(1, call.row, 1));
}

double MultiHeadAttention::keptBytes(double queries, double keys, bool hasFactor) const {
  const double queryRows = static_cast<double>(out->weight.size(1)),
               keyRows = static_cast<double>(options_.keyHeads * options_.headDim),
               heads = static_cast<double>(options_.heads), pairs = heads * queries * keys;
  // Projections and result; the probabilities where the path of that length keeps them.
  double floats = 2 * queries * queryRows + 2 * keys * keyRows;
  if (cpu::takesAttention({static_cast<std::int64_t>(queries), static_cast<std::int64_t>(keys),
                           options_.heads, options_.headDim})) {
    floats += pairs;
  } else if (hasFactor) {
    floats += 2 * pairs + queries * queryRows + 2 * keys * keyRows;
  } else {
    floats += heads * queries;
  }
  return kFloatBytes * floats;
}

BlockCost MultiHeadAttention::cost(double queries, double keys, bool hasFactor) const {
  const double queryRows = static_cast<double>(out->weight.size(1)),
               keyRows = static_cast<double>(options_.keyHeads * options_.headDim);
  BlockCost cost;
  const auto add = [&](const Linear& map, double queryPart, double keyPart) {
    cost.parameters += map.weight.numel() + (map.bias.defined() ? map.bias.numel() : 0);
    const double through = queries * queryPart + keys * keyPart;
    cost.macs += through * static_cast<double>(map.weight.size(1));
    if (map.bias.defined()) cost.flops += through;
  };
  if (all) add(*all, queryRows, 2 * keyRows);
  if (query) add(*query, queryRows, 0);
  if (keyValue) add(*keyValue, 0, 2 * keyRows);
  if (key) add(*key, 0, keyRows);
  if (value) add(*value, 0, keyRows);
  add(*out, static_cast<double>(options_.width), 0);
  const double pairs = static_cast<double>(options_.heads) * queries * keys;
  cost.macs += 2 * queries * keys * queryRows;
  // The queries' scale, the softmax and the scores' own.
  cost.flops += 2 * cost.macs + queries * queryRows + (kSoftmaxCost + 1) * pairs;
  cost.activationBytes = keptBytes(queries, keys, hasFactor);
  cost.kind = "attention:softmax, " + std::to_string(options_.heads) + " heads of " +
              std::to_string(options_.headDim);
  if (options_.keyHeads != options_.heads)
    cost.kind += " over " + std::to_string(options_.keyHeads) + " key heads";
  if (options_.inBias == Bias::None) cost.kind += ", no bias";
  return cost;
}

}  // namespace vitrine::nn
