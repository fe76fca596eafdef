// AdamW and SGD: one fused call for a group.
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>

#include <optional>

#include "core/train/update/update_rules.h"

namespace vitrine::train {

namespace {

std::optional<at::Tensor> divisorOf(const UpdateStep& step) {
  return step.divisor.defined() ? std::optional<at::Tensor>(step.divisor) : std::nullopt;
}

class AdamW final : public UpdateRule {
 public:
  explicit AdamW(const Config& config)
      : beta1_(config.real("beta1")), beta2_(config.real("beta2")), eps_(config.real("eps")) {}
  std::vector<std::string> stateNames() const override { return {"exp_avg", "exp_avg_sq"}; }
  void update(UpdateStep& step) const override {
    const std::vector<at::Tensor> counts(step.parameters.size(), step.updates);
    at::_fused_adamw_(step.parameters, step.gradients, step.state[0], step.state[1], {}, counts,
                      step.learningRate, beta1_, beta2_, step.weightDecay, eps_,
                      /*amsgrad=*/false, /*maximize=*/false, divisorOf(step), step.skip);
  }

 private:
  double beta1_, beta2_, eps_;
};

class Sgd final : public UpdateRule {
 public:
  explicit Sgd(const Config& config)
      : momentum_(config.real("momentum")), nesterov_(config.flag("nesterov")) {}
  std::vector<std::string> stateNames() const override { return {"momentum"}; }
  void update(UpdateStep& step) const override {
    if (step.weightDecay != 0) {
      // The fused step would add the decay to the gradient; decoupled, it shrinks the weight
      // itself. 1 - rate * decay * (1 - skip)
      const at::Tensor shrink =
          step.skip.sub(1).mul_(step.learningRate).mul_(step.weightDecay).add_(1);
      at::_foreach_mul_(step.parameters, shrink);
    }
    // Without momentum the fused step needs no buffers.
    const at::TensorList buffers =
        momentum_ != 0 ? at::TensorList(step.state[0]) : at::TensorList();
    at::_fused_sgd_(step.parameters, step.gradients, buffers, /*weight_decay=*/0, momentum_,
                    step.learningRate, /*dampening=*/0, nesterov_, /*maximize=*/false,
                    /*is_first_step=*/false, divisorOf(step), step.skip);
  }

 private:
  double momentum_;
  bool nesterov_;
};

}  // namespace

std::unique_ptr<UpdateRule> makeAdamW(const Config& config) {
  return std::make_unique<AdamW>(config);
}
std::unique_ptr<UpdateRule> makeSgd(const Config& config) { return std::make_unique<Sgd>(config); }

}  // namespace vitrine::train
