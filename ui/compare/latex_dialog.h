// Asks what of the ablation table a LaTeX tabular has, with the text that comes out.
#pragma once

#include <QDialog>

#include "ui/compare/ablation_table.h"

class QCheckBox;
class QComboBox;
class QListWidget;
class QPlainTextEdit;

namespace vitrine::ui {

class LatexDialog final : public QDialog {
  Q_OBJECT
 public:
  /// \param table  its rows as they are shown: sorted and filtered
  LatexDialog(AblationTable table, TableOrigin origin, const LatexChoice& choice,
              QWidget* parent = nullptr);

  [[nodiscard]] LatexChoice choice() const;

 Q_SIGNALS:
  /// The dialog closes with either.
  void copyRequested(const vitrine::ui::LatexChoice& choice);
  void saveRequested(const vitrine::ui::LatexChoice& choice);

 private:
  void refresh();

  AblationTable table_;
  TableOrigin origin_;
  QListWidget* metrics_;
  QComboBox* differs_;
  QCheckBox *difference_, *count_, *bold_;
  QPlainTextEdit* text_;
};

}  // namespace vitrine::ui
