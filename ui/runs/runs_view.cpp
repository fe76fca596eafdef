#include "ui/runs/runs_view.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QMouseEvent>
#include <utility>

#include "ui/runs/runs_delegate.h"
#include "ui/runs/runs_model.h"

namespace vitrine::ui {

QItemSelectionModel::SelectionFlags RunsView::selectionCommand(const QModelIndex& index,
                                                               const QEvent* event) const {
  const auto usual = QTreeView::selectionCommand(index, event);
  if (event != nullptr && event->type() == QEvent::KeyPress &&
      static_cast<const QKeyEvent*>(event)->key() == Qt::Key_Space)
    return isComparing_ ? QItemSelectionModel::Toggle | QItemSelectionModel::Rows : usual;
  if (!usual.testFlag(QItemSelectionModel::Clear)) return usual;
  // The row of an experiment is opened and closed, not selected.
  const bool isExperiment = index.isValid() && !index.parent().isValid();
  if (isComparing_ || isExperiment) return QItemSelectionModel::NoUpdate;
  isReplacing_ = depth_ > 0;
  return usual;
}

void RunsView::setBeside(std::int64_t run) {
  if (run == beside_) return;
  beside_ = run;
  viewport()->update();
}

void RunsView::selectAll() {
  isReplacing_ = depth_ > 0;
  QTreeView::selectAll();
}

bool RunsView::isOfEye(const QEvent& event) {
  const QEvent::Type type = event.type();
  const bool isPress = type == QEvent::MouseButtonPress || type == QEvent::MouseButtonDblClick;
  if (!isPress && type != QEvent::MouseButtonRelease) return false;
  const auto& mouse = static_cast<const QMouseEvent&>(event);
  if (mouse.button() != Qt::LeftButton) return false;
  if (!isPress) return std::exchange(isEyePressed_, false);
  const QModelIndex at = indexAt(mouse.position().toPoint());
  isEyePressed_ = at.column() == 0 && at.data(RunsModel::IdRole).toLongLong() != 0 &&
                  eyeRect(visualRect(at)).contains(mouse.position().toPoint());
  if (isEyePressed_) Q_EMIT eyeClicked(at);
  return isEyePressed_;
}

bool RunsView::viewportEvent(QEvent* event) {
  switch (event->type()) {
    case QEvent::MouseButtonPress:
    case QEvent::MouseButtonDblClick:
    case QEvent::MouseButtonRelease:
      if (isOfEye(*event)) {
        event->accept();
        return true;
      }
      break;
    case QEvent::MouseMove:
      if (isEyePressed_) return true;
      break;
    default:
      return QTreeView::viewportEvent(event);
  }
  ++depth_;
  const bool isHandled = QTreeView::viewportEvent(event);
  endInput();
  return isHandled;
}

void RunsView::keyPressEvent(QKeyEvent* event) {
  const bool isReturn = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (isReturn && state() == EditingState) return event->ignore();  // of the line over a name
  if (isReturn && (event->modifiers() & ~Qt::KeypadModifier) == Qt::NoModifier) {
    event->accept();
    Q_EMIT returnPressed();
    return;
  }
  // As a click on the row of an experiment or group does.
  const QModelIndex at = currentIndex();
  if (event->key() == Qt::Key_Space && event->modifiers() == Qt::NoModifier && at.isValid() &&
      !at.parent().isValid() && state() != EditingState) {
    setExpanded(at.siblingAtColumn(0), !isExpanded(at.siblingAtColumn(0)));
    return event->accept();
  }
  ++depth_;
  QTreeView::keyPressEvent(event);
  endInput();
}

void RunsView::rowsAboutToBeRemoved(const QModelIndex& parent, int first, int last) {
  // Not state(): rows that went before have reset it.
  if (viewport()->findChild<QLineEdit*>() != nullptr) storeNames(parent, first, last);
  QTreeView::rowsAboutToBeRemoved(parent, first, last);
}

void RunsView::storeNames(const QModelIndex& parent, int first, int last) {
  for (int row = first; row <= last; ++row) {
    const QModelIndex at = model()->index(row, 0, parent);
    if (QWidget* line = indexWidget(at)) commitData(line);
    storeNames(at, 0, model()->rowCount(at) - 1);
  }
}

void RunsView::endInput() {
  if (--depth_ > 0) return;
  Q_EMIT inputHandled();
  isReplacing_ = false;
}

}  // namespace vitrine::ui
