// What takes the space on the disk: by experiment, with a way to its runs.
#pragma once

#include <QDialog>

#include "core/base/json.h"
#include "ui/workbench/headless.h"

class QLabel;
class QPushButton;
class QTreeWidget;

namespace vitrine::ui {

class StudioWorkbench;

class SpaceDialog final : public QDialog {
  Q_OBJECT
 public:
  explicit SpaceDialog(StudioWorkbench& workbench, QWidget* parent = nullptr);
  /// Experiments, the largest first; empty until they are read.
  [[nodiscard]] QTreeWidget& list() { return *list_; }

 private:
  void read();
  /// \param facts  of `vitrine db info`
  void fill(const Json& facts);
  void compact();
  /// Selects the runs of the chosen experiments and closes.
  void selectRuns();

  StudioWorkbench& workbench_;
  HeadlessQuestion reading_, compacting_;
  bool isCompacted_ = false;  ///< what that came to stays in sight
  QLabel *about_, *rest_;
  QTreeWidget* list_;
  QPushButton *select_, *compact_;
};

}  // namespace vitrine::ui
