// Deleted runs: restored, or removed permanently.
#pragma once

#include <QDialog>
#include <vector>

#include "core/store/maintenance/trash.h"

class QLabel;
class QPushButton;
class QTreeWidget;

namespace vitrine::ui {

class StudioWorkbench;

class TrashDialog final : public QDialog {
  Q_OBJECT
 public:
  explicit TrashDialog(StudioWorkbench& workbench, QWidget* parent = nullptr);
  /// The runs that are listed, the newest first.
  [[nodiscard]] const std::vector<store::TrashedRun>& runs() const { return runs_; }
  /// Brings the selected runs back and closes.
  void restore();

 private:
  void read();
  void askEmpty();
  [[nodiscard]] std::vector<std::int64_t> chosen() const;

  StudioWorkbench& workbench_;
  std::vector<store::TrashedRun> runs_;
  QTreeWidget* list_;
  QLabel* about_;
  QPushButton *restore_, *empty_;
};

}  // namespace vitrine::ui
