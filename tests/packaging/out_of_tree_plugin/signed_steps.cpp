#include "signed_steps.h"

#include <ATen/ATen.h>

namespace outside {

namespace {

class Rule final : public vitrine::UpdateRule {
 public:
  explicit Rule(double momentum) : momentum_(momentum) {}
  std::vector<std::string> stateNames() const override { return {"average"}; }
  void update(vitrine::UpdateStep& step) const override {
    for (std::size_t i = 0; i < step.parameters.size(); ++i) {
      at::Tensor gradient = step.gradients[i];
      if (step.divisor.defined()) gradient = gradient.div(step.divisor);
      at::Tensor& average = step.state[0][i];
      const at::Tensor next = average.mul(momentum_).add_(gradient, 1 - momentum_);
      // On the device, whatever the host knows: a skipped step leaves both as they are.
      const at::Tensor isSkipped = step.skip.gt(0);
      average.copy_(at::where(isSkipped, average, next));
      const at::Tensor move = average.sign().add_(step.parameters[i], step.weightDecay);
      step.parameters[i].sub_(move.mul_(step.learningRate).mul_(isSkipped.logical_not()));
    }
  }

 private:
  double momentum_;
};

}  // namespace

vitrine::ItemCard SignedSteps::card() const {
  vitrine::ItemCard card;
  card.kind = vitrine::ItemKind::Optimizer;
  card.id = "signed_steps";
  card.title = "Signed steps";
  card.doc = "Every weight moves by the same amount";
  card.schema.fields = {vitrine::realField("momentum", 0.9, "decay of the averaged gradient")
                            .titled("Momentum")
                            .atLeast(0)
                            .lessThan(1)
                            .runOnly()};
  return card;
}

std::unique_ptr<vitrine::UpdateRule> SignedSteps::open(const vitrine::Config& config) const {
  return std::make_unique<Rule>(config.real("momentum"));
}

}  // namespace outside
