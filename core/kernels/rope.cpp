#include "core/kernels/rope.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <sstream>

#include "core/base/error.h"
#include "core/kernels/cpu/first_derivative.h"
#include "core/kernels/cuda_module.h"

namespace vitrine::kernels {

namespace {

void checkPair(const at::Tensor& q, const at::Tensor& k, const at::Tensor& angles) {
  if (q.sizes() != k.sizes() || q.scalar_type() != k.scalar_type() || q.device() != k.device() ||
      angles.device() != q.device()) {
    std::ostringstream text;
    text << "rope needs q and k of one shape, dtype and device, and angles on it, not "
         << q.sizes() << " " << q.dtype() << " and " << k.sizes() << " " << k.dtype();
    throw ShapeError(text.str());
  }
}

std::array<at::Tensor, 2> turnPair(const at::Tensor& q, const at::Tensor& k,
                                   const at::Tensor& angles, Turn turn) {
  if (q.is_cpu()) return {ropeCpu(q, angles, turn), ropeCpu(k, angles, turn)};
  std::string why;
  const CudaKernels* cuda = cudaKernels(&why);
  if (cuda == nullptr) throw Error("rope has no kernel for " + q.device().str() + ": " + why);
  const at::Tensor denseQ = q.stride(3) == 1 ? q : q.contiguous();
  const at::Tensor denseK = k.stride(3) == 1 ? k : k.contiguous();
  at::Tensor qOut = at::empty(q.sizes(), q.options()), kOut = at::empty(k.sizes(), k.options());
  cuda->ropePair(denseQ, denseK, angles, qOut, kOut, turn);
  return {qOut, kOut};
}

class RopePair : public torch::autograd::Function<RopePair> {
 public:
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context,
                                                const at::Tensor& q, const at::Tensor& k,
                                                const at::Tensor& angles) {
    context->save_for_backward({angles});
    const auto turned = turnPair(q, k, angles, Turn::Forward);
    return {turned[0], turned[1]};
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    refuseSecondDerivative("rotary positions");
    const at::Tensor angles = context->get_saved_variables()[0];
    // One of the two may be unused by the loss.
    const at::Tensor& dq = gradients[0];
    const at::Tensor& dk = gradients[1];
    if (!dq.defined() && !dk.defined()) return {at::Tensor(), at::Tensor(), at::Tensor()};
    const auto turned = turnPair(dq.defined() ? dq : at::zeros_like(dk),
                                 dk.defined() ? dk : at::zeros_like(dq), angles, Turn::Backward);
    return {turned[0], turned[1], at::Tensor()};
  }
};

}  // namespace

std::array<at::Tensor, 2> ropePair(const at::Tensor& q, const at::Tensor& k,
                                   const at::Tensor& angles) {
  checkPair(q, k, angles);
  const auto turned = RopePair::apply(q, k, angles);
  return {turned[0], turned[1]};
}

}  // namespace vitrine::kernels
