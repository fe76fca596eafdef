// Error of a classifier under corruptions of images, relative to another one (Hendrycks and
// Dietterich 2019, arXiv:1903.12261, section 4).
#pragma once

#include <span>
#include <vector>

#include "core/engine_export.h"

namespace vitrine::eval {

/// Top-1 errors in [0, 1] of one corruption, by severity.
using SeverityErrors = std::vector<double>;

/// Sum of the model's errors over the sum of the baseline's, for each corruption.
/// \throws ShapeError  the two differ in corruptions or severities, or there are none
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<double> corruptionErrors(
    std::span<const SeverityErrors> model, std::span<const SeverityErrors> baseline);
/// The same with the clean error of each subtracted first: what the corruption alone costs.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<double> relativeCorruptionErrors(
    std::span<const SeverityErrors> model, double cleanModel,
    std::span<const SeverityErrors> baseline, double cleanBaseline);
/// Mean error over severities over a published one, for each corruption.
/// \param meanErrors  of the baseline, for each corruption
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<double> corruptionErrorsOver(
    std::span<const SeverityErrors> model, std::span<const double> meanErrors);
/// Mean over corruptions: mCE where `errors` are relative to a baseline.
[[nodiscard]] VITRINE_ENGINE_EXPORT double meanCorruptionError(std::span<const double> errors);

}  // namespace vitrine::eval
