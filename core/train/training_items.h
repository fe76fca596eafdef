// The optimizers and schedules that core brings.
#pragma once

#include "core/engine_export.h"
#include "core/plugin/registry.h"

namespace vitrine::train {

/// Adds those of trainingCards(): adamw, sgd, lamb, lars; constant, linear, cosine, poly, step.
/// \throws PluginError  an id is taken
VITRINE_ENGINE_EXPORT void addTrainingItems(Registry& registry);

/// `table` with the card's default for every key that it lacks, as a stored run may.
[[nodiscard]] VITRINE_ENGINE_EXPORT Config withItemDefaults(const ItemCard& card,
                                                            const Config& table);

}  // namespace vitrine::train
