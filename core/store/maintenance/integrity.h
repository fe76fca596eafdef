// Checks the integrity of a database file. Private to core/store.
#pragma once

#include <string>
#include <vector>

#include "core/store/sqlite/database.h"

namespace vitrine::store {

/// Findings of integrity_check and foreign_key_check; empty for a whole file.
[[nodiscard]] std::vector<std::string> problemsOf(Database& database);

}  // namespace vitrine::store
