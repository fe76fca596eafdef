// Images and texts that the runs of a report generated.
#pragma once

#include <cstddef>
#include <vector>

#include "app/vitrine/report/html.h"
#include "core/store/run_reader.h"

namespace vitrine::app {

/// Those of the newest step that each run has, by recipe; images are in the page. Empty where
/// there are none. \param mostImages  of each run
[[nodiscard]] Html samplesPart(store::RunReader& store, const std::vector<store::RunRow>& rows,
                               std::size_t mostImages);

}  // namespace vitrine::app
