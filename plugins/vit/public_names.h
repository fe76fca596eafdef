// Names of the weights of a Vision Transformer in other programs.
#pragma once

#include <vector>

#include "core/model/weight_source.h"
#include "core/nn/vision_transformer.h"
#include "core/plugin/architecture.h"

namespace vitrine::vit {

/// Complete tables for a model of this configuration: Hugging Face's names, recent and before
/// transformers 5; timm's are the model's own.
[[nodiscard]] std::vector<std::vector<WeightRename>> publicNames(
    const nn::VisionTransformerConfig& config);

/// Files that are one of these models, or are taken for one.
[[nodiscard]] std::vector<WeightSign> publicSigns();

}  // namespace vitrine::vit
