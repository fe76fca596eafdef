// Form, text and plan: whichever of form and text was edited last makes the other, and the planner
// judges the text.
#include "ui/configure/configure_page.h"

#include <QApplication>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QSyntaxHighlighter>
#include <QToolButton>
#include <utility>

#include "core/config/edit/document.h"
#include "core/config/edit/toml_patch.h"
#include "core/config/train_schema.h"
#include "ui/configure/form/experiment_form.h"
#include "ui/configure/form/form_row.h"
#include "ui/configure/form/run_picker.h"
#include "ui/configure/form/sweep_editor.h"
#include "ui/configure/plan/changes_view.h"
#include "ui/configure/plan/loading_view.h"
#include "ui/configure/plan/planned_runs.h"
#include "ui/configure/plan/side_panel.h"
#include "ui/kit/background.h"
#include "ui/kit/fit_area.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {

namespace {

constexpr int kPlanMs = 150;
constexpr int kCheckMs = 300;
constexpr int kMostWaitMs = 20000;
constexpr int kWorkingMs = 200;   // before it is said that the runs are worked out
constexpr int kRunsMs = 2000;     // between two looks at runs that came meanwhile
constexpr int kShortPage = 420;   // pixels
constexpr int kNarrowPage = 720;  // pixels: below this the side panel waits behind its button

}  // namespace

ConfigurePage::ConfigurePage(Workbench& workbench, QWidget* parent)
    : Page(parent),
      workbench_(workbench),
      stack_(new QStackedWidget(this)),
      plan_(std::make_shared<Plan>()),
      planner_(workbench.store().file()),
      forecaster_(workbench),
      stored_(workbench.store().file()),
      command_(workbench.store().file()) {
  setAcceptDrops(true);
  setMinimumSize(420, 300);  // narrower than form and side panel together: the panel then hides
  auto* outer = columnIn(this, {});
  outer->addWidget(stack_);
  stack_->addWidget(new LoadingView(tr("Reading the settings that the plugins have"), this));
  auto* broken =
      new ErrorView(tr("The form needs the plugins' settings, and they could not be read."), this);
  failure_ = broken->reason();
  connect(broken, &ErrorView::retry, this, [this] {
    stack_->setCurrentIndex(0);
    workbench_.askCatalogAgain();
  });
  stack_->addWidget(broken);
  makeActions();
  stack_->addWidget(makeContent());

  for (QTimer* timer : {&planTimer_, &checkTimer_, &textTimer_, &runsTimer_, &workingTimer_})
    timer->setSingleShot(true);
  planTimer_.setInterval(kPlanMs);
  checkTimer_.setInterval(kCheckMs);
  textTimer_.setInterval(kPlanMs);
  runsTimer_.setInterval(kRunsMs);
  workingTimer_.setInterval(kWorkingMs);
  connect(&planTimer_, &QTimer::timeout, this, &ConfigurePage::askPlan);
  connect(&workingTimer_, &QTimer::timeout, this, &ConfigurePage::showWorking);
  connect(&planner_, &RunPlanner::planned, this, &ConfigurePage::onPlanned);
  connect(&planner_, &RunPlanner::failed, this, [this](const QString& sentence) {
    wanted_.reset();
    workbench_.showError(sentence);
  });
  connect(&stored_, &StoredRuns::failed, &workbench_, &Workbench::showError);
  connect(&stored_, &StoredRuns::arrived, this, [this] {
    if (fromRunLater_ != 0 && form_->catalog() != nullptr)
      startFrom(std::exchange(fromRunLater_, 0));
    if (form_->catalog() == nullptr) return;
    showSourceRuns();
    showChanges();
    askReference();
  });
  connect(&command_, &Background::failed, &workbench_, &Workbench::showError);
  connect(&textTimer_, &QTimer::timeout, this, &ConfigurePage::takeText);
  connect(&runsTimer_, &QTimer::timeout, this, &ConfigurePage::askForecast);
  connect(&checkTimer_, &QTimer::timeout, this, [this] {
    if (isPlanPending()) {
      checkTimer_.start();
    } else if (!syntax_ && plan_->problems.empty()) {
      check_.ask(text_);
    }
  });
  connect(&check_, &CheckProcess::finished, this, [this](const Json& report) {
    report_ = report;
    costProblem_.clear();
    showCost();
    askForecast();  // memory and operations are known now
    enqueueWhenReady();
  });
  connect(&check_, &CheckProcess::failed, this, [this](const QString& sentence) {
    report_.reset();
    costProblem_ = sentence;
    if (std::exchange(wanted_, std::nullopt)) workbench_.showError(sentence);
    showCost();
  });
  connect(&forecaster_, &RunForecaster::answered, this, [this](const Forecast& forecast) {
    forecast_ = forecast;
    isForecast_ = true;
    showForecast();
    askReference();
  });
  connect(&referenceCheck_, &CheckProcess::finished, this, [this](const Json& report) {
    forecaster_.setOperations(reference_, stateNumber(stateTable(report, "totals"), "flops"));
    askForecast();
  });
  connect(&referenceCheck_, &CheckProcess::failed, this,
          [this] { forecaster_.setOperations(reference_, 0); });
  connect(&forecaster_, &RunForecaster::failed, &workbench_, &Workbench::showError);
  connect(form_, &ExperimentForm::edited, this, &ConfigurePage::onFormEdited);
  connect(form_, &ExperimentForm::viewChanged, this, &Page::viewChanged);
  connect(form_, &ExperimentForm::runRequested, this, &ConfigurePage::chooseSourceRun);
  connect(form_, &ExperimentForm::weightsRequested, this, &ConfigurePage::chooseSourceWeights);
  connect(form_, &ExperimentForm::renameRequested, this, &ConfigurePage::renameTable);
  connect(form_, &ExperimentForm::menuRequested, this, [this](FormRow* row, const QPoint& place) {
    fieldMenu(row).release()->popup(place);  // goes with its closing
  });
  connect(&side_->sweep(), &SweepEditor::edited, this, &ConfigurePage::onFormEdited);
  connect(side_, &SidePanel::textEdited, this, &ConfigurePage::onTextEdited);
  connect(side_, &SidePanel::viewChanged, this, &Page::viewChanged);
  connect(&side_->changes(), &ChangesView::againstChanged, this, &ConfigurePage::showChanges);
  connect(&side_->changes(), &ChangesView::keyRequested, this,
          [this](const QString& key) { reveal(key.toStdString()); });
  connect(&side_->changes(), &ChangesView::chooseRequested, this, [this] {
    RunPicker picker(tr("Compare with a run"), workbench_.runs(), nullptr, this);
    if (picker.exec() == QDialog::Accepted && picker.picked() != 0)
      side_->changes().compareWith(picker.picked());
  });
  connect(&side_->plannedRuns(), &PlannedRunsView::runRequested, this, [this](std::int64_t run) {
    workbench_.selection().setRuns({run}, run);
    workbench_.showPage(QStringLiteral("monitor"));
  });
  connect(&side_->plannedRuns(), &PlannedRunsView::excludeRequested, this, &ConfigurePage::exclude);
  connect(&side_->plannedRuns(), &PlannedRunsView::includeRequested, this, &ConfigurePage::include);
  connect(&workbench_, &Workbench::catalogReady, this, &ConfigurePage::onCatalog);
  const auto showFailure = [this](const QString& sentence) {
    if (form_->catalog() != nullptr) return;
    failure_->setText(sentence);
    stack_->setCurrentIndex(1);
  };
  connect(&workbench_, &Workbench::catalogFailed, this, showFailure);
  connect(&workbench_, &Workbench::themeChanged, this, [this] {
    form_->rebuild();  // sizes and marks are of the theme
    for (auto* colours : side_->findChildren<QSyntaxHighlighter*>()) colours->rehighlight();
    showPlan();
    update();
  });
  connect(&workbench_.selection(), &Selection::runsChanged, this, &ConfigurePage::onRunSelected);
  connect(&workbench_.watcher(), &store::RunWatcher::runsChanged, this, [this] {
    if (!isVisible()) awaited_.clear();
    showAwaited();
    if (isVisible() && !runsTimer_.isActive()) runsTimer_.start();
  });
  // The keys of the page come before those of a line that has the focus and of the window.
  qApp->installEventFilter(this);
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
    history_.seal();
    for (; now != nullptr && now != this; now = now->parentWidget()) {
      if (auto* row = qobject_cast<FormRow*>(now); row != nullptr) lastField_ = row->key();
    }
  });
  const auto lastRow = [this]() -> FormRow* {
    return form_->catalog() == nullptr ? nullptr : form_->row(lastField_);
  };
  offerMenu(
      form_, [lastRow] { return lastRow() == nullptr ? QString() : lastRow()->title(); },
      [this, lastRow](QMenu& menu) {
        if (FormRow* row = lastRow(); row != nullptr) fillFieldMenu(menu, row);
      });
  onRunSelected();
  if (!workbench_.catalog().items.empty()) {
    onCatalog();
  } else if (const QString problem = workbench_.catalogProblem(); !problem.isEmpty()) {
    showFailure(problem);
  }
}

ConfigurePage::~ConfigurePage() { qApp->removeEventFilter(this); }

bool ConfigurePage::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::ShortcutOverride && event->type() != QEvent::KeyPress)
    return Page::eventFilter(watched, event);
  auto* widget = qobject_cast<QWidget*>(watched);
  if (widget == nullptr || (widget != this && !isAncestorOf(widget)))
    return Page::eventFilter(watched, event);
  const QKeySequence pressed(static_cast<QKeyEvent*>(event)->keyCombination());
  for (QAction* action : keys_) {
    if (!action->shortcuts().contains(pressed)) continue;
    event->accept();
    if (event->type() == QEvent::KeyPress) action->trigger();
    return true;
  }
  return Page::eventFilter(watched, event);
}

void ConfigurePage::onCatalog() {
  const Catalog& catalog = workbench_.catalog();
  if (catalog.items.empty()) {
    failure_->setText(
        tr("No plugin was loaded. `vitrine plugins` lists the refused plugins and why."));
    stack_->setCurrentIndex(1);
    return;
  }
  form_->setCatalog(catalog);
  catalog_ = std::make_shared<const Catalog>(catalog);
  stack_->setCurrentIndex(2);
  placeSide();
  if (text_.empty()) {
    setText(toText(freshDocument(catalog)));
  } else {
    takeText();
  }
  if (syntax_) form_->rebuild();  // it keeps the document before that text
  if (fromRunLater_ != 0) startFrom(std::exchange(fromRunLater_, 0));
}

void ConfigurePage::setText(const std::string& text, const QString& origin) {
  text_ = text;
  sound_.clear();  // of another experiment
  origin_ = origin;
  if (!origin.isEmpty()) saved_[origin] = text;
  side_->setText(QString::fromStdString(text));
  commit(origin.isEmpty() ? tr("new experiment") : tr("opening of ") + QFileInfo(origin).fileName(),
         QString(), EditHistory::Kind::Opening);
  if (form_->catalog() != nullptr) takeText();
  if (syntax_) side_->showText();
}

bool ConfigurePage::isLocked() {
  if (!syntax_) return false;
  workbench_.showMessage(
      tr("Correct line %1 of the text first: it is not TOML.").arg(syntax_->line));
  return true;
}

void ConfigurePage::onFormEdited(const QString& label, const QString& mergeKey) {
  if (isLocked()) return;
  Document document = form_->document();
  side_->sweep().applyTo(document);
  form_->setDocument(document);
  sound_ = text_ = patchToml(sound_, document);
  side_->setText(QString::fromStdString(text_));
  commit(label, mergeKey);
  textChanged();
}

void ConfigurePage::applyDocument(const Document& document, const QString& label) {
  if (isLocked()) return;
  sound_ = text_ = patchToml(sound_, document);
  side_->setText(QString::fromStdString(text_));
  commit(label, QString());
  takeText();
}

void ConfigurePage::onTextEdited() {
  text_ = side_->text().toPlainText().toStdString();
  // Typing in one line is one step.
  commit(tr("typing"), QStringLiteral("text:%1").arg(side_->text().textCursor().blockNumber()));
  textTimer_.start();
  textChanged();
}

void ConfigurePage::commit(const QString& label, const QString& mergeKey, EditHistory::Kind kind) {
  wanted_.reset();  // Start was meant for what was there
  history_.push({text_, origin_, label, kind}, mergeKey.toStdString());
  showHistory();
}

void ConfigurePage::undo() {
  if (history_.canUndo()) restore(history_.undo());
}

void ConfigurePage::redo() {
  if (history_.canRedo()) restore(history_.redo());
}

void ConfigurePage::restore(const EditHistory::State& state) {
  text_ = state.text;
  origin_ = state.origin;
  textTimer_.stop();
  side_->setText(QString::fromStdString(text_));
  takeText();
  showHistory();
}

void ConfigurePage::takeText() {
  Problem problem;
  const std::optional<Document> document = parseDocument(text_, problem);
  if (document) {
    syntax_.reset();
    sound_ = text_;
    form_->setDocument(*document, FieldEditor::Typing::Replace);
    side_->sweep().setDocument(*document);
  } else {
    syntax_ = problem;
    if (sound_.empty()) {  // nothing of this text could be read: the form shows no other experiment
      const Document fresh = freshDocument(*form_->catalog());
      form_->setDocument(fresh, FieldEditor::Typing::Replace);
      side_->sweep().setDocument(fresh);
    }
  }
  // An edit in the form goes into the text, which has no place for it now.
  for (QWidget* part :
       std::initializer_list<QWidget*>{form_, &side_->sweep(), &side_->plannedRuns()})
    part->setEnabled(!syntax_);
  placeSide();
  showNotice();
  textChanged();
  askPlan();
}

void ConfigurePage::textChanged() {
  report_.reset();
  costProblem_.clear();
  isForecast_ = false;
  check_.cancel();
  checkTimer_.start();
  planTimer_.start();
  showOrigin();
}

void ConfigurePage::askPlan() {
  planTimer_.stop();
  if (textTimer_.isActive()) {
    textTimer_.stop();
    takeText();
    return;
  }
  if (form_->catalog() == nullptr) return;
  isForecast_ = false;
  planner_.ask(text_, catalog_);
  if (!workingTimer_.isActive()) workingTimer_.start();
}

void ConfigurePage::planNow() {
  askPlan();
  planner_.waitUntilIdle();
  stored_.waitUntilIdle();
  command_.waitUntilIdle();
  if (isPlanPending()) planNow();  // what was read made another text
}

bool ConfigurePage::isPlanPending() const {
  return planTimer_.isActive() || textTimer_.isActive() || planner_.isBusy();
}

void ConfigurePage::onPlanned(std::shared_ptr<const Plan> plan) {
  workingTimer_.stop();
  plan_ = std::move(plan);
  isForecast_ = false;
  showPlan();
  askForecast();
  enqueueWhenReady();
}

void ConfigurePage::enqueueWhenReady() {
  if (!wanted_ || isPlanPending()) return;
  const auto [end, afterwards] = *std::exchange(wanted_, std::nullopt);
  showCost();
  enqueue(end, afterwards);
}

void ConfigurePage::askForecast() {
  if (plan_->runs.empty() || !plan_->problems.empty()) {
    forecaster_.cancel();
    forecast_ = {};
    isForecast_ = false;
    showForecast();
    return;
  }
  forecaster_.ask(plan_, report_ ? *report_ : Json());
}

void ConfigurePage::askReference() {
  if (!isForecast_ || forecast_.reference == 0 || referenceCheck_.isRunning()) return;
  const Json* config = stored_.config(forecast_.reference);
  if (config == nullptr) return;  // arrived() comes back here
  reference_ = forecast_.reference;
  referenceCheck_.ask(toToml(withOwnTrainKeys(*config)));
}

void ConfigurePage::onRunSelected() {
  side_->changes().setSelectedRun(workbench_.selection().current());
  showChanges();
}

void ConfigurePage::waitUntilIdle() {
  waitWhile([this] { return stack_->currentIndex() == 0; }, kMostWaitMs);
  if (form_->catalog() == nullptr) return;
  stored_.waitUntilIdle();  // a run to start from
  planNow();
  if (!report_ && costProblem_.isEmpty() && start_->isEnabled()) {
    checkTimer_.stop();
    if (!check_.isRunning()) check_.ask(text_);
    waitWhile([this] { return check_.isRunning(); }, kMostWaitMs);
  }
  forecaster_.waitUntilIdle();
  stored_.waitUntilIdle();
  if (referenceCheck_.isRunning()) {
    waitWhile([this] { return referenceCheck_.isRunning(); }, kMostWaitMs);
    forecaster_.waitUntilIdle();
  }
  placeSide();
  layOutNow();
}

QImage ConfigurePage::snapshot(QSize size, double scale) {
  resize(size);
  placeSide();  // a hidden page hears of its size too late for the layout
  return Page::snapshot(size, scale);
}

void ConfigurePage::placeSide() {
  // A text that is not TOML can only be corrected there.
  const bool isShown = syntax_ || (isSideChosen_ ? isSideWanted_ : width() >= px(kNarrowPage));
  side_->setVisible(isShown);
  sideButton_->setChecked(isShown);
}

bool ConfigurePage::isShort() const { return height() < px(kShortPage); }

void ConfigurePage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  placeSide();
  if (isShort() != wasShort_ && form_->catalog() != nullptr) showCost();
  wasShort_ = isShort();
}

void ConfigurePage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (form_->catalog() == nullptr && !workbench_.catalog().items.empty()) onCatalog();
  if (form_->catalog() != nullptr) askForecast();
}

void ConfigurePage::dragEnterEvent(QDragEnterEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (urls.size() == 1 && urls.front().isLocalFile() &&
      urls.front().fileName().endsWith(QLatin1String(".toml"), Qt::CaseInsensitive)) {
    event->acceptProposedAction();
  }
}

void ConfigurePage::dropEvent(QDropEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (urls.isEmpty()) return;
  event->acceptProposedAction();
  openFile(urls.front().toLocalFile());
}

}  // namespace vitrine::ui
