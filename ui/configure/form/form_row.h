// One line of the form: name, editor, and the meaning or the problem of the field.
#pragma once

#include <QFrame>
#include <QString>
#include <QStringList>
#include <QWidget>
#include <string>
#include <vector>

#include "ui/form/field_editor.h"

class QHBoxLayout;
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
  [[nodiscard]] QString title() const { return titleText_; }
  [[nodiscard]] FieldEditor& editor() const { return *editor_; }
  [[nodiscard]] QString message() const { return message_; }  ///< "" while the value is valid
  [[nodiscard]] bool isChanged() const { return isChanged_; }
  /// Shown even while its section is folded.
  [[nodiscard]] bool isCommon() const { return isCommon_; }
  void setCommon(bool isCommon) { isCommon_ = isCommon; }

  /// The accent bar at the left edge, and the button back to `standard`.
  void setChanged(bool isChanged, const QString& standard = {});
  void setMessage(const QString& message);
  /// Says something about the value in place of what the field means; "": the meaning again.
  void setNote(const QString& note);
  /// Below the editor instead of next to it, where the page is narrow.
  void setHelpBelow(bool isBelow);
  /// Of a field that no run can differ in alone: no sweep, no variant.
  void leaveMenuOut();
  [[nodiscard]] bool hasMenu() const { return hasMenu_; }
  /// The heading of its table, to be found by.
  void setGroup(const QString& group) { group_ = group; }
  /// Marks the words in title, key and help.
  void setSearch(const QStringList& words);
  [[nodiscard]] bool matches(const QStringList& words) const;
  /// A button behind the editor.
  QToolButton* addButton(const QString& text, const QString& name);

 Q_SIGNALS:
  void resetRequested();
  /// \param place  on the screen
  void menuRequested(const QPoint& place);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void showHelp();
  [[nodiscard]] QString meaning() const;

  std::string key_;
  QString titleText_, group_;
  FieldEditor* editor_;
  QLabel* title_;
  QLabel* help_;
  QToolButton *reset_, *more_;
  QHBoxLayout* tools_;
  QStringList words_;
  QString message_, note_;
  bool isChanged_ = false;
  bool isCommon_ = true;
  bool isBelow_ = false;
  bool hasMenu_ = true;
};

/// A card of rows with a heading that folds it, and a fold for the rarely used ones.
class FormSection : public QFrame {
  Q_OBJECT
 public:
  /// \param name  in the state of the view: "model"
  FormSection(const QString& name, const QString& title, QWidget* parent = nullptr);

  [[nodiscard]] QString name() const { return name_; }
  void setNote(const QString& note);
  void addRow(FormRow* row);
  /// A small heading over the rows of a table; hidden while none of them is shown.
  void addHeading(const QString& title, const QString& doc);
  /// \param searchText  what it is found by
  void addWidget(QWidget* widget, const QString& searchText);
  /// Everything but the heading goes.
  void clear();
  [[nodiscard]] const std::vector<FormRow*>& rows() const { return rows_; }
  /// Applies folding; call after rows or their states changed.
  void arrange();
  /// Shows the rows that match, whatever is folded; no words: everything as it was.
  void setSearch(const QStringList& words);
  [[nodiscard]] int found() const { return found_; }  ///< rows that match the search
  void setUnfolded(bool isUnfolded);
  [[nodiscard]] bool isUnfolded() const { return isUnfolded_; }
  void setOpen(bool isOpen);
  [[nodiscard]] bool isOpen() const { return isOpen_; }

 Q_SIGNALS:
  void viewChanged();  ///< the user opened or closed something

 private:
  struct Heading {
    QWidget* widget;
    std::size_t firstRow;
  };
  struct Extra {
    QWidget* widget;
    QString text;
  };
  QString name_;
  QToolButton* heading_;
  QLabel* note_;
  QWidget* holder_;
  QVBoxLayout* body_;
  QToolButton* more_;
  std::vector<FormRow*> rows_;
  std::vector<Heading> headings_;
  std::vector<Extra> extras_;
  QStringList words_;
  int found_ = 0;
  bool isUnfolded_ = false;
  bool isOpen_ = true;
};

}  // namespace vitrine::ui
