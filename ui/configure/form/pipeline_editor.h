// One list of [data.pipeline]: transforms in their order, each with its fields.
#pragma once

#include <QString>
#include <QWidget>
#include <map>
#include <string>
#include <vector>

#include "core/config/catalog.h"
#include "ui/form/field_editor.h"

class QComboBox;
class QFrame;
class QLabel;
class QPushButton;
class QToolButton;
class QVBoxLayout;

namespace vitrine::ui {

class FormRow;

/// Whether a transform changes batches; one that does offers "batch", the others change samples.
[[nodiscard]] bool isOnBatches(const ItemCard& transform);

class PipelineEditor : public QWidget {
  Q_OBJECT
 public:
  /// Which items are unfolded, by place: outlives the editor, which is made again with its form.
  using Folds = std::vector<bool>;

  /// \param phase  key of the list: "train"
  /// \param title  "Training"
  PipelineEditor(const std::string& phase, const QString& title, const Catalog& catalog,
                 Folds& folds, QWidget* parent = nullptr);

  /// \param list       null: the short form holds
  /// \param shortForm  what that does, as such a list
  /// \param fields     of the samples as the data set has them
  void show(const Json* list, const Json& shortForm, const std::vector<std::string>& fields,
            FieldEditor::Typing typing);

  /// \param key  of a problem: "data.pipeline.train[1].size"
  [[nodiscard]] bool shows(const std::string& key) const;
  /// Problems, by key.
  void showProblems(const std::map<std::string, QString>& messages);
  /// What to scroll to and to focus; unfolds the item it is in. nullptr where shows() is false.
  QWidget* place(const std::string& key);
  [[nodiscard]] std::vector<FormRow*> rows() const;

  void move(int from, int to);
  void remove(int at);
  /// Before the first transform of batches, unless it is one.
  void add(const std::string& id);

 Q_SIGNALS:
  void listRequested();  ///< instead of the short form
  void dropped();        ///< the short form again
  /// \param mergeKey  edits with the same one are one step of Undo; "" for a step of its own
  void edited(const vitrine::Json& list, const QString& label, const QString& mergeKey);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct Item {
    std::string id;
    QFrame* frame = nullptr;
    QToolButton* heading = nullptr;
    QLabel* summary = nullptr;
    QString changes;  ///< what differs from the defaults, for the summary while it is folded
    QLabel* problem = nullptr;
    QWidget* body = nullptr;
    std::vector<FormRow*> rows;
  };
  void build();
  void append(const ItemCard* card, const std::string& id);
  QToolButton* button(const QString& text, const QString& name, QWidget* parent) const;
  void addRows(Item& item, const std::vector<Field>& fields, const std::string& prefix);
  void refresh(FieldEditor::Typing typing);
  void offerTransforms();
  void setOpen(std::size_t at, bool isOpen);
  void onEdited(const FormRow* row, int at);
  void focusItem(int at);
  [[nodiscard]] int itemOf(const std::string& key) const;
  [[nodiscard]] std::string keyOf(std::size_t at) const;
  [[nodiscard]] QString titleOfItem(const std::string& id) const;
  [[nodiscard]] std::size_t placeFor(const ItemCard& card) const;

  std::string phase_;
  const Catalog& catalog_;
  Folds& folds_;
  Json list_;  ///< null: the short form
  std::vector<std::string> fields_;
  std::vector<Item> items_;
  std::map<std::string, QString> messages_;
  int wantedFocus_ = -1;
  QLabel *title_, *words_, *problem_;
  QPushButton* switch_;
  QVBoxLayout* itemsBox_;
  QComboBox* add_;
};

}  // namespace vitrine::ui
