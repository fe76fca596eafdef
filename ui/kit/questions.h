// Questions of one dialog: before something is removed or written over, for a name or a note, and
// for the file to save.
#pragma once

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <optional>

#include "ui/kit/settings.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"

namespace vitrine::ui {

/// `button`, in the colour of what cannot be taken back.
inline QPushButton* asDangerous(QPushButton* button) {
  restyle(*button, "danger", true);  // a dialog has given it the colours of the others
  return button;
}

/// Asks with Cancel in front. \param yes  the other button: "Delete"  \param details  below the
/// question, or empty  \returns  whether it was pressed
inline bool isConfirmed(QWidget* parent, const QString& title, const QString& text,
                        const QString& yes, const QString& details = QString()) {
  QMessageBox question(QMessageBox::NoIcon, title, text, QMessageBox::Cancel, parent);
  question.setTextFormat(Qt::PlainText);
  question.setInformativeText(details);
  const QPushButton* button = asDangerous(question.addButton(yes, QMessageBox::DestructiveRole));
  question.setDefaultButton(QMessageBox::Cancel);
  question.exec();
  return question.clickedButton() == button;
}

/// Asks for a text. \param label  above it; wraps  \param yes  the button that takes it: "Save"
/// \returns  none where the user cancelled
inline std::optional<QString> askText(QWidget* parent, const QString& title, const QString& label,
                                      const QString& text, const QString& yes,
                                      QInputDialog::InputDialogOptions options = {}) {
  QInputDialog dialog(parent);
  dialog.setWindowTitle(title);
  dialog.setOptions(options);
  dialog.setLabelText(label);
  dialog.setTextValue(text);
  dialog.setOkButtonText(yes);
  for (auto* field : dialog.findChildren<QPlainTextEdit*>()) field->setAccessibleName(title);
  for (auto* field : dialog.findChildren<QLineEdit*>()) field->setAccessibleName(title);
  for (QLabel* one : dialog.findChildren<QLabel*>()) {
    one->setTextFormat(Qt::PlainText);
    one->setWordWrap(true);
  }
  dialog.resize(px(420), dialog.sizeHint().height());
  return dialog.exec() == QDialog::Accepted ? std::optional(dialog.textValue()) : std::nullopt;
}

/// Asks for the name under which something is saved. \returns  it without spaces around it; ""
/// where the user cancelled or gave none
inline QString askName(QWidget* parent, const QString& title, const QString& label,
                       const QString& text = {}) {
  return askText(parent, title, label, text, QObject::tr("Save")).value_or(QString()).trimmed();
}

/// Where the user saved a file last, of whatever kind; the home folder at first.
inline QDir saveFolder() {
  const QString last = setting(QStringLiteral("save/folder")).toString();
  return QDir(last.isEmpty() || !QFileInfo(last).isDir() ? QDir::homePath() : last);
}

inline void keepSaveFolder(const QString& file) {
  storeSetting(QStringLiteral("save/folder"), QFileInfo(file).absolutePath());
}

/// A dialog to save `name` in that folder, to be opened; it goes when it is closed.
inline QFileDialog* makeSaveDialog(QWidget* parent, const QString& title, const QString& name,
                                   const QStringList& filters) {
  auto* dialog = new QFileDialog(parent, title, saveFolder().path());
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setNameFilters(filters);
  dialog->setDefaultSuffix(QFileInfo(name).suffix());
  dialog->selectFile(name);
  QObject::connect(dialog, &QFileDialog::fileSelected, dialog, keepSaveFolder);
  return dialog;
}

/// \param offered  a name in that folder, or a whole path. A name without its ending gets it, and
/// is asked about where that file exists: the dialog asked about the shorter name.
/// \returns  "" where the user cancelled
inline QString askSaveFile(QWidget* parent, const QString& title, const QString& offered,
                           const QString& filter) {
  const QString ending = QLatin1Char('.') + QFileInfo(offered).suffix();
  QString file =
      QFileDialog::getSaveFileName(parent, title, saveFolder().filePath(offered), filter);
  if (!file.isEmpty()) keepSaveFolder(file);
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
