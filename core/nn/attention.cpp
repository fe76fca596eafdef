#include "core/nn/attention.h"

#include <ATen/ATen.h>

#include <string>

#include "core/base/error.h"
#include "core/kernels/cpu/taken_paths.h"

namespace vitrine::nn {

namespace {

using PackedShape = cpu::AttentionShape;

PackedShape packedShapeOf(const AttentionInput& input) {
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
  return {queries, keys, input.heads, width / input.heads};
}

/// Its kernel reads q, k and v where the projection left them.
bool isPackedShort(const AttentionInput& input, const PackedShape& s) {
  const bool isItsTurn =
      !input.angles.defined() || (input.angles.dim() == 2 && input.angles.size(0) == s.keys &&
                                  2 * input.angles.size(1) == s.headDim);
  return isItsTurn && cpu::canAttend(input.query, s, input.additive, input.multiplicative);
}

at::Tensor attendPackedShort(AttentionInput input) {
  const at::ScalarType type = input.query.scalar_type();
  input.query = input.query.to(at::kFloat);
  if (input.keyValue.defined()) input.keyValue = input.keyValue.to(at::kFloat);
  return cpu::attention(input).to(type);
}

AttentionOutput attendSplit(const AttentionInput& input, const PackedShape& s, AttentionPath path) {
  AttendOptions options{.bias = input.additive, .factor = input.multiplicative};
  options.queryAngles = options.keyAngles = input.angles;
  options.path = path;
  const auto part = [&](const at::Tensor& packed, std::int64_t parts, std::int64_t index) {
    return packed.unflatten(-1, {parts, s.heads, s.headDim}).select(2, index);
  };
  at::Tensor query, key, value;
  if (input.keyValue.defined()) {
    query = input.query.unflatten(-1, {s.heads, s.headDim});
    key = part(input.keyValue, 2, 0);
    value = part(input.keyValue, 2, 1);
    if (input.angles.defined() && s.queries != s.keys)
      options.queryAngles = input.angles.narrow(-2, input.firstQuery, s.queries);
  } else {
    query = part(input.query, 3, 0);
    key = part(input.query, 3, 1);
    value = part(input.query, 3, 2);
  }
  AttentionOutput output = attend(query, key, value, options);
  output.values = output.values.flatten(2);
  return output;
}

}  // namespace

AttentionPath fastestPath(const AttentionInput& input) {
  const PackedShape shape = packedShapeOf(input);
  if (cpu::takesAttention(shape) && isPackedShort(input, shape)) return AttentionPath::Short;
  return input.multiplicative.defined() ? AttentionPath::Explicit : AttentionPath::Fused;
}

AttentionOutput attend(const AttentionInput& input, AttentionPath path) {
  const PackedShape shape = packedShapeOf(input);
  if (path == AttentionPath::Automatic) path = fastestPath(input);
  if (path != AttentionPath::Short) return attendSplit(input, shape, path);
  cpu::recordCall(cpu::CallKind::Attention, true);
  if (!isPackedShort(input, shape)) {
    throw ShapeError("short attention takes " + cpu::attentionLimits() + "; this is " +
                     c10::str(input.query.sizes()));
  }
  return {attendPackedShort(input), {}, {}};
}

}  // namespace vitrine::nn
