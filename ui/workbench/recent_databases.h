// The databases that were opened lately, newest first.
#pragma once

#include <QStringList>

namespace vitrine::ui {

/// Those that are still there; one on another machine (ssh://lab/data/lab.sqlite) always.
[[nodiscard]] QStringList recentDatabases();
void rememberDatabase(const QString& file);
void forgetDatabases();

}  // namespace vitrine::ui
