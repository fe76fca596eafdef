// Commands of the page in front, as the command palette lists them: tools, menus, context menus and
// buttons, each once.
#pragma once

#include <QMenu>
#include <QString>
#include <functional>
#include <memory>
#include <vector>

#include "ui/workbench/command_palette.h"

namespace vitrine::ui {

class Page;

/// Lets the palette list a context menu that is made when it is asked for.
/// \param title  of what the menu is of, before each of its entries; may change: asked each time
/// \param fill   adds its actions; none where there is nothing to do
void offerMenu(QWidget* of, std::function<QString()> title, std::function<void(QMenu&)> fill);

/// A button with this property set to false is not listed: an action says the same already. A text
/// is the title it is listed by.
inline constexpr const char* kListed = "listed";

/// Property of an action or button that cannot be used now: why not, or what to do first. A short
/// clause: "select a run that waits".
inline constexpr const char* kWhyNot = "whyNot";

/// \param menus  receives the menus that were made, which must live as long as the commands
[[nodiscard]] std::vector<Command> pageCommands(Page& page,
                                                std::vector<std::unique_ptr<QMenu>>& menus);

}  // namespace vitrine::ui
