// The data of an entry in the list of plugins. Internal to ui/plugins.
#pragma once

#include <QString>
#include <Qt>
#include <vector>

#include "core/config/catalog.h"
#include "ui/plugins/plugin_report.h"

namespace vitrine::ui {

inline constexpr int kEntryRole = Qt::UserRole;      // "plugin:ID", "item:architecture/ID"
inline constexpr int kWordsRole = Qt::UserRole + 1;  // texts that the search reads

/// "item:architecture/ID".
[[nodiscard]] QString entryOf(const ItemCard& card);
/// "plugin:ID"; of another plugin of `all` with that name behind the first, "plugin:ID FILE".
[[nodiscard]] QString entryOf(const PluginEntry& plugin, const std::vector<PluginEntry>& all);

}  // namespace vitrine::ui
