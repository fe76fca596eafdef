// Finds the file of an experiment among those that come with the program.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/store_export.h"

namespace vitrine::store {

/// The folder, one below a root, whose experiment file has this title; its published.toml and
/// claims.toml are about that experiment. "" where there is none. Unreadable files are skipped.
/// \param roots  "experiments" of the source tree and of the installed program
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path folderOfExperiment(
    const std::string& title, const std::vector<std::filesystem::path>& roots);

}  // namespace vitrine::store
