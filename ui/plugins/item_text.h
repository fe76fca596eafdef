// A readable page about a plugin or one of its items, generated from its schema: HTML for a
// QTextBrowser in the colours of the theme.
#pragma once

#include <QString>

#include "core/config/catalog.h"
#include "ui/plugins/plugin_report.h"

namespace vitrine::ui {

/// Fields with type, unit, range, default and meaning; rules as sentences; presets with what they
/// set; capabilities; the paper.
[[nodiscard]] QString itemHtml(const ItemCard& card, const Catalog& catalog);
/// File, versions, trust, why it is not loaded, and its items.
[[nodiscard]] QString pluginHtml(const PluginEntry& plugin, const Catalog& catalog);
/// A core schema that every experiment has: "train", "data" or "observe".
[[nodiscard]] QString coreHtml(const QString& name);
/// Everything that the page says, as plain words, for the search.
[[nodiscard]] QString itemWords(const ItemCard& card);

/// "integer", "one of a, b", "table" ...
[[nodiscard]] QString fieldTypeText(const Field& field);
/// "1 to 1024 px", "above 0", "": none.
[[nodiscard]] QString fieldRangeText(const Field& field);

}  // namespace vitrine::ui
