// The line that starts the same runs in a terminal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/config/catalog.h"
#include "core/config/experiment.h"

namespace vitrine {

/// `key=value` words that make `text` out of `base`, checked by planning both; nothing where no
/// words do: variants, sweeps and stages come from a file alone.
/// \param file  what `base` is read from: its name is the title where the text has none
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::optional<std::vector<std::string>> asOverrides(
    const std::string& base, const std::string& file, const std::string& text,
    const Catalog& catalog);

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
