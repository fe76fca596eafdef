// The question which tags some runs have.
#pragma once

#include <QDialog>
#include <QLineEdit>
#include <QListWidget>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace vitrine::ui {

class TagsDialog : public QDialog {
  Q_OBJECT
 public:
  /// \param counts  every tag of the database with the number of the `runs` runs that have it
  TagsDialog(const std::map<std::string, std::size_t>& counts, std::size_t runs,
             QWidget* parent = nullptr);

  /// Tags of a run that had `tags`: checked ones are added, unchecked ones taken away, and those
  /// that are neither stay.
  [[nodiscard]] std::vector<std::string> applied(std::vector<std::string> tags) const;

  [[nodiscard]] QListWidget& list() { return *list_; }
  [[nodiscard]] QLineEdit& fresh() { return *fresh_; }

 private:
  QListWidget* list_;
  QLineEdit* fresh_;
};

}  // namespace vitrine::ui
