// Runs that have one name, told apart by what their configurations say.
#pragma once

#include <QString>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "core/store/types.h"
#include "ui/runs/run_configs.h"

namespace vitrine::ui {

/// "width 128 · heads 8": of every run that shares its name and stage with others of its experiment,
/// the values that are not the same in all of them. Seeds are not told: the list shows them. Runs of
/// one configuration have none.
[[nodiscard]] std::map<std::int64_t, QString> runDifferences(
    const std::map<std::int64_t, store::RunRow>& runs,
    const std::function<const FlatConfig&(const store::RunRow& run)>& configOf);

}  // namespace vitrine::ui
