// LAMB and LARS: they scale each parameter's update by its own norm.
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/where.h>

#include "core/train/update/update_rules.h"

namespace vitrine::train {

namespace {

/// |parameter| / |update| without waiting for a device; 1 where either is 0.
at::Tensor trustRatio(const at::Tensor& parameter, const at::Tensor& update, double factor) {
  const at::Tensor weight = at::linalg_vector_norm(parameter),
                   length = at::linalg_vector_norm(update);
  const at::Tensor ratio = weight.div(length).mul_(factor);
  return at::where(weight.gt(0).logical_and(length.gt(0)), ratio, at::ones_like(ratio));
}

/// The gradient that a parameter is updated with. A value that is not finite must not reach a
/// moment through a product with 0.
at::Tensor gradientOf(const UpdateStep& step, std::size_t place) {
  const at::Tensor& given = step.gradients[place];
  const at::Tensor value = step.divisor.defined() ? given.div(step.divisor) : given;
  return at::where(step.skip.gt(0), at::scalar_tensor(0, value.options()), value);
}

class Lamb final : public UpdateRule {
 public:
  explicit Lamb(const Config& config)
      : beta1_(config.real("beta1")),
        beta2_(config.real("beta2")),
        eps_(config.real("eps")),
        correctsBias_(config.flag("bias_correction")),
        alwaysAdapts_(config.flag("always_adapt")),
        clipsRatio_(config.flag("trust_clip")),
        decouplesDecay_(config.flag("decoupled_decay")) {}
  std::vector<std::string> stateNames() const override { return {"exp_avg", "exp_avg_sq"}; }
  void update(UpdateStep& step) const override {
    for (std::size_t i = 0; i < step.parameters.size(); ++i) updateOne(step, i);
  }

 private:
  void updateOne(UpdateStep& step, std::size_t place) const;

  double beta1_, beta2_, eps_;
  bool correctsBias_, alwaysAdapts_, clipsRatio_, decouplesDecay_;
};

void Lamb::updateOne(UpdateStep& step, std::size_t place) const {
  const at::Tensor parameter = step.parameters[place].detach();
  const at::Tensor keep = step.skip.neg().add_(1);
  const at::Tensor gradient = gradientOf(step, place);
  at::Tensor &first = step.state[0][place], &second = step.state[1][place];
  first.add_(gradient.sub(first).mul_(keep).mul_(1 - beta1_));
  second.add_(gradient.mul(gradient).sub_(second).mul_(keep).mul_(1 - beta2_));
  at::Tensor direction = first, root = second.sqrt();
  if (correctsBias_) {
    // 1 - beta^t, in float64: the float32 power of a late step would round.
    // A run whose first steps are skipped has no update yet.
    const at::Tensor count = step.updates.to(at::kDouble).clamp_min(1);
    const at::Tensor one = at::pow(beta1_, count).neg_().add_(1).to(at::kFloat);
    const at::Tensor two = at::pow(beta2_, count).neg_().add_(1).sqrt_().to(at::kFloat);
    direction = first.div(one);
    root.div_(two);
  }
  at::Tensor update = direction.div(root.add_(eps_));
  const at::Tensor rate = step.learningRate.mul(keep);
  if (step.weightDecay != 0) {
    if (decouplesDecay_) {
      parameter.mul_(rate.mul(-step.weightDecay).add_(1));
    } else {
      update.add_(parameter, step.weightDecay);
    }
  }
  if (step.weightDecay != 0 || alwaysAdapts_) {
    at::Tensor ratio = trustRatio(parameter, update, 1);
    if (clipsRatio_) ratio.clamp_max_(1);
    update.mul_(ratio);
  }
  parameter.sub_(update.mul_(rate));
}

class Lars final : public UpdateRule {
 public:
  explicit Lars(const Config& config)
      : momentum_(config.real("momentum")), trust_(config.real("trust_coefficient")) {}
  std::vector<std::string> stateNames() const override { return {"momentum"}; }
  void update(UpdateStep& step) const override {
    for (std::size_t i = 0; i < step.parameters.size(); ++i) updateOne(step, i);
  }

 private:
  void updateOne(UpdateStep& step, std::size_t place) const {
    const at::Tensor parameter = step.parameters[place].detach();
    const at::Tensor keep = step.skip.neg().add_(1);
    at::Tensor update = gradientOf(step, place);
    if (parameter.dim() > 1) {
      update = update.add(parameter, step.weightDecay);
      update = update.mul(trustRatio(parameter, update, trust_));
    }
    at::Tensor& buffer = step.state[0][place];
    // momentum * m + u, or m as it is
    buffer.add_(update.add(buffer, momentum_ - 1).mul_(keep));
    parameter.sub_(buffer.mul(step.learningRate).mul_(keep));
  }

  double momentum_, trust_;
};

}  // namespace

std::unique_ptr<UpdateRule> makeLamb(const Config& config) {
  return std::make_unique<Lamb>(config);
}
std::unique_ptr<UpdateRule> makeLars(const Config& config) {
  return std::make_unique<Lars>(config);
}

}  // namespace vitrine::train
