#include "core/train/optimizer.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/train/train_config.h"
#include "core/train/trust_ratio.h"

namespace vitrine {

namespace {

constexpr std::int64_t kChunk = 16384;  ///< elements: 64 KiB, one task of the norm

double sumOfSquares(const float* values, std::int64_t count) {
  // Sixteen sums so that the loop vectorises; their order is fixed.
  double sums[16] = {};
  std::int64_t i = 0;
  for (; i + 16 <= count; i += 16) {
    for (int lane = 0; lane < 16; ++lane) {
      const double value = values[i + lane];
      sums[lane] += value * value;
    }
  }
  double sum = 0;
  for (; i < count; ++i) sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  for (const double lane : sums) sum += lane;
  return sum;
}

struct Chunk {
  const float* values;
  std::int64_t count;
};

at::Tensor chunkedNorm(const std::vector<at::Tensor>& tensors) {
  std::vector<Chunk> chunks;
  for (const at::Tensor& tensor : tensors) {
    const float* values = tensor.const_data_ptr<float>();
    for (std::int64_t i = 0; i < tensor.numel(); i += kChunk) {
      chunks.push_back({values + i, std::min(kChunk, tensor.numel() - i)});
    }
  }
  std::vector<double> sums(chunks.size());
  at::parallel_for(0, static_cast<std::int64_t>(chunks.size()), 8,
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) {
                       const auto at = static_cast<std::size_t>(i);
                       sums[at] = sumOfSquares(chunks[at].values, chunks[at].count);
                     }
                   });
  double sum = 0;
  for (const double part : sums) sum += part;
  return at::scalar_tensor(std::sqrt(sum), at::TensorOptions().dtype(at::kFloat));
}

}  // namespace

at::Tensor globalNorm(const std::vector<at::Tensor>& tensors) {
  const at::NoGradGuard noGrad;
  if (tensors.empty()) return at::zeros({}, at::TensorOptions().dtype(at::kFloat));
  const bool isPlain = std::all_of(tensors.begin(), tensors.end(), [](const at::Tensor& tensor) {
    return tensor.is_cpu() && tensor.scalar_type() == at::kFloat &&
           tensor.is_non_overlapping_and_dense();
  });
  if (isPlain) return chunkedNorm(tensors);
  return at::linalg_vector_norm(at::stack(at::_foreach_norm(tensors, 2))).to(at::kFloat);
}

OptimizerOptions optimizerFrom(const Config& stored) {
  const Config train = withTrainDefaults(stored);
  OptimizerOptions options;
  const std::string name = train.text("optimizer.name");
  options.rule = name == "sgd"    ? OptimizerOptions::Rule::Sgd
                 : name == "lamb" ? OptimizerOptions::Rule::Lamb
                 : name == "lars" ? OptimizerOptions::Rule::Lars
                                  : OptimizerOptions::Rule::AdamW;
  options.weightDecay = train.real("optimizer.weight_decay");
  options.beta1 = train.real("optimizer.beta1");
  options.beta2 = train.real("optimizer.beta2");
  options.eps = train.real("optimizer.eps");
  options.momentum = train.real("optimizer.momentum");
  options.nesterov = train.flag("optimizer.nesterov");
  options.correctsBias = train.flag("optimizer.bias_correction");
  options.alwaysAdapts = train.flag("optimizer.always_adapt");
  options.clipsRatio = train.flag("optimizer.trust_clip");
  options.decouplesDecay = train.flag("optimizer.decoupled_decay");
  options.trustCoefficient = train.real("optimizer.trust_coefficient");
  return options;
}

Optimizer::Optimizer(const OptimizerOptions& options, std::vector<ParameterGroup> groups)
    : options_(options) {
  const at::NoGradGuard noGrad;
  std::set<const void*> seen;
  for (ParameterGroup& given : groups) {
    if (given.parameters.empty()) continue;
    Group group;
    group.weightDecay = options.weightDecay * given.weightDecayScale;
    group.learningRateScale = given.learningRateScale;
    group.parameters = std::move(given.parameters);
    group.names = std::move(given.parameterNames);
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      const at::Tensor& parameter = group.parameters[i];
      if (!seen.insert(parameter.unsafeGetTensorImpl()).second) {
        throw ConfigError("parameter '" + group.names[i] +
                          "' is in two optimizer groups; it belongs in one");
      }
      group.first.push_back(at::zeros_like(parameter, at::MemoryFormat::Preserve));
      if (hasSecondMoment()) {
        group.second.push_back(at::zeros_like(parameter, at::MemoryFormat::Preserve));
      }
      all_.push_back(parameter);
      names_.push_back(group.names[i]);
    }
    group.learningRate =
        at::zeros({}, group.parameters[0].options().dtype(at::kFloat).requires_grad(false));
    groups_.push_back(std::move(group));
  }
  if (all_.empty()) {
    throw ConfigError(
        "there is no parameter to train; 'freeze' may have matched every one of them");
  }
  updates_ = at::zeros({}, all_[0].options().dtype(at::kFloat).requires_grad(false));
  for (Group& group : groups_) group.counts.assign(group.parameters.size(), updates_);
}

at::Tensor Optimizer::gradientNorm() const {
  std::vector<at::Tensor> gradients;
  gradients.reserve(all_.size());
  for (const at::Tensor& parameter : all_) {
    if (const at::Tensor& gradient = parameter.grad(); gradient.defined())
      gradients.push_back(gradient);
  }
  if (gradients.empty()) return at::zeros({}, updates_.options());
  return globalNorm(gradients);
}

void Optimizer::step(double learningRate, const at::Tensor& skip, const at::Tensor& divisor) {
  const at::NoGradGuard noGrad;
  updates_.add_(1).sub_(skip);
  for (Group& group : groups_) {
    group.learningRate.fill_(learningRate * group.learningRateScale);
    group.gradients.clear();
    for (const at::Tensor& parameter : group.parameters) {
      if (const at::Tensor& gradient = parameter.grad(); gradient.defined()) {
        group.gradients.push_back(gradient);
      }
    }
    if (group.gradients.size() == group.parameters.size()) {
      update(group, skip, divisor);
      continue;
    }
    if (group.gradients.empty()) continue;
    Group some;  // those that took part in this step
    some.weightDecay = group.weightDecay;
    some.learningRate = group.learningRate;
    some.gradients = group.gradients;
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      if (!group.parameters[i].grad().defined()) continue;
      some.parameters.push_back(group.parameters[i]);
      some.first.push_back(group.first[i]);
      if (!group.second.empty()) some.second.push_back(group.second[i]);
    }
    some.counts.assign(some.parameters.size(), updates_);
    update(some, skip, divisor);
  }
}

void Optimizer::update(Group& group, const at::Tensor& skip, const at::Tensor& divisor) {
  if (options_.rule == OptimizerOptions::Rule::Lamb ||
      options_.rule == OptimizerOptions::Rule::Lars) {
    updateByTrustRatio(group, skip, divisor);
    return;
  }
  const std::optional<at::Tensor> scale =
      divisor.defined() ? std::optional<at::Tensor>(divisor) : std::nullopt;
  if (options_.rule == OptimizerOptions::Rule::AdamW) {
    at::_fused_adamw_(group.parameters, group.gradients, group.first, group.second, {},
                      group.counts, group.learningRate, options_.beta1, options_.beta2,
                      group.weightDecay, options_.eps,
                      /*amsgrad=*/false, /*maximize=*/false, scale, skip);
    return;
  }
  if (group.weightDecay != 0) {
    // The fused step would add the decay to the gradient; decoupled, it shrinks the weight itself.
    // 1 - rate * decay * (1 - skip)
    const at::Tensor shrink = skip.sub(1).mul_(group.learningRate).mul_(group.weightDecay).add_(1);
    at::_foreach_mul_(group.parameters, shrink);
  }
  // Without momentum the fused step wants no buffers at all.
  const at::TensorList buffers =
      options_.momentum != 0 ? at::TensorList(group.first) : at::TensorList();
  at::_fused_sgd_(group.parameters, group.gradients, buffers, /*weight_decay=*/0, options_.momentum,
                  group.learningRate, /*dampening=*/0, options_.nesterov, /*maximize=*/false,
                  /*is_first_step=*/false, scale, skip);
}

void Optimizer::updateByTrustRatio(Group& group, const at::Tensor& skip,
                                   const at::Tensor& divisor) {
  for (std::size_t i = 0; i < group.parameters.size(); ++i) {
    const at::Tensor& gradient = group.gradients[i];
    const TrustRatioStep step{group.parameters[i].detach(),
                              divisor.defined() ? gradient.div(divisor) : gradient,
                              group.learningRate, skip, group.weightDecay};
    if (options_.rule == OptimizerOptions::Rule::Lamb) {
      lambStep(step, options_, group.first[i], group.second[i], updates_);
    } else {
      larsStep(step, options_, group.first[i]);
    }
  }
}

void Optimizer::clearGradients() {
  for (at::Tensor& parameter : all_) parameter.mutable_grad().reset();
  for (Group& group : groups_)
    group.gradients.clear();  // they would live through the next backward pass
}

std::vector<std::pair<std::string, at::Tensor>> Optimizer::state() const {
  std::vector<std::pair<std::string, at::Tensor>> state;
  const bool isAdam = hasSecondMoment();
  for (const Group& group : groups_) {
    for (std::size_t i = 0; i < group.names.size(); ++i) {
      state.emplace_back(group.names[i] + (isAdam ? "/exp_avg" : "/momentum"), group.first[i]);
      if (isAdam) state.emplace_back(group.names[i] + "/exp_avg_sq", group.second[i]);
    }
  }
  return state;
}

void Optimizer::load(const std::map<std::string, at::Tensor>& moments, std::int64_t updates) {
  const at::NoGradGuard noGrad;
  for (const auto& [name, moment] : state()) {
    const auto found = moments.find(name);
    if (found == moments.end()) {
      throw FileError("the checkpoint has no optimizer state '" + name +
                      "'; it was written by a run with other settings");
    }
    if (found->second.sizes() != moment.sizes()) {
      throw FileError("the checkpoint's optimizer state '" + name +
                      "' has another shape than the model's parameter");
    }
    moment.copy_(found->second);
  }
  updates_.fill_(static_cast<double>(updates));
}

}  // namespace vitrine
