// Attention of short sequences: one pass per image and head, straight from the packed projections,
// RoPE and masks included. A library's batched products spend most of such a call on packing and
// copies.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <optional>

#include "core/kernels/cpu/attention_head.h"
#include "core/kernels/cpu/cpu_layers.h"
#include "core/kernels/cpu/first_derivative.h"
#include "core/kernels/cpu/path_rule.h"

namespace vitrine::cpu {

namespace {

const float* pointer(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<float>() : nullptr;
}

/// The constants of a call, made contiguous; kept alive by the autograd node. The additive mask is
/// [queries, keys], or [heads, queries, keys].
struct HeadConstants {
  at::Tensor cosine, sine, additive, multiplicative;
};

bool isOfHeads(const at::Tensor& additive) { return additive.defined() && additive.dim() == 3; }

struct Problem : HeadShape {
  std::int64_t batch = 0, heads = 0;
  std::int64_t maskStep = 0;  ///< from one head's additive mask to the next one's; 0: one for all

  /// Of one head of one image, with its mask.
  [[nodiscard]] HeadShape shapeOf(std::int64_t unit) const {
    HeadShape shape = static_cast<const HeadShape&>(*this);
    if (maskStep > 0) shape.additive += unit % heads * maskStep;
    return shape;
  }
};

Problem problemOf(const at::Tensor& query, const at::Tensor& keyValue, std::int64_t heads,
                  std::int64_t firstQuery, const HeadConstants& constants) {
  Problem p;
  const bool isPacked = !keyValue.defined();
  const std::int64_t width = isPacked ? query.size(2) / 3 : query.size(2);
  p.batch = query.size(0);
  p.heads = heads;
  p.queries = query.size(1);
  p.keys = isPacked ? p.queries : keyValue.size(1);
  p.headDim = width / heads;
  p.queryStride = query.size(2);
  p.keyStride = isPacked ? query.size(2) : keyValue.size(2);
  p.outStride = width;
  p.firstQuery = firstQuery;
  p.scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(p.headDim)));
  p.cosine = pointer(constants.cosine);
  p.sine = pointer(constants.sine);
  p.additive = pointer(constants.additive);
  if (isOfHeads(constants.additive)) p.maskStep = p.queries * p.keys;
  p.multiplicative = pointer(constants.multiplicative);
  return p;
}

/// Where head h of image b begins.
struct Offsets {
  Offsets(const Problem& p, std::int64_t unit, bool isPacked) {
    const std::int64_t b = unit / p.heads, h = unit % p.heads, width = p.heads * p.headDim;
    query = b * p.queries * p.queryStride + h * p.headDim;
    key = b * p.keys * p.keyStride + h * p.headDim + (isPacked ? width : 0);
    value = key + width;
    out = b * p.queries * p.outStride + h * p.headDim;
    probabilities = unit * p.queries * p.keys;
  }
  std::int64_t query, key, value, out, probabilities;
};

/// Heads are handed out in fixed shares, so results do not depend on which thread takes which.
constexpr std::int64_t kHeadsAtOnce = 8;

class ShortAttention : public torch::autograd::Function<ShortAttention> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& queryIn,
                            const std::optional<at::Tensor>& keyValueIn,
                            const std::optional<at::Tensor>& /*trainedMask*/,
                            const HeadConstants& constants, std::int64_t heads,
                            std::int64_t firstQuery) {
    const at::Tensor query = queryIn.contiguous();
    const at::Tensor keyValue = keyValueIn ? keyValueIn->contiguous() : at::Tensor();
    const Problem p = problemOf(query, keyValue, heads, firstQuery, constants);
    const bool isPacked = !keyValue.defined();
    const at::Tensor out = at::empty({p.batch, p.queries, p.heads * p.headDim}, query.options());
    const at::Tensor probabilities =
        at::empty({p.batch, p.heads, p.queries, p.keys}, query.options());
    const float* q = query.data_ptr<float>();
    const float* kv = isPacked ? q : keyValue.data_ptr<float>();
    at::parallel_for(0, p.batch * p.heads, kHeadsAtOnce, [&](std::int64_t begin, std::int64_t end) {
      HeadScratch scratch(p);
      for (std::int64_t unit = begin; unit < end; ++unit) {
        const Offsets at(p, unit, isPacked);
        forwardHead(p.shapeOf(unit), q + at.query, kv + at.key, kv + at.value,
                    out.data_ptr<float>() + at.out,
                    probabilities.data_ptr<float>() + at.probabilities, scratch);
      }
    });
    context->save_for_backward({query, keyValue, constants.cosine, constants.sine,
                                constants.additive, constants.multiplicative, probabilities});
    context->saved_data["heads"] = heads;
    context->saved_data["first_query"] = firstQuery;
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list outGradients) {
    kernels::refuseSecondDerivative("short attention");
    const auto saved = context->get_saved_variables();
    const at::Tensor &query = saved[0], &keyValue = saved[1], &probabilities = saved[6];
    const Problem p = problemOf(query, keyValue, context->saved_data["heads"].toInt(),
                                context->saved_data["first_query"].toInt(),
                                HeadConstants{saved[2], saved[3], saved[4], saved[5]});
    const bool isPacked = !keyValue.defined();
    const at::Tensor outGradient = outGradients[0].to(at::kFloat).contiguous();
    const at::Tensor queryGradient = at::empty_like(query);
    const at::Tensor keyValueGradient = isPacked ? at::Tensor() : at::empty_like(keyValue);
    const float* q = query.data_ptr<float>();
    const float* kv = isPacked ? q : keyValue.data_ptr<float>();
    float* dq = queryGradient.data_ptr<float>();
    float* dkv = isPacked ? dq : keyValueGradient.data_ptr<float>();
    // Edges are those of the tensors that there are.
    const bool trainsMask = isOfHeads(saved[4]) && context->needs_input_grad(isPacked ? 1U : 2U);
    const at::Tensor maskSlopes = trainsMask ? at::empty_like(probabilities) : at::Tensor();
    float* dMask = trainsMask ? maskSlopes.data_ptr<float>() : nullptr;
    at::parallel_for(0, p.batch * p.heads, kHeadsAtOnce, [&](std::int64_t begin, std::int64_t end) {
      HeadScratch scratch(p);
      for (std::int64_t unit = begin; unit < end; ++unit) {
        const Offsets at(p, unit, isPacked);
        backwardHead(p.shapeOf(unit), q + at.query, kv + at.key, kv + at.value,
                     outGradient.data_ptr<float>() + at.out,
                     probabilities.data_ptr<float>() + at.probabilities,
                     {dq + at.query, dkv + at.key, dkv + at.value,
                      trainsMask ? dMask + at.probabilities : nullptr},
                     scratch);
      }
    });
    const at::Tensor maskGradient = trainsMask ? maskSlopes.sum(0) : at::Tensor();
    return {queryGradient, keyValueGradient, maskGradient, {}, {}, {}};
  }
};

at::Tensor plainRows(const at::Tensor& mask, std::int64_t queries, std::int64_t keys) {
  return mask.defined() ? mask.detach().to(at::kFloat).reshape({queries, keys}).contiguous()
                        : at::Tensor();
}

}  // namespace

at::Tensor attention(const PackedAttention& input) {
  const std::int64_t queries = input.query.size(1);
  const std::int64_t keys = input.keyValue.defined() ? input.keyValue.size(1) : queries;
  HeadConstants constants;
  if (input.angles.defined()) {
    constants.cosine = input.angles.cos().contiguous();
    constants.sine = input.angles.sin().contiguous();
  }
  std::optional<at::Tensor> ofHeads;
  if (isSharedMask(input.additive, queries, keys)) {
    constants.additive = plainRows(input.additive, queries, keys);
  } else {
    ofHeads = input.additive.to(at::kFloat).reshape({input.heads, queries, keys}).contiguous();
    constants.additive = ofHeads->detach();
  }
  constants.multiplicative = plainRows(input.multiplicative, queries, keys);
  std::optional<at::Tensor> keyValue;
  if (input.keyValue.defined()) keyValue = input.keyValue;
  return ShortAttention::apply(input.query, keyValue, ofHeads, constants, input.heads,
                               input.firstQuery);
}

}  // namespace vitrine::cpu
