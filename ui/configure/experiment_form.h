// The form of an experiment, built from the catalog's schemas: no line of it knows a paper.
#pragma once

#include <QWidget>
#include <map>
#include <string>
#include <vector>

#include "core/config/catalog.h"
#include "core/config/experiment.h"
#include "ui/configure/document.h"
#include "ui/configure/form_row.h"

class QLineEdit;

namespace vitrine::ui {

class ExperimentForm : public QWidget {
  Q_OBJECT
 public:
  explicit ExperimentForm(QWidget* parent = nullptr);

  /// \param catalog  must outlive the form
  void setCatalog(const Catalog& catalog);
  [[nodiscard]] const Catalog* catalog() const { return catalog_; }

  [[nodiscard]] const Document& document() const { return document_; }
  /// Shows another document; edited() is not told.
  void setDocument(const Document& document);
  /// What a new experiment starts with: the first items, and the architecture's demo preset where
  /// there is one.
  [[nodiscard]] static Document freshDocument(const Catalog& catalog);

  /// Puts each problem beside its field; returns those that no field shows.
  std::vector<Problem> showProblems(const std::vector<Problem>& problems);

  /// nullptr where the form has no such field now.
  [[nodiscard]] FormRow* row(const std::string& key) const;
  [[nodiscard]] int changedCount() const;
  /// Defaults of everything that is chosen: what "changes against the defaults" are counted from.
  [[nodiscard]] Json defaults() const;
  /// Defaults, preset and what the document says: stands in while the planner finds problems.
  [[nodiscard]] Json merged() const;
  /// Why `item` cannot be used with the chosen architecture and dataset; "" when it can.
  [[nodiscard]] QString lack(const ItemCard& item) const;

 Q_SIGNALS:
  void edited();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void build();
  void buildModel();
  void buildTask();
  void buildData();
  void buildTraining();
  void buildObserve();
  FormRow* addRow(FormSection* section, const std::string& key, const QString& title,
                  const Field& field, int indent);
  void addFields(FormSection* section, const std::string& prefix, const std::vector<Field>& fields,
                 int indent);
  FormRow* addChooser(FormSection* section, const std::string& key, const QString& title,
                      ItemKind kind, const std::string& doc);
  void refresh();
  void onEdited(FormRow* row);
  void chooseArchitecture(const std::string& id);
  void toggleAnalysis(const std::string& id, bool isOn);
  [[nodiscard]] Json base(const std::string& key) const;
  [[nodiscard]] Json withPreset() const;
  [[nodiscard]] const ItemCard* chosen(ItemKind kind) const;
  void placeHelp();

  const Catalog* catalog_ = nullptr;
  Document document_;
  std::string built_;  ///< the choices that the rows stand for
  FormSection* experiment_;
  FormSection* model_;
  FormSection* task_;
  FormSection* data_;
  FormSection* training_;
  FormSection* observe_;
  QLineEdit* title_;
  std::map<std::string, FormRow*> rows_;
  Json base_ = Json::object();  ///< defaults and preset, by table
};

}  // namespace vitrine::ui
