// Menus that are filled again each time they open, and actions of a page.
#pragma once

#include <QString>

class QAction;
class QKeySequence;
class QMenu;
class QWidget;

namespace vitrine::ui {

/// Takes everything out of a menu, with the menus below it, which QMenu::clear() keeps alive for as
/// long as the window.
void emptyMenu(QMenu& menu);

/// `text` in a menu, where '&' marks a key.
[[nodiscard]] QString menuText(QString text);

/// An action of `page` with its key in the tool tip, which acts while the keyboard is in the page.
[[nodiscard]] QAction* makePageAction(const QString& text, const QString& tip,
                                      const QKeySequence& key, QWidget* page);

}  // namespace vitrine::ui
