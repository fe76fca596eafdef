// Which runs a page draws, alone or as the variants they belong to, and what those are called.
#pragma once

#include <QString>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/statistics.h"

namespace vitrine::store {
struct ComparedRun;
struct VariantGroup;
}  // namespace vitrine::store

namespace vitrine::ui {

class Selection;
class Workbench;

/// The selected runs that are not hidden; of more than `most` the first ones. The current run is
/// among them, selected or not; hidden it is there only while nothing else is left.
[[nodiscard]] std::vector<std::int64_t> drawnRuns(const Selection& selection, std::size_t most);
/// The name of a run in the list; "run 3" of one that has none or is not in the list.
[[nodiscard]] QString runNameOf(const Workbench& workbench, std::int64_t run);

/// Configuration keys whose values are not the same in all variants.
[[nodiscard]] std::vector<std::string> differingKeys(
    const std::vector<store::VariantGroup>& variants);
/// The shortest ending of a dotted key that no other of `keys` has: "model.mask.kind" as "kind".
[[nodiscard]] QString shortKey(const std::string& key, const std::vector<std::string>& keys);
/// By variant, no two alike: its name, or where that does not tell it what it sets.
/// \param variants  of store::variantsOf(runs)
[[nodiscard]] std::vector<QString> variantLabels(const std::vector<store::ComparedRun>& runs,
                                                 const std::vector<store::VariantGroup>& variants);

/// "mean", "median"; "95 % interval", "standard deviation", ...
[[nodiscard]] QString nameOf(Centre centre);
[[nodiscard]] QString nameOf(Spread spread);
/// What a line and its band are: "mean, band: minimum to maximum".
[[nodiscard]] QString bandText(Centre centre, Spread spread);

}  // namespace vitrine::ui
