#include "core/train/step.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <c10/core/Event.h>

#include <deque>
#include <limits>

#include "core/base/error.h"
#include "core/train/modules.h"

namespace vitrine {

TrainStep::TrainStep(Model& model, TaskSession& session, const StepOptions& options,
                     std::vector<ParameterGroup> groups)
    : model_(model),
      session_(session),
      options_(options),
      optimizer_(options.optimizer, std::move(groups)),
      skip_(at::zeros({}, optimizer_.updates().options())),
      spikes_(at::zeros({}, skip_.options())),
      spikeLimits_(at::zeros({2}, skip_.options())) {
  if (options_.onBadStep == OnBadStep::Skip) buffers_ = runBuffers(model, session);
  if (options_.emaDecay) {
    ema_ = std::make_unique<Ema>(optimizer_.parameters(), *options_.emaDecay, options_.emaWarmUp);
  }
}

TrainStep::~TrainStep() = default;

void TrainStep::setSpikesInRow(std::int64_t count) {
  spikes_.fill_(static_cast<double>(count));
  areSpikesCounted_ = count > 0;
}

void TrainStep::keepBuffers() {
  const at::NoGradGuard noGrad;
  kept_.clear();
  for (const at::Tensor& buffer : buffers_) kept_.push_back(buffer.clone());
}

void TrainStep::restoreBuffers() {
  if (buffers_.empty() || (skip_.is_cpu() && *skip_.const_data_ptr<float>() == 0)) return;
  const at::Tensor isBad = skip_.to(at::kBool);
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    buffers_[i].copy_(at::where(isBad, kept_[i], buffers_[i]));
}

at::Tensor TrainStep::badFlag(const at::Tensor& loss, const at::Tensor& norm,
                              const SpikeLimits& limits) {
  const at::Tensor isBad = loss.add(norm).isfinite().logical_not_();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (limits.loss < kInfinity || limits.gradientNorm < kInfinity) {
    spikeLimits_[0].fill_(limits.loss);
    spikeLimits_[1].fill_(limits.gradientNorm);
    const at::Tensor isSpike = loss.gt(spikeLimits_[0]).logical_or_(norm.gt(spikeLimits_[1]));
    spikes_.add_(1).mul_(isSpike);
    isBad.logical_or_(spikes_.ge(static_cast<double>(options_.spikeSteps)));
    areSpikesCounted_ = true;
  } else if (areSpikesCounted_) {
    setSpikesInRow(0);
    areSpikesCounted_ = false;
  }
  return isBad;
}

at::Tensor TrainStep::run(std::span<const Batch> batches, double learningRate,
                          const SpikeLimits& limits) {
  if (!buffers_.empty()) keepBuffers();
  const auto device = skip_.device();
  const double share = 1.0 / static_cast<double>(batches.size());
  std::vector<at::Tensor> readings;
  for (const Batch& batch : batches) {
    Loss loss;
    {
      const AutocastScope autocast(options_.precision, device.type());
      loss = session_.loss(model_, batch);
    }
    if (!loss.total.defined() || loss.total.dim() != 0) {
      throw ShapeError("the task's loss must be one number without axes");
    }
    loss.total = loss.total.to(at::kFloat);  // a loss under autocast may come out in half precision
    const at::Tensor scaled = batches.size() == 1 ? loss.total : loss.total.mul(share);
    scaled.backward();
    const at::NoGradGuard noGrad;
    if (readings.empty()) {
      partNames_.clear();
      for (const auto& part : loss.parts) partNames_.push_back(part.first);
      readings.assign(4 + loss.parts.size(), at::Tensor());
    }
    const auto collect = [&](at::Tensor& sum, const at::Tensor& value) {
      const at::Tensor plain = value.detach();
      if (!sum.defined()) {
        sum = batches.size() == 1 ? plain : plain.mul(share);
      } else {
        sum.add_(plain, share);
      }
    };
    collect(readings[0], loss.total);
    for (std::size_t i = 0; i < loss.parts.size() && 4 + i < readings.size(); ++i) {
      collect(readings[4 + i], loss.parts[i].second.to(at::kFloat));
    }
  }

  const at::NoGradGuard noGrad;
  const at::Tensor norm = optimizer_.gradientNorm();
  const at::Tensor isBad = badFlag(readings[0], norm, limits);
  if (options_.onBadStep == OnBadStep::Latch) {
    skip_.logical_or_(isBad);
  } else {
    skip_.copy_(isBad);
    restoreBuffers();
  }
  at::Tensor divisor;
  // torch's rule: gradients * min(1, clip / (norm + 1e-6))
  if (options_.clipNorm) divisor = norm.add(1e-6).div_(*options_.clipNorm).clamp_min_(1);
  optimizer_.step(learningRate, skip_, divisor);
  if (ema_) ema_->update(skip_, optimizer_.updates());
  optimizer_.clearGradients();
  readings[1] = norm;
  readings[2] = skip_;
  readings[3] = optimizer_.updates();
  return at::stack(readings);
}

StepReadings TrainStep::readingsOf(const at::Tensor& onCpu) {
  const float* values = onCpu.const_data_ptr<float>();
  StepReadings readings{
      values[0], values[1], values[2] != 0, static_cast<std::int64_t>(values[3]), {}};
  readings.parts.assign(values + 4, values + onCpu.numel());
  return readings;
}

struct LateReader::State {
  struct Pending {
    at::Tensor value;  ///< on the CPU
    std::unique_ptr<c10::Event> copied;
  };
  std::size_t lag;
  std::deque<Pending> pending;
};

LateReader::LateReader(std::size_t lag) : state_(std::make_unique<State>(State{lag, {}})) {}
LateReader::~LateReader() = default;

void LateReader::push(const at::Tensor& value) {
  if (value.is_cpu()) {
    state_->pending.push_back({value, nullptr});
    return;
  }
  State::Pending pending{
      at::empty_like(value, value.options().device(at::kCPU).pinned_memory(true)), nullptr};
  pending.value.copy_(value, /*non_blocking=*/true);
  const c10::impl::VirtualGuardImpl guard(value.device().type());
  pending.copied = std::make_unique<c10::Event>(value.device().type());
  pending.copied->record(guard.getStream(value.device()));
  state_->pending.push_back(std::move(pending));
}

at::Tensor LateReader::take(Take which) {
  auto& pending = state_->pending;
  if (pending.empty() || (which == Take::Late && pending.size() <= state_->lag)) return {};
  State::Pending oldest = std::move(pending.front());
  pending.pop_front();
  if (oldest.copied) oldest.copied->synchronize();
  return oldest.value;
}

}  // namespace vitrine
