// Changes to a database file by its structure: pages, cells, records, schema, values, and the files
// beside it.
#pragma once

#include <string>

#include "tests/fuzz/database_seeds.h"
#include "tests/fuzz/mutate.h"

namespace vitrine::fuzz {

/// A database and what may lie beside it; "" where there is no such file.
struct DatabaseFiles {
  std::string main, log /* -wal */, journal;
};

/// One to three changes, of these: values of rows (any value in any column, and everything else
/// well-formed), fields of the file's header, of pages, cells and records, the list of free pages,
/// the text of the schema, bits of texts and blobs, whole pages, where the file ends. In one of
/// four the changed pages lie in a write-ahead log with valid checksums, or a hot journal takes
/// them back; one log or journal in four is broken in turn.
[[nodiscard]] DatabaseFiles mutateDatabase(const DatabaseSeed& seed, Dice& dice);

}  // namespace vitrine::fuzz
