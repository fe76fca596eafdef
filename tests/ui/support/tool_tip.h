// The tool tip of a widget at one of its points.
#pragma once

#include <QCoreApplication>
#include <QHelpEvent>
#include <QToolTip>
#include <QWidget>
#include <string>

namespace vitrine::ui {

inline std::string toolTipAt(QWidget& widget, const QPoint& at) {
  QHelpEvent event(QEvent::ToolTip, at, widget.mapToGlobal(at));
  QCoreApplication::sendEvent(&widget, &event);
  return QToolTip::text().toStdString();
}

}  // namespace vitrine::ui
