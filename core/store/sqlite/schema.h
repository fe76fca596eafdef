// The schema of the database: migrations, and the check that a file is ours before anything is read
// from it. Private to core/store.
#pragma once

#include <span>
#include <string_view>

#include "core/store/sqlite/database.h"

namespace vitrine::store {

inline constexpr std::int64_t kApplicationId = 0x56695472;  ///< "ViTr"

/// One step of the schema, from `version` - 1 to `version`.
struct Migration {
  int version;
  std::string_view sql;
};

/// resources/migrations/*.sql in order.
[[nodiscard]] VITRINE_STORE_EXPORT std::span<const Migration> migrations();

/// Tables that only `vitrine export` makes, in a file of its own: what belongs to runs but lies
/// outside a database. Such a file opens as a database too.
[[nodiscard]] VITRINE_STORE_EXPORT std::string_view exportTables();

/// Makes the tables of an empty file, brings an older file up to date (after a backup next to it),
/// refuses every other. A connection for reading only checks.
/// \throws StoreError  not ours, newer than this program, or not of the expected schema
/// \throws RefusedError  an older file has runs in progress
VITRINE_STORE_EXPORT void openSchema(Database& database,
                                     std::span<const Migration> steps = migrations());

}  // namespace vitrine::store
