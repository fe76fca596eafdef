// Sizes of a Llama: Touvron et al. 2023, arXiv:2302.13971, and Llama Team 2024, arXiv:2407.21783.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/config/config.h"
#include "core/config/schema.h"

namespace vitrine::llamafusion {

/// Change of rotary frequencies for texts longer than those of training.
struct RopeScaling {
  enum class Kind {
    Default,  ///< they stay
    Linear,   ///< all are divided by `factor`
    Llama3,   ///< slow ones are divided by `factor`, fast ones stay, between them a mixture
  };
  Kind kind = Kind::Default;
  double factor = 1;
  double lowFactor = 1,
         highFactor = 4;          ///< turns within the original context that bound the mixture
  double originalContext = 8192;  ///< tokens
};

struct LlamaConfig {
  std::int64_t dim = 0, depth = 0, heads = 0, kvHeads = 0, headDim = 0, ffnHidden = 0, vocab = 0;
  double ropeTheta = 1e4, eps = 1e-5;
  std::optional<RopeScaling> ropeScaling;
  bool isTied = false;  ///< logits are products with the embedding table
  std::int64_t context = 0;
};

/// The keys of a Llama, those of the published configuration files under short names.
[[nodiscard]] std::vector<Field> llamaFields();
[[nodiscard]] std::vector<Rule> llamaRules();
/// \throws ConfigError  rotary channels are odd, or two values of theta differ
[[nodiscard]] LlamaConfig llamaConfig(const Config& config);

/// Radians per token of each channel pair, [headDim / 2] float64.
[[nodiscard]] at::Tensor llamaFrequencies(const LlamaConfig& config);

}  // namespace vitrine::llamafusion
