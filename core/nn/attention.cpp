#include "core/nn/attention.h"

#include <ATen/ATen.h>

#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/kernels/cpu/kernels.h"
#include "core/nn/rope.h"
#include "core/nn/short_attention.h"

namespace vitrine::nn {

namespace {

struct Shape {
  std::int64_t batch, queries, keys, heads, headDim;
};

Shape shapeOf(const AttentionInput& input) {
  const bool isPacked = !input.keyValue.defined();
  const std::int64_t width = isPacked ? input.query.size(-1) / 3 : input.query.size(-1);
  if (input.query.dim() != 3 || (isPacked && input.query.size(-1) != 3 * width) ||
      input.heads < 1 || width % input.heads != 0) {
    throw ShapeError("queries " + c10::str(input.query.sizes()) + " cannot be split into " +
                     std::to_string(input.heads) +
                     " heads; they must be [batch, tokens, width] with heads dividing width");
  }
  if (!isPacked && (input.keyValue.dim() != 3 || input.keyValue.size(0) != input.query.size(0) ||
                    input.keyValue.size(2) != 2 * width)) {
    throw ShapeError("keys and values " + c10::str(input.keyValue.sizes()) +
                     " do not fit queries " + c10::str(input.query.sizes()) +
                     "; they must be [batch, keys, 2 * width]");
  }
  const std::int64_t queries = input.query.size(1);
  const std::int64_t keys = isPacked ? queries : input.keyValue.size(1);
  if (input.firstQuery < 0 || input.firstQuery + queries > keys) {
    throw ShapeError("queries " + std::to_string(input.firstQuery) + " to " +
                     std::to_string(input.firstQuery + queries) + " are not among " +
                     std::to_string(keys) + " keys");
  }
  return {input.query.size(0), queries, keys, input.heads, width / input.heads};
}

struct Heads {
  at::Tensor query, key, value;  ///< [batch, heads, tokens, headDim]
};

Heads splitHeads(const AttentionInput& input, const Shape& shape) {
  Heads heads;
  if (input.keyValue.defined()) {
    heads.query = input.query.unflatten(-1, {shape.heads, shape.headDim}).transpose(1, 2);
    const at::Tensor both =
        input.keyValue.unflatten(-1, {2, shape.heads, shape.headDim}).permute({2, 0, 3, 1, 4});
    heads.key = both.select(0, 0);
    heads.value = both.select(0, 1);
  } else {
    const at::Tensor all =
        input.query.unflatten(-1, {3, shape.heads, shape.headDim}).permute({2, 0, 3, 1, 4});
    heads.query = all.select(0, 0);
    heads.key = all.select(0, 1);
    heads.value = all.select(0, 2);
  }
  if (input.angles.defined() && shape.queries == shape.keys) {
    const auto turned = applyRope(heads.query, heads.key, input.angles);
    heads.query = turned[0];
    heads.key = turned[1];
  } else if (input.angles.defined()) {
    heads.query = applyRope(heads.query, input.angles.narrow(0, input.firstQuery, shape.queries));
    heads.key = applyRope(heads.key, input.angles);
  }
  return heads;
}

at::Tensor joinHeads(const at::Tensor& values) { return values.transpose(1, 2).flatten(-2); }

AttentionOutput attendExplicitly(const AttentionInput& input, const Shape& shape) {
  const Heads heads = splitHeads(input, shape);
  at::Tensor logits =
      at::matmul(heads.query * (1.0 / std::sqrt(static_cast<double>(shape.headDim))),
                 heads.key.transpose(-2, -1));
  if (input.additive.defined()) logits = logits + input.additive;
  AttentionOutput output;
  output.softmax = at::softmax(logits, -1);
  output.effective = input.multiplicative.defined()
                         ? output.softmax * input.multiplicative.to(output.softmax.scalar_type())
                         : output.softmax;
  output.values =
      joinHeads(at::matmul(output.effective, heads.value.to(output.effective.scalar_type())));
  return output;
}

AttentionOutput attendFused(const AttentionInput& input, const Shape& shape) {
  if (input.multiplicative.defined()) {
    throw ShapeError(
        "fused attention cannot multiply probabilities after the softmax; use the explicit path");
  }
  const Heads heads = splitHeads(input, shape);
  std::optional<at::Tensor> mask;
  if (input.additive.defined()) mask = input.additive.to(heads.query.scalar_type());
  return {joinHeads(at::scaled_dot_product_attention(heads.query, heads.key, heads.value, mask)),
          {},
          {}};
}

/// Half types are widened: the library's half-precision attention is slower still for short
/// sequences.
bool isShortType(at::ScalarType type) {
  return type == at::kFloat || type == at::kBFloat16 || type == at::kHalf;
}

bool isShort(const AttentionInput& input, const Shape& shape) {
  const bool maskFits =
      !input.additive.defined() ||
      (input.additive.numel() == shape.queries * shape.keys && !input.additive.requires_grad());
  return input.query.device().is_cpu() && isShortType(input.query.scalar_type()) &&
         shape.keys <= kShortKeys && shape.headDim <= kShortHeadDim && maskFits;
}

at::Tensor attendShort(AttentionInput input, const Shape& shape) {
  const at::ScalarType type = input.query.scalar_type();
  input.query = input.query.to(at::kFloat);
  if (input.keyValue.defined()) input.keyValue = input.keyValue.to(at::kFloat);
  return shortAttention(input, shape.keys).to(type);
}

}  // namespace

AttentionPath fastestPath(const AttentionInput& input) {
  const Shape shape = shapeOf(input);
  if (cpu::areFasterAt(shape.heads * shape.headDim) && isShort(input, shape))
    return AttentionPath::Short;
  return input.multiplicative.defined() ? AttentionPath::Explicit : AttentionPath::Fused;
}

AttentionOutput attend(const AttentionInput& input, AttentionPath path) {
  const Shape shape = shapeOf(input);
  if (path == AttentionPath::Automatic) path = fastestPath(input);
  switch (path) {
    case AttentionPath::Fused:
      return attendFused(input, shape);
    case AttentionPath::Short:
      if (!isShort(input, shape)) {
        throw ShapeError("short attention takes float32 or half types on the CPU, at most " +
                         std::to_string(kShortKeys) + " keys and " + std::to_string(kShortHeadDim) +
                         " channels a head; this is " + c10::str(input.query.sizes()));
      }
      return {attendShort(input, shape), {}, {}};
    case AttentionPath::Automatic:
    case AttentionPath::Explicit:
      break;
  }
  return attendExplicitly(input, shape);
}

}  // namespace vitrine::nn
