#include "core/train/ema.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sub.h>

namespace vitrine {

Ema::Ema(std::vector<at::Tensor> parameters, double decay)
    : parameters_(std::move(parameters)), decay_(decay) {
  const at::NoGradGuard noGrad;
  for (const at::Tensor& parameter : parameters_) average_.push_back(parameter.detach().clone());
}

void Ema::update(const at::Tensor& skip) {
  const at::NoGradGuard noGrad;
  if (parameters_.empty()) return;
  if (skip.is_cpu()) {
    if (*skip.const_data_ptr<float>() == 0) at::_foreach_lerp_(average_, parameters_, 1 - decay_);
    return;
  }
  // On a GPU the host does not know `skip`: it becomes a factor of the move.
  const std::vector<at::Tensor> move = at::_foreach_sub(parameters_, average_);
  at::_foreach_mul_(move, skip.sub(1).mul_(decay_ - 1));  // (1 - skip) (1 - decay)
  at::_foreach_add_(average_, move);
}

WithAverage::WithAverage(const Ema& ema) : parameters_(ema.parameters()) {
  const at::NoGradGuard noGrad;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    own_.push_back(parameters_[i].detach());
    parameters_[i].set_data(ema.average()[i]);
  }
}

WithAverage::~WithAverage() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) parameters_[i].set_data(own_[i]);
}

}  // namespace vitrine
