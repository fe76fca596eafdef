// Runs that have one name, told apart by what their configurations say.
#pragma once

#include <QString>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "core/store/types.h"
#include "ui/runs/run_configs.h"

namespace vitrine::ui {

/// "width 128 · heads 8": the values that are not the same in all runs of one name, stage and
/// experiment. A run that shares these with no other has none. Seeds are omitted: the list shows
/// them. Runs of one configuration have none.
[[nodiscard]] std::map<std::int64_t, QString> runDifferences(
    const std::map<std::int64_t, store::RunRow>& runs,
    const std::function<const FlatConfig&(const store::RunRow& run)>& configOf);

/// Values of a configuration by key, as text, without seeds.
using ConfigTexts = std::map<std::string, QString>;
[[nodiscard]] ConfigTexts configTexts(const FlatConfig& config);
/// Keys that do not have one value in all of them, one that is missing included.
[[nodiscard]] std::set<std::string> keysThatDiffer(
    const std::map<std::int64_t, ConfigTexts>& configs);

}  // namespace vitrine::ui
