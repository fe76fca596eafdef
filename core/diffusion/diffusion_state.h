// State shared by the parts of DiffusionTransformer. For its source files only.
#pragma once

#include <functional>
#include <memory>

#include "core/diffusion/diffusion_transformer.h"
#include "core/nn/denoising_transformer.h"

namespace vitrine::diffusion {

struct DiffusionTransformer::State {
  DiffusionTransformerOptions options;
  std::shared_ptr<nn::DenoisingTransformer> network;
  at::Tensor angles;  ///< [tokens, pairs] on the device of the last use
  at::Tensor places;  ///< [tokens, 2] int64: row and column
  std::shared_ptr<const AttentionTap> attentionTap;

  /// Taps of one pass; they take the place of attentionTap.
  struct Taps {
    std::function<void(std::int64_t, const at::Tensor&)> block{};
    std::function<void(std::int64_t, const nn::AttentionOutput&)> attention{};
  };
  /// The prediction: of a flow without the head's second half.
  [[nodiscard]] at::Tensor run(const at::Tensor& x, const at::Tensor& time, const at::Tensor& label,
                               const Taps& taps);
};

}  // namespace vitrine::diffusion
