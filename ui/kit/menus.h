// Menus that are filled again each time they open, actions of a page, and tool tips with keys.
#pragma once

#include <QString>
#include <functional>

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

/// Lets the tool tip of a widget end with the key that `action` has when the tip is shown. The
/// button of an action needs no such call.
void showKeyOf(QAction* action, QWidget& widget);

/// The tool tip of a widget as it is shown: with the key of its action, \see showKeyOf.
[[nodiscard]] QString tipWithKey(const QWidget& widget);

/// An action of `page`, which acts while the keyboard is in the page.
[[nodiscard]] QAction* makePageAction(const QString& text, const QString& tip,
                                      const QKeySequence& key, QWidget* page);

/// The keys of a page that shows heads: [ ] for the image, comma and full stop for the layer, < >
/// for the head. Each function takes -1 or 1.
void addHeadKeys(QWidget& page, const std::function<void(int)>& moveImage,
                 const std::function<void(int)>& moveLayer,
                 const std::function<void(int)>& moveHead);

}  // namespace vitrine::ui
