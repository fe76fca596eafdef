#include "core/kernels/block_linear.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/kernels/cpu/first_derivative.h"
#include "core/kernels/cpu/kernels.h"
#include "core/kernels/cpu/path_rule.h"

namespace vitrine::kernels {

namespace {

constexpr std::int64_t kGroup = 4;
/// Rows that a thread takes at once: a fixed share, so that sums do not depend on their number.
constexpr std::int64_t kShare = 512;

/// [groups, out, in] as a wheel [4, width]: of channel c, what it takes of channel c ^ d.
at::Tensor wheelOf(const at::Tensor& weight) {
  const at::Tensor from = weight.contiguous();
  const std::int64_t groups = from.size(0), width = groups * kGroup;
  at::Tensor wheel = at::empty({kGroup, width}, from.options());
  const float* w = from.const_data_ptr<float>();
  float* to = wheel.mutable_data_ptr<float>();
  for (std::int64_t d = 0; d < kGroup; ++d) {
    for (std::int64_t c = 0; c < width; ++c)
      to[d * width + c] = w[(c / kGroup * kGroup + c % kGroup) * kGroup + (c % kGroup ^ d)];
  }
  return wheel;
}

at::Tensor weightOf(const at::Tensor& wheel) {
  const std::int64_t width = wheel.size(1);
  at::Tensor weight = at::empty({width / kGroup, kGroup, kGroup}, wheel.options());
  const float* from = wheel.const_data_ptr<float>();
  float* w = weight.mutable_data_ptr<float>();
  for (std::int64_t d = 0; d < kGroup; ++d) {
    for (std::int64_t c = 0; c < width; ++c) w[c * kGroup + (c % kGroup ^ d)] = from[d * width + c];
  }
  return weight;
}

/// The rows of x where they are, if they are evenly apart; else a dense copy.
at::Tensor evenRows(const at::Tensor& x) {
  if (x.stride(-1) != 1) return x.contiguous();
  for (std::int64_t axis = x.dim() - 2; axis > 0; --axis) {
    if (x.stride(axis - 1) != x.stride(axis) * x.size(axis)) return x.contiguous();
  }
  return x;
}

cpu::GroupRows groupRows(const at::Tensor& even, std::int64_t first, std::int64_t count) {
  const std::int64_t stride = even.dim() > 1 ? even.stride(-2) : even.size(-1);
  return {count, even.size(-1), even.const_data_ptr<float>() + first * stride, stride};
}

/// Calls body(share, first row, rows) for all shares.
template <class Body>
void forEachShare(std::int64_t rows, const Body& body) {
  at::parallel_for(0, (rows + kShare - 1) / kShare, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      body(i, i * kShare, std::min(kShare, rows - i * kShare));
  });
}

at::Tensor mixed(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  const at::Tensor even = evenRows(x), wheel = wheelOf(weight);
  const at::Tensor offsets = bias.defined() ? bias.contiguous() : at::Tensor();
  const std::int64_t width = x.size(-1);
  at::Tensor out = at::empty(x.sizes(), x.options());
  float* to = out.mutable_data_ptr<float>();
  const float* with = wheel.const_data_ptr<float>();
  const float* from = offsets.defined() ? offsets.const_data_ptr<float>() : nullptr;
  forEachShare(x.numel() / width, [&](std::int64_t, std::int64_t first, std::int64_t count) {
    cpu::kernels().mixGroups(groupRows(even, first, count), with, from, to + first * width);
  });
  return out;
}

class GroupsOfFour : public torch::autograd::Function<GroupsOfFour> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
    context->save_for_backward({x, weight});
    context->saved_data["has_bias"] = bias.has_value();
    return mixed(x, weight, bias.value_or(at::Tensor()));
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    refuseSecondDerivative("a block-diagonal map");
    const auto saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const at::Tensor gradient = gradients[0].contiguous();
    torch::autograd::variable_list out(3);
    if (context->needs_input_grad(0)) out[0] = mixed(gradient, weight.transpose(1, 2), {});
    const bool trainsBias =
        context->saved_data["has_bias"].toBool() && context->needs_input_grad(2);
    if (!context->needs_input_grad(1) && !trainsBias) return out;
    const at::Tensor even = evenRows(x);
    const std::int64_t width = x.size(-1), rows = x.numel() / width,
                       shares = (rows + kShare - 1) / kShare;
    const at::Tensor sums = at::empty({shares, kGroup + 1, width}, x.options());
    const float* slope = gradient.const_data_ptr<float>();
    float* to = sums.mutable_data_ptr<float>();
    forEachShare(rows, [&](std::int64_t share, std::int64_t first, std::int64_t count) {
      float* own = to + share * (kGroup + 1) * width;
      cpu::kernels().mixGroupsBackward(groupRows(even, first, count), slope + first * width, own,
                                       own + kGroup * width);
    });
    const at::Tensor total = sums.sum(0);
    out[1] = weightOf(total.narrow(0, 0, kGroup).contiguous());
    if (trainsBias) out[2] = total.select(0, kGroup).clone();
    return out;
  }
};

at::Tensor byProducts(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  const std::int64_t groups = weight.size(0), each = weight.size(1);
  const at::Tensor rows = x.reshape({-1, groups, each}).transpose(0, 1);
  const at::Tensor out = at::bmm(rows, weight.transpose(1, 2)).transpose(0, 1).reshape(x.sizes());
  return bias.defined() ? out + bias : out;
}

}  // namespace

at::Tensor blockLinear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  if (weight.dim() != 3 || x.dim() < 1 || x.size(-1) != weight.size(0) * weight.size(1)) {
    throw ShapeError("a block-diagonal map of weights " + c10::str(weight.sizes()) +
                     " cannot take " + c10::str(x.sizes()) +
                     "; the last axis is groups times their channels");
  }
  const bool isTaken = x.is_cpu() && x.scalar_type() == at::kFloat &&
                       weight.scalar_type() == at::kFloat && weight.size(1) == kGroup &&
                       weight.size(2) == kGroup && x.numel() > 0 && cpu::hasOwnLoops();
  if (!isTaken) return byProducts(x, weight, bias);
  return GroupsOfFour::apply(x, weight, bias.defined() ? std::optional(bias) : std::nullopt);
}

}  // namespace vitrine::kernels
