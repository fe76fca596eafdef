// Row-wise pieces of a block in one pass over memory each way: sum with norm, GELU, the gate of
// SwiGLU.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "core/kernels/cpu/cpu_layers.h"
#include "core/kernels/cpu/first_derivative.h"
#include "core/kernels/cpu/kernels.h"
#include "core/kernels/cpu/path_rule.h"

namespace vitrine::cpu {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Elements that one task takes: enough to be worth waking a thread.
constexpr std::int64_t kGrain = 16384;
/// Row gradients are summed in this many fixed shares, so the result does not depend on the number
/// of threads.
constexpr std::int64_t kShares = 16;

/// What a norm keeps of each row.
struct RowStatistics {
  explicit RowStatistics(const at::Tensor& x)
      : means(at::empty({x.numel() / x.size(-1)}, x.options())), scales(at::empty_like(means)) {}
  at::Tensor means, scales;
};

/// \param branch  added first, into `sum`; or undefined
void normaliseRows(NormKind kind, double eps, const at::Tensor& x, const at::Tensor& branch,
                   const at::Tensor& weight, const at::Tensor& bias, const at::Tensor& sum,
                   const at::Tensor& out, const RowStatistics& statistics) {
  const auto from = [](const at::Tensor& tensor, std::int64_t first) {
    return tensor.defined() ? tensor.const_data_ptr<float>() + first : nullptr;
  };
  const std::int64_t width = x.size(-1);
  at::parallel_for(0, x.numel() / width, std::max<std::int64_t>(1, kGrain / width),
                   [&](std::int64_t begin, std::int64_t end) {
                     const std::int64_t first = begin * width;
                     kernels().normRows(
                         kind == NormKind::Rms, static_cast<float>(eps), end - begin, width,
                         {from(x, first), from(branch, first), from(weight, 0), from(bias, 0),
                          branch.defined() ? sum.data_ptr<float>() + first : nullptr,
                          out.data_ptr<float>() + first, statistics.means.data_ptr<float>() + begin,
                          statistics.scales.data_ptr<float>() + begin});
                   });
}

/// Gradients of a norm's input, weight and bias.
/// \param through  what reaches the input past the norm; or undefined
std::array<at::Tensor, 3> normGradients(NormKind kind, const variable_list& saved,
                                        const at::Tensor& through, const at::Tensor& outSlope) {
  const at::Tensor &sum = saved[0], &weight = saved[1], &means = saved[2], &scales = saved[3];
  const at::Tensor outGradient = outSlope.contiguous();
  const std::int64_t width = sum.size(-1), rows = sum.numel() / width;
  const at::Tensor gradient = at::empty_like(sum);
  const at::Tensor shares = at::zeros({2, kShares, width}, sum.options());
  at::parallel_for(0, kShares, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t share = first; share < last; ++share) {
      float* weights = shares.data_ptr<float>() + share * width;
      const std::int64_t row = share * rows / kShares, at = row * width;
      kernels().normRowsBackward(
          kind == NormKind::Rms, (share + 1) * rows / kShares - row, width,
          {sum.const_data_ptr<float>() + at, weight.const_data_ptr<float>(),
           means.const_data_ptr<float>() + row, scales.const_data_ptr<float>() + row,
           through.defined() ? through.const_data_ptr<float>() + at : nullptr,
           outGradient.const_data_ptr<float>() + at, gradient.data_ptr<float>() + at, weights,
           weights + kShares * width});
    }
  });
  const at::Tensor sums = shares.sum(1);
  return {gradient, sums[0], kind == NormKind::Rms ? at::Tensor() : sums[1]};
}

class AddNorm : public torch::autograd::Function<AddNorm> {
 public:
  static variable_list forward(AutogradContext* context, const at::Tensor& xIn,
                               const at::Tensor& branchIn, const at::Tensor& weight,
                               const std::optional<at::Tensor>& bias, NormKind kind, double eps) {
    const at::Tensor x = xIn.contiguous();
    const at::Tensor sum = at::empty_like(x), out = at::empty_like(x);
    const RowStatistics statistics(x);
    normaliseRows(kind, eps, x, branchIn.contiguous(), weight, bias.value_or(at::Tensor()), sum,
                  out, statistics);
    context->save_for_backward({sum, weight, statistics.means, statistics.scales});
    context->saved_data["rms"] = kind == NormKind::Rms;
    context->set_materialize_grads(false);
    return {sum, out};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    kernels::refuseSecondDerivative("a fused norm");
    const NormKind kind = context->saved_data["rms"].toBool() ? NormKind::Rms : NormKind::Layer;
    const at::Tensor through = gradients[0].defined() ? gradients[0].contiguous() : at::Tensor();
    if (!gradients[1].defined()) return {through, through, {}, {}, {}, {}};
    const auto [x, weight, bias] =
        normGradients(kind, context->get_saved_variables(), through, gradients[1]);
    return {x, x, weight, bias, {}, {}};
  }
};

class RmsNorm : public torch::autograd::Function<RmsNorm> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& xIn,
                            const at::Tensor& weight, double eps) {
    const at::Tensor x = xIn.contiguous(), out = at::empty_like(x);
    const RowStatistics statistics(x);
    normaliseRows(NormKind::Rms, eps, x, {}, weight, {}, {}, out, statistics);
    context->save_for_backward({x, weight, statistics.means, statistics.scales});
    return out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    kernels::refuseSecondDerivative("a fused norm");
    const auto [x, weight, bias] =
        normGradients(NormKind::Rms, context->get_saved_variables(), {}, gradients[0]);
    return {x, weight, {}};
  }
};

class FusedGelu : public torch::autograd::Function<FusedGelu> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& xIn, Gelu form) {
    const at::Tensor x = xIn.contiguous(), out = at::empty_like(x), slopes = at::empty_like(x);
    at::parallel_for(0, x.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      (form == Gelu::Tanh ? kernels().geluTanh : kernels().geluErf)(
          end - begin, x.const_data_ptr<float>() + begin, out.data_ptr<float>() + begin,
          slopes.data_ptr<float>() + begin);
    });
    context->save_for_backward({slopes});
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    kernels::refuseSecondDerivative("a fused GELU");
    const at::Tensor slopes = context->get_saved_variables()[0],
                     gradient = gradients[0].contiguous();
    const at::Tensor out = at::empty_like(slopes);
    at::parallel_for(0, out.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      kernels().multiplyRows(end - begin, gradient.const_data_ptr<float>() + begin,
                             slopes.const_data_ptr<float>() + begin, out.data_ptr<float>() + begin);
    });
    return {out, {}};
  }
};

class FusedSwiGlu : public torch::autograd::Function<FusedSwiGlu> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& gateIn,
                            const at::Tensor& upIn) {
    const at::Tensor gate = gateIn.contiguous(), up = upIn.contiguous(), out = at::empty_like(gate);
    at::parallel_for(0, out.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      kernels().swiGlu(end - begin, gate.const_data_ptr<float>() + begin,
                       up.const_data_ptr<float>() + begin, out.data_ptr<float>() + begin);
    });
    context->save_for_backward({gate, up});
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    kernels::refuseSecondDerivative("a fused SwiGLU");
    const auto saved = context->get_saved_variables();
    const at::Tensor gradient = gradients[0].contiguous();
    const at::Tensor gateGradient = at::empty_like(saved[0]), upGradient = at::empty_like(saved[1]);
    at::parallel_for(0, gradient.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      kernels().swiGluBackward(
          end - begin, saved[0].const_data_ptr<float>() + begin,
          saved[1].const_data_ptr<float>() + begin, gradient.const_data_ptr<float>() + begin,
          gateGradient.data_ptr<float>() + begin, upGradient.data_ptr<float>() + begin);
    });
    return {gateGradient, upGradient};
  }
};

/// Float32 on the CPU, of one shape.
bool areFloatRows(const at::Tensor& a, const at::Tensor& b) {
  const auto isPlain = [](const at::Tensor& t) {
    return t.device().is_cpu() && t.scalar_type() == at::kFloat;
  };
  return hasOwnLoops() && isPlain(a) && isPlain(b) && a.sizes() == b.sizes() && a.numel() > 0;
}

}  // namespace

bool takesAddAndNormalise(const at::Tensor& x, const at::Tensor& branch, const at::Tensor& weight) {
  return branch.defined() && areFloatRows(x, branch) && weight.scalar_type() == at::kFloat &&
         x.size(-1) == weight.size(0);
}

std::pair<at::Tensor, at::Tensor> addAndNormalise(NormKind kind, const at::Tensor& x,
                                                  const at::Tensor& branch,
                                                  const at::Tensor& weight, const at::Tensor& bias,
                                                  double eps) {
  std::optional<at::Tensor> offset;
  if (bias.defined()) offset = bias;
  const variable_list both = AddNorm::apply(x, branch, weight, offset, kind, eps);
  return {both[0], both[1]};
}

bool takesRmsNorm(const at::Tensor& x, const at::Tensor& weight) {
  return weight.defined() && takesAddAndNormalise(x, x, weight);
}
at::Tensor rmsNorm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  return RmsNorm::apply(x, weight, eps);
}

bool takesGelu(const at::Tensor& x) { return areFloatRows(x, x) && x.requires_grad(); }
at::Tensor gelu(const at::Tensor& x, Gelu form) { return FusedGelu::apply(x, form); }

bool takesSwiGlu(const at::Tensor& gate, const at::Tensor& up) { return areFloatRows(gate, up); }
at::Tensor swiGlu(const at::Tensor& gate, const at::Tensor& up) {
  return FusedSwiGlu::apply(gate, up);
}

}  // namespace vitrine::cpu
