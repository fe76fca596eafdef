#include "core/train/update/ema.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sub.h>

#include <algorithm>

namespace vitrine::train {

Ema::Ema(std::vector<at::Tensor> parameters, double decay, WarmUp warmUp)
    : parameters_(std::move(parameters)), decay_(decay), warmUp_(warmUp) {
  const at::NoGradGuard noGrad;
  for (const at::Tensor& parameter : parameters_) average_.push_back(parameter.detach().clone());
}

Ema::Ema(std::vector<at::Tensor> parameters, const std::vector<at::Tensor>& average, double decay)
    : parameters_(std::move(parameters)), decay_(decay), warmUp_(WarmUp::None) {
  for (const at::Tensor& each : average) average_.push_back(each.detach());
}

void Ema::update(const at::Tensor& skip, const at::Tensor& updates) {
  const at::NoGradGuard noGrad;
  if (parameters_.empty()) return;
  const bool isWarming = warmUp_ == WarmUp::ByUpdates;
  if (skip.is_cpu()) {
    if (*skip.const_data_ptr<float>() != 0) return;
    const double n = *updates.const_data_ptr<float>();
    const double decay = isWarming ? std::min(decay_, (1 + n) / (10 + n)) : decay_;
    at::_foreach_lerp_(average_, parameters_, 1 - decay);
    return;
  }
  // On a GPU the host knows neither `skip` nor `updates`: they become a factor of the move.
  at::Tensor share = skip.sub(1).mul_(decay_ - 1);  // (1 - skip) (1 - decay)
  if (isWarming) {
    // 1 - (1 + n) / (10 + n) = 9 / (10 + n)
    share = updates.add(10).reciprocal_().mul_(9).clamp_min_(1 - decay_).mul_(skip.neg().add_(1));
  }
  const std::vector<at::Tensor> move = at::_foreach_sub(parameters_, average_);
  at::_foreach_mul_(move, share);
  at::_foreach_add_(average_, move);
}

WithAverage::WithAverage(const Ema& ema) : parameters_(ema.parameters()) {
  const at::NoGradGuard noGrad;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    own_.push_back(parameters_[i].detach());
    parameters_[i].set_data(ema.average()[i]);
  }
  // Autocast knows a parameter by its identity, which set_data() keeps: within one scope it would
  // multiply with the half-precision copies of the weights before.
  at::autocast::clear_cache();
}

WithAverage::~WithAverage() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) parameters_[i].set_data(own_[i]);
  at::autocast::clear_cache();
}

}  // namespace vitrine::train
