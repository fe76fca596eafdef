// Corruptions of images against reference cases that give the random numbers, and what they cost.
#pragma once

#include <vector>

#include "tests/support/golden_compare.h"

namespace vitrine::testing {

/// Whether the case holds corrupted images, or errors of classifiers on such.
[[nodiscard]] bool isCorruptionCase(const GoldenCase& golden);
/// \pre isCorruptionCase(golden)
[[nodiscard]] std::vector<Tensors> runCorruptionCase(const GoldenCase& golden);

}  // namespace vitrine::testing
