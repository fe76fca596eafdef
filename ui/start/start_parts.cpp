#include "ui/start/start_parts.h"

#include <utility>

namespace vitrine::ui {

void StartButton::setReady(bool isReady) {
  if (isReady == isEnabled()) return;
  const bool hadFocus = window()->focusWidget() == this;
  setEnabled(isReady);
  QWidget* now = window()->focusWidget();
  if (!isReady) {
    hadFocus_ = hadFocus;
    meanwhile_ = now;
  } else if (std::exchange(hadFocus_, false) && now == meanwhile_.data()) {
    setFocus();
  }
}

void setStartState(QLabel& label, const QString& sentence, bool isProblem) {
  label.setProperty("role", isProblem ? QStringLiteral("error") : QStringLiteral("small"));
  label.setStyleSheet(QString());  // the role is looked at again
  sayIn(label, sentence);
}

}  // namespace vitrine::ui
