// The schema of denoising transformers, and how a resolved table becomes their options.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/config/catalog.h"
#include "core/config/config.h"
#include "core/config/schema.h"
#include "core/diffusion/diffusion_transformer.h"
#include "core/engine_export.h"

namespace vitrine::diffusion {

/// Blocks of the members of the family.
enum class BlockStyle {
  Additive,  ///< GELU and an added sin-cos table
  Rotary,    ///< SwiGLU and rotary positions
};

/// Keys: input_size patch_size in_channels width depth heads mlp_width mlp num_classes learn_sigma
/// class_dropout_prob norm{kind, eps, affine} pe rope{mode, base, ratio, shared, axis_order, scale,
/// anchor, per_axis, ntk_alpha, ntk_form}. Presets "<prefix>/s2" to "<prefix>/xl8": four sizes with
/// patches of 2, 4 and 8 for 32 x 32 latents of four channels. "<prefix>/demo" is for grey images
/// of 28 pixels.
[[nodiscard]] VITRINE_ENGINE_EXPORT Schema diffusionSchema(BlockStyle style,
                                                           const std::string& prefix);

/// The card of a DiffusionTransformer with that schema, its presets under `id`; without paper and
/// doc.
[[nodiscard]] VITRINE_ENGINE_EXPORT ItemCard diffusionCard(BlockStyle style, const char* id,
                                                           const char* title);
/// \param time  what the architecture's time and outputs are
/// \throws ConfigError  sizes that do not fit together
[[nodiscard]] VITRINE_ENGINE_EXPORT DiffusionTransformerOptions
diffusionOptions(const Config& config, GuidedDenoiser::Time time);
/// The model of those options.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::shared_ptr<Model> makeDiffusionTransformer(
    const Config& config, GuidedDenoiser::Time time, std::uint64_t seed);

}  // namespace vitrine::diffusion
