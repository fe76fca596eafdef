// The mean of a part of a loss over what it was counted on.
#pragma once

#include "core/engine_export.h"
#include "core/plugin/task.h"

namespace vitrine {

/// What a count divides by: a part of which nothing was counted adds nothing.
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor divisorOf(const at::Tensor& count);

/// sum / count of one batch, without the part's weight.
/// \param samples  of the batch, for a part without a count of its own
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor meanOf(const LossPart& part, std::int64_t samples);

}  // namespace vitrine
