// The samplers of image generation: ddpm and ddim for steps, ode and sde for paths.
#pragma once

#include "core/config/schema.h"
#include "core/plugin/registry.h"
#include "plugins/tasks/generation/draw.h"

namespace vitrine::generation {

/// The sampler's own keys.
[[nodiscard]] Schema samplerSchema(Method method);

/// Each makes `count` images from `seed` on; `class` none takes the classes in turn, by seed.
/// Images are drawn in batches of `batch_size`, and a recipe tells its batch. An image is the same
/// to the last bit where the batch is.
void addSamplers(Registry& registry);

}  // namespace vitrine::generation
