// The data of an entry in the list of plugins. Internal to ui/plugins.
#pragma once

#include <QString>
#include <Qt>

#include "core/config/catalog.h"

namespace vitrine::ui {

inline constexpr int kEntryRole = Qt::UserRole;      // "plugin:ID", "item:architecture/ID"
inline constexpr int kWordsRole = Qt::UserRole + 1;  // texts that the search reads

/// "item:architecture/ID".
[[nodiscard]] QString entryOf(const ItemCard& card);

}  // namespace vitrine::ui
