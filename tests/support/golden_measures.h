// Measures of predictions, attention and averaged weights against reference cases.
#pragma once

#include <optional>

#include "tests/support/golden_compare.h"

namespace vitrine::testing {

/// What our code makes of such a case; nothing for cases of another kind.
[[nodiscard]] std::optional<Tensors> runMeasureCase(const GoldenCase& golden);

}  // namespace vitrine::testing
