// Parts of a split that hold all its classes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/data/dataset.h"
#include "core/engine_export.h"

namespace vitrine {

/// `count` samples of a split, by ascending id; every sample when there are no more.
///
/// Within a class, samples follow each other by a draw from the stream `subset` of `seed`, counted
/// by (split, sample id). The j-th of a class with n samples has the place (j + 1/2) / n, the first
/// 0. The subset is the samples with the smallest places, equal places by the draw. Every class
/// keeps its share to within one or two samples, and none is missing where `count` allows it. A
/// smaller subset is part of a larger one. Samples without a field `label` are one class.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<std::int64_t> stratifiedSubset(
    const Dataset& dataset, Split split, std::int64_t count, std::uint64_t seed);

}  // namespace vitrine
