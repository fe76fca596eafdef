// Noise schedules, diffusion losses, paths, solvers and generation metrics against reference cases.
#pragma once

#include <optional>

#include "tests/support/golden_compare.h"

namespace vitrine::testing {

/// What our code makes of such a case, or nothing where it is of another family.
[[nodiscard]] std::optional<Tensors> runDiffusionCase(const GoldenCase& golden);

}  // namespace vitrine::testing
