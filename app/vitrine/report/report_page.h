// The whole page of a report.
#pragma once

#include <string>
#include <vector>

#include "app/vitrine/report/experiment_part.h"

namespace vitrine::app {

/// One self-contained HTML document: it names no file and no address outside of itself and runs no
/// script.
/// \param experiments  runs of each, at least one
[[nodiscard]] std::string reportPage(store::RunReader& store,
                                     const std::vector<std::vector<store::RunRow>>& experiments,
                                     const std::string& title, const PartOptions& options,
                                     FigureDrawer& figures);

}  // namespace vitrine::app
