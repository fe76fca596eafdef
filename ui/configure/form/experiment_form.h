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

class QLabel;
class QLineEdit;

namespace vitrine::ui {

class AxisList;
class PipelineEditor;
class TableBar;

/// An analysis's fields, then when it is due; its own field of a name wins.
[[nodiscard]] std::vector<Field> fieldsOfAnalysis(const ItemCard& analysis);

/// The keys and values of [select] in their order.
[[nodiscard]] std::vector<Document::Axis> gridOf(const Document& document);

class ExperimentForm : public QWidget {
  Q_OBJECT
 public:
  explicit ExperimentForm(QWidget* parent = nullptr);

  /// Rows of it come with the next document. \param catalog  must outlive the form
  void setCatalog(const Catalog& catalog);
  [[nodiscard]] const Catalog* catalog() const { return catalog_; }
  /// Makes every row again: at another size of the window's text.
  void rebuild();

  [[nodiscard]] const Document& document() const { return document_; }
  /// Shows another document; edited() is not emitted.
  void setDocument(const Document& document,
                   FieldEditor::Typing typing = FieldEditor::Typing::Keep);

  /// Puts each problem next to its field; returns those that no field shows.
  std::vector<Problem> showProblems(const std::vector<Problem>& problems);

  /// nullptr where the form has no such field now.
  [[nodiscard]] FormRow* row(const std::string& key) const;
  /// What shows a problem of that key, to scroll to and to focus: a field, a named table, a
  /// transform, the grid. nullptr where nothing does. Unfolds a transform.
  [[nodiscard]] QWidget* place(const std::string& key) const;
  [[nodiscard]] bool shows(const std::string& key) const { return !placeOf(key).empty(); }
  [[nodiscard]] const std::array<FormSection*, 9>& sections() const { return sections_; }
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
  /// Opens what hides a field, or anything else of the form.
  void reveal(QWidget* part);

  /// Keys that [select] may choose a value of.
  void setGridKeys(const QStringList& keys);
  /// Errors of typed text that cannot be read, so that the document lacks it.
  [[nodiscard]] QStringList unread() const;
  /// How many runs [select] makes of it.
  void showRuns(const Plan& plan);
  /// The tables that name a run or a file to take weights from: "init", "aux.teacher".
  [[nodiscard]] std::vector<std::string> sourceTables() const;

 Q_SIGNALS:
  /// \param label     what was changed: "Width"
  /// \param mergeKey  edits with the same one are one step of Undo; "" for a step of its own
  void edited(const QString& label, const QString& mergeKey);
  void viewChanged();
  void menuRequested(vitrine::ui::FormRow* row, const QPoint& place);
  void runRequested(const std::string& table);      ///< a run to take weights from
  void weightsRequested(const std::string& table);  ///< a file to take weights from
  void renameRequested(const std::string& place, const std::string& from, const std::string& to);

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
  void buildAux();
  void buildGroups();
  /// The tables below `place`, each under its name, and a button for one more.
  void buildNamed(FormSection* section, const std::string& place, const QString& what,
                  const std::string& firstName);
  void buildAuxiliary(const std::string& path);
  void buildGroup(const std::string& path);
  void buildSelect();
  void buildPipeline();
  void addPreset(FormSection* section, const std::string& table, const ItemCard& card);
  /// Buttons for a run and a file behind the fields of a table that names one.
  void addSourceButtons(const std::string& table);
  void offerSources(const std::string& table, QWidget* from);
  /// Runs of this file that another may start from: "variant:wide", "previous".
  [[nodiscard]] QStringList sources() const;
  FormRow* addRow(FormSection* section, const std::string& key, const QString& title,
                  const Field& field, int indent);
  void addFields(FormSection* section, const std::string& prefix, const std::vector<Field>& fields,
                 int indent);
  FormRow* addChooser(FormSection* section, const std::string& key, const QString& title,
                      ItemKind kind);
  void refresh(FieldEditor::Typing typing);
  void showNotes();
  [[nodiscard]] QString noteOf(const FormSection* section) const;
  void showPipeline(FieldEditor::Typing typing);
  /// What [data.augment] and the like do, as a list of transforms.
  [[nodiscard]] Json shortForm(const std::string& phase) const;
  [[nodiscard]] Field metricField(const Field& plain) const;
  void toggleSelect(bool isOn);
  void takeGrid(const QString& label, const QString& mergeKey);
  /// The key whose field shows a problem of `key`; "" where none does.
  [[nodiscard]] std::string placeOf(const std::string& key) const;
  void showTableProblems(const std::map<std::string, QString>& messages,
                         const std::vector<Problem>& problems);
  void onEdited(FormRow* row);
  /// \param table  "model", "aux.teacher.model"
  void chooseArchitecture(const std::string& table, const std::string& id);
  /// Defaults of a table that [model] is, with its preset where `hasPreset`.
  [[nodiscard]] Json modelBase(const std::string& table, bool hasPreset) const;
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
  FormSection *experiment_, *model_, *task_, *data_, *training_, *observe_, *init_, *aux_, *select_;
  std::array<FormSection*, 9> sections_;
  QLineEdit* title_;
  std::map<std::string, FormRow*> rows_;
  Json base_ = Json::object();  ///< defaults and preset, by table
  std::map<std::string, TableBar*> bars_;
  std::array<PipelineEditor*, 2> pipelines_{};  ///< of training and evaluation
  std::array<std::vector<bool>, 2> folds_;      ///< their unfolded transforms
  AxisList* grid_ = nullptr;
  QLabel* gridProblem_ = nullptr;
  QStringList gridKeys_;
  QString runsWords_;        ///< "3 runs of the grid, then 2 final runs"
  std::string wantedFocus_;  ///< path of a table that was just added
};

}  // namespace vitrine::ui
