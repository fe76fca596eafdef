// The part of a report that reproduces its runs: files, commands and hashes.
#pragma once

#include <string>
#include <vector>

#include "app/vitrine/report/html.h"
#include "core/store/run_reader.h"

namespace vitrine::app {

/// \param rows        runs of one experiment, at least one
/// \param reportName  file name of the report
[[nodiscard]] Html remakePart(store::RunReader& store, const std::vector<store::RunRow>& rows,
                              const std::string& reportName);

}  // namespace vitrine::app
