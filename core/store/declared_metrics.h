// What the metrics of a database mean, as the cards of tasks declare them.
#pragma once

#include <string>
#include <vector>

#include "core/config/catalog.h"
#include "core/store/run_store.h"
#include "core/store_export.h"

namespace vitrine::store {

/// Adds a row of metric_kind for each pattern that has none; a row that is there stays.
/// \returns  patterns that are there with another unit or direction
/// \throws StoreError
VITRINE_STORE_EXPORT std::vector<std::string> declareMetrics(
    RunStore& store, const std::vector<MetricDeclaration>& metrics);

}  // namespace vitrine::store
