// A page of the window: one folder under ui/, one factory, one line in ui/shell/pages.cpp.
#pragma once

#include <QAction>
#include <QImage>
#include <QList>
#include <QSize>
#include <QString>
#include <QWidget>
#include <cstdint>
#include <functional>

#include "core/config/catalog.h"
#include "core/store/run_store.h"
#include "core/store/run_watcher.h"
#include "ui/shell/queue_desk.h"
#include "ui/shell/selection.h"

namespace vitrine::ui {

/// What every page may use. Owned by the main window, which outlives the pages.
class Workbench : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  [[nodiscard]] virtual RunStore& store() = 0;
  [[nodiscard]] virtual RunWatcher& watcher() = 0;
  [[nodiscard]] virtual Selection& selection() = 0;
  [[nodiscard]] virtual QueueDesk& queue() = 0;
  /// Schemas, asked from `vitrine describe --json` in the background at first use; empty until
  /// catalogReady.
  [[nodiscard]] virtual const Catalog& catalog() = 0;
  /// Asks for the schemas once more, after catalogFailed or an empty catalog; catalogReady or
  /// catalogFailed answers.
  virtual void askCatalogAgain() = 0;
  /// The row of a run as the list shows it; nullptr when unknown.
  [[nodiscard]] virtual const RunRow* run(std::int64_t id) = 0;
  /// One sentence in the status bar; errors can be copied from there.
  virtual void say(const QString& sentence) = 0;
  virtual void showPage(const QString& id) = 0;
  /// Whether the list of runs is on the screen: curves need a legend where it is not.
  [[nodiscard]] virtual bool isRunListVisible() const { return false; }

 Q_SIGNALS:
  void catalogReady();
  void catalogFailed(const QString& sentence);
  void themeChanged();
  void runListVisibilityChanged();
};

class Page : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;
  /// Everything the page shows is up to date when this returns: for --screenshot and tests.
  virtual void settle() = 0;
  /// What the page adds to the tool bar, the menu and the palette while it is in front. The page
  /// owns them.
  [[nodiscard]] virtual QList<QAction*> tools() { return {}; }
  /// Draws the page off screen at a size (logical pixels) and scale.
  [[nodiscard]] virtual QImage snapshot(QSize size, double scale);
};

struct PageFactory {
  QString id;     ///< "monitor"
  QString title;  ///< "Monitor"
  std::function<Page*(Workbench& workbench, QWidget* parent)> make;
};

}  // namespace vitrine::ui
