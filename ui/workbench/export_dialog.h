// Export figure: how large on paper, which format, with a picture of what comes out.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>

#include "ui/workbench/figure_file.h"

namespace vitrine::ui {

/// The paper last chosen; for exports without a dialog.
[[nodiscard]] FigurePaper storedPaper();

class ExportDialog : public QDialog {
  Q_OBJECT
 public:
  /// \param figure    must outlive the dialog
  /// \param offered   name of the file without an ending
  ExportDialog(Figure& figure, Recipe recipe, QString offered, QWidget* parent = nullptr);

  [[nodiscard]] FigurePaper paper() const;
  [[nodiscard]] FigureFormat format() const;
  /// Writes the file and keeps the choices for the next time. \throws Error
  void exportTo(const QString& file);
  /// Where it was written; "" when it was not.
  [[nodiscard]] QString written() const { return written_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void fill(const FigurePaper& paper);
  void refresh();
  void askAndExport();
  void copy();

  Figure& figure_;
  Recipe recipe_;
  QString offered_, written_;
  QComboBox *format_, *size_, *legend_;
  QDoubleSpinBox *width_, *ratio_, *font_, *dots_;
  QCheckBox* titles_;
  QLabel *preview_, *facts_, *problem_;
  QPushButton* export_;
  bool isFilling_ = false;
};

/// What a page calls: asks, writes the file with its recipe, and says in the status bar where it
/// is. \param name  offered for the file, without an ending: "train-loss"
void exportFigure(QWidget* parent, Workbench& workbench, Figure& figure, const Recipe& recipe,
                  const QString& name = QStringLiteral("figure"));

/// The whole of "Export figure…": the picture of the page, with its recipe. Says so where the page
/// has none.
void exportFigureOf(QWidget* parent, Workbench& workbench, Page& page, const QString& pageId);

}  // namespace vitrine::ui
