#include "core/train/optimizer.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/config/catalog.h"
#include "core/train/training_items.h"

namespace vitrine::train {

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
    for (std::int64_t i = 0; i < tensor.numel(); i += kChunk)
      chunks.push_back({values + i, std::min(kChunk, tensor.numel() - i)});
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

Optimizer::Group Optimizer::groupOf(const OptimizerItem& item, const Config& config,
                                    ParameterGroup given) {
  Config own = config;
  if (given.settings.is_object()) {
    Json values = config.json();
    values.update(given.settings);
    own = Config(std::move(values));
  }
  Group group{.rule = item.open(own)};
  group.stateNames = group.rule->stateNames();
  group.learningRateScale = given.learningRateScale;
  group.names = std::move(given.parameterNames);
  UpdateStep& step = group.step;
  step.weightDecay = own.real("weight_decay") * given.weightDecayScale;
  step.parameters = std::move(given.parameters);
  for (const std::string& name : group.stateNames) {
    std::vector<at::Tensor>& values = step.state.emplace_back();
    for (const at::Tensor& parameter : step.parameters)
      values.push_back(group.rule->firstState(name, parameter));
  }
  step.learningRate =
      at::zeros({}, step.parameters[0].options().dtype(at::kFloat).requires_grad(false));
  return group;
}

Optimizer::Optimizer(const OptimizerItem& item, const Config& table,
                     std::vector<ParameterGroup> groups) {
  const at::NoGradGuard noGrad;
  Json values = trainSchema().defaults().at("optimizer");
  values.merge_patch(withItemDefaults(item.card(), table).json());
  const Config config(std::move(values));
  std::set<const void*> seen;
  for (ParameterGroup& given : groups) {
    if (given.parameters.empty()) continue;
    Group& group = groups_.emplace_back(groupOf(item, config, std::move(given)));
    for (std::size_t i = 0; i < group.names.size(); ++i) {
      const at::Tensor& parameter = group.step.parameters[i];
      if (!seen.insert(parameter.unsafeGetTensorImpl()).second) {
        throw ConfigError("parameter '" + group.names[i] +
                          "' is in two optimizer groups; it belongs in one");
      }
      all_.push_back(parameter);
      names_.push_back(group.names[i]);
    }
  }
  if (all_.empty()) {
    throw ConfigError(
        "there is no parameter to train; 'freeze' may have matched every one of them");
  }
  updates_ = at::zeros({}, all_[0].options().dtype(at::kFloat).requires_grad(false));
  for (Group& group : groups_) group.step.updates = updates_;
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
    group.step.learningRate.fill_(learningRate * group.learningRateScale);
    group.step.skip = skip;
    group.step.divisor = divisor;
    update(group);
  }
}

void Optimizer::update(Group& group) {
  UpdateStep& all = group.step;
  all.gradients.clear();
  for (const at::Tensor& parameter : all.parameters) {
    if (const at::Tensor& gradient = parameter.grad(); gradient.defined())
      all.gradients.push_back(gradient);
  }
  if (all.gradients.size() == all.parameters.size()) {
    group.rule->update(all);
    return;
  }
  if (all.gradients.empty()) return;
  UpdateStep some = all;  // those that took part in this step
  some.parameters.clear();
  for (std::vector<at::Tensor>& values : some.state) values.clear();
  for (std::size_t i = 0; i < all.parameters.size(); ++i) {
    if (!all.parameters[i].grad().defined()) continue;
    some.parameters.push_back(all.parameters[i]);
    for (std::size_t k = 0; k < all.state.size(); ++k) some.state[k].push_back(all.state[k][i]);
  }
  group.rule->update(some);
}

void Optimizer::clearGradients() {
  for (at::Tensor& parameter : all_) parameter.mutable_grad().reset();
  for (Group& group : groups_)
    group.step.gradients.clear();  // they would live through the next backward pass
}

std::vector<std::pair<std::string, at::Tensor>> Optimizer::state() const {
  std::vector<std::pair<std::string, at::Tensor>> state;
  for (const Group& group : groups_) {
    for (std::size_t i = 0; i < group.names.size(); ++i) {
      for (std::size_t k = 0; k < group.stateNames.size(); ++k)
        state.emplace_back(group.names[i] + "/" + group.stateNames[k], group.step.state[k][i]);
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

}  // namespace vitrine::train
