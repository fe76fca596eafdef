// Cases of one network under several settings: `variants` of case.json.
#pragma once

#include <vector>

#include "tests/support/golden/models.h"

namespace vitrine::testing {

/// Whether case.json has a table `variants` whose entries change `model`: {"rope": {...}} or
/// {"settings": {...}}.
[[nodiscard]] bool hasVariants(const GoldenCase& golden);

/// runModelCase() of each, as the case stores them: output/<variant>/<name>, <variant>/<parameter>.
/// \throws Unmapped, ConfigError, FileError
[[nodiscard]] std::vector<Tensors> runVariants(const GoldenCase& golden,
                                               const Architecture& architecture);

}  // namespace vitrine::testing
