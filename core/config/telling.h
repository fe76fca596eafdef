// Orders the differences of a variant by importance, for a table without room for all.
#pragma once

#include <vector>

#include "core/config/config.h"
#include "core/foundation_export.h"

namespace vitrine {

/// Changes of `variants[variant]` against `variants[baseline]`. Changes that the fewest variants
/// share come first, so rows of variants that build on each other begin with what is new. Where the
/// two have different architectures, keys that only one of them has are left out.
/// \param variants  configurations, none of them null
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<Difference> tellingDifferences(
    const std::vector<const Json*>& variants, std::size_t variant, std::size_t baseline);

}  // namespace vitrine
