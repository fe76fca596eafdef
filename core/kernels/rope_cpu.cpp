#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <bit>
#include <cstdint>
#include <sstream>

#include "core/base/error.h"
#include "core/kernels/cpu/first_derivative.h"
#include "core/kernels/cpu/kernels.h"
#include "core/kernels/cpu/path_rule.h"
#include "core/kernels/rope.h"

namespace vitrine::kernels {

namespace {

std::string shapeText(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

void checkShapes(const at::Tensor& x, const at::Tensor& angles) {
  if (x.dim() != 4 || x.size(3) % 2 != 0)
    throw ShapeError("rope needs [batch, heads, tokens, even head width], not " + shapeText(x));
  if (angles.dim() != 2 || angles.size(0) != x.size(2) || angles.size(1) != x.size(3) / 2) {
    throw ShapeError("rope angles of shape " + shapeText(angles) + " do not fit " + shapeText(x) +
                     ": they must be [tokens, head width / 2]");
  }
}

/// One row of pairs; half types turn in float32.
template <class Scalar, class Real>
void turnRow(const Scalar* in, const Real* cosine, const Real* sine, std::int64_t pairs,
             Scalar* out) {
  for (std::int64_t m = 0; m < pairs; ++m) {
    const Real c = cosine[m], s = sine[m];
    const Real a = in[2 * m], b = in[2 * m + 1];
    out[2 * m] = static_cast<Scalar>(a * c - b * s);
    out[2 * m + 1] = static_cast<Scalar>(a * s + b * c);
  }
}

bool isAligned(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % alignof(std::uint32_t) == 0;
}

/// The same with the loops of cpuPath() for the types that training uses.
void turnRowFast(const float* in, const float* cosine, const float* sine, std::int64_t pairs,
                 float* out) {
  cpu::kernels().turnRow(in, cosine, sine, 1, pairs, out);
}
void turnRowFast(const c10::BFloat16* in, const float* cosine, const float* sine,
                 std::int64_t pairs, c10::BFloat16* out) {
  if (std::endian::native != std::endian::little || !isAligned(in) || !isAligned(out))
    return turnRow(in, cosine, sine, pairs, out);
  cpu::kernels().turnWords(reinterpret_cast<const cpu::BFloat16Pair*>(in), cosine, sine, pairs,
                           reinterpret_cast<cpu::BFloat16Pair*>(out));
}
template <class Scalar, class Real>
void turnRowFast(const Scalar* in, const Real* cosine, const Real* sine, std::int64_t pairs,
                 Scalar* out) {
  turnRow(in, cosine, sine, pairs, out);
}

/// \param cosine  [tokens, pairs] or [batch, tokens, pairs]
at::Tensor turned(const at::Tensor& input, const at::Tensor& cosine, const at::Tensor& sine,
                  RopePairs kind, float direction) {
  const cpu::Kernels& loops = cpu::kernels();
  const auto turnHead = kind == RopePairs::HalfSplit ? loops.turnHalves : loops.turnRow;
  const at::Tensor x = input.stride(3) == 1 ? input : input.contiguous();
  const std::int64_t batch = x.size(0), heads = x.size(1), tokens = x.size(2), width = x.size(3),
                     pairs = width / 2, step = cosine.dim() == 3 ? tokens * pairs : 0;
  const at::Tensor out = at::empty({batch, tokens, heads, width}, x.options());
  const float *from = x.const_data_ptr<float>(), *c = cosine.const_data_ptr<float>(),
              *s = sine.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  at::parallel_for(0, batch * tokens, 256, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t sample = row / tokens, token = row % tokens,
                         at = sample * step + token * pairs;
      for (std::int64_t head = 0; head < heads; ++head) {
        turnHead(from + sample * x.stride(0) + head * x.stride(1) + token * x.stride(2), c + at,
                 s + at, direction, pairs, to + (row * heads + head) * width);
      }
    }
  });
  return out.transpose(1, 2);
}

class TurnAlone : public torch::autograd::Function<TurnAlone> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                            const at::Tensor& cosine, const at::Tensor& sine, RopePairs pairs) {
    context->save_for_backward({cosine, sine});
    context->saved_data["pairs"] = static_cast<std::int64_t>(pairs);
    return turned(x, cosine, sine, pairs, 1);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    refuseSecondDerivative("rotary positions");
    const auto saved = context->get_saved_variables();
    const auto pairs = static_cast<RopePairs>(context->saved_data["pairs"].toInt());
    return {turned(gradients[0], saved[0], saved[1], pairs, -1), {}, {}, {}};
  }
};

}  // namespace

bool takesRopeAlone(const at::Tensor& x, const at::Tensor& angles) {
  return cpu::hasOwnLoops() && x.is_cpu() && x.scalar_type() == at::kFloat &&
         angles.scalar_type() == at::kFloat && angles.dim() <= 3 &&
         2 * angles.size(-1) == x.size(3) && !angles.requires_grad();
}

at::Tensor ropeAlone(const at::Tensor& x, const at::Tensor& angles, RopePairs pairs) {
  return TurnAlone::apply(x, angles.cos().contiguous(), angles.sin().contiguous(), pairs);
}

at::Tensor ropeCpu(const at::Tensor& input, const at::Tensor& angles, Turn turn) {
  checkShapes(input, angles);
  const at::Tensor x = input.stride(3) == 1 ? input : input.contiguous();
  at::Tensor out = at::empty(x.sizes(), x.options());
  const std::int64_t heads = x.size(1), tokens = x.size(2), pairs = x.size(3) / 2;
  const std::int64_t batchStride = x.stride(0), headStride = x.stride(1), tokenStride = x.stride(2);
  const double sign = turn == Turn::Forward ? 1 : -1;

  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "ropeCpu", [&] {
    using Real = at::opmath_type<scalar_t>;  // half types turn in float32
    const at::Tensor table = angles.to(c10::CppTypeToScalarType<Real>::value).contiguous();
    const at::Tensor cosines = table.cos(), sines = table.sin().mul_(sign);
    const Real* cosine = cosines.const_data_ptr<Real>();
    const Real* sine = sines.const_data_ptr<Real>();
    const scalar_t* from = x.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();

    const bool isPlain = !cpu::hasOwnLoops();
    at::parallel_for(0, x.size(0) * heads * tokens, 256, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t token = row % tokens, head = row / tokens % heads,
                           batch = row / tokens / heads;
        const scalar_t* in = from + batch * batchStride + head * headStride + token * tokenStride;
        const Real *c = cosine + token * pairs, *s = sine + token * pairs;
        if (isPlain) {
          turnRow(in, c, s, pairs, to + row * 2 * pairs);
        } else {
          turnRowFast(in, c, s, pairs, to + row * 2 * pairs);
        }
      }
    });
  });
  return out;
}

}  // namespace vitrine::kernels
