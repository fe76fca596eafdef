// A classifier of two layers over the pixels: the smallest architecture a plugin can bring.
#pragma once

#include "core/plugin/registry.h"

namespace plain_mlp {

/// logits = W2 gelu(W1 pixels + b1) + b2
class PlainMlpArchitecture final : public vitrine::Architecture {
 public:
  [[nodiscard]] vitrine::ItemCard card() const override;
  [[nodiscard]] std::shared_ptr<vitrine::Model> build(const vitrine::Config& config,
                                                      std::uint64_t seed) const override;
};

}  // namespace plain_mlp
