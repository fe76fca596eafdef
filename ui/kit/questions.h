// The questions before something is removed or written over.
#pragma once

#include <QFileDialog>
#include <QFileInfo>
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

/// A name without the ending of `offered` gets it, and is asked about where that file exists: the
/// dialog asked about the shorter name. \returns  "" where the user cancelled
inline QString askSaveFile(QWidget* parent, const QString& title, const QString& offered,
                           const QString& filter) {
  const QString ending = QLatin1Char('.') + QFileInfo(offered).suffix();
  QString file = QFileDialog::getSaveFileName(parent, title, offered, filter);
  if (file.isEmpty() || file.endsWith(ending, Qt::CaseInsensitive)) return file;
  file += ending;
  const bool isFree = !QFileInfo::exists(file);
  return isFree || isConfirmed(parent, title,
                               QObject::tr("%1 exists already. Replace it?").arg(file),
                               QObject::tr("Replace"))
             ? file
             : QString();
}

}  // namespace vitrine::ui
