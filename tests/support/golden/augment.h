// Augmentations and corruptions against reference cases that give the random numbers.
#pragma once

#include <vector>

#include "tests/support/golden/compare.h"

namespace vitrine::testing {

/// What our transforms make of such a case; recognised by the tensors it holds.
/// \throws Unmapped  it is not a case of an augmentation known here
[[nodiscard]] std::vector<Tensors> runAugmentationCase(const GoldenCase& golden);

/// Whether the case holds corrupted images, or errors of classifiers on such.
[[nodiscard]] bool isCorruptionCase(const GoldenCase& golden);
/// \pre isCorruptionCase(golden)
[[nodiscard]] std::vector<Tensors> runCorruptionCase(const GoldenCase& golden);

}  // namespace vitrine::testing
