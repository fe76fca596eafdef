// Operators, losses, schedules, optimizers and metrics against reference cases that hold no
// network.
#pragma once

#include <optional>
#include <vector>

#include "tests/support/golden/compare.h"

namespace vitrine::testing {

/// What our code makes of such a case; recognised by the tensors it holds, so that a folder that
/// was never seen will do. \throws Unmapped  no rule here makes what the case holds
[[nodiscard]] std::vector<Tensors> runRuleCase(const GoldenCase& golden);

/// Its part for noise schedules, diffusion losses, paths, solvers and generation metrics; nothing
/// for a case of another family.
[[nodiscard]] std::optional<Tensors> runDiffusionCase(const GoldenCase& golden);
/// Its part for measures of predictions, attention and averaged weights; nothing for another case.
[[nodiscard]] std::optional<Tensors> runMeasureCase(const GoldenCase& golden);

}  // namespace vitrine::testing
