// Keys with the values to try for each: the axes of a sweep, the grid of a selection.
#pragma once

#include <QStringList>
#include <QWidget>
#include <string>
#include <vector>

#include "core/config/edit/document.h"

class QLabel;
class QLineEdit;
class QVBoxLayout;

namespace vitrine::ui {

class AxisList : public QWidget {
  Q_OBJECT
 public:
  /// \param place   in problems: "sweep"
  /// \param wording  of the axis in names: "sweep axis"
  AxisList(const QString& place, const QString& wording, QWidget* parent = nullptr);

  /// Keys that the key lines complete.
  void setKeys(const QStringList& keys);
  /// Lines that say the same already stay as they are typed; edited() is not emitted.
  void setAxes(const std::vector<Document::Axis>& axes);
  /// Takes every line away, begun ones too.
  void clear();
  /// Those that have a key and values.
  [[nodiscard]] std::vector<Document::Axis> axes() const;
  /// The values of an axis, which is added where there is none; edited() is not emitted.
  QLineEdit* valuesOf(const std::string& key, const std::vector<Json>& values);
  /// An empty axis; its key has the focus.
  void addAxis();
  /// Errors of typed text that cannot be read.
  [[nodiscard]] QStringList unread() const;
  /// Shows the problem of an axis next to it.
  void showProblems(const std::vector<Problem>& problems);
  /// The key line of an axis, or nullptr.
  [[nodiscard]] QLineEdit* keyLine(const std::string& key) const;

 Q_SIGNALS:
  /// \param mergeKey  edits with the same one are one step of Undo; "" for a step of its own
  void edited(const QString& label, const QString& mergeKey);

 private:
  struct Row {
    QWidget* row;
    QLineEdit* key;
    QLineEdit* values;
    QLabel* problem;
  };
  void append(const std::string& key, const std::vector<Json>& values);
  void complete(QLineEdit* line) const;
  [[nodiscard]] static QString unread(const Row& axis);

  QString place_, wording_;
  QStringList keys_;
  QVBoxLayout* column_;
  std::vector<Row> rows_;
};

/// "0, 1, 2" or "1e-3, 3e-4": TOML values with commas between; bare words are text.
[[nodiscard]] std::vector<Json> parseValues(const QString& text);
[[nodiscard]] QString valuesText(const std::vector<Json>& values);

}  // namespace vitrine::ui
