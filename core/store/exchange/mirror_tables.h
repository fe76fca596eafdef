// Tables of a copy of a database, and how much of each is here. Private to core/store.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/json.h"
#include "core/store/sqlite/database.h"

namespace vitrine::store {

/// A table of the copy, in the order in which they are sent.
struct MirrorTable {
  const char* name;
  const char* owner;  ///< column with the id of the run; "0" where rows belong to none
  /// Rows come with ascending `key`, never change, and are sent from the last one on; "" where all
  /// are sent when one differs.
  const char* key = "";
  /// Summed over the rows: two lists with equal keys that differ in it are told apart.
  const char* check = "0";
  bool movesPoints = false;  ///< when it differs, the points that were taken may differ as well
  bool isPoints = false;
};
/// Every table apart from `meta`, `counter`, `numbers` and `deleted_run`, and those of exports.
[[nodiscard]] VITRINE_STORE_EXPORT std::span<const MirrorTable> mirrorTables();

/// State of a table: {rows, last, check} up to the key `upTo`, or {print} over all rows.
[[nodiscard]] Json standing(Database& database, const MirrorTable& table, std::int64_t run,
                            std::int64_t upTo);

/// A value as it is; blobs are binary.
[[nodiscard]] Json cellOf(const Statement& row, int column);
/// \throws StoreError  no value of a database
void bindCell(Statement& row, int index, const Json& value);

}  // namespace vitrine::store
