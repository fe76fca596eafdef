// The question before something is removed.
#pragma once

#include <QMessageBox>
#include <QPushButton>

namespace vitrine::ui {

/// Asks with Cancel in front. \param yes  the other button: "Delete"  \param details  below the
/// question, or empty  \returns  whether it was pressed
inline bool isConfirmed(QWidget* parent, const QString& title, const QString& text,
                        const QString& yes, const QString& details = QString()) {
  QMessageBox question(QMessageBox::NoIcon, title, text, QMessageBox::Cancel, parent);
  question.setTextFormat(Qt::PlainText);
  question.setInformativeText(details);
  QPushButton* const button = question.addButton(yes, QMessageBox::DestructiveRole);
  button->setProperty("danger", true);
  question.setDefaultButton(QMessageBox::Cancel);
  question.exec();
  return question.clickedButton() == button;
}

}  // namespace vitrine::ui
