// Checks the integrity of a database file. Private to core/store.
#pragma once

#include <string>
#include <vector>

#include "core/store/sqlite/database.h"

namespace vitrine::store {

/// What integrity_check and foreign_key_check find; empty means that the file is whole.
[[nodiscard]] std::vector<std::string> problemsOf(Database& database);

}  // namespace vitrine::store
