// The content of a file of weights: its tensors, their shapes and sizes.
#pragma once

#include <QDialog>
#include <QString>

class QLabel;
class QLineEdit;
class QTableView;

namespace vitrine::ui {

class WeightsDialog : public QDialog {
  Q_OBJECT
 public:
  /// \param path  as SafetensorsSet takes it. \throws FileError  names the file and the error
  WeightsDialog(const QString& path, QWidget* parent);

  [[nodiscard]] QLineEdit& search() { return *search_; }
  [[nodiscard]] QTableView& table() { return *table_; }
  [[nodiscard]] QString summary() const;

 Q_SIGNALS:
  /// The text of an experiment file that starts from these weights.
  void experimentRequested(const std::string& experimentText);

 private:
  QString path_;
  QLineEdit* search_;
  QTableView* table_;
  QLabel* summary_;
};

}  // namespace vitrine::ui
