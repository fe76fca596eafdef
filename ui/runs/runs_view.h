// The tree in which runs are chosen: what clicks and keys do to the selection.
#pragma once

#include <QTreeView>
#include <cstdint>

namespace vitrine::ui {

/// While at most one run is selected, a click or an arrow key selects the run that it reaches.
/// While several are selected it only looks at that run, and the selection stays: Ctrl + click and
/// Space take runs in and out. A click on the eye of a run changes neither.
class RunsView : public QTreeView {
  Q_OBJECT
 public:
  using QTreeView::QTreeView;

  /// Whether several runs are selected, seen or not.
  void setComparing(bool isComparing) { isComparing_ = isComparing; }
  /// The run that is looked at although others are selected, outlined wherever the keys are; 0:
  /// none.
  void setBeside(std::int64_t run);
  [[nodiscard]] std::int64_t beside() const { return beside_; }
  /// A click or key is being handled: inputHandled() follows.
  [[nodiscard]] bool isHandlingInput() const { return depth_ > 0; }
  /// The event that is being handled replaces the selection of runs.
  [[nodiscard]] bool isReplacing() const { return isReplacing_; }
  void selectAll() override;

 Q_SIGNALS:
  void eyeClicked(const QModelIndex& index);
  void returnPressed();
  /// Selection and current run are what the click or key made them.
  void inputHandled();

 protected:
  QItemSelectionModel::SelectionFlags selectionCommand(const QModelIndex& index,
                                                       const QEvent* event) const override;
  bool viewportEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  /// A name that is being typed is stored before its row leaves the list.
  void rowsAboutToBeRemoved(const QModelIndex& parent, int first, int last) override;

 private:
  void storeNames(const QModelIndex& parent, int first, int last);
  /// \returns  whether the event is a button above an eye; the press is emitted as eyeClicked()
  bool isOfEye(const QEvent& event);
  void endInput();

  std::int64_t beside_ = 0;
  bool isComparing_ = false;
  bool isEyePressed_ = false;
  mutable bool isReplacing_ = false;
  int depth_ = 0;
};

}  // namespace vitrine::ui
