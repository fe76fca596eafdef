// Actions and menus of the main window, and the palette of both.
#include <QApplication>
#include <QMenuBar>
#include <QMessageBox>
#include <iterator>
#include <set>

#include "ui/compare/compare_page.h"
#include "ui/configure/configure_page.h"
#include "ui/kit/icons.h"
#include "ui/kit/small_widgets.h"
#include "ui/kit/theme.h"
#include "ui/shell/key_dialog.h"
#include "ui/shell/main_window.h"
#include "ui/shell/pages.h"
#include "ui/shell/space_dialog.h"
#include "ui/shell/trash_dialog.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {

namespace {

/// Ctrl+1 to Ctrl+9, then Alt+1 to Alt+9: Ctrl+0 is the normal size, as in browsers and editors.
QKeySequence keyOfPage(std::size_t place) {
  const auto digit = Qt::Key(Qt::Key_1 + static_cast<int>(place % 9));
  if (place >= 18) return {};
  return place < 9 ? QKeySequence(Qt::CTRL | digit) : QKeySequence(Qt::ALT | digit);
}

}  // namespace

QAction* MainWindow::action(const QString& text, const QKeySequence& key,
                            const std::function<void()>& act, const QKeySequence& other) {
  QAction* made = addAction(text, key, this, act);
  if (!other.isEmpty()) made->setShortcuts({key, other});
  keys_.adopt(made, QStringLiteral("window"), tr("Window"));
  return made;
}

void MainWindow::makeActions() {
  new_ = action(tr("&New experiment"), QKeySequence::New,
                [this] { openPage(QStringLiteral("configure")); });
  new_->setIcon(icon(Icon::Plus));
  open_ = action(tr("&Open database\u2026"), QKeySequence::Open, [this] { chooseDatabase(); });
  openThere_ = action(tr("Open database on another &machine\u2026"), {}, [this] { askPlace(); });
  openThere_->setToolTip(tr("Through your ssh: ssh://lab/data/lab.sqlite"));
  openFile_ = action(tr("Open or &import file\u2026"), Qt::CTRL | Qt::SHIFT | Qt::Key_O,
                     [this] { chooseFile(); });
  openFile_->setToolTip(
      tr("A database, an experiment file, an export, TensorBoard events, weights, a figure"));
  export_ = action(tr("&Export figure\u2026"), Qt::CTRL | Qt::SHIFT | Qt::Key_E,
                   [this] { exportPage(); });
  exportRuns_ = action(tr("E&xport runs\u2026"), QKeySequence(), [this] { chooseExport(); });
  exportRuns_->setToolTip(tr("The selected runs as one file, for another machine or program"));
  exportRuns_->setProperty(kWhyNot, tr("select a run"));
  exportTable_ = action(tr("Export &table of runs\u2026"), QKeySequence(),
                        [this] { runsPanel_->table().askExport(); });
  exportTable_->setToolTip(tr("Settings and metrics of the runs that the filter shows, as CSV"));
  report_ = action(tr("Re&port\u2026"), QKeySequence(), [this] {
    openPage(QStringLiteral("compare"));
    if (auto* compare = qobject_cast<ComparePage*>(currentPage())) compare->askReport();
  });
  report_->setToolTip(tr("The compared runs as one HTML or PDF file"));
  space_ = action(tr("&Disk space\u2026"), QKeySequence(), [this] {
    SpaceDialog dialog(workbench_, this);
    dialog.exec();
  });
  space_->setToolTip(tr("What takes the space, by experiment"));
  undo_ = action(tr("&Undo"), QKeySequence::Undo, [this] { showView(history_.undo()); });
  redo_ = action(
      tr("&Redo"), Qt::CTRL | Qt::SHIFT | Qt::Key_Z, [this] { showView(history_.redo()); },
      Qt::CTRL | Qt::Key_Y);
  answer_ = action(tr("Act on the &message"), Qt::Key_F6, [this] { bottom_->act(); });
  answer_->setToolTip(tr("Press the button next to the last message, such as Undo"));
  answer_->setProperty(kWhyNot, tr("the last message has no button"));
  answer_->setEnabled(false);
  quit_ = action(tr("&Quit"), Qt::CTRL | Qt::Key_Q, [this] { close(); });
  saveFilter_ = action(tr("Save filter of runs\u2026"), QKeySequence(),
                       [this] { runsPanel_->savedFilters().askName(); });
  saveFilter_->setProperty(kWhyNot, tr("the filter is empty"));
  saveFilter_->setEnabled(false);
  connect(&runsPanel_->filter(), &QLineEdit::textChanged, saveFilter_,
          [this](const QString& text) { saveFilter_->setEnabled(!text.trimmed().isEmpty()); });
  RunActions& ofRuns = runsPanel_->runActions();
  start_ = &ofRuns.start();
  for (QAction* one : ofRuns.all() + placeBar_->actions() + errors_->actions()) {
    addAction(one);
    keys_.adopt(one, QStringLiteral("window"), tr("Window"));
  }
  // Under a name that says what they do without their menu.
  for (QAction* colour : runsPanel_->marks().colours().actions()) {
    auto* one = new QAction(this);
    one->setProperty(kWhyNot, colour->property(kWhyNot));
    const auto follow = [one, colour] {
      one->setEnabled(colour->isEnabled());
      one->setText(tr("Colour of runs: %1").arg(colour->text().remove(QLatin1Char('&')).toLower()));
    };
    follow();
    connect(colour, &QAction::changed, one, follow);
    connect(one, &QAction::triggered, colour, &QAction::trigger);
    addAction(one);
    keys_.adopt(one, QStringLiteral("window"), tr("Window"));
  }
  trash_ = action(tr("Deleted &runs (trash)\u2026"), QKeySequence(), [this] {
    TrashDialog dialog(workbench_, this);
    dialog.exec();
  });
  find_ = action(tr("&Find runs"), QKeySequence::Find, [this] {
    showRuns();
    runsPanel_->filter().setFocus();
    runsPanel_->filter().selectAll();
  });
  runTable_ = action(tr("Runs as a &table"), Qt::CTRL | Qt::Key_T,
                     [this] { showRunTable(runTable_->isChecked()); });
  runTable_->setCheckable(true);
  reload_ = action(tr("&Refresh"), Qt::Key_F5, [this] {
    // Requested, not awaited: results of other threads come when they are there.
    workbench_.watcher().poll();
    workbench_.queue().refresh();
    inspector_->refresh();
  });
  reload_->setIcon(icon(Icon::Refresh));
  fullScreen_ = action(tr("F&ull screen"), Qt::Key_F11,
                       [this] { setWindowState(windowState() ^ Qt::WindowFullScreen); });
  fullScreen_->setCheckable(true);
  zoomIn_ = action(
      tr("Zoom &in"), Qt::CTRL | Qt::Key_Plus, [this] { setZoom(uiZoom() + 0.1); },
      Qt::CTRL | Qt::Key_Equal);
  zoomOut_ = action(tr("Zoom &out"), Qt::CTRL | Qt::Key_Minus, [this] { setZoom(uiZoom() - 0.1); });
  zoomReset_ = action(tr("&Normal size"), Qt::CTRL | Qt::Key_0, [this] { setZoom(1); });
  toggleTheme_ =
      action(tr("&Dark or light"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_D), [this] {
        setTheme(currentTheme() == ThemeKind::Light ? ThemeKind::Dark : ThemeKind::Light);
      });
  toggleTheme_->setIcon(icon(Icon::Moon));
  reset_ = action(tr("&Reset layout"), QKeySequence(), [this] { resetLayout(); });
  reset_->setToolTip(tr("Restore the default layout"));
  ownReset_ = action(tr("Reset to &my layout"), QKeySequence(), [this] {
    if (const auto own = ownDefaultLayout()) showLayout(*own);
  });
  ownKeep_ = action(tr("&Keep this as my layout"), QKeySequence(), [this] {
    storeOwnDefaultLayout(layoutNow());
    workbench_.showMessage(tr("\u201cReset to my layout\u201d now restores this layout."));
  });
  nameLayout_ = action(tr("&Save layout as\u2026"), QKeySequence(), [this] { nameLayout(); });
  paletteAction_ = action(
      tr("&Command palette"), Qt::CTRL | Qt::Key_K, [this] { openPalette(); },
      Qt::CTRL | Qt::Key_P);
  howTo_ = action(tr("How to read this &page"), Qt::Key_F1, [this] { showHowToRead(); });
  documents_ = action(tr("&Documents"), Qt::SHIFT | Qt::Key_F1, [this] { showDocuments(); });
  shortcuts_ =
      action(tr("&Keyboard shortcuts"), Qt::CTRL | Qt::Key_Slash, [this] { showShortcuts(); });
  about_ = action(tr("&About Vitrine"), QKeySequence(), [this] { showAbout(); });
}

void MainWindow::makeMenus() {
  QMenuBar* menus = menuBar();
  QMenu* file = menus->addMenu(tr("&File"));
  file->addActions({new_, open_});
  recentMenu_ = file->addMenu(tr("Open &recent"));
  connect(recentMenu_, &QMenu::aboutToShow, this, &MainWindow::fillRecent);
  file->addAction(openThere_);
  file->addAction(openFile_);
  file->addSeparator();
  file->addActions({export_, exportRuns_, exportTable_, report_});
  file->addSeparator();
  file->addAction(space_);
  file->addSeparator();
  file->addAction(quit_);
  QMenu* edit = menus->addMenu(tr("&Edit"));
  edit->addActions({undo_, redo_, answer_});
  edit->addSeparator();
  edit->addActions({find_, saveFilter_, paletteAction_});

  QMenu* view = menus->addMenu(tr("&View"));
  QMenu* pageMenu = view->addMenu(tr("&Pages"));
  for (const PageFactory& page : pages()) {
    QAction* show = pageMenu->addAction(page.title, this, [this, id = page.id] { openPage(id); });
    show->setShortcut(keyOfPage(pageShown_.size()));
    keys_.adopt(show, QStringLiteral("page"), tr("Pages"));
    pageShown_.push_back(show);
  }
  connect(&keys_, &KeyMap::changed, this, &MainWindow::showPageKeys);
  showPageKeys();
  QMenu* panels = view->addMenu(tr("P&anels"));
  panels->addAction(runsDock_->toggleViewAction());
  panels->addAction(inspectorDock_->toggleViewAction());
  view->addAction(runTable_);
  toolsMenu_ = view->addMenu(tr("P&lots"));
  view->addSeparator();
  QMenu* themes = view->addMenu(tr("&Theme"));
  const std::pair<ThemeKind, QString> kinds[] = {{ThemeKind::Dark, tr("&Dark")},
                                                 {ThemeKind::Light, tr("&Light")},
                                                 {ThemeKind::HighContrast, tr("&High contrast")}};
  for (const auto& [kind, title] : kinds) {
    QAction* choice =
        action(tr("%1 theme").arg(title), QKeySequence(), [this, kind = kind] { setTheme(kind); });
    themes->addAction(choice);
  }
  themes->addAction(toggleTheme_);
  view->addActions({zoomIn_, zoomOut_, zoomReset_});
  view->addSeparator();
  layoutMenu_ = view->addMenu(tr("&Layouts"));
  connect(layoutMenu_, &QMenu::aboutToShow, this, &MainWindow::fillLayouts);
  view->addActions({reload_, fullScreen_});

  QMenu* run = menus->addMenu(tr("&Run"));
  runsPanel_->runActions().fill(*run);
  run->addAction(trash_);
  QMenu* help = menus->addMenu(tr("&Help"));
  help->addActions({howTo_, documents_, shortcuts_, about_});

  fileLabel_ = withRole(new QLabel, "small");
  fileLabel_->setContentsMargins(0, 0, px(12), 0);
  fileLabel_->setMinimumHeight(px(26));
  // The menu bar asks a corner widget for its size once: wide enough for every name and size.
  fileLabel_->setFixedWidth(px(360));
  fileLabel_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  menus->setCornerWidget(fileLabel_);
}

void MainWindow::showPageKeys() {
  for (std::size_t i = 0; i < pageShown_.size(); ++i)
    tabs_->setKeys(static_cast<int>(i),
                   pageShown_[i]->shortcut().toString(QKeySequence::NativeText));
}

void MainWindow::openPalette() { palette_->ask(commands()); }

std::vector<Command> MainWindow::commands() {
  std::vector<Command> all, off;
  std::set<QString> own;
  for (QAction* one : actions()) {
    const QString title = one->text().remove(QLatin1Char('&'));
    own.insert(title);
    if (title.isEmpty() || one == paletteAction_) continue;
    Command command{title, tr("action"), QString(), [] {}};
    if (one->isEnabled()) {
      command.hint = one->shortcut().toString(QKeySequence::NativeText);
      command.act = [one] { one->trigger(); };
      all.push_back(std::move(command));
    } else if (one->isVisible()) {
      command.isEnabled = false;
      command.why = one->property(kWhyNot).toString();
      off.push_back(std::move(command));
    }
  }
  commandMenus_.clear();
  if (Page* page = currentPage(); page != nullptr && page->isVisible()) {
    // What the page says as well is said once, by the window.
    std::vector<Command> ofPage = pageCommands(*page, commandMenus_);
    std::erase_if(ofPage, [&own](const Command& one) { return own.count(one.title) > 0; });
    all.insert(all.begin(), std::make_move_iterator(ofPage.begin()),
               std::make_move_iterator(ofPage.end()));
  }
  for (std::size_t i = 0; i < pages().size(); ++i) {
    const PageFactory& page = pages()[i];
    const QString key = pageShown_[i]->shortcut().toString(QKeySequence::NativeText);
    all.push_back({page.title, tr("page"), key, [this, id = page.id] { openPage(id); }});
  }
  for (const QString& name : filterNames()) {
    all.push_back({name, tr("filter"), storedFilter(name),
                   [this, name] { runsPanel_->filter().setText(storedFilter(name)); }});
  }
  // Newest runs first.
  for (auto it = workbench_.runs().rbegin(); it != workbench_.runs().rend(); ++it) {
    const auto& [id, row] = *it;
    all.push_back({QStringLiteral("#%1 %2").arg(id).arg(QString::fromStdString(row.name)),
                   tr("run"),
                   QString::fromStdString(row.experiment + " \u00b7 " + toString(row.state)),
                   [this, id = id] { workbench_.selection().look(id); }});
  }
  all.insert(all.end(), std::make_move_iterator(off.begin()), std::make_move_iterator(off.end()));
  return all;
}

void MainWindow::configureFrom(std::int64_t run) {
  showPage(QStringLiteral("configure"));
  if (auto* form = qobject_cast<ConfigurePage*>(currentPage())) form->startFrom(run);
}

void MainWindow::showShortcuts() {
  KeyDialog dialog(keys_, this);
  dialog.exec();
  updateActions();
}

void MainWindow::showAbout() {
  QMessageBox::about(
      this, tr("About Vitrine"),
      tr("Vitrine %1\n\nA workbench for vision-model experiments. GPL-3.0-or-later.\n\nDatabase: "
         "%2\n"
         "SQLite %3, Qt %4")
          .arg(QCoreApplication::applicationVersion(),
               QString::fromStdString(workbench_.store().file().string()),
               QString::fromStdString(store::sqliteVersion()), QString::fromLatin1(qVersion())));
}

}  // namespace vitrine::ui
