// Seeds, sweep axes and variants of an experiment: what multiplies its runs.
#pragma once

#include <QStringList>
#include <QWidget>
#include <map>
#include <vector>

#include "core/config/edit/document.h"
#include "ui/configure/form/axis_list.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QVBoxLayout;

namespace vitrine::ui {

class CollapsibleSection;

class SweepEditor : public QWidget {
  Q_OBJECT
 public:
  explicit SweepEditor(QWidget* parent = nullptr);

  /// Keys that the key lines complete.
  void setKeys(const QStringList& keys);
  /// Shows a document's sweep and variants; edited() is not emitted.
  void setDocument(const Document& document);
  /// Writes what the editor shows into `document`.
  void applyTo(Document& document) const;

  /// What multiplies the runs, in words: "2 variants", "3 seeds", "4 values of train.batch_size".
  [[nodiscard]] static QStringList factors(const Document& document);

  /// An axis over a field, or more values for the one there is; its values get the focus.
  void sweep(const std::string& key, const std::vector<Json>& values);
  /// A variant that says one thing. \param name  "+ width 256"
  void addVariant(const std::string& name, const std::string& key, const Json& value);
  /// Lets an existing variant say it. \param place  as in variantNames()
  void addToVariant(int place, const std::string& key, const Json& value);
  [[nodiscard]] QStringList variantNames() const;
  /// Errors of typed text that cannot be read, so that applyTo() omits it.
  [[nodiscard]] QStringList unread() const;
  /// Shows the problem of an axis next to it.
  void showProblems(const std::vector<Problem>& problems);
  /// The same of variants, by their place.
  void showVariantProblems(const std::map<int, QString>& problems);
  /// "sweep" and "variants", which open and close.
  [[nodiscard]] const std::vector<CollapsibleSection*>& sections() const { return sections_; }

 public Q_SLOTS:
  void addAxis();
  void addVariant();

 Q_SIGNALS:
  /// \param mergeKey  edits with the same one are one step of Undo; "" for a step of its own
  void edited(const QString& label, const QString& mergeKey);

 private:
  struct VariantRow {
    QWidget* row;
    QLineEdit* name;
    QPlainTextEdit* overrides;
    QLabel* problem;
  };
  void appendVariant(const Document::Variant& variant);
  /// "" where everything can be read.
  [[nodiscard]] static QString unreadLine(const VariantRow& variant);
  void showStages(const Document& document);

  std::vector<CollapsibleSection*> sections_;
  QLabel* stages_;
  QLineEdit* seeds_;
  QLabel* seedsProblem_;
  AxisList* axes_;
  QVBoxLayout* variantsBox_;
  std::vector<VariantRow> variants_;
};

}  // namespace vitrine::ui
