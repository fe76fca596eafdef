// Named arrangements of the window: docks, the page in front and the view of each page.
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <map>
#include <optional>

#include "core/base/json.h"

namespace vitrine::ui {

struct Layout {
  QByteArray docks;                  ///< QMainWindow::saveState
  double zoom = 1;                   ///< at which it was stored
  std::map<QString, double> widths;  ///< of docks, by name, px at zoom 1
  QString page;
  std::map<QString, Json> views;  ///< Page::viewState by page
};

/// Names of the stored layouts, sorted.
[[nodiscard]] QStringList layoutNames();
/// nullopt where there is none of that name, or the stored one is broken.
[[nodiscard]] std::optional<Layout> storedLayout(const QString& name);
void storeLayout(const QString& name, const Layout& layout);
void forgetLayout(const QString& name);

/// What "Reset to my layout" goes back to; not among the names.
[[nodiscard]] std::optional<Layout> ownDefaultLayout();
void storeOwnDefaultLayout(const Layout& layout);

}  // namespace vitrine::ui
