// Orders the differences of variants by importance, for a table without room for all.
#pragma once

#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/foundation_export.h"

namespace vitrine {

/// Changes of each variant against `variants[baseline]`. Changes that the fewest variants share
/// come first, so rows of variants that build on each other begin with what is new. Where the two
/// have different architectures, keys that only one of them has are left out.
/// \param variants  configurations, none of them null
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<std::vector<Difference>> tellingDifferences(
    const std::vector<const Json*>& variants, std::size_t baseline);

/// "model.mlp = swiglu, train.epochs = 2, and 12 more": at most four changes, long values cut
/// short. "" of none.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string tellingText(
    const std::vector<Difference>& changes);

}  // namespace vitrine
