#include "ui/shell/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QFileInfo>
#include <QMessageBox>
#include <QScreen>
#include <QStatusBar>
#include <algorithm>

#include "core/base/text.h"
#include "ui/configure/configure_page.h"
#include "ui/kit/icons.h"
#include "ui/kit/menus.h"
#include "ui/kit/plot_accessible.h"
#include "ui/kit/settings.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/monitor/alert_service.h"
#include "ui/shell/link_bar.h"
#include "ui/shell/pages.h"
#include "ui/shell/store_bar.h"
#include "ui/shell/tool_tips.h"
#include "ui/workbench/recent_databases.h"

namespace vitrine::ui {
namespace {

bool takesBackItself(const Page& page) {
  const auto actions = page.findChildren<QAction*>();
  return std::any_of(actions.begin(), actions.end(), [](const QAction* action) {
    return action->shortcuts().contains(QKeySequence(QKeySequence::Undo));
  });
}

/// The button of `action` gets room for the longest of `words`, which its text goes through. What
/// stands behind it in the bar stays where it is.
void keepRoomFor(const QToolBar& bar, QAction* action, const QStringList& words) {
  QWidget* button = bar.widgetForAction(action);
  if (button == nullptr) return;
  button->ensurePolished();
  const QFontMetrics metrics(button->font());
  const auto lengthOf = [&metrics](QString word) {
    return metrics.horizontalAdvance(word.remove(QLatin1Char('&')));
  };
  int longest = 0;
  for (const QString& word : words) longest = std::max(longest, lengthOf(word));
  const int more = std::max(0, longest - lengthOf(action->text()));
  // A pixel more than letters are rounded by, and never less than it had.
  const int needed = button->sizeHint().width() + more;
  if (needed > button->minimumWidth()) button->setMinimumWidth(needed + 1);
}

}  // namespace

MainWindow::MainWindow(StudioWorkbench& workbench, QWidget* parent)
    : QMainWindow(parent), workbench_(workbench), files_(workbench, this) {
  useAccessiblePlots();
  (void)AlertService::of(workbench_);  // watches from now on, whichever page is in front
  setObjectName(QStringLiteral("studio"));
  qApp->installEventFilter(new ToolTipWrapper(this));
  qApp->installEventFilter(this);
  setWindowTitle(tr("Vitrine Studio"));
  setDockNestingEnabled(true);
  setAcceptDrops(true);
  setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
  setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
  palette_ = new CommandPalette(this);

  makePages();
  makeDocks();
  makeActions();
  makeToolBar();
  makeMenus();

  bottom_ = new BottomBar;
  statusBar()->setSizeGripEnabled(false);
  statusBar()->setContentsMargins(0, 0, 0, 0);
  statusBar()->addWidget(bottom_, 1);

  files_.addOpener([this](const QString& file) { return openFigure(file); });
  connect(&files_, &FileController::importing, this, &MainWindow::showImport);
  connect(&files_, &FileController::weightsOpened, this, &MainWindow::showWeights);
  connect(&workbench_, &StudioWorkbench::messageSent, bottom_, &BottomBar::showMessage);
  connect(&workbench_, &StudioWorkbench::offered, bottom_, &BottomBar::offer);
  connect(&workbench_, &StudioWorkbench::amended, bottom_, &BottomBar::amend);
  connect(bottom_, &BottomBar::offerChanged, answer_, &QAction::setEnabled);
  showKeyOf(answer_, bottom_->button());
  connect(&workbench_, &StudioWorkbench::pageRequested, this, [this](const QString& id) {
    // The list of runs keeps the keys; elsewhere what was clicked may not be there any more.
    const QWidget* focused = QApplication::focusWidget();
    if (focused != nullptr && runsDock_->isAncestorOf(focused)) {
      showPage(id);
    } else {
      openPage(id);
    }
  });
  connect(&workbench_, &StudioWorkbench::viewRequested, this,
          [this](const QString& id, const Json& view) {
            if (!showPage(id)) return;
            currentPage()->setViewState(view);
            Q_EMIT currentPage()->viewChanged();  // as if it was chosen there: it can be taken back
          });
  connect(&workbench_, &StudioWorkbench::newFromRunRequested, this, &MainWindow::configureFrom);
  connect(&workbench_, &StudioWorkbench::fileRequested, &files_, &FileController::open);
  connect(&workbench_, &StudioWorkbench::configureRequested, this,
          [this](const std::string& text, const QString& origin) {
            showPage(QStringLiteral("configure"));
            if (auto* form = qobject_cast<ConfigurePage*>(currentPage()))
              form->setText(text, origin);
          });
  connect(&workbench_, &StudioWorkbench::runsChanged, this, &MainWindow::updateActions);
  connect(&workbench_.queue(), &QueueService::viewChanged, this, &MainWindow::updateQueue);
  followSelection();

  factsTimer_.setInterval(2000);
  connect(&factsTimer_, &QTimer::timeout, this, [this] {
    bottom_->setMachine(facts_.sentence());
    updateFile();
  });
  factsTimer_.start();
  bottom_->setMachine(facts_.sentence());
  updateActions();
  updateQueue();
  updateFile();

  const QSize screen =
      this->screen() != nullptr ? this->screen()->availableSize() : QSize(1440, 900);
  resize(std::min(px(1440), screen.width()), std::min(px(900), screen.height()));
  defaultState_ = saveState(kLayoutVersion);
  restoreLayout();
  const QString wanted =
      setting(QStringLiteral("window/page"), QStringLiteral("monitor")).toString();
  // A database without runs has nothing to show yet but the way to the first one.
  const bool isEmpty = workbench_.store().lastChange() == 0;
  if (!showPage(isEmpty ? QStringLiteral("start") : wanted)) showPage(QStringLiteral("monitor"));
  runsPanel_->view().setFocus();  // arrows choose runs at once
  rememberDatabase(placeNow());
}

MainWindow::~MainWindow() { disconnectParts(*this); }

void MainWindow::makePages() {
  tabs_ = new GroupedTabs;
  tabs_->setDocumentMode(true);
  tabs_->setUsesScrollButtons(true);
  tabs_->setElideMode(Qt::ElideNone);
  tabs_->tabBar()->setAccessibleName(tr("Pages"));
  tabs_->tabBar()->setExpanding(false);
  for (const PageFactory& factory : pages()) {
    // An empty place until the page is shown: the window is there first.
    auto* place = new QWidget;
    (new QVBoxLayout(place))->setContentsMargins(0, 0, 0, 0);
    tabs_->addPage(place, factory.title, factory.group);
  }
  auto* middle = new QWidget;
  auto* rows = new QVBoxLayout(middle);
  middle_ = rows;
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  if (RemoteLink* link = workbench_.link()) {
    placeBar_ = new LinkBar(*link);
    connect(link, &RemoteLink::stateChanged, this, &MainWindow::updateFile);
  } else {
    auto* bar = new StoreBar(workbench_.edits(), workbench_.store());
    placeBar_ = bar;
    connect(bar, &StoreBar::openAgainRequested, this, &MainWindow::openAgain);
    connect(&workbench_.watcher(), &store::RunWatcher::failed, bar, &StoreBar::look);
  }
  rows->addWidget(placeBar_);
  errors_ = new ErrorBar;
  rows->addWidget(errors_);
  connect(&workbench_, &StudioWorkbench::errorSent, errors_, &ErrorBar::showError);
  rows->addWidget(tabs_, 1);
  setCentralWidget(middle);
  connect(tabs_, &QTabWidget::currentChanged, this, [this](int index) {
    if (index >= 0) showPage(pages()[static_cast<std::size_t>(index)].id);
  });
}

bool MainWindow::showPage(const QString& id) {
  const auto& all = pages();
  const auto found =
      std::find_if(all.begin(), all.end(), [&id](const PageFactory& f) { return f.id == id; });
  if (found == all.end()) {
    workbench_.showMessage(tr("There is no page \u201c%1\u201d.").arg(id));
    return false;
  }
  showRunTable(false);
  const int index = static_cast<int>(found - all.begin());
  if (made_.find(index) == made_.end()) {
    QWidget* place = tabs_->widget(index);
    Page* page = found->make(workbench_, place);
    place->layout()->addWidget(page);
    made_[index] = page;
    takePage(index, page);
  }
  if (tabs_->currentIndex() != index) tabs_->setCurrentIndex(index);
  foldInspector();
  updateTitle();
  showTools();
  return true;
}

Page* MainWindow::currentPage() {
  if (!docksBefore_.isEmpty()) return nullptr;
  const auto found = made_.find(tabs_->currentIndex());
  return found == made_.end() ? nullptr : found->second;
}

void MainWindow::waitUntilIdle() {
  workbench_.waitForCards();  // of which the list of runs takes its scores
  workbench_.queue().waitUntilIdle();
  updateQueue();
  inspector_->refresh();
  if (Page* page = currentPage()) page->waitUntilIdle();
}

void MainWindow::makeDocks() {
  runsPanel_ = new RunsPanel(workbench_);
  runsHeader_ = new DockHeader(tr("Runs"), this);
  runsHeader_->setNote(runsPanel_->summary());
  connect(runsPanel_, &RunsPanel::summaryChanged, runsHeader_, &DockHeader::setNote);
  connect(runsPanel_, &RunsPanel::listNeeded, this, &MainWindow::showRuns);
  connect(runsPanel_, &RunsPanel::tableLeft, this, [this] { showRunTable(false); });
  auto* table = new QToolButton;
  table->setText(tr("Table"));
  table->setProperty("quiet", true);
  table->setAccessibleName(tr("Runs as a table"));
  table->setToolTip(tr("Runs as a table: settings and metrics"));
  runsHeader_->addButton(table);
  connect(table, &QToolButton::clicked, this, [this] { showRunTable(true); });
  runsDock_ = new QDockWidget(tr("Runs"), this);
  runsDock_->setObjectName(QStringLiteral("runsDock"));
  runsDock_->setTitleBarWidget(runsHeader_);
  runsDock_->setWidget(runsPanel_);
  runsPanel_->setMinimumWidth(px(200));
  addDockWidget(Qt::LeftDockWidgetArea, runsDock_);
  connect(runsDock_, &QDockWidget::visibilityChanged, &workbench_,
          &StudioWorkbench::setRunListVisible);

  inspector_ = new Inspector(workbench_);
  inspectorHeader_ = new DockHeader(tr("Inspector"), this);
  auto* fold = new QToolButton;
  fold->setIcon(icon(Icon::Panel));
  fold->setProperty("quiet", true);
  fold->setAccessibleName(tr("Collapse the inspector to the edge"));
  fold->setToolTip(tr("Collapse to the edge"));
  inspectorHeader_->addButton(fold);
  connect(inspector_, &Inspector::titleChanged, this,
          [this](const QString& name, const QString& id) {
            inspectorHeader_->setTitle(name);
            inspectorHeader_->setNote(id);
          });
  inspectorDock_ = new QDockWidget(tr("Inspector"), this);
  inspectorDock_->setObjectName(QStringLiteral("inspectorDock"));
  inspectorDock_->setTitleBarWidget(inspectorHeader_);
  inspectorDock_->setWidget(inspector_);
  inspector_->setMinimumWidth(px(240));
  addDockWidget(Qt::RightDockWidgetArea, inspectorDock_);
  connect(fold, &QToolButton::clicked, inspectorDock_, &QDockWidget::hide);
  resizeDocks({runsDock_, inspectorDock_}, {px(286), px(312)}, Qt::Horizontal);
  inspector_->refresh();
}

void MainWindow::makeToolBar() {
  bar_ = addToolBar(tr("Tools"));
  bar_->setObjectName(QStringLiteral("tools"));
  bar_->setMovable(false);
  bar_->setFloatable(false);
  bar_->setContextMenuPolicy(Qt::PreventContextMenu);
  bar_->setIconSize(QSize(px(14), px(14)));
  bar_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);

  create_ = new QPushButton(icon(Icon::Plus, IconTint::OnAccent), tr("New experiment"));
  QPushButton* create = create_;
  create->setProperty("primary", true);
  create->setAccessibleName(tr("New experiment"));
  create->setToolTip(tr("Configure and start an experiment"));
  showKeyOf(new_, *create);
  create->setIconSize(QSize(px(14), px(14)));
  connect(create, &QPushButton::clicked, new_, &QAction::trigger);
  bar_->addWidget(create);
  for (QAction* one : {start_, &runsPanel_->runActions().stop()}) {
    bar_->addAction(one);
    bar_->widgetForAction(one)->setFocusPolicy(Qt::TabFocus);  // Qt gives such buttons none
  }
  bar_->addSeparator();
  auto* spacer = new QWidget;
  spacer->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  toolsEnd_ = bar_->addWidget(spacer);
  bar_->addWidget(new SearchButton(paletteAction_));

  edge_ = withRole(new QToolBar(tr("Edge"), this), "edge");
  edge_->setObjectName(QStringLiteral("edge"));
  edge_->setMovable(false);
  edge_->setContextMenuPolicy(Qt::PreventContextMenu);
  auto* unfold = new EdgeButton;
  unfold->setText(tr("Inspector"));
  unfold->setIcon(icon(Icon::Panel));
  unfold->setAccessibleName(tr("Show the inspector"));
  unfold->setToolTip(tr("Show the inspector"));
  edge_->addWidget(unfold);
  addToolBar(Qt::RightToolBarArea, edge_);
  edge_->layout()->setContentsMargins(0, 0, 0, 0);  // the style's margins, until it is polished
  edge_->hide();
  connect(unfold, &QToolButton::clicked, inspectorDock_, &QDockWidget::show);
  connect(inspectorDock_, &QDockWidget::visibilityChanged, this,
          [this] { edge_->setVisible(inspectorDock_->isHidden()); });
  // It may have been hidden at another zoom; later, since layouts are restored meanwhile.
  connect(inspectorDock_, &QDockWidget::visibilityChanged, this, &MainWindow::fitDocks,
          Qt::QueuedConnection);
}

void MainWindow::showTools() {
  for (QAction* tool : shownTools_) bar_->removeAction(tool);
  toolsMenu_->clear();
  Page* page = currentPage();
  shownTools_ = page == nullptr ? QList<QAction*>() : page->tools();
  for (QAction* tool : shownTools_) {
    bar_->insertAction(toolsEnd_, tool);
    toolsMenu_->addAction(tool);
    auto* button = qobject_cast<QToolButton*>(bar_->widgetForAction(tool));
    if (button == nullptr) continue;
    button->setFocusPolicy(Qt::TabFocus);
    if (tool->menu() != nullptr) button->setPopupMode(QToolButton::InstantPopup);
    button->setAccessibleName(tool->text());
    connect(tool, &QAction::changed, button,
            [button, tool] { button->setAccessibleName(tool->text()); });
  }
  toolsMenu_->menuAction()->setVisible(!shownTools_.isEmpty());
  showPrimary();
  updateActions();
}

void MainWindow::updateActions() {
  runsPanel_->runActions().refresh();
  keepRoomFor(*bar_, start_, {tr("Re&sume"), tr("&Start")});
  exportRuns_->setEnabled(!workbench_.selection().targets().empty());
  const Page* page = currentPage();
  // A page that takes its own edits back has the keys of Undo to itself.
  const bool hasOwnUndo = page != nullptr && takesBackItself(*page);
  undo_->setEnabled(history_.canUndo() && !hasOwnUndo);
  redo_->setEnabled(history_.canRedo() && !hasOwnUndo);
  undo_->setText(undo_->isEnabled() ? tr("&Undo %1").arg(history_.undoName()) : tr("&Undo"));
  redo_->setText(redo_->isEnabled() ? tr("&Redo %1").arg(history_.redoName()) : tr("&Redo"));
  howTo_->setEnabled(page != nullptr && !page->howToRead().isEmpty());
  // On the form, Ctrl+Return starts what the form describes.
  const auto& all = pages();
  const int front = tabs_->currentIndex();
  const bool isForm =
      front >= 0 && all[static_cast<std::size_t>(front)].id == QLatin1String("configure");
  start_->setShortcuts(isForm ? QList<QKeySequence>() : keys_.keys(start_));
}

void MainWindow::updateQueue() {
  const QueueView& queue = workbench_.queue().view();
  const auto running = static_cast<std::int64_t>(queue.running.size());
  const auto waiting = static_cast<std::int64_t>(queue.waiting().size());
  QString text = running + waiting == 0 ? tr("nothing running, nothing waiting")
                                        : tr("%1 running").arg(count(running));
  if (waiting > 0) text += tr(" \u00b7 %1 waiting").arg(count(waiting));
  if (queue.mode == store::QueueMode::Paused) text += tr(" \u00b7 paused");
  if (queue.mode == store::QueueMode::AfterCurrent) text += tr(" \u00b7 pauses after this run");
  if (const QString left = leftText(queue); !left.isEmpty())
    text += QStringLiteral(" \u00b7 ") + left;
  bottom_->setQueue(text);
}

void MainWindow::updateFile() {
  if (RemoteLink* link = workbench_.link()) {
    const QString name = link->url().section(QLatin1Char('?'), 0, 0).section(QLatin1Char('/'), -1);
    fileLabel_->setText(fileLabel_->fontMetrics().elidedText(
        tr("%1 on %2 \u00b7 %3")
            .arg(name, link->host(), link->isLinked() ? tr("linked") : tr("no link")),
        Qt::ElideMiddle, px(340)));
    fileLabel_->setToolTip(
        tr("%1\n%2\nCopy on this machine: %3")
            .arg(link->url(), link->sentence(), QString::fromStdString(link->file().string())));
    return;
  }
  const QFileInfo file(QString::fromStdString(workbench_.store().file().string()));
  const QString name =
      fileLabel_->fontMetrics().elidedText(file.fileName(), Qt::ElideMiddle, px(260));
  // What is written lies in the log until SQLite moves it.
  const QFileInfo log(file.absoluteFilePath() + QStringLiteral("-wal"));
  fileLabel_->setText(
      QStringLiteral("%1 \u00b7 %2")
          .arg(name, QString::fromStdString(formatBytes(file.size() + log.size()))));
  fileLabel_->setToolTip(file.absoluteFilePath());
}

void MainWindow::updateTitle() {
  const QString place = placeNow().section(QLatin1Char('?'), 0, 0).section(QLatin1Char('/'), -1);
  const auto front = static_cast<std::size_t>(tabs_->currentIndex());
  const QString title = docksBefore_.isEmpty() ? pages()[front].title : tr("Runs");
  setWindowTitle(tr("%1 \u2013 %2 \u2013 Vitrine Studio").arg(title, place));
}

bool MainWindow::isNarrow() const {
  const int front = tabs_->currentIndex();
  const bool isWide =
      !docksBefore_.isEmpty() || (front >= 0 && pages()[static_cast<std::size_t>(front)].isWide);
  return width() <= px(isWide ? kFoldWidthOfWidePages : kFoldWidth);
}

void MainWindow::foldInspector() {
  const bool isNarrowNow = isNarrow();
  if (isNarrowNow == wasNarrow_ || isFolding_) return;
  isFolding_ = true;
  wasNarrow_ = isNarrowNow;
  inspectorDock_->setVisible(!isNarrowNow);
  edge_->setVisible(isNarrowNow);
  isFolding_ = false;
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  foldInspector();
}

void MainWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  if (event->type() == QEvent::WindowStateChange && fullScreen_ != nullptr)
    fullScreen_->setChecked(isFullScreen());
}

void MainWindow::setTheme(ThemeKind kind) {
  static const char* const kNames[] = {"dark", "light", "high_contrast"};
  storeSetting(QStringLiteral("window/theme"), QString::fromLatin1(kNames[static_cast<int>(kind)]));
  applyTheme(kind);
  Q_EMIT workbench_.themeChanged();
}

void MainWindow::setZoom(double factor) {
  factor = std::clamp(factor, kLeastZoom, kMostZoom);
  noteDockWidths();
  liveZoom_.apply(*this, factor);  // while style and style sheet are those of the old zoom
  setUiZoom(factor);
  storeSetting(QStringLiteral("window/zoom"), factor);
  setTheme(currentTheme());
  foldInspector();  // the page needs another width now
  fitDocks();
  workbench_.showMessage(tr("Zoom %1").arg(percent(uiZoom(), 0)));
}

void MainWindow::closeEvent(QCloseEvent* event) {
  // Runs are processes of their own: they continue, so nothing is asked about them.
  inspector_->leaveEdits();
  if (workbench_.link() == nullptr && !workbench_.edits().isKept() &&
      QMessageBox::warning(
          this, tr("Close the window"),
          tr("%1\n\nIt cannot be stored in a file either: it is lost when the window is closed.")
              .arg(workbench_.edits().sentence()),
          QMessageBox::Close | QMessageBox::Cancel, QMessageBox::Cancel) != QMessageBox::Close) {
    event->ignore();
    return;
  }
  storeLayout();
  event->accept();
}

}  // namespace vitrine::ui
