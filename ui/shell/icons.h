// The line icons of the window: 16 px, 1.5 px stroke, drawn in code in the colours of the theme in
// use.
#pragma once

#include <QIcon>

namespace vitrine::ui {

enum class Icon {
  Plus,
  More,  ///< what a bar has no room for
  Play,
  Stop,
  Search,
  Copy,
  Panel,
  Close,
  Follow,
  Fit,
  Trash,
  Folder,
  Refresh,
  Moon,
  Remove,
  Pause,
  Front,
  Clock,
};

/// Which colour of the theme the lines take.
enum class IconTint { Text, OnAccent, Bad };

/// Recoloured whenever it is painted, so it outlives a change of theme.
[[nodiscard]] QIcon icon(Icon name, IconTint tint = IconTint::Text);

}  // namespace vitrine::ui
