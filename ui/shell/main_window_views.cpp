// The views of the window: layouts, undo of views, and "how to read this".
#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAction>
#include <QContextMenuEvent>
#include <QCoreApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDragEnterEvent>
#include <QEvent>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTextEdit>
#include <QVBoxLayout>
#include <algorithm>
#include <set>
#include <utility>

#include "ui/figures/figure.h"
#include "ui/kit/icons.h"
#include "ui/kit/menus.h"
#include "ui/kit/questions.h"
#include "ui/kit/settings.h"
#include "ui/kit/theme.h"
#include "ui/shell/keyboard_focus.h"
#include "ui/shell/main_window.h"
#include "ui/shell/pages.h"
#include "ui/workbench/help_viewer.h"

namespace vitrine::ui {
namespace {

constexpr qint64 kSameGestureMs = 800;  // choices closer than this are one step of undo
const QString kSelectionView = QStringLiteral("runs/selection");  // where others name a page

/// Shift+F10 asks for the menu of a widget as the Menu key does, which many keyboards lack. For the
/// Menu key Qt asks a list in its middle, whatever row is there.
bool isMenuRequest(const QWidget& widget, const QEvent& event) {
  if (event.type() == QEvent::ContextMenu) {
    return event.spontaneous() && qobject_cast<const QAbstractItemView*>(&widget) != nullptr &&
           static_cast<const QContextMenuEvent&>(event).reason() == QContextMenuEvent::Keyboard;
  }
  if (event.type() != QEvent::KeyPress) return false;
  const auto& key = static_cast<const QKeyEvent&>(event);
  return key.key() == Qt::Key_F10 && key.modifiers() == Qt::ShiftModifier;
}

/// At the row that has the outline, or at the text cursor.
void askForMenu(QWidget& widget) {
  QPoint at = widget.inputMethodQuery(Qt::ImCursorRectangle).toRect().center();
  const QWidget* of = &widget;
  if (auto* view = qobject_cast<QAbstractItemView*>(&widget);
      view != nullptr && view->currentIndex().isValid()) {
    view->scrollTo(view->currentIndex());
    at = view->visualRect(view->currentIndex()).center();
    of = view->viewport();
  }
  QContextMenuEvent menu(QContextMenuEvent::Keyboard, at, of->mapToGlobal(at));
  QCoreApplication::sendEvent(&widget, &menu);
}

/// Return or Enter on a button outside of dialogs, where Qt lets the space bar alone press it. What
/// uses the key itself, a shortcut of the page for one, has taken it before.
bool isReturnOnButton(const QWidget& widget, const QEvent& event) {
  if (event.type() != QEvent::KeyPress && event.type() != QEvent::KeyRelease) return false;
  const auto& key = static_cast<const QKeyEvent&>(event);
  return (key.key() == Qt::Key_Return || key.key() == Qt::Key_Enter) &&
         (key.modifiers() & ~Qt::KeypadModifier) == Qt::NoModifier &&
         qobject_cast<const QAbstractButton*>(&widget) != nullptr &&
         qobject_cast<const QDialog*>(widget.window()) == nullptr;
}

/// The space bar in the place of Return, pressed or released; held down, it presses once.
void pressAsSpace(QWidget& button, const QKeyEvent& key) {
  if (key.isAutoRepeat()) return;
  QKeyEvent space(key.type(), Qt::Key_Space, Qt::NoModifier, QStringLiteral(" "));
  QCoreApplication::sendEvent(&button, &space);
}

/// Files over a text: Qt would insert their addresses.
bool isFilesOverText(const QWidget& widget, const QEvent& event) {
  if (event.type() != QEvent::DragEnter) return false;
  const QWidget* around = widget.parentWidget();  // of the viewport
  return (qobject_cast<const QLineEdit*>(&widget) != nullptr ||
          qobject_cast<const QPlainTextEdit*>(around) != nullptr ||
          qobject_cast<const QTextEdit*>(around) != nullptr) &&
         static_cast<const QDragEnterEvent&>(event).mimeData()->hasUrls();
}

QString pageIdAt(int index) {
  const auto& all = pages();
  return index >= 0 && index < static_cast<int>(all.size())
             ? all[static_cast<std::size_t>(index)].id
             : QString();
}

/// What had the focus in the page last, else the part that the page names, else the first one that
/// takes keys and no text. Else it is the page itself, which may still be reading.
QWidget& focusPlace(Page& page) {
  const auto canTake = [&page](const QWidget& widget) {
    return (widget.focusPolicy() & Qt::TabFocus) != 0 && widget.isEnabledTo(&page) &&
           widget.isVisibleTo(&page);
  };
  if (QWidget* before = page.focusWidget(); before != nullptr && canTake(*before)) return *before;
  if (page.focusProxy() != nullptr) return *page.focusProxy();
  if (canTake(page)) return page;
  QWidget* field = nullptr;
  for (QWidget* stop : tabStops(page, nullptr)) {
    if (qobject_cast<QLineEdit*>(stop) == nullptr) return *stop;
    if (field == nullptr) field = stop;
  }
  return field != nullptr ? *field : page;
}

}  // namespace

void MainWindow::openPage(const QString& id) {
  // Out of the page: from there Qt gives it to the first part of the next one.
  tabs_->setFocus(Qt::ShortcutFocusReason);
  if (showPage(id)) focusPlace(*currentPage()).setFocus(Qt::ShortcutFocusReason);
}

void MainWindow::takePage(int index, Page* page) {
  const QString id = pageIdAt(index);
  for (QAction* one : page->findChildren<QAction*>())
    keys_.adopt(one, id, pages()[static_cast<std::size_t>(index)].title);
  history_.begin(id, page->viewState());
  outdated_.insert(index);
  connect(page, &Page::viewChanged, this, [this, index] { viewChosen(index); });
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
  if (auto* widget = qobject_cast<QWidget*>(watched);
      widget != nullptr && isMenuRequest(*widget, *event)) {
    askForMenu(*widget);
    return true;
  }
  const QEvent::Type type = event->type();
  if (type == QEvent::KeyPress || type == QEvent::MouseButtonPress)
    isKeyed_ = type == QEvent::KeyPress;
  if (type == QEvent::Resize && QGuiApplication::mouseButtons().testFlag(Qt::LeftButton))
    dockWidths_.erase(watched);  // a dock is dragged
  if (auto* widget = qobject_cast<QWidget*>(watched)) {
    if (type == QEvent::FocusIn)
      FocusRing::show(*widget, static_cast<const QFocusEvent&>(*event), isKeyed_);
    if (isReturnOnButton(*widget, *event)) {
      pressAsSpace(*widget, static_cast<const QKeyEvent&>(*event));
      return true;
    }
    if (isFilesOverText(*widget, *event)) {
      event->ignore();  // for the page or the window, which opens them
      return true;
    }
  }
  const bool isInput = type == QEvent::MouseButtonPress || type == QEvent::MouseButtonDblClick ||
                       type == QEvent::KeyPress || type == QEvent::Wheel;
  if (isInput && !isShowingView_ && !outdated_.empty()) {
    const int index = tabs_->currentIndex();
    if (const auto page = made_.find(index); page != made_.end() && outdated_.erase(index) > 0)
      history_.setNow(pageIdAt(index), page->second->viewState());
  }
  return QMainWindow::eventFilter(watched, event);
}

bool MainWindow::focusNextPrevChild(bool isNext) {
  QWidget* from = focusWidget();
  const QList<QWidget*> stops = tabStops(*this, from);
  const qsizetype number = stops.size(), at = stops.indexOf(from);
  if (number == 0) return false;
  const qsizetype before = at < 0 ? number - 1 : at - 1 + number;
  QWidget& stop = *stops[(isNext ? at + 1 : before) % number];
  stop.setFocus(isNext ? Qt::TabFocusReason : Qt::BacktabFocusReason);
  bringIntoView(stop);
  return true;
}

void MainWindow::viewChosen(int index) {
  const auto found = made_.find(index);
  if (isShowingView_ || found == made_.end()) return;
  const bool isSameGesture = sinceView_.isValid() && sinceView_.elapsed() < kSameGestureMs;
  sinceView_.restart();
  history_.add(pageIdAt(index), found->second->viewState(),
               isSameGesture ? ViewHistory::Gesture::Continues : ViewHistory::Gesture::New);
  updateActions();
}

void MainWindow::followSelection() {
  Selection& selection = workbench_.selection();
  connect(&selection, &Selection::runsChanged, this, &MainWindow::runsChosen);
  connect(&selection, &Selection::runsChanged, this, &MainWindow::updateActions);
  connect(runsPanel_->view().selectionModel(), &QItemSelectionModel::currentChanged, this,
          &MainWindow::updateActions);
  connect(&workbench_, &StudioWorkbench::runsRemoved, this,
          [this, &selection](const std::vector<std::int64_t>& ids) {
            const auto isGone = [&ids](std::int64_t id) {
              return std::find(ids.begin(), ids.end(), id) != ids.end();
            };
            std::vector<std::int64_t> left = selection.runs();
            std::erase_if(left, isGone);
            const bool wasShowing = std::exchange(isShowingView_, true);
            selection.setRuns(left,
                              !isGone(selection.current()) ? selection.current()
                              : left.empty()               ? 0
                                                           : left.front(),
                              selection.hidden());
            isShowingView_ = wasShowing;
          });
  if (!selection.runs().empty()) runsChosen();
}

Json MainWindow::selectionState() const {
  const Selection& selection = workbench_.selection();
  return {{"selection", selection.runs()},
          {"current", selection.current()},
          {"hidden", selection.hidden()}};
}

/// A choice of runs can be taken back.
void MainWindow::runsChosen() {
  for (const auto& [index, page] : made_) outdated_.insert(index);
  if (isShowingView_) return;
  // The first choice is the window's own.
  if (!isSelectionKnown_) {
    isSelectionKnown_ = true;
    return history_.begin(kSelectionView, selectionState());
  }
  const bool isSameGesture =
      sinceSelection_.isValid() && sinceSelection_.elapsed() < kSameGestureMs;
  sinceSelection_.restart();
  history_.add(kSelectionView, selectionState(),
               isSameGesture ? ViewHistory::Gesture::Continues : ViewHistory::Gesture::New);
}

void MainWindow::showSelection(const Json& state) {
  std::vector<std::int64_t> runs;
  for (const Json& id : state.value("selection", Json::array())) {
    if (workbench_.run(id.get<std::int64_t>()) != nullptr) runs.push_back(id.get<std::int64_t>());
  }
  auto current = state.value("current", std::int64_t{0});
  if (workbench_.run(current) == nullptr) current = runs.empty() ? 0 : runs.front();
  workbench_.selection().setRuns(runs, current, state.value("hidden", std::set<std::int64_t>()));
}

void MainWindow::showView(const ViewHistory::View& view) {
  isShowingView_ = true;
  if (view.page == kSelectionView)
    showSelection(view.state);
  else if (showPage(view.page))
    currentPage()->setViewState(view.state);
  isShowingView_ = false;
  sinceView_.invalidate();  // the next choice is a step of its own
  updateActions();
}

void MainWindow::showRunTable(bool isTable) {
  if (isTable == !docksBefore_.isEmpty()) return;
  const bool hadFocus = runsPanel_->isAncestorOf(focusWidget());
  if (isTable) {
    noteDockWidths();
    docksBefore_ = saveState(kLayoutVersion);
    middle_->insertWidget(middle_->indexOf(tabs_), runsPanel_, 1);
    runsDock_->hide();
    tabs_->hide();
  } else {
    runsDock_->setWidget(runsPanel_);
    tabs_->show();
    // What else was folded or shown meanwhile stays so.
    const bool isInspected = !inspectorDock_->isHidden();
    restoreState(std::exchange(docksBefore_, {}), kLayoutVersion);
    inspectorDock_->setVisible(isInspected);
    fitDocks();
  }
  runsPanel_->setTable(isTable);
  runsPanel_->show();
  runsDock_->toggleViewAction()->setEnabled(!isTable);
  runTable_->setChecked(isTable);
  if (isTable || hadFocus) runsPanel_->view().setFocus();
  foldInspector();
  updateTitle();
  showTools();
}

void MainWindow::noteDockWidths() {
  for (const QDockWidget* dock : {runsDock_, inspectorDock_}) {
    if (dock->isVisible() && !dock->isFloating())
      dockWidths_.try_emplace(dock, dock->width() / uiZoom());
  }
}

// Up to a quarter of the window where the zoom makes them larger: the page keeps its room.
void MainWindow::fitDocks() {
  for (QDockWidget* dock : {runsDock_, inspectorDock_}) {
    const auto noted = dockWidths_.find(dock);
    if (noted == dockWidths_.end() || dock->isHidden() || dock->isFloating()) continue;
    const double most = std::max(noted->second, width() / 4.0);
    resizeDocks({dock}, {qRound(std::min(noted->second * uiZoom(), most))}, Qt::Horizontal);
  }
}

void MainWindow::showRuns() {
  if (docksBefore_.isEmpty()) runsDock_->show();
}

QByteArray MainWindow::docksNow() const {
  return docksBefore_.isEmpty() ? saveState(kLayoutVersion) : docksBefore_;
}

Layout MainWindow::layoutNow() {
  noteDockWidths();
  Layout layout{.docks = docksNow(), .zoom = uiZoom()};
  for (const auto& [dock, width] : dockWidths_) layout.widths[dock->objectName()] = width;
  layout.page = pageIdAt(tabs_->currentIndex());
  for (const auto& [index, page] : made_) {
    if (Json view = page->viewState(); !view.is_null()) layout.views[pageIdAt(index)] = view;
  }
  return layout;
}

void MainWindow::showLayout(const Layout& layout) {
  if (restoreDocks(layout.docks) && layout.zoom != uiZoom()) {
    for (const QDockWidget* dock : {runsDock_, inspectorDock_}) {
      if (const auto width = layout.widths.find(dock->objectName()); width != layout.widths.end())
        dockWidths_[dock] = width->second;
    }
    fitDocks();
  }
  isShowingView_ = true;
  for (const auto& [id, view] : layout.views) {
    if (showPage(id)) currentPage()->setViewState(view);
  }
  if (!layout.page.isEmpty()) showPage(layout.page);
  isShowingView_ = false;
  updateActions();
}

void MainWindow::resetLayout() {
  showRunTable(false);
  dockWidths_.clear();
  restoreState(defaultState_, kLayoutVersion);
  resizeDocks({runsDock_, inspectorDock_}, {px(286), px(312)}, Qt::Horizontal);
  wasNarrow_ = !isNarrow();
  foldInspector();
}

void MainWindow::restoreLayout() {
  const QByteArray geometry = setting(QStringLiteral("window/geometry")).toByteArray();
  const QByteArray state = setting(QStringLiteral("window/state")).toByteArray();
  if (!geometry.isEmpty()) restoreGeometry(geometry);
  if (!restoreDocks(state)) foldInspector();
}

bool MainWindow::restoreDocks(const QByteArray& state) {
  showRunTable(false);
  if (state.isEmpty() || !restoreState(state, kLayoutVersion)) return false;
  dockWidths_.clear();
  // The stored layout decides what a width of this side of the border looks like.
  wasNarrow_ = isNarrow();
  edge_->setVisible(inspectorDock_->isHidden());
  return true;
}

void MainWindow::storeLayout() {
  storeSetting(QStringLiteral("window/geometry"), saveGeometry());
  storeSetting(QStringLiteral("window/state"), docksNow());
  if (const QString page = pageIdAt(tabs_->currentIndex()); !page.isEmpty())
    storeSetting(QStringLiteral("window/page"), page);
}

void MainWindow::fillLayouts() {
  emptyMenu(*layoutMenu_);
  const QStringList names = layoutNames();
  for (const QString& name : names) {
    connect(layoutMenu_->addAction(menuText(name)), &QAction::triggered, this, [this, name] {
      if (const auto layout = storedLayout(name)) {
        showLayout(*layout);
      } else {
        workbench_.showError(
            tr("The layout \u201c%1\u201d cannot be read; save it again.").arg(name));
      }
    });
  }
  if (!names.isEmpty()) {
    layoutMenu_->addSeparator();
    QMenu* remove = layoutMenu_->addMenu(tr("&Delete"));
    for (const QString& name : names) {
      connect(remove->addAction(menuText(name)), &QAction::triggered, this, [this, name] {
        forgetLayout(name);
        workbench_.showMessage(tr("Deleted the layout \u201c%1\u201d.").arg(name));
      });
    }
  }
  layoutMenu_->addAction(nameLayout_);
  layoutMenu_->addAction(ownKeep_);
  layoutMenu_->addSeparator();
  layoutMenu_->addAction(reset_);
  layoutMenu_->addAction(ownReset_);
  ownReset_->setEnabled(ownDefaultLayout().has_value());
}

void MainWindow::nameLayout() {
  const QString name = askName(this, tr("Save layout"), tr("Name of this layout"));
  if (name.isEmpty()) return;
  ui::storeLayout(name, layoutNow());
  workbench_.showMessage(tr("Saved the layout \u201c%1\u201d: View > Layouts.").arg(name));
}

void MainWindow::showHowToRead() {
  Page* page = currentPage();
  if (page == nullptr || page->howToRead().isEmpty()) return;
  QDialog dialog(this);
  const int index = tabs_->currentIndex();
  dialog.setWindowTitle(tr("How to read: %1").arg(tabs_->tabText(index)));
  auto* text = new QLabel(page->howToRead());
  text->setTextFormat(Qt::PlainText);
  text->setWordWrap(true);
  text->setMinimumWidth(px(460));
  text->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  connect(buttons->addButton(tr("Documents"), QDialogButtonBox::HelpRole), &QPushButton::clicked,
          this, [this, &dialog] {
            dialog.accept();
            showDocuments();
          });
  connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
  auto* layout = new QVBoxLayout(&dialog);
  layout->setContentsMargins(px(16), px(16), px(16), px(12));
  layout->setSpacing(px(16));
  layout->addWidget(text);
  layout->addWidget(buttons);
  dialog.exec();
}

void MainWindow::showDocuments() {
  auto* viewer = new HelpViewer(this);
  viewer->setAttribute(Qt::WA_DeleteOnClose);
  viewer->show();
}

// One primary button in sight: that of the page, where it may have one.
void MainWindow::showPrimary() {
  const Page* page = currentPage();
  const auto isPrimary = [](const QPushButton* button) {
    return button->property("primary").toBool();
  };
  const auto buttons = page == nullptr ? QList<QPushButton*>() : page->findChildren<QPushButton*>();
  const bool isMine = std::none_of(buttons.begin(), buttons.end(), isPrimary);
  if (create_->property("primary").toBool() == isMine) return;
  create_->setIcon(icon(Icon::Plus, isMine ? IconTint::OnAccent : IconTint::Text));
  restyle(*create_, "primary", isMine);
}

}  // namespace vitrine::ui
