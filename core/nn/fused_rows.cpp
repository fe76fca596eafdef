#include "core/nn/fused_rows.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/nn/fast_exp.h"
#include "core/nn/vector_clones.h"

namespace vitrine::nn {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Elements that one task takes: enough to be worth waking a thread.
constexpr std::int64_t kGrain = 16384;
/// Row gradients are summed in this many fixed shares, so the result does not depend on the number
/// of threads.
constexpr std::int64_t kShares = 16;

inline float sumOf(const float* lanes) {
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += lanes[i];
  return sum;
}

/// Rows [begin, end): sum = x + branch, its statistics, and the norm. `isRms`: the mean is zero.
VITRINE_VECTOR_CLONES
void normRows(std::int64_t begin, std::int64_t end, std::int64_t width, bool isRms, float eps,
              const float* x, const float* branch, const float* weight, const float* bias,
              float* sum, float* out, float* means, float* scales) {
  const std::int64_t whole = width / 16 * 16;
  const float inverse = 1 / static_cast<float>(width);
  for (std::int64_t r = begin; r < end; ++r) {
    const float *a = x + r * width, *b = branch + r * width;
    float *s = sum + r * width, *y = out + r * width;
    float lanes[16] = {};
    for (std::int64_t c = 0; c < whole; c += 16) {
      for (int i = 0; i < 16; ++i) {
        s[c + i] = a[c + i] + b[c + i];
        lanes[i] += s[c + i];
      }
    }
    float total = sumOf(lanes);
    for (std::int64_t c = whole; c < width; ++c) total += s[c] = a[c] + b[c];
    const float mean = isRms ? 0 : total * inverse;
    float squares[16] = {};
    for (std::int64_t c = 0; c < whole; c += 16) {
      for (int i = 0; i < 16; ++i) {
        const float d = s[c + i] - mean;
        squares[i] += d * d;
      }
    }
    float square = sumOf(squares);
    for (std::int64_t c = whole; c < width; ++c) square += (s[c] - mean) * (s[c] - mean);
    const float scale = 1 / std::sqrt(square * inverse + eps);
    if (isRms) {
      for (std::int64_t c = 0; c < width; ++c) y[c] = s[c] * scale * weight[c];
    } else {
      for (std::int64_t c = 0; c < width; ++c) y[c] = (s[c] - mean) * scale * weight[c] + bias[c];
    }
    means[r] = mean;
    scales[r] = scale;
  }
}

/// Rows [begin, end): gradient of the sum, and this share of the gradients of weight and bias
/// (added to).
VITRINE_VECTOR_CLONES
void normRowsBackward(std::int64_t begin, std::int64_t end, std::int64_t width, bool isRms,
                      const float* sum, const float* weight, const float* means,
                      const float* scales, const float* sumGradient, const float* outGradient,
                      float* gradient, float* weightGradient, float* biasGradient) {
  const std::int64_t whole = width / 16 * 16;
  const float inverse = 1 / static_cast<float>(width);
  for (std::int64_t r = begin; r < end; ++r) {
    const float *s = sum + r * width, *g = outGradient + r * width;
    float* d = gradient + r * width;
    const float mean = means[r], scale = scales[r];
    float plain[16] = {}, along[16] = {};
    for (std::int64_t c = 0; c < whole; c += 16) {
      for (int i = 0; i < 16; ++i) {
        const float unit = (s[c + i] - mean) * scale, weighted = g[c + i] * weight[c + i];
        plain[i] += weighted;
        along[i] += weighted * unit;
        weightGradient[c + i] += g[c + i] * unit;
        biasGradient[c + i] += g[c + i];
      }
    }
    float plainSum = sumOf(plain), alongSum = sumOf(along);
    for (std::int64_t c = whole; c < width; ++c) {
      const float unit = (s[c] - mean) * scale, weighted = g[c] * weight[c];
      plainSum += weighted;
      alongSum += weighted * unit;
      weightGradient[c] += g[c] * unit;
      biasGradient[c] += g[c];
    }
    const float shift = isRms ? 0 : plainSum * inverse, tilt = alongSum * inverse;
    const float* through = sumGradient == nullptr ? nullptr : sumGradient + r * width;
    for (std::int64_t c = 0; c < width; ++c) {
      const float unit = (s[c] - mean) * scale;
      const float own = (g[c] * weight[c] - shift - unit * tilt) * scale;
      d[c] = through == nullptr ? own : own + through[c];
    }
  }
}

class AddNorm : public torch::autograd::Function<AddNorm> {
 public:
  static variable_list forward(AutogradContext* context, const at::Tensor& xIn,
                               const at::Tensor& branchIn, const at::Tensor& weight,
                               const std::optional<at::Tensor>& bias, bool isRms, double eps) {
    const at::Tensor x = xIn.contiguous(), branch = branchIn.contiguous();
    const std::int64_t width = x.size(-1), rows = x.numel() / width;
    const at::Tensor sum = at::empty_like(x), out = at::empty_like(x);
    const at::Tensor means = at::empty({rows}, x.options()),
                     scales = at::empty({rows}, x.options());
    const at::Tensor offset = bias ? *bias : at::Tensor();
    at::parallel_for(0, rows, std::max<std::int64_t>(1, kGrain / width),
                     [&](std::int64_t begin, std::int64_t end) {
                       normRows(begin, end, width, isRms, static_cast<float>(eps),
                                x.const_data_ptr<float>(), branch.const_data_ptr<float>(),
                                weight.const_data_ptr<float>(),
                                offset.defined() ? offset.const_data_ptr<float>() : nullptr,
                                sum.data_ptr<float>(), out.data_ptr<float>(),
                                means.data_ptr<float>(), scales.data_ptr<float>());
                     });
    context->save_for_backward({sum, weight, means, scales});
    context->saved_data["rms"] = isRms;
    context->set_materialize_grads(false);
    return {sum, out};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &sum = saved[0], &weight = saved[1], &means = saved[2], &scales = saved[3];
    const bool isRms = context->saved_data["rms"].toBool();
    const at::Tensor through = gradients[0].defined() ? gradients[0].contiguous() : at::Tensor();
    if (!gradients[1].defined()) return {through, through, {}, {}, {}, {}};
    const at::Tensor outGradient = gradients[1].contiguous();
    const std::int64_t width = sum.size(-1), rows = sum.numel() / width;
    const at::Tensor gradient = at::empty_like(sum);
    const at::Tensor shares = at::zeros({2, kShares, width}, sum.options());
    at::parallel_for(0, kShares, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t share = first; share < last; ++share) {
        float* weights = shares.data_ptr<float>() + share * width;
        normRowsBackward(share * rows / kShares, (share + 1) * rows / kShares, width, isRms,
                         sum.const_data_ptr<float>(), weight.const_data_ptr<float>(),
                         means.const_data_ptr<float>(), scales.const_data_ptr<float>(),
                         through.defined() ? through.const_data_ptr<float>() : nullptr,
                         outGradient.const_data_ptr<float>(), gradient.data_ptr<float>(), weights,
                         weights + kShares * width);
      }
    });
    const at::Tensor sums = shares.sum(1);
    return {gradient, gradient, sums[0], isRms ? at::Tensor() : sums[1], {}, {}};
  }
};

/// Values and slopes of [begin, end).
VITRINE_VECTOR_CLONES
void geluTanh(std::int64_t begin, std::int64_t end, const float* x, float* out, float* slopes) {
  for (std::int64_t i = begin; i < end; ++i) {
    const float v = x[i];
    const float u = 1.59576912F * (v + 0.044715F * v * v * v);  // twice the argument of tanh
    const float e = expNegative(u < 0 ? u : -u);
    const float s = (u < 0 ? e : 1.0F) / (1.0F + e);  // (1 + tanh(u / 2)) / 2
    out[i] = v * s;
    slopes[i] = s + v * s * (1.0F - s) * 1.59576912F * (1.0F + 0.134145F * v * v);
  }
}

/// The same with the error function of Abramowitz & Stegun 7.1.26, absolute error 1.5e-7.
VITRINE_VECTOR_CLONES
void geluErf(std::int64_t begin, std::int64_t end, const float* x, float* out, float* slopes) {
  for (std::int64_t i = begin; i < end; ++i) {
    const float v = x[i];
    const float z = (v < 0 ? -v : v) * 0.707106781F;
    const float e = expNegative(-z * z);
    const float t = 1.0F / (1.0F + 0.3275911F * z);
    const float tail =
        0.5F * e * t *
        (0.254829592F +
         t * (-0.284496736F + t * (1.421413741F + t * (-1.453152027F + t * 1.061405429F))));
    const float below = v < 0 ? tail : 1.0F - tail;  // the normal distribution function
    out[i] = v * below;
    slopes[i] = below + v * e * 0.398942280F;
  }
}

VITRINE_VECTOR_CLONES
void multiply(std::int64_t begin, std::int64_t end, const float* a, const float* b, float* out) {
  for (std::int64_t i = begin; i < end; ++i) out[i] = a[i] * b[i];
}

class FusedGelu : public torch::autograd::Function<FusedGelu> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& xIn, bool isTanh) {
    const at::Tensor x = xIn.contiguous(), out = at::empty_like(x), slopes = at::empty_like(x);
    at::parallel_for(0, x.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      (isTanh ? geluTanh : geluErf)(begin, end, x.const_data_ptr<float>(), out.data_ptr<float>(),
                                    slopes.data_ptr<float>());
    });
    context->save_for_backward({slopes});
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor slopes = context->get_saved_variables()[0],
                     gradient = gradients[0].contiguous();
    const at::Tensor out = at::empty_like(slopes);
    at::parallel_for(0, out.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      multiply(begin, end, gradient.const_data_ptr<float>(), slopes.const_data_ptr<float>(),
               out.data_ptr<float>());
    });
    return {out, {}};
  }
};

inline float sigmoid(float v) {
  const float e = expNegative(v < 0 ? v : -v);
  return (v < 0 ? e : 1.0F) / (1.0F + e);
}

VITRINE_VECTOR_CLONES
void swiGluForward(std::int64_t begin, std::int64_t end, const float* gate, const float* up,
                   float* out) {
  for (std::int64_t i = begin; i < end; ++i) out[i] = gate[i] * sigmoid(gate[i]) * up[i];
}

VITRINE_VECTOR_CLONES
void swiGluBackward(std::int64_t begin, std::int64_t end, const float* gate, const float* up,
                    const float* gradient, float* gateGradient, float* upGradient) {
  for (std::int64_t i = begin; i < end; ++i) {
    const float v = gate[i], s = sigmoid(v), g = gradient[i];
    gateGradient[i] = g * up[i] * (s + v * s * (1.0F - s));
    upGradient[i] = g * v * s;
  }
}

class FusedSwiGlu : public torch::autograd::Function<FusedSwiGlu> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& gateIn,
                            const at::Tensor& upIn) {
    const at::Tensor gate = gateIn.contiguous(), up = upIn.contiguous(), out = at::empty_like(gate);
    at::parallel_for(0, out.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      swiGluForward(begin, end, gate.const_data_ptr<float>(), up.const_data_ptr<float>(),
                    out.data_ptr<float>());
    });
    context->save_for_backward({gate, up});
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor gradient = gradients[0].contiguous();
    const at::Tensor gateGradient = at::empty_like(saved[0]), upGradient = at::empty_like(saved[1]);
    at::parallel_for(0, gradient.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      swiGluBackward(begin, end, saved[0].const_data_ptr<float>(), saved[1].const_data_ptr<float>(),
                     gradient.const_data_ptr<float>(), gateGradient.data_ptr<float>(),
                     upGradient.data_ptr<float>());
    });
    return {gateGradient, upGradient};
  }
};

}  // namespace

bool isFusable(const at::Tensor& a, const at::Tensor& b) {
  const auto isPlain = [](const at::Tensor& t) {
    return t.device().is_cpu() && t.scalar_type() == at::kFloat;
  };
  return isPlain(a) && isPlain(b) && a.sizes() == b.sizes() && a.numel() > 0;
}

std::pair<at::Tensor, at::Tensor> fusedAddAndNormalise(NormKind kind, const at::Tensor& x,
                                                       const at::Tensor& branch,
                                                       const at::Tensor& weight,
                                                       const at::Tensor& bias, double eps) {
  std::optional<at::Tensor> offset;
  if (bias.defined()) offset = bias;
  const variable_list both = AddNorm::apply(x, branch, weight, offset, kind == NormKind::Rms, eps);
  return {both[0], both[1]};
}

at::Tensor fusedGelu(const at::Tensor& x, Gelu form) {
  return FusedGelu::apply(x, form == Gelu::Tanh);
}
at::Tensor fusedSwiGlu(const at::Tensor& gate, const at::Tensor& up) {
  return FusedSwiGlu::apply(gate, up);
}

}  // namespace vitrine::nn
