// Lists of tables and tables with names, as toml_patch edits them.
#pragma once

#include <functional>
#include <string>

#include "core/base/json.h"
#include "core/config/edit/toml_text.h"
#include "core/foundation_export.h"

namespace vitrine {

/// Whether the file's author names the tables there: `[aux.NAME]`, `[train.groups.NAME]`.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT bool isNamedTable(const TomlPath& path);

/// A value as a file has it: a list of several tables takes one line for each.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string tomlLines(const Json& value,
                                                              const std::string& newLine = "\n");

/// Spells the table at `path` with another name wherever the text says it; comments stay.
VITRINE_FOUNDATION_EXPORT void renameTable(TomlText& text, const TomlPath& path,
                                           const std::string& name);

/// Edits `{ ... }` or the lines of a table so that it says `to` instead of `from`.
using TableEdit =
    std::function<std::string(const std::string& text, const Json& from, const Json& to)>;

/// Brings a list of tables to `target`, element by element. Elements that stay keep their text and
/// comments, also where they move. \returns false where the text has no such list
bool patchList(TomlText& text, const TomlPath& path, const Json& now, const Json& target,
               const TableEdit& edit);

}  // namespace vitrine
