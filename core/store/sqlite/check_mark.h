// The file that says a database met an I/O error and should be checked: `<database>.needs-check`.
// The database itself cannot be written at that moment.
#pragma once

#include <filesystem>
#include <string>

namespace vitrine::store {

/// Leaves the mark, with the time and `why`. Only a help for the next opener: where the disk
/// refuses this file too, the error itself has been said.
void markForCheck(const std::filesystem::path& database, const std::string& why) noexcept;

/// The first error since the last successful check, with its time; "" where there is no mark.
[[nodiscard]] std::string whyCheckIsNeeded(const std::filesystem::path& database);

/// \returns false  there was none, or it cannot be removed
bool removeCheckMark(const std::filesystem::path& database) noexcept;

}  // namespace vitrine::store
