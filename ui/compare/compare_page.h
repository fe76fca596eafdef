// The Compare page: variants of an experiment side by side, with what their seeds say about the
// differences.
#pragma once

#include <QAction>
#include <cstdint>
#include <memory>
#include <vector>

#include "ui/compare/ablation_model.h"
#include "ui/compare/compare_data.h"
#include "ui/compare/difference_list.h"
#include "ui/compare/published_table.h"
#include "ui/compare/variant_curves.h"
#include "ui/kit/loading_state.h"
#include "ui/workbench/page.h"

class QBoxLayout;
class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QMenu;
class QPlainTextEdit;
class QSpinBox;
class QSplitter;
class QStackedWidget;
class QTableView;
class QToolButton;
class QTreeWidget;

namespace vitrine::ui {

class ArtifactTiles;
class FigureView;
class PageStack;
class ParallelView;
class ReportBar;

class ComparePage final : public ReadingPage {
  Q_OBJECT
 public:
  enum class TableFormat { Csv, Latex, Markdown };

  explicit ComparePage(Workbench& workbench, QWidget* parent = nullptr);
  ~ComparePage() override;

  void waitUntilIdle() override;
  /// Asks for the file of a report of the compared runs, once they are read.
  void askReport();
  QList<QAction*> tools() override { return {toolMenu_}; }
  [[nodiscard]] Json viewState() const override { return toJson(choice_); }
  void setViewState(const Json& state) override;
  [[nodiscard]] std::unique_ptr<Figure> figure() override;
  [[nodiscard]] QString howToRead() const override;

  [[nodiscard]] const CompareChoice& choice() const { return choice_; }
  /// The shown data; nullptr before the first reading.
  [[nodiscard]] const CompareData* data() const { return data_.get(); }
  [[nodiscard]] const AblationTable& table() const { return model_.table(); }
  [[nodiscard]] const PublishedTable& published() const { return published_; }

  /// Shows another view, as every control does; viewChanged() follows where it is another one.
  void choose(const CompareChoice& choice);
  [[nodiscard]] QString tableText(TableFormat format) const;
  void copyTable(TableFormat format);
  /// The ending of the name decides: .csv, .tex or .md.
  void exportTable(const QString& file);
  /// Of the run in the current column against the first one.
  void copyOverrides();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  // compare_layout.cpp
  QWidget* makeTop();
  QWidget* makeTableView();
  void makeActions();
  QComboBox* makeCombo(const QString& name, const QString& tip);
  QToolButton* makeToggle(const QString& text, const QString& tip);
  static void growInRow(QWidget* widget);
  void chooseColumns();
  void setBaselineFromTable();
  void selectRunsOfTable();
  // compare_charts.cpp
  QWidget* makeCurveTools(QWidget* parent);
  QWidget* makeParallel();
  QWidget* makeScatter();
  QWidget* makeArtifacts();
  void showArtifacts();
  void showParallel();
  void showScatter();
  void fillTools();
  void showCurveTools();
  void showScatterTools();
  void onAxes(const std::vector<ParallelAxisChoice>& axes);
  void askAxes();
  // compare_lists.cpp
  void sortBy(int column);
  QMenu* makeSortMenu();
  QWidget* makeDifferences();
  QWidget* makePublished();
  void showDifferences();
  void readPublished();
  void showPublished();
  void fitPublished();
  // compare_export.cpp
  void askAndExport(TableFormat format);
  void askLatex();
  void openReport();
  void showReport();
  // compare_page.cpp
  void reload() override;
  void setData(std::shared_ptr<const CompareData> data, AblationTable table);
  void fillControls();
  void remakeTable();
  void makeRoomForView();
  void showEmpty(const QString& sentence, const QString& button, const QString& page);
  void showChoice();
  void showTable(AblationTable table);
  void fitColumns();
  void fitDiffers();
  /// \returns  whether the verdicts have other words now
  bool fitWords();
  [[nodiscard]] int wholeWidth();  ///< of the table with whole verdicts
  void orderTable();
  void readCurves();
  void showCurves();
  void drawCurves();
  [[nodiscard]] bool areChartsThere() const;
  /// Instead of curves over training: the drawn metric has one value a run, or has a family.
  [[nodiscard]] bool isForest() const;
  /// The family as curves over its numbers, else a forest plot.
  [[nodiscard]] std::unique_ptr<Figure> forestFigure(ComparePicture picture,
                                                     const FigureStyle& style = {}) const;
  void drawForest();
  void fitTable();
  void showView();
  [[nodiscard]] std::vector<std::size_t> tableOrder() const;
  /// The rows as they are shown: sorted and filtered.
  [[nodiscard]] AblationTable shownTable() const;
  void pickRows();
  void takePicture(ComparePicture picture) { choice_.picture = picture; }
  void cancelReading();
  template <class Change>
  void change(Change change) {
    CompareChoice next = choice_;
    change(next);
    choose(next);
  }

  Workbench& workbench_;
  CompareChoice choice_;
  std::shared_ptr<const CompareData> data_;
  Background reader_, curveReader_, chartMaker_, publishedReader_;
  LoadingState loading_;  ///< all of them
  AblationModel model_;
  AblationOrder order_;
  CurveRequest request_;
  std::shared_ptr<const CurvePoints> points_;
  /// The drawn part of points_, and the choice that it was made for.
  struct Charts {
    std::shared_ptr<const CurvePoints> points;
    CompareChoice choice;
    std::vector<CurvePanel> panels;
    LineChart difference;
  };
  std::shared_ptr<const Charts> charts_;
  PublishedTable published_;
  DifferenceList differences_;
  std::vector<std::int64_t> scope_;    ///< what was selected when the runs were chosen
  std::vector<std::int64_t> brushed_;  ///< what brushes left of it in the selection
  std::vector<std::int64_t> drawn_;    ///< by pages of several runs, when that changed last
  bool isBrushing_ = false;            ///< the selection is being set by this page
  bool isFilling_ = false;             ///< controls are being set by this page
  QSplitter* split_ = nullptr;         ///< of table and charts
  bool isSplitByHand_ = false;
  int wholeWidth_ = 0;        ///< at the last fitColumns()
  std::vector<int> fitted_;   ///< widths that fitColumns() gave the columns of the table
  bool isCancelled_ = false;  ///< what runs write is not read until the user asks again
  QList<QAction*> tools_;
  QAction* toolMenu_ = nullptr;  ///< all of them
  QAction *exportFigure_ = nullptr, *writeReport_ = nullptr;
  bool isReportAsked_ = false;  ///< while the runs are read
  ReportBar* report_ = nullptr;

  PageStack* stack_;
  QStackedWidget* views_;
  QBoxLayout* pair_ = nullptr;  ///< of curves and difference
  QLabel *headline_ = nullptr, *about_ = nullptr, *leftOut_ = nullptr, *busy_ = nullptr;
  QToolButton* cancel_ = nullptr;
  QString emptyPage_;
  std::vector<QToolButton*> viewButtons_;
  QComboBox *metric_ = nullptr, *value_ = nullptr, *baseline_ = nullptr;
  QSpinBox* step_ = nullptr;
  QCheckBox* unfinished_ = nullptr;
  QLineEdit* filter_ = nullptr;
  QTableView* tableView_ = nullptr;
  FigureView *curvesView_ = nullptr, *differenceView_ = nullptr, *scatterView_ = nullptr;
  ParallelView* parallelView_ = nullptr;
  ArtifactTiles* artifactTiles_ = nullptr;
  QComboBox *axis_ = nullptr, *centre_ = nullptr, *spread_ = nullptr, *colour_ = nullptr,
            *dash_ = nullptr, *panel_ = nullptr;
  QToolButton *logX_ = nullptr, *logY_ = nullptr;
  QComboBox *scatterX_ = nullptr, *scatterY_ = nullptr, *betterX_ = nullptr, *betterY_ = nullptr;
  QToolButton *scatterLogX_ = nullptr, *scatterLogY_ = nullptr;
  QCheckBox* onlyDifferences_ = nullptr;
  QTreeWidget *differenceTree_ = nullptr, *publishedTree_ = nullptr, *claimTree_ = nullptr;
  QPlainTextEdit* source_ = nullptr;
  QLabel *paper_ = nullptr, *claimsTitle_ = nullptr, *differencesAbout_ = nullptr;
};

}  // namespace vitrine::ui
