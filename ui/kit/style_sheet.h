// The one style sheet of the window, made from the colours of the theme.
#pragma once

#include <QString>

#include "ui/kit/theme.h"

namespace vitrine::ui {

/// Widgets choose a look by dynamic property:
///   QPushButton, QToolButton  primary, quiet, edge
///   QLabel                    role = title | muted | small | error | mono
///   QFrame, QWidget           role = card | panel | raised | canvas
///   QAbstractItemView         role = list (no grid, rows of the delegate)
[[nodiscard]] QString styleSheet(const ThemeColors& colors);

}  // namespace vitrine::ui
