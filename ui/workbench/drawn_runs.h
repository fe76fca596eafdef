// Which runs a page draws, and what they are called.
#pragma once

#include <QString>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vitrine::ui {

class Selection;
class Workbench;

/// The selected runs that are not hidden; of more than `most` the first ones. The current run is
/// among them, selected or not; hidden it is there only while nothing else is left.
[[nodiscard]] std::vector<std::int64_t> drawnRuns(const Selection& selection, std::size_t most);
/// The name of a run in the list; "run 3" of one that has none or is not in the list.
[[nodiscard]] QString runNameOf(const Workbench& workbench, std::int64_t run);

}  // namespace vitrine::ui
