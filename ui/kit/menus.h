// Menus that are filled again each time they open.
#pragma once

class QMenu;

namespace vitrine::ui {

/// Takes everything out of a menu, with the menus below it, which QMenu::clear() keeps alive for as
/// long as the window.
void emptyMenu(QMenu& menu);

}  // namespace vitrine::ui
