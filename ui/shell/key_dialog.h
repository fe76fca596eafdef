// All keys, searchable, each of them to be changed and to be given back.
#pragma once

#include <QDialog>
#include <QKeySequence>
#include <QList>
#include <QString>

#include "ui/workbench/key_map.h"

class QKeySequenceEdit;
class QLabel;
class QLineEdit;
class QPushButton;
class QTreeWidget;

namespace vitrine::ui {

class KeyDialog : public QDialog {
  Q_OBJECT
 public:
  /// \param keys  must outlive the dialog
  KeyDialog(KeyMap& keys, QWidget* parent);

  [[nodiscard]] QLineEdit& search() { return *search_; }
  [[nodiscard]] QTreeWidget& list() { return *list_; }
  [[nodiscard]] QKeySequenceEdit& editor() { return *editor_; }
  [[nodiscard]] QPushButton& assign() { return *assign_; }
  [[nodiscard]] QString sentence() const;

 private:
  void fill();
  void filter(const QString& text);
  void showChosen();
  void assignKeys();
  [[nodiscard]] QString chosen() const;

  KeyMap& keys_;
  QLineEdit* search_;
  QTreeWidget* list_;
  QKeySequenceEdit* editor_;
  QPushButton *assign_, *none_, *giveBack_;
  QLabel* sentence_;
};

}  // namespace vitrine::ui
