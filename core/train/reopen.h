// A run opened once more next to itself: the same weights under other values.
#pragma once

#include <vector>

#include "core/train/model_setup.h"

namespace vitrine::train {

/// \param registry  outlives the result
/// \param config    resolved, whole
[[nodiscard]] Reopen reopenOf(const Registry& registry, const Json& config,
                              const std::vector<AuxChoice>& auxiliaries);

}  // namespace vitrine::train
