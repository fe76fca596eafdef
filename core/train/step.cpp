#include "core/train/step.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/Event.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/plugin/loss_mean.h"
#include "core/train/modules.h"

namespace vitrine::train {

namespace {

/// Adds the time since it was made, or since its last lap, to one part of a step after the other.
class Lap {
 public:
  void to(double& part) {
    const Clock::time_point now = Clock::now();
    part += std::chrono::duration<double>(now - since_).count();
    since_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point since_ = Clock::now();
};

}  // namespace

TrainStep::TrainStep(TaskSession& session, const StepOptions& options,
                     std::vector<ParameterGroup> groups)
    : session_(session),
      options_(options),
      optimizer_(*options.optimizer, options.optimizerTable, std::move(groups)),
      skip_(at::zeros({}, optimizer_.updates().options())),
      spikes_(at::zeros({}, skip_.options())),
      spikeLimits_(at::zeros({2}, skip_.options())) {
  const bool isScaled = options_.precision == Precision::Float16;
  if (isScaled) scale_ = std::make_unique<LossScale>(options_.lossScale, skip_.options());
  if (isScaled || options_.onBadStep == OnBadStep::Skip) buffers_ = runBuffers(session);
  if (options_.emaDecay)
    ema_ = std::make_unique<Ema>(optimizer_.parameters(), *options_.emaDecay, options_.emaWarmUp);
  followNetworks();
}

void TrainStep::followNetworks() {
  const at::NoGradGuard noGrad;
  const std::vector<Network> networks = session_.networks();
  for (const Network& network : networks) {
    if (network.role != Network::Role::Averaged) continue;
    const auto source = std::find_if(networks.begin(), networks.end(), [&](const Network& each) {
      return each.name == network.source && each.role == Network::Role::Trained;
    });
    const std::vector<at::Tensor> average = network.module->parameters();
    const std::vector<at::Tensor> followed =
        source == networks.end() ? std::vector<at::Tensor>() : source->module->parameters();
    const bool fits =
        std::equal(average.begin(), average.end(), followed.begin(), followed.end(),
                   [](const at::Tensor& a, const at::Tensor& b) { return a.sizes() == b.sizes(); });
    const std::vector<at::Tensor> buffers = network.module->buffers();
    if (!fits || buffers.size() != source->module->buffers().size()) {
      throw PluginError("network '" + network.name + "' is an average of '" + network.source +
                        "', which is not a trained network with the same parameters");
    }
    for (std::size_t i = 0; i < average.size(); ++i) average[i].copy_(followed[i]);
    networkAverages_.emplace_back(followed, average, network.decay);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      buffers[i].copy_(source->module->buffers()[i]);
      followedBuffers_.emplace_back(buffers[i], source->module->buffers()[i]);
    }
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

void TrainStep::restoreBuffers(const at::Tensor& hold) {
  if (buffers_.empty() || (hold.is_cpu() && *hold.const_data_ptr<float>() == 0)) return;
  const at::Tensor isHeld = hold.to(at::kBool);
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    buffers_[i].copy_(at::where(isHeld, kept_[i], buffers_[i]));
}

at::Tensor TrainStep::scaled(const at::Tensor& loss) const {
  return scale_ ? loss.mul(scale_->value()) : loss;
}

std::vector<std::pair<std::string, at::Tensor>> TrainStep::state() const {
  auto state = optimizer_.state();
  if (scale_) {
    for (auto& item : scale_->state()) state.push_back(std::move(item));
  }
  return state;
}

void TrainStep::load(const std::map<std::string, at::Tensor>& saved, std::int64_t updates) {
  optimizer_.load(saved, updates);
  if (scale_) scale_->load(saved);
}

at::Tensor TrainStep::badFlag(const at::Tensor& loss, const at::Tensor& norm,
                              const SpikeLimits& limits, const at::Tensor& overflow) {
  const at::Tensor isBad = loss.add(norm).isfinite().logical_not_();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (limits.loss < kInfinity || limits.gradientNorm < kInfinity) {
    spikeLimits_[0].fill_(limits.loss);
    spikeLimits_[1].fill_(limits.gradientNorm);
    const at::Tensor isSpike = loss.gt(spikeLimits_[0]).logical_or_(norm.gt(spikeLimits_[1]));
    const at::Tensor inRow = spikes_.add(1).mul_(isSpike);
    spikes_.copy_(overflow.defined() ? at::where(overflow, spikes_, inRow) : inRow);
    isBad.logical_or_(spikes_.ge(static_cast<double>(options_.spikeSteps)));
    areSpikesCounted_ = true;
  } else if (areSpikesCounted_) {
    setSpikesInRow(0);
    areSpikesCounted_ = false;
  }
  if (overflow.defined()) isBad.logical_and_(overflow.logical_not());
  return isBad;
}

std::vector<LossPart> TrainStep::lossOf(StepContext& context, const Batch& batch) {
  std::vector<LossPart> parts;
  {
    const AutocastScope autocast(options_.precision, skip_.device().type());
    parts = session_.loss(context, batch);
  }
  if (parts.empty()) throw ShapeError("the task's loss has no part; it needs at least one");
  for (LossPart& part : parts) {
    if (!part.sum.defined() || part.sum.dim() != 0 ||
        (part.count.defined() && part.count.dim() != 0)) {
      throw ShapeError("sum and count of the loss part '" + part.name +
                       "' must be numbers without axes");
    }
    part.sum = part.sum.to(at::kFloat);  // a loss under autocast may come out in half precision
    if (part.count.defined()) part.count = part.count.detach().to(skip_.options());
  }
  return parts;
}

at::Tensor TrainStep::backward(StepContext& context, const Batch& batch, std::vector<Part>& parts) {
  Lap lap;
  at::Tensor loss;
  for (const LossPart& given : lossOf(context, batch)) {
    const at::Tensor mean = meanOf(given, batch.size());
    const at::Tensor weighted = given.weight == 1 ? mean : mean.mul(given.weight);
    loss = loss.defined() ? loss.add(weighted) : weighted;
    parts.push_back({given.name, given.weight, mean.detach(), {}, {}, {}});
  }
  lap.to(seconds_.forward);
  scaled(loss).backward();
  lap.to(seconds_.backward);
  return loss.detach();
}

void TrainStep::addBatch(StepContext& context, const Batch& batch, std::vector<Part>& parts) {
  Lap lap;
  const std::vector<LossPart> all = lossOf(context, batch);
  lap.to(seconds_.forward);
  const std::vector<at::Tensor>& parameters = optimizer_.parameters();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const LossPart& given = all[i];
    auto part = std::find_if(parts.begin(), parts.end(),
                             [&](const Part& known) { return known.name == given.name; });
    if (part == parts.end()) {
      parts.push_back({given.name,
                       given.weight,
                       {},
                       at::zeros_like(skip_),
                       at::zeros_like(skip_),
                       std::vector<at::Tensor>(parameters.size())});
      part = parts.end() - 1;
    }
    // Each part has a divisor of its own, which is known after the last batch only.
    for (std::size_t p = 0; p < parameters.size(); ++p)
      parameters[p].mutable_grad() = std::move(part->gradients[p]);
    if (given.sum.requires_grad())
      scaled(given.sum).backward({}, /*retain_graph=*/i + 1 < all.size());
    for (std::size_t p = 0; p < parameters.size(); ++p)
      part->gradients[p] = std::exchange(parameters[p].mutable_grad(), {});
    const at::NoGradGuard noGrad;
    part->sum.add_(given.sum);
    if (given.count.defined()) {
      part->count.add_(given.count);
    } else {
      part->count.add_(static_cast<double>(batch.size()));
    }
  }
  lap.to(seconds_.backward);
}

at::Tensor TrainStep::addUp(std::vector<Part>& parts) {
  const std::vector<at::Tensor>& parameters = optimizer_.parameters();
  at::Tensor loss;
  for (Part& part : parts) {
    const at::Tensor divisor = divisorOf(part.count);
    part.mean = part.sum.div(divisor);
    const at::Tensor weighted = part.weight == 1 ? part.mean : part.mean.mul(part.weight);
    loss = loss.defined() ? loss.add(weighted) : weighted;
    const at::Tensor factor = at::full_like(divisor, part.weight).div_(divisor);
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      const at::Tensor& gradient = part.gradients[p];
      if (!gradient.defined()) continue;
      gradient.mul_(factor);
      at::Tensor& all = parameters[p].mutable_grad();
      all = all.defined() ? all.add_(gradient) : gradient;
    }
  }
  return loss;
}

at::Tensor TrainStep::run(StepContext& context, std::span<const Batch> batches, double learningRate,
                          const SpikeLimits& limits) {
  seconds_ = {};
  if (!buffers_.empty()) keepBuffers();
  std::vector<Part> parts;
  std::vector<at::Tensor> readings(6);
  if (batches.size() == 1) {
    readings[0] = backward(context, batches.front(), parts);
  } else {
    for (const Batch& batch : batches) addBatch(context, batch, parts);
    const at::NoGradGuard noGrad;
    readings[0] = addUp(parts);
  }
  partNames_.clear();
  for (const Part& part : parts) {
    if (part.name.empty()) continue;
    partNames_.push_back(part.name);
    readings.push_back(part.mean);
  }

  Lap lap;
  const at::NoGradGuard noGrad;
  at::Tensor norm = optimizer_.gradientNorm(), overflow;
  if (scale_) {
    norm = norm.div(scale_->value());
    overflow = scale_->overflows(readings[0], norm);
  }
  const at::Tensor isBad = badFlag(readings[0], norm, limits, overflow);
  if (options_.onBadStep == OnBadStep::Latch) {
    skip_.logical_or_(isBad);
  } else {
    skip_.copy_(isBad);
  }
  // An overflow holds this step alone.
  const at::Tensor hold = scale_ ? skip_.logical_or(overflow).to(at::kFloat) : skip_;
  if (scale_ || options_.onBadStep == OnBadStep::Skip) restoreBuffers(hold);
  at::Tensor divisor;
  // torch's rule: gradients * min(1, clip / (norm + 1e-6))
  if (options_.clipNorm) divisor = norm.add(1e-6).div_(*options_.clipNorm).clamp_min_(1);
  if (scale_) divisor = divisor.defined() ? divisor.mul_(scale_->value()) : scale_->value();
  optimizer_.step(learningRate, hold, divisor);
  if (ema_) ema_->update(hold, optimizer_.updates());
  for (Ema& average : networkAverages_) average.update(hold, optimizer_.updates());
  for (auto& [buffer, source] : followedBuffers_) buffer.copy_(source);
  optimizer_.clearGradients();
  readings[1] = norm;
  readings[2] = skip_;
  readings[3] = optimizer_.updates();
  readings[4] = scale_ ? scale_->value() : at::zeros_like(skip_);
  readings[5] = scale_ ? overflow.to(at::kFloat) : readings[4];
  const at::Tensor stacked = at::stack(readings);
  if (scale_) scale_->update(overflow, hold);
  lap.to(seconds_.optimizer);
  return stacked;
}

StepReadings TrainStep::readingsOf(const at::Tensor& onCpu) {
  const float* values = onCpu.const_data_ptr<float>();
  StepReadings readings{
      values[0],      values[1], values[2] != 0, static_cast<std::int64_t>(values[3]), values[4],
      values[5] != 0, {}};
  readings.parts.assign(values + 6, values + onCpu.numel());
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

}  // namespace vitrine::train
