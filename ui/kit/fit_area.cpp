#include "ui/kit/fit_area.h"

#include <QAbstractSpinBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QEvent>
#include <algorithm>

#include "ui/kit/theme.h"

namespace vitrine::ui {

namespace {

/// Passes the wheel on to the widget that scrolls.
class WheelGuard : public QObject {
 public:
  using QObject::QObject;
  bool eventFilter(QObject* watched, QEvent* event) override {
    const auto* widget = qobject_cast<QWidget*>(watched);
    if (event->type() != QEvent::Wheel || widget == nullptr || widget->hasFocus()) return false;
    event->ignore();
    return true;
  }
};

}  // namespace

QScrollArea* makeFitArea(QWidget* content, QWidget* parent) {
  auto* area = new QScrollArea(parent);
  area->setFrameShape(QFrame::NoFrame);
  area->setWidgetResizable(true);
  area->setFocusPolicy(Qt::NoFocus);  // the content has it, and is scrolled into view
  area->setWidget(content);
  return area;
}

void layOutNow() {
  // A layout that changes asks its parent for another, as deep as pages are nested.
  constexpr int kDepth = 5;
  for (int depth = 0; depth < kDepth; ++depth)
    QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
}

void keepWheelForFocus(QWidget& root) {
  auto* guard = new WheelGuard(&root);
  const auto keep = [guard](QWidget* widget) {
    widget->setFocusPolicy(Qt::StrongFocus);  // the wheel alone gives none
    widget->installEventFilter(guard);
  };
  for (auto* combo : root.findChildren<QComboBox*>()) keep(combo);
  for (auto* field : root.findChildren<QAbstractSpinBox*>()) keep(field);
}

WrapLabel::WrapLabel(const QString& text, QWidget* parent) : OwnHeight<WordLabel>(text, parent) {}

QSize WrapLabel::minimumSizeHint() const {
  const QSize size = OwnHeight<WordLabel>::minimumSizeHint();
  return {std::min(size.width(), px(120)), size.height()};
}

}  // namespace vitrine::ui
