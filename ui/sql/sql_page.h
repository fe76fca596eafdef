// The SQL page: a console that only reads, over the documented views of the open database; results
// as a table or a chart.
#pragma once

#include <QElapsedTimer>
#include <QTimer>
#include <optional>
#include <string>
#include <vector>

#include "ui/kit/background.h"
#include "ui/sql/sql_book.h"
#include "ui/sql/sql_chart.h"
#include "ui/sql/sql_result.h"
#include "ui/sql/sql_side.h"
#include "ui/sql/sql_text.h"
#include "ui/workbench/page.h"

class QComboBox;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QSplitter;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace vitrine::ui {

class EmptyPage;
class FigureView;
class SqlEditor;

class SqlPage final : public Page {
  Q_OBJECT
 public:
  explicit SqlPage(Workbench& workbench, QWidget* parent = nullptr);
  ~SqlPage() override;

  void waitUntilIdle() override;
  [[nodiscard]] QList<QAction*> tools() override;
  [[nodiscard]] Json viewState() const override;
  /// Runs the statement of the state where it differs from the shown one.
  void setViewState(const Json& state) override;
  [[nodiscard]] std::unique_ptr<Figure> figure() override;
  [[nodiscard]] QString howToRead() const override;

  [[nodiscard]] SqlEditor& editor() const { return *editor_; }
  [[nodiscard]] SqlSide& side() const { return *side_; }
  [[nodiscard]] SqlResultModel& model() { return model_; }
  [[nodiscard]] QTableView& table() const { return *table_; }
  [[nodiscard]] QString summary() const;
  /// The sentence of the last error; "" when the last statement succeeded.
  [[nodiscard]] QString error() const;
  void setChartChoice(const SqlChartChoice& choice);

 public Q_SLOTS:
  /// Runs the selection, or the statement under the cursor.
  void runRequested();
  void runStatement(const QString& sql);
  void stop();
  void showChart(bool isChart);
  /// Shows the rows in the order of a column, worked out off the window's thread.
  void sortBy(int column, Qt::SortOrder direction);
  /// Selected cells as text with tabs; all of the result when nothing is selected.
  void copySelection();
  void copyAll();
  void saveQuery(const QString& name);
  void forgetHistory();
  /// The ending of the name decides: .csv or .jsonl.
  void exportTo(const QString& file);

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  struct Outcome;
  void makeActions();
  void makeExportMenu();
  QWidget* makeEditor();
  QWidget* makeResult();
  QWidget* makeChart();
  QWidget* makeValuePanel();
  void readSchema();
  void take(const Outcome& outcome);
  void showWork();
  void showFailure(const QString& sentence, std::optional<SqlRange> place);
  void showBusy();
  void showState();
  void fillChartControls();
  void drawChart();
  void showValue();
  void fitColumns();
  /// Makes the rows in sight as high as their longest text needs.
  void fitRows();
  void selectRuns();
  void openStatement(const QString& sql);
  void storeBook();
  void askName();
  void askAndExport(const QString& ending, const QString& filter);
  void showTableMenu(const QPoint& place);
  [[nodiscard]] std::size_t rowLimit() const;
  [[nodiscard]] int secondsLimit() const;
  void chose();  ///< another view was chosen by hand

  Workbench& workbench_;
  SqlBook book_;
  SqlResultModel model_;
  Background runner_, reader_, sorter_, charter_, writer_;
  QTimer busyTimer_, storeTimer_, rowFitter_;
  QElapsedTimer running_;

  QAction *run_ = nullptr, *stop_ = nullptr, *save_ = nullptr, *export_ = nullptr,
          *copyCells_ = nullptr, *copyAll_ = nullptr;
  SqlSide* side_ = nullptr;
  SqlEditor* editor_ = nullptr;
  QPushButton* runButton_ = nullptr;
  QComboBox *rows_ = nullptr, *seconds_ = nullptr;
  QToolButton *tableButton_ = nullptr, *chartButton_ = nullptr, *valueButton_ = nullptr;
  QLabel *summary_ = nullptr, *notice_ = nullptr, *failure_ = nullptr, *busyText_ = nullptr;
  EmptyPage* empty_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  QSplitter* across_ = nullptr;
  QTableView* table_ = nullptr;
  QWidget* valuePanel_ = nullptr;
  QLabel *valueTitle_ = nullptr, *valueImage_ = nullptr;
  QPlainTextEdit* valueText_ = nullptr;
  QComboBox *chartX_ = nullptr, *chartGroup_ = nullptr, *chartKind_ = nullptr;
  QToolButton *chartY_ = nullptr, *logX_ = nullptr, *logY_ = nullptr;
  FigureView* figure_ = nullptr;

  QString shown_;     ///< the statement whose rows are shown, as it was written
  QString asked_;     ///< the one that runs
  int askedAt_ = -1;  ///< where it stands in the editor; -1: it is not from there
  QString counts_;    ///< rows, columns and seconds of the shown result
  bool hasResult_ = false;
  bool isChart_ = false;
  bool isSchemaAsked_ = false;
  bool isFilling_ = false;
  SqlChartChoice chart_;
  std::optional<std::vector<std::string>> charted_;  ///< columns that chart_ was chosen for
};

}  // namespace vitrine::ui
