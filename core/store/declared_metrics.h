// The metrics of a database: what they mean, as the cards of tasks declare them, and which were
// recorded.
#pragma once

#include <string>
#include <vector>

#include "core/config/catalog.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/store_export.h"

namespace vitrine::store {

/// Adds a row of metric_kind for each pattern that has none; a row that is there stays.
/// \returns  patterns that are there with another unit or direction
/// \throws StoreError
VITRINE_STORE_EXPORT std::vector<std::string> declareMetrics(
    RunStore& store, const std::vector<MetricDeclaration>& metrics);

/// Names of all metrics that any run recorded, in their order.
/// \throws StoreError  stopped, or out of time
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<std::string> recordedMetrics(
    RunReader& store, const RunReader::QueryLimits& limits);

}  // namespace vitrine::store
