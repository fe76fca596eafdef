// The actions on the selected runs: of the context menu of the list, the window's menu, its tool
// bar and the palette.
#pragma once

#include <QAction>
#include <QKeySequence>
#include <QList>
#include <QMenu>
#include <QObject>
#include <functional>

#include "ui/kit/icons.h"
#include "ui/workbench/studio_workbench.h"

namespace vitrine::ui {

class RunsPanel;

class RunActions : public QObject {
  Q_OBJECT
 public:
  RunActions(StudioWorkbench& workbench, RunsPanel& panel);

  [[nodiscard]] QAction& start() { return *start_; }
  [[nodiscard]] QAction& stop() { return *stop_; }
  /// Its key acts in the list alone: elsewhere it deletes text or queued runs.
  [[nodiscard]] QAction& remove() { return *remove_; }
  /// Each once, those of RunMarkActions and of the list's archive too; the colours are a menu.
  [[nodiscard]] const QList<QAction*>& all() const { return all_; }
  void fill(QMenu& menu) const;
  /// After the selection, the outline or the state of a run has changed.
  void refresh();

 private:
  QAction* add(const QString& text, const QString& whyNot, const std::function<void()>& act,
               const QKeySequence& key = {});

  StudioWorkbench& workbench_;
  RunsPanel& panel_;
  QList<QAction*> all_;
  QAction *start_, *stop_, *hide_, *showOnly_, *showHidden_, *selectOnly_, *selectExperiment_,
      *variantColours_, *newFrom_, *openFolder_, *rename_, *tags_, *note_, *copyIds_, *copyNames_,
      *remove_, *prune_;
};

}  // namespace vitrine::ui
