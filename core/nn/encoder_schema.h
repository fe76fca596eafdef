// The part of a schema that every user of the encoder shares, and how a resolved table becomes its
// configuration.
#pragma once

#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/config/schema.h"
#include "core/nn/vision_transformer.h"

namespace vitrine::nn {

/// Sizes: image_size patch_size in_channels num_classes width depth heads mlp_width.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<Field> sizeFields();
/// Fields that the architectures share: qkv_bias mlp_bias pool final_norm norm_eps layer_scale
/// drop_path dropout.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<Field> commonFields();
/// Values of the sizes: of an encoder for the 1,000 classes of ImageNet, patches square.
[[nodiscard]] VITRINE_ENGINE_EXPORT Json imageNetSizes(int patch, int width, int depth, int heads);
/// The same, small enough for grey images of 28 px and ten classes on a laptop.
[[nodiscard]] VITRINE_ENGINE_EXPORT Json demoSizes();
/// Patches tile the image, heads tile the width, a class token is there when it is read.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<Rule> commonRules();

/// Reads the fields above, and mlp, pos_embed and class_token, into a configuration; the others
/// stay at their defaults.
[[nodiscard]] VITRINE_ENGINE_EXPORT VisionTransformerConfig commonConfig(const Config& config);

/// timm's first values: truncated normal 0.02, cut at +-2 (a hundred deviations), for maps, class
/// token and tables. The patch kernel, whose inputs are `patchInputs`, has torch's default.
[[nodiscard]] VITRINE_ENGINE_EXPORT InitRule commonInit(std::int64_t patchInputs);

/// Words of the vocabulary. \throws ConfigError  a word that is none of them
[[nodiscard]] VITRINE_ENGINE_EXPORT ClassToken classTokenOf(const std::string& word);
[[nodiscard]] VITRINE_ENGINE_EXPORT PositionKind positionKindOf(const std::string& word);
[[nodiscard]] VITRINE_ENGINE_EXPORT MlpKind mlpKindOf(const std::string& word);
[[nodiscard]] VITRINE_ENGINE_EXPORT NormKind normKindOf(const std::string& word);
[[nodiscard]] VITRINE_ENGINE_EXPORT MaskMode maskModeOf(const std::string& word);

}  // namespace vitrine::nn
