#include "core/nn/attend.h"

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/kernels/cpu/cpu_layers.h"
#include "core/kernels/cpu/taken_paths.h"

namespace vitrine::nn {

namespace {

struct AttendShape {
  std::int64_t batch, queries, keys, heads, keyHeads, headDim, valueDim;
};

void checkBounds(const char* name, const at::Tensor& bounds, const AttendShape& s) {
  if (!bounds.defined()) return;
  const bool isShared = bounds.dim() == 1 && bounds.size(0) == s.queries;
  const bool isOfSample =
      bounds.dim() == 2 && bounds.size(0) == s.batch && bounds.size(1) == s.queries;
  if (!isShared && !isOfSample) {
    throw ShapeError(std::string(name) + " " + c10::str(bounds.sizes()) + " does not fit " +
                     std::to_string(s.queries) +
                     " queries; it must be [queries] or [batch, queries]");
  }
}

void checkMask(const char* name, const at::Tensor& mask, const AttendShape& s) {
  if (!mask.defined() ||
      at::is_expandable_to(mask.sizes(), std::vector{s.batch, s.heads, s.queries, s.keys}))
    return;
  throw ShapeError("an attention " + std::string(name) + " " + c10::str(mask.sizes()) +
                   " cannot be broadcast to [batch, heads, queries, keys] = [" +
                   std::to_string(s.batch) + ", " + std::to_string(s.heads) + ", " +
                   std::to_string(s.queries) + ", " + std::to_string(s.keys) + "]");
}

AttendShape attendShapeOf(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          const AttendOptions& options) {
  const bool fits = query.dim() == 4 && key.dim() == 4 && value.dim() == 4 &&
                    key.size(0) == query.size(0) && value.size(0) == query.size(0) &&
                    key.size(1) == value.size(1) && key.size(2) == value.size(2) &&
                    key.size(3) == query.size(3);
  if (!fits) {
    throw ShapeError("queries " + c10::str(query.sizes()) + ", keys " + c10::str(key.sizes()) +
                     " and values " + c10::str(value.sizes()) +
                     " do not fit together; they are [batch, tokens, heads, channels], keys and "
                     "values of the same tokens");
  }
  const AttendShape s{query.size(0), query.size(1), key.size(1),  query.size(2),
                      key.size(2),   query.size(3), value.size(3)};
  if (s.keyHeads < 1 || s.heads % s.keyHeads != 0) {
    throw ShapeError(std::to_string(s.keyHeads) + " key heads cannot serve " +
                     std::to_string(s.heads) + " query heads; they must divide them");
  }
  if (options.isCausal && s.queries > s.keys) {
    throw ShapeError("causal queries are the last keys, and " + std::to_string(s.queries) +
                     " queries are more than " + std::to_string(s.keys) + " keys");
  }
  checkMask("bias", options.bias, s);
  checkMask("factor", options.factor, s);
  checkBounds("firstAllowedKey", options.firstAllowedKey, s);
  checkBounds("lastAllowedKey", options.lastAllowedKey, s);
  return s;
}

/// Which keys a query may see.
struct Sight {
  at::Tensor allowed;  ///< bool [queries, keys] or [batch, 1, queries, keys]; undefined: all
  at::Tensor isBlind;  ///< bool, of the same axes with one key: a query that sees none; it is let
                       ///< see all, and its output is cleared. Undefined where there cannot be one
};

Sight sightOf(const AttendOptions& options, const AttendShape& s, at::Device device) {
  Sight sight;
  const auto integers = at::TensorOptions(at::kLong).device(device);
  const at::Tensor place = at::arange(s.keys, integers);
  const auto allow = [&](const at::Tensor& bounds, bool isLast) {
    at::Tensor edge = bounds.to(device).unsqueeze(-1);
    if (edge.dim() == 3) edge = edge.unsqueeze(1);
    const at::Tensor seen = isLast ? place.le(edge) : place.ge(edge);
    sight.allowed = sight.allowed.defined() ? sight.allowed.logical_and(seen) : seen;
  };
  // The last key's query sees all.
  if (options.isCausal && s.queries > 1)
    allow(at::arange(s.keys - s.queries, s.keys, integers), true);
  if (options.firstAllowedKey.defined()) allow(options.firstAllowedKey, false);
  if (options.lastAllowedKey.defined()) allow(options.lastAllowedKey, true);
  if (options.firstAllowedKey.defined() || options.lastAllowedKey.defined()) {
    sight.isBlind = sight.allowed.any(-1, true).logical_not();
    sight.allowed = sight.allowed.logical_or(sight.isBlind);
  }
  return sight;
}

/// The sum of bias and mask that is added to the logits.
at::Tensor additiveOf(const at::Tensor& bias, const at::Tensor& allowed, at::ScalarType type) {
  if (!allowed.defined()) return bias.defined() ? bias.to(type) : bias;
  const auto options = at::TensorOptions(type).device(allowed.device());
  const at::Tensor open = bias.defined() ? bias.to(type) : at::zeros({}, options);
  return at::where(allowed, open, at::full({}, -std::numeric_limits<double>::infinity(), options));
}

/// Queries, keys and values, [batch, heads, tokens, channels], turned.
struct Heads {
  at::Tensor query, key, value;
};

Heads headsOf(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
              const AttendOptions& options) {
  Heads heads{query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2)};
  const bool isOneTable =
      options.queryAngles.defined() && options.queryAngles.is_same(options.keyAngles);
  if (isOneTable && heads.query.sizes() == heads.key.sizes()) {
    const auto turned = applyRope(heads.query, heads.key, options.queryAngles, options.pairs);
    heads.query = turned[0];
    heads.key = turned[1];
    return heads;
  }
  if (options.queryAngles.defined())
    heads.query = applyRope(heads.query, options.queryAngles, options.pairs);
  if (options.keyAngles.defined())
    heads.key = applyRope(heads.key, options.keyAngles, options.pairs);
  return heads;
}

at::Tensor repeated(const at::Tensor& heads, const AttendShape& s) {
  return s.heads == s.keyHeads ? heads : heads.repeat_interleave(s.heads / s.keyHeads, 1);
}

double scaleOf(const AttendOptions& options, const AttendShape& s) {
  return options.scale.value_or(1.0 / std::sqrt(static_cast<double>(s.headDim)));
}

AttentionOutput attendExplicitly(const Heads& heads, const AttendOptions& options,
                                 const AttendShape& s, const Sight& sight) {
  at::Tensor logits =
      at::matmul(heads.query * scaleOf(options, s), repeated(heads.key, s).transpose(-2, -1));
  if (options.bias.defined()) logits = logits + options.bias;
  if (sight.allowed.defined()) {
    logits =
        logits.masked_fill(sight.allowed.logical_not(), -std::numeric_limits<double>::infinity());
  }
  AttentionOutput output{.softmax = at::softmax(logits, -1)};
  if (sight.isBlind.defined()) output.softmax = output.softmax.masked_fill(sight.isBlind, 0);
  output.effective = options.factor.defined()
                         ? output.softmax * options.factor.to(output.softmax.scalar_type())
                         : output.softmax;
  output.values =
      at::matmul(output.effective, repeated(heads.value, s).to(output.effective.scalar_type()));
  return output;
}

at::Tensor attendFused(const Heads& heads, const AttendOptions& options, const AttendShape& s,
                       const Sight& sight) {
  if (options.factor.defined()) {
    throw ShapeError(
        "fused attention cannot multiply probabilities after the softmax; use the explicit path");
  }
  const bool isPlainCausal = options.isCausal && s.queries == s.keys && !options.bias.defined() &&
                             !sight.isBlind.defined();
  std::optional<at::Tensor> mask;
  if (isPlainCausal) {
    // The library knows this one, and skips hidden keys.
  } else if (options.bias.defined()) {
    mask = additiveOf(options.bias, sight.allowed, heads.query.scalar_type());
  } else if (sight.allowed.defined()) {
    mask = sight.allowed;
  }
  if (!mask && cpu::takesOneQuery(heads.query, heads.key, heads.value))
    return cpu::attendOneQuery(heads.query, heads.key, heads.value, scaleOf(options, s));
  if (s.queries == 1 && s.heads != s.keyHeads && !mask) {
    // One query: those that share a key head are as many queries of it, and no key is copied.
    const at::Tensor shared = heads.query.reshape({s.batch, s.keyHeads, -1, s.headDim});
    return at::scaled_dot_product_attention(shared, heads.key, heads.value, {}, 0, false,
                                            options.scale)
        .reshape({s.batch, s.heads, 1, s.valueDim});
  }
  const at::Tensor values = at::scaled_dot_product_attention(heads.query, heads.key, heads.value,
                                                             mask, 0, isPlainCausal, options.scale,
                                                             /*enable_gqa=*/s.heads != s.keyHeads);
  return sight.isBlind.defined() ? values.masked_fill(sight.isBlind, 0) : values;
}

cpu::AttentionShape shortShape(const AttendShape& s) {
  return {s.queries, s.keys, s.heads, s.headDim};
}

bool isShortAttend(const at::Tensor& query, const AttendOptions& options, const AttendShape& s) {
  const bool isOfSample =
      (options.firstAllowedKey.defined() && options.firstAllowedKey.dim() == 2) ||
      (options.lastAllowedKey.defined() && options.lastAllowedKey.dim() == 2);
  return !isOfSample && !options.scale && s.headDim == s.valueDim &&
         cpu::canAttend(query, shortShape(s), options.bias, options.factor);
}

at::Tensor attendShort(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                       const AttendOptions& options, const AttendShape& s, const Sight& sight) {
  cpu::PackedAttention input{.heads = s.heads};
  // Its kernel turns whole heads of one table for every sample; anything else is turned before.
  const bool isItsTurn = options.queryAngles.defined() &&
                         options.queryAngles.is_same(options.keyAngles) &&
                         options.pairs == RopePairs::Interleaved && s.queries == s.keys &&
                         options.queryAngles.dim() == 2 && options.queryAngles.size(0) == s.keys &&
                         2 * options.queryAngles.size(1) == s.headDim;
  AttendOptions turns = options;
  if (isItsTurn) {
    input.angles = options.queryAngles;
    turns.queryAngles = turns.keyAngles = at::Tensor();
  }
  const Heads heads = headsOf(query, key, value, turns);
  const auto rows = [](const at::Tensor& x) { return x.transpose(1, 2).flatten(2).to(at::kFloat); };
  input.query = rows(heads.query);
  input.keyValue = at::cat({rows(repeated(heads.key, s)), rows(repeated(heads.value, s))}, -1);
  input.additive = options.bias;
  if (sight.allowed.defined()) {
    const bool isOfAll = options.bias.defined() && options.bias.numel() == s.queries * s.keys;
    const at::Tensor bias = isOfAll ? options.bias.reshape({s.queries, s.keys}) : options.bias;
    input.additive = additiveOf(bias, sight.allowed, at::kFloat);
  }
  input.multiplicative = options.factor;
  const at::Tensor values =
      cpu::attention(input).to(query.scalar_type()).unflatten(-1, {s.heads, s.valueDim});
  return sight.isBlind.defined() ? values.masked_fill(sight.isBlind.unsqueeze(-1), 0) : values;
}

AttentionPath pathOf(const at::Tensor& query, const AttendOptions& options, const AttendShape& s) {
  if (options.path != AttentionPath::Automatic) return options.path;
  // Its kernel puts keys and values side by side first: for one query that is most of the work.
  const bool isOneQuery = s.queries == 1 && !options.factor.defined();
  if (!isOneQuery && cpu::takesAttention(shortShape(s)) && isShortAttend(query, options, s))
    return AttentionPath::Short;
  return options.factor.defined() ? AttentionPath::Explicit : AttentionPath::Fused;
}

}  // namespace

AttentionOutput attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                       const AttendOptions& options) {
  const AttendShape s = attendShapeOf(query, key, value, options);
  const Sight sight = sightOf(options, s, query.device());
  const AttentionPath path = pathOf(query, options, s);
  if (query.is_cpu()) cpu::recordCall(cpu::CallKind::Attention, path == AttentionPath::Short);
  AttentionOutput output;
  if (path == AttentionPath::Short) {
    if (!isShortAttend(query, options, s)) {
      throw ShapeError("short attention takes " + cpu::attentionLimits() + "; this is " +
                       c10::str(query.sizes()) + " over " + c10::str(key.sizes()));
    }
    output.values = attendShort(query, key, value, options, s, sight);
    return output;
  }
  const Heads heads = headsOf(query, key, value, options);
  if (path == AttentionPath::Fused) {
    output.values = attendFused(heads, options, s, sight);
  } else {
    output = attendExplicitly(heads, options, s, sight);
  }
  output.values = output.values.transpose(1, 2);
  return output;
}

}  // namespace vitrine::nn
