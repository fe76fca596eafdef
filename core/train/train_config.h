// The [train] table of a run, whenever it was stored.
#pragma once

#include "core/config/config.h"
#include "core/engine_export.h"

namespace vitrine::train {

/// `train` with the schema's default for every key that it lacks. A run that was stored before a
/// key existed ran with its default. Keys that are null stay null.
[[nodiscard]] VITRINE_ENGINE_EXPORT Config withTrainDefaults(const Config& train);

}  // namespace vitrine::train
