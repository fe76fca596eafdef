// An optimizer that moves every weight by the same amount: the smallest a plugin can bring.
#pragma once

#include "core/plugin/optimizer.h"

namespace outside {

/// m = momentum m + (1 - momentum) g,  p -= learning rate * (sign(m) + decay * p)
class SignedSteps final : public vitrine::OptimizerItem {
 public:
  [[nodiscard]] vitrine::ItemCard card() const override;
  [[nodiscard]] std::unique_ptr<vitrine::UpdateRule> open(
      const vitrine::Config& config) const override;
};

}  // namespace outside
