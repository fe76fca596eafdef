// The form of an experiment, built from the catalog's schemas: no line of it knows a paper.
#pragma once

#include <QWidget>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "core/config/catalog.h"
#include "core/config/edit/document.h"
#include "core/config/experiment.h"
#include "ui/configure/form/form_row.h"

class QLineEdit;

namespace vitrine::ui {

/// An analysis's fields, then when it is due; its own field of a name wins.
[[nodiscard]] std::vector<Field> fieldsOfAnalysis(const ItemCard& analysis);

class ExperimentForm : public QWidget {
  Q_OBJECT
 public:
  explicit ExperimentForm(QWidget* parent = nullptr);

  /// \param catalog  must outlive the form
  void setCatalog(const Catalog& catalog);
  [[nodiscard]] const Catalog* catalog() const { return catalog_; }
  /// Makes every row again: at another size of the window's text.
  void rebuild();

  [[nodiscard]] const Document& document() const { return document_; }
  /// Shows another document; edited() is not told.
  void setDocument(const Document& document,
                   FieldEditor::Typing typing = FieldEditor::Typing::Keep);

  /// Puts each problem beside its field; returns those that no field shows.
  std::vector<Problem> showProblems(const std::vector<Problem>& problems);

  /// nullptr where the form has no such field now.
  [[nodiscard]] FormRow* row(const std::string& key) const;
  [[nodiscard]] int changedCount() const;
  [[nodiscard]] const std::array<FormSection*, 7>& sections() const { return sections_; }
  /// Defaults of everything that is chosen: what "changes against the defaults" are counted from.
  [[nodiscard]] Json defaults() const;
  /// Defaults with the chosen preset: what an unsaid field has.
  [[nodiscard]] Json withPreset() const;
  /// Defaults, preset and what the document says: stands in while the planner finds problems.
  [[nodiscard]] Json merged() const;
  /// The value of a field as it is now: said, of the preset, or the default.
  [[nodiscard]] Json value(const std::string& key) const;
  /// Why `item` cannot be used with the chosen architecture and dataset; "" when it can.
  [[nodiscard]] QString lack(const ItemCard& item) const;

  /// Says a value, as if it had been typed. \param label  of the step, for Undo
  void set(const std::string& key, const Json& value, const QString& label);
  /// Back to the preset's value or the default.
  void reset(const std::string& key);

  /// Shows the fields that hold every word; returns how many there are. "": everything again.
  int search(const QString& text);
  /// The first field that is shown and matches, or nullptr.
  [[nodiscard]] FormRow* firstFound() const;
  /// Opens what hides a field.
  void reveal(FormRow* row);

 Q_SIGNALS:
  /// \param label     what was changed: "Width"
  /// \param mergeKey  edits with the same one are one step of Undo; "" for a step of its own
  void edited(const QString& label, const QString& mergeKey);
  void viewChanged();
  void menuWanted(vitrine::ui::FormRow* row, const QPoint& place);
  void runWanted();      ///< a run to start from
  void weightsWanted();  ///< a file to start from

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void build();
  void buildModel();
  void buildTask();
  void buildData();
  void buildTraining();
  void buildObserve();
  void buildInit();
  FormRow* addRow(FormSection* section, const std::string& key, const QString& title,
                  const Field& field, int indent);
  void addFields(FormSection* section, const std::string& prefix, const std::vector<Field>& fields,
                 int indent);
  FormRow* addChooser(FormSection* section, const std::string& key, const QString& title,
                      ItemKind kind);
  void refresh(FieldEditor::Typing typing);
  void showNotes();
  void onEdited(FormRow* row);
  void chooseArchitecture(const std::string& id);
  void toggleAnalysis(const std::string& id, bool isOn, const QString& title);
  void tell(const QString& label, const QString& mergeKey);
  [[nodiscard]] Json base(const std::string& key) const;
  [[nodiscard]] const ItemCard* chosen(ItemKind kind) const;
  /// Of [train], with the keys of the chosen optimizer and schedule.
  [[nodiscard]] Schema trainingSchema() const;
  /// Takes back what was said about keys that the optimizer or schedule `id` does not have.
  void keepCommonKeys(const std::string& key, const std::string& id);
  void placeHelp();

  const Catalog* catalog_ = nullptr;
  Document document_;
  std::string built_;  ///< the choices that the rows stand for
  FormSection *experiment_, *model_, *task_, *data_, *training_, *observe_, *init_;
  std::array<FormSection*, 7> sections_;
  QLineEdit* title_;
  std::map<std::string, FormRow*> rows_;
  Json base_ = Json::object();  ///< defaults and preset, by table
};

}  // namespace vitrine::ui
