#include "core/nn/losses.h"

#include <ATen/core/Reduction.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/kl_div.h>
#include <ATen/ops/log_softmax.h>

#include "core/base/error.h"

namespace vitrine::nn {

at::Tensor distilled(const at::Tensor& base, const at::Tensor& student, const at::Tensor& teacher,
                     const Distillation& options) {
  if (student.sizes() != teacher.sizes()) {
    throw ShapeError("logits of student " + c10::str(student.sizes()) + " and teacher " +
                     c10::str(teacher.sizes()) +
                     " have different shapes; both are [batch, classes]");
  }
  at::Tensor part;
  if (options.temperature) {
    const double temperature = *options.temperature;
    part = at::kl_div(at::log_softmax(student.div(temperature), 1),
                      at::log_softmax(teacher.detach().div(temperature), 1), at::Reduction::Mean,
                      /*log_target=*/true)
               .mul(temperature * temperature);
  } else {
    part = at::cross_entropy_loss(student, teacher.argmax(1));
  }
  return base.mul(1 - options.alpha).add(part, options.alpha);
}

}  // namespace vitrine::nn
