// Archive, baseline and colour of the selected runs: what their menu, the window's and the palette
// offer.
#pragma once

#include <QAction>
#include <QMenu>
#include <QObject>

#include "ui/runs/run_edits.h"
#include "ui/runs/runs_model.h"
#include "ui/workbench/studio_workbench.h"

namespace vitrine::ui {

class RunMarkActions : public QObject {
  Q_OBJECT
 public:
  RunMarkActions(StudioWorkbench& workbench, RunEdits& edits, const RunsModel& model,
                 QWidget* parent);

  /// Archives the runs, or takes them back where all are archived.
  [[nodiscard]] QAction& archive() { return *archive_; }
  /// Marks the one run as the baseline of its experiment, or takes the mark away.
  [[nodiscard]] QAction& baseline() { return *baseline_; }
  /// The colours of the palette, and none of its own.
  [[nodiscard]] QMenu& colours() { return *colours_; }
  /// After the selection or a mark has changed.
  void refresh();

 private:
  void toggleArchive();
  void toggleBaseline();
  void setColour(int colour);
  void paintColours();

  StudioWorkbench& workbench_;
  RunEdits& edits_;
  const RunsModel& model_;
  QAction *archive_, *baseline_;
  QMenu* colours_;
};

}  // namespace vitrine::ui
