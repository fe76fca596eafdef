#include "core/train/loss_scale.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "core/train/train_config.h"

namespace vitrine::train {

namespace {

/// Doubled no further: sums of gradients of float16 stay far within float32.
constexpr double kLargest = 1099511627776.0;  // 2^40

}  // namespace

LossScaleOptions lossScaleFrom(const Config& stored) {
  const Config train = withTrainDefaults(stored);
  return {train.real("loss_scale.initial"), train.real("loss_scale.minimum"),
          train.integer("loss_scale.growth_steps")};
}

LossScale::LossScale(const LossScaleOptions& options, const at::TensorOptions& device)
    : options_(options),
      value_(at::full({}, options.initial, device.dtype(at::kFloat))),
      goodSteps_(at::zeros({}, device.dtype(at::kFloat))) {}

at::Tensor LossScale::overflows(const at::Tensor& loss, const at::Tensor& norm) const {
  const at::NoGradGuard noGrad;
  return norm.isfinite()
      .logical_not_()
      .logical_and_(loss.isfinite())
      .logical_and_(value_.gt(options_.minimum));
}

void LossScale::update(const at::Tensor& overflow, const at::Tensor& hold) {
  const at::NoGradGuard noGrad;
  // A step that is left out for another reason says nothing about the scale.
  const at::Tensor good = goodSteps_.add(hold.neg().add_(1));
  const at::Tensor grows = good.ge(static_cast<double>(options_.growthSteps));
  const at::Tensor larger = value_.mul(2).clamp_max_(std::max(kLargest, options_.initial));
  const at::Tensor smaller = value_.mul(0.5).clamp_min_(options_.minimum);
  value_.copy_(at::where(overflow, smaller, at::where(grows, larger, value_)));
  goodSteps_.copy_(at::where(overflow.logical_or(grows), at::zeros_like(good), good));
}

std::vector<std::pair<std::string, at::Tensor>> LossScale::state() const {
  return {{"loss_scale/value", value_}, {"loss_scale/good_steps", goodSteps_}};
}

void LossScale::load(const std::map<std::string, at::Tensor>& saved) {
  const at::NoGradGuard noGrad;
  for (auto& [name, tensor] : state()) {
    if (const auto found = saved.find(name); found != saved.end()) tensor.copy_(found->second);
  }
}

}  // namespace vitrine::train
