// One line of the form: name, editor, and what the field means or what is wrong with it.
#pragma once

#include <QFrame>
#include <QString>
#include <QWidget>
#include <string>
#include <vector>

#include "ui/configure/field_editor.h"

class QLabel;
class QToolButton;
class QVBoxLayout;

namespace vitrine::ui {

class FormRow : public QWidget {
  Q_OBJECT
 public:
  /// \param key     dotted, with its table: "model.mask.kind"
  /// \param title   "Kind"
  /// \param indent  of the title, in pixels: fields of a table stand under its name
  FormRow(std::string key, const QString& title, const Field& field, int indent,
          QWidget* parent = nullptr);

  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] FieldEditor& editor() const { return *editor_; }
  [[nodiscard]] QString message() const { return message_; }  ///< "" while the value is valid
  [[nodiscard]] bool isChanged() const { return isChanged_; }
  /// Shown even while its section is folded.
  [[nodiscard]] bool isCommon() const { return isCommon_; }
  void setCommon(bool isCommon) { isCommon_ = isCommon; }

  /// The accent bar at the left edge.
  void setChanged(bool isChanged);
  void setMessage(const QString& message);
  /// Below the editor instead of beside it, where the page is narrow.
  void setHelpBelow(bool isBelow);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void showHelp();

  std::string key_;
  FieldEditor* editor_;
  QLabel* title_;
  QLabel* help_;
  QString message_;
  bool isChanged_ = false;
  bool isCommon_ = true;
  bool isBelow_ = false;
};

/// A card of rows with a heading, and a fold for the rarely used ones.
class FormSection : public QFrame {
  Q_OBJECT
 public:
  FormSection(const QString& title, QWidget* parent = nullptr);

  void setNote(const QString& note);
  void addRow(FormRow* row);
  /// A small heading over the rows of a table; hidden while none of them is shown.
  void addHeading(const QString& title, const QString& doc);
  void addWidget(QWidget* widget);
  /// Everything but the heading goes.
  void clear();
  [[nodiscard]] const std::vector<FormRow*>& rows() const { return rows_; }
  /// Applies folding; call after rows or their states changed.
  void arrange();
  void setUnfolded(bool isUnfolded);
  [[nodiscard]] bool isUnfolded() const { return isUnfolded_; }

 private:
  struct Heading {
    QWidget* widget;
    std::size_t firstRow;
  };
  QLabel* note_;
  QVBoxLayout* body_;
  QToolButton* more_;
  std::vector<FormRow*> rows_;
  std::vector<Heading> headings_;
  bool isUnfolded_ = false;
};

}  // namespace vitrine::ui
