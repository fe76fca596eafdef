// The schema of the database: migrations, and the check that a file is ours before anything is read
// from it. Private to core/store.
#pragma once

#include <span>
#include <string>
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

/// Of all objects that the migrations make, with their statements. Running the migrations to know
/// them would take longer than all else at the opening of a file. They are run where a file has
/// another hash.
inline constexpr std::string_view kNewestObjects =
    "418a2a3aab723bf45f07fd373b7e65727085521bff5e6c1e30690bc22ff57c04";
/// The same, found by running them.
[[nodiscard]] VITRINE_STORE_EXPORT std::string newestObjects();

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
