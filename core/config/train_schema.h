// The schema of [train] with the keys of the optimizer and the schedule that a run chooses.
#pragma once

#include <string>
#include <vector>

#include "core/config/catalog.h"

namespace vitrine {

/// Cards of the optimizers and schedules that core brings. A card's schema has the item's own keys:
/// those of every optimizer and schedule stand in trainSchema().
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<ItemCard> trainingCards();

/// trainSchema() in which `optimizer` and `schedule` have the keys of these items next to those of
/// every one. Both offer the names that the catalog has. An item's own field takes the place of the
/// common one of its name.
/// \param optimizer, schedule  ids; one that the catalog does not have stands for all of them
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Schema trainSchemaWith(const Catalog& catalog,
                                                               const std::string& optimizer,
                                                               const std::string& schedule);

/// A stored configuration as a file may say it. Runs of earlier versions had the keys of all of
/// core's optimizers and schedules, whichever they chose.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Json withOwnTrainKeys(Json config);

/// One table of `[train.groups]`: parameters that are updated in their own way. `optimizer`, whose
/// keys are those of the chosen optimizer, is read next to it.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT const Schema& parameterGroupSchema();

}  // namespace vitrine
