// Reads rows of `run` and JSON columns. Private to core/store.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/cell_text.h"
#include "core/store/sqlite/database.h"
#include "core/store/types.h"

namespace vitrine::store {

/// \throws NotFoundError
[[nodiscard]] RunRow readRun(Database& database, std::int64_t run);
[[nodiscard]] std::optional<RunRow> readRunByUuid(Database& database, const std::string& uuid);
[[nodiscard]] std::vector<RunRow> readRunsAlive(Database& database);
[[nodiscard]] std::vector<RunRow> readRunsChanged(Database& database, std::int64_t since);

[[nodiscard]] std::string readNote(Database& database, std::int64_t run);
[[nodiscard]] std::vector<std::string> readTags(Database& database, std::int64_t run);
/// By metric, step and text.
[[nodiscard]] std::vector<CurveNoteRow> readCurveNotes(Database& database, std::int64_t run);

/// The UUID of the database, "" where it has none.
[[nodiscard]] std::string uuidOf(Database& database);

/// \throws StoreError  the text is not JSON; names `what`
[[nodiscard]] Json parseJson(const std::string& text, const std::string& what);

/// `text` of a file from outside, or of SQLite about one, as a part of a message. It is one line of
/// at most 160 bytes without control characters.
[[nodiscard]] std::string shown(std::string_view text);

/// Text as a literal of SQL: 'it''s'. For queries that take no parameters.
[[nodiscard]] std::string quotedSql(const std::string& text);

/// Columns of a table that can be written: generated ones cannot.
[[nodiscard]] std::vector<std::string> writableColumns(Database& database,
                                                       const std::string& table);
/// "a", "b" for a statement; or `item` that many times: ?, ?
[[nodiscard]] std::string columnList(const std::vector<std::string>& names,
                                     const char* item = nullptr);

/// The last line that says something in a log below `folder`; "" when it cannot be read or lies
/// elsewhere.
[[nodiscard]] std::string lastLogLine(const std::filesystem::path& folder,
                                      const std::string& relativePath);

}  // namespace vitrine::store
