// The New Experiment page: a form made from the plugins' schemas, checked while it is edited, and
// started from here.
#pragma once

#include <QTimer>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/config/experiment.h"
#include "ui/configure/form/edit_history.h"
#include "ui/configure/plan/run_forecast.h"
#include "ui/configure/plan/run_planner.h"
#include "ui/configure/plan/stored_runs.h"
#include "ui/workbench/headless.h"
#include "ui/workbench/page.h"

class QFrame;
class QLabel;
class QLineEdit;
class QMenu;
class QPushButton;
class QScrollArea;
class QSplitter;
class QStackedWidget;
class QToolButton;

namespace vitrine {
class Document;
}

namespace vitrine::ui {

class ExperimentForm;
class FormRow;
class SidePanel;

class ConfigurePage final : public Page {
  Q_OBJECT
 public:
  explicit ConfigurePage(Workbench& workbench, QWidget* parent = nullptr);
  ~ConfigurePage() override;

  void waitUntilIdle() override;
  [[nodiscard]] QList<QAction*> tools() override;
  [[nodiscard]] Json viewState() const override;
  void setViewState(const Json& state) override;
  [[nodiscard]] QString howToRead() const override;
  [[nodiscard]] QImage snapshot(QSize size, double scale) override;

  [[nodiscard]] SidePanel& side() const { return *side_; }
  [[nodiscard]] const Plan& plan() const { return *plan_; }
  [[nodiscard]] const EditHistory& history() const { return history_; }
  /// The experiment as it would be saved or started.
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::optional<std::string> experimentText() const override { return text_; }
  /// Shows an experiment file's text, a step of Undo; `origin` is where Save offers to write.
  void setText(const std::string& text, const QString& origin = {});
  /// Plans now instead of 150 ms after the last edit, and waits for it: for pictures and tests.
  void planNow();
  /// The runs are being planned: those that are shown are of an older text.
  [[nodiscard]] bool isPlanPending() const;
  /// What can be done with a field: back to the default, sweep, variants.
  [[nodiscard]] std::unique_ptr<QMenu> fieldMenu(FormRow* row);
  void fillFieldMenu(QMenu& menu, FormRow* row);

 public Q_SLOTS:
  /// Fills the form with a run's resolved configuration; as soon as the schemas are there.
  void startFrom(std::int64_t run);
  /// Asks for a run and fills the form with it.
  void cloneRun();
  /// Puts the runs into the queue and shows them.
  void start(jobs::QueueEnd end = jobs::QueueEnd::Back);
  /// Puts the runs at the queue's end and stays here.
  void queueUp();
  void save();  ///< where it came from, else asks
  void saveAs();
  void open();
  void openFile(const QString& file);
  void copyAsCommand();
  void undo();
  void redo();
  void find();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  friend class Probe;  ///< of tests
  enum class Afterwards { ShowRuns, Stay };

  void makeActions();
  QWidget* makeContent();
  QWidget* makeBar();
  QWidget* makeNotice();
  QWidget* makeFooter();
  void onCatalog();
  void onFormEdited(const QString& label, const QString& mergeKey);
  void onTextEdited();
  void applyDocument(const Document& document, const QString& label);
  /// Says that the text is not TOML, when it is not: nothing else may write it then.
  [[nodiscard]] bool isLocked();
  void restore(const EditHistory::State& state);
  void commit(const QString& label, const QString& mergeKey,
              EditHistory::Kind kind = EditHistory::Kind::Edit);
  void takeText();
  void textChanged();
  void askPlan();
  void onPlanned(std::shared_ptr<const Plan> plan);
  void showWorking();
  void showPlan();
  /// The variant that has the problem, by place; -1: all runs have it.
  [[nodiscard]] int variantOf(const Problem& problem) const;
  void showChanges();
  void showCost();
  void showForecast();
  void showNotice();
  void showHistory();
  void showOrigin();
  void askForecast();
  void askReference();
  void exclude(const std::vector<int>& rows);
  void include(const std::vector<int>& rows);
  void dropEmptyExcludes();
  void moveToVariant(FormRow* row, int place);
  /// \param table  "init" or "aux.NAME"
  void chooseSourceRun(const std::string& table);
  void chooseSourceWeights(const std::string& table);
  void renameTable(const std::string& place, const std::string& from, const std::string& to);
  void showSourceRun(const std::string& table);
  void showSourceRuns();
  void reveal(const std::string& key);
  void useFreeSeed();
  void enqueue(jobs::QueueEnd end, Afterwards afterwards);
  /// Enqueues what Start was pressed for, once its plan and its check are there.
  void enqueueWhenReady();
  void onRunSelected();
  void onEnqueued(const std::vector<std::int64_t>& runs);
  void showAwaited();
  void placeSide();
  /// So low that the form needs every line.
  [[nodiscard]] bool isShort() const;
  /// Whether another program wrote the file after it was read here; once for each of its texts.
  bool isOthersWork(const QString& file);
  bool writeTo(const QString& file);

  Workbench& workbench_;
  QStackedWidget* stack_;
  QLabel* failure_ = nullptr;
  QSplitter* splitter_ = nullptr;
  QScrollArea* scroll_ = nullptr;
  ExperimentForm* form_ = nullptr;
  SidePanel* side_ = nullptr;
  QLineEdit* search_ = nullptr;
  QLabel *searchNote_ = nullptr, *originLabel_ = nullptr;
  QToolButton* sideButton_ = nullptr;
  QFrame* notice_ = nullptr;
  QLabel* noticeText_ = nullptr;
  QPushButton *noticeOpen_ = nullptr, *noticeSeed_ = nullptr;
  QLabel *headline_ = nullptr, *details_ = nullptr, *warning_ = nullptr;
  QPushButton *start_ = nullptr, *queue_ = nullptr, *front_ = nullptr;
  QPushButton* pressed_ = nullptr;  ///< which of them had the focus when it was disabled
  QAction *startAction_ = nullptr, *queueAction_ = nullptr, *frontAction_ = nullptr,
          *findAction_ = nullptr, *undoAction_ = nullptr, *redoAction_ = nullptr,
          *menuAction_ = nullptr;
  std::string lastField_;  ///< whose row had the focus last
  QList<QAction*> keys_;   ///< whose keys hold while the focus is on the page
  std::unique_ptr<QMenu> menu_;

  std::string text_;
  std::string sound_;  ///< the last text that was TOML: what edits of the form go into
  QString origin_;
  std::map<QString, std::string> saved_;  ///< the text of each file as it was read or written
  std::string warnedOf_;                  ///< another program's text that Save refused to overwrite
  EditHistory history_;
  std::int64_t fromRunLater_ = 0;  ///< startFrom() came before the schemas or the configuration
  std::optional<Problem> syntax_;  ///< why the text is not TOML; the form is closed then
  std::shared_ptr<const Catalog> catalog_;  ///< the form's, for the thread that plans
  std::shared_ptr<const Plan> plan_;
  std::optional<Json> report_;  ///< of `vitrine check`, for the text as it is
  QString costProblem_;
  Forecast forecast_;
  bool isForecast_ = false;  ///< `forecast_` is of the plan as it is
  CheckProcess check_;
  EnqueueProcess enqueue_;
  CheckProcess referenceCheck_;  ///< of a run that times are taken from
  std::int64_t reference_ = 0;
  RunPlanner planner_;
  RunForecaster forecaster_;
  StoredRuns stored_;
  Background command_;
  std::optional<std::pair<jobs::QueueEnd, Afterwards>>
      wanted_;  ///< Start, while the runs are worked out and checked
  Afterwards afterwards_ = Afterwards::ShowRuns;
  std::vector<std::int64_t> awaited_;  ///< shown once they are here: another machine's come later
  QTimer planTimer_, checkTimer_, textTimer_, runsTimer_, workingTimer_;
  bool wasShort_ = false;
  bool isSideWanted_ = true;
  bool isSideChosen_ = false;  ///< the user showed or hid it
};

}  // namespace vitrine::ui
