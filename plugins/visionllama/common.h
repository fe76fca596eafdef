// Configuration keys that the model families of VisionLLaMA share.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/config/config.h"
#include "core/config/schema.h"
#include "core/nn/bias.h"
#include "core/nn/block_names.h"
#include "core/nn/mlp.h"
#include "core/nn/norm.h"
#include "core/nn/vision_transformer.h"

namespace vitrine::visionllama {

inline constexpr const char* kPaper =
    "Chu et al. 2024, \"VisionLLaMA: A Unified LLaMA Backbone for Vision Tasks\", "
    "arXiv:2403.00522";

/// mlp mlp_bias norm qkv_bias layer_scale drop_path drop_path_rule.
/// \param eps   default of norm.eps
/// \param rule  default of drop_path_rule
[[nodiscard]] std::vector<Field> blockFields(double eps, const char* rule);

/// Those fields as they were resolved.
struct BlockSettings {
  nn::MlpKind mlp = nn::MlpKind::SwiGlu;
  nn::Bias mlpBias = nn::Bias::None, qkvBias = nn::Bias::Present;
  nn::NormKind norm = nn::NormKind::Layer;
  double normEps = 1e-6;
  std::optional<double> layerScale;
  double dropPath = 0;
  nn::DropPathRule dropPathRule = nn::DropPathRule::Constant;

  /// Hidden channels where the configuration gives none: floor(8/3 width) rounded up to a multiple
  /// of 256, for GELU 4 width.
  [[nodiscard]] std::int64_t usualHidden(std::int64_t width) const;
  /// The authors' names of a block's parameters.
  [[nodiscard]] nn::BlockNames names() const;
};
[[nodiscard]] BlockSettings blockSettingsOf(const Config& config);

}  // namespace vitrine::visionllama
