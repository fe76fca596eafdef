// LlamaFusion against reference cases: what its tensor program does not make by itself.
#pragma once

#include <vector>

#include "tests/support/golden/compare.h"

namespace vitrine::testing {

/// A case of this family: a model, sampling with guidance, masks, or tables of a schedule.
[[nodiscard]] bool isFusionCase(const GoldenCase& golden);
/// \pre isFusionCase() \throws Unmapped, ConfigError, FileError
[[nodiscard]] std::vector<Tensors> runFusionCase(const GoldenCase& golden);

}  // namespace vitrine::testing
