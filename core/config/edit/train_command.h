// The line that starts the same runs in a terminal.
#pragma once

#include <string>

#include "core/config/catalog.h"
#include "core/config/experiment.h"

namespace vitrine {

/// For a POSIX shell: `vitrine train FILE key=value ... --db DATABASE`, or the whole text where
/// that does not do.
/// \param file  an experiment file on the disk, or ""
/// \param base  its text
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string trainCommand(const std::string& text,
                                                                 const std::string& file,
                                                                 const std::string& base,
                                                                 const std::string& database,
                                                                 const Catalog& catalog);

}  // namespace vitrine
