// Export figure: how large on paper, which format, with a picture of what comes out.
#pragma once

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSpinBox>

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
  /// Another one than was chosen last: that of a recipe.
  void setPaper(const FigurePaper& paper);
  [[nodiscard]] FigureFormat format() const;
  /// Writes the file and keeps the choices for the next time. \throws Error
  void exportTo(const QString& file);
  /// Where it was written; "" when it was not.
  [[nodiscard]] QString written() const { return written_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void makeWords();
  void fill(const FigurePaper& paper);
  void refresh();
  void askAndExport();
  void copy();

  Figure& figure_;
  Recipe recipe_;
  QString offered_, written_;
  QComboBox *format_, *size_, *legend_;
  QDoubleSpinBox *width_, *ratio_, *font_, *dots_;
  QCheckBox *titles_, *title_;
  QSpinBox* markers_;
  QLineEdit *xTitle_, *yTitle_;
  QListWidget* series_;  ///< a name a row; none of a figure without series
  QStringList ownNames_;
  QLabel *preview_, *facts_, *problem_;
  QPushButton* export_;
  bool isFilling_ = false;
};

/// What a page calls: asks, writes the file with its recipe, and says in the status bar where it
/// is. \param name  offered for the file, without an ending: "train-loss"
void exportFigure(QWidget* parent, Workbench& workbench, Figure& figure, const Recipe& recipe,
                  const QString& name = QStringLiteral("figure"));

/// The paper of a recipe that was opened: the next export from its page begins with it, words
/// included.
void keepPaper(Workbench& workbench, const Recipe& recipe);

/// The whole of "Export figure…": the picture of the page, with its recipe. Says so where the page
/// has none.
void exportFigureOf(QWidget* parent, Workbench& workbench, Page& page, const QString& pageId);

}  // namespace vitrine::ui
