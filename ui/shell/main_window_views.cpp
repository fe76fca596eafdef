// What the window shows: layouts, undo of views, and "how to read this".
#include <QAction>
#include <QDialogButtonBox>
#include <QInputDialog>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/figures/figure.h"
#include "ui/kit/menus.h"
#include "ui/kit/settings.h"
#include "ui/kit/theme.h"
#include "ui/shell/main_window.h"
#include "ui/shell/pages.h"
#include "ui/workbench/help_viewer.h"

namespace vitrine::ui {
namespace {

constexpr qint64 kSameGestureMs = 800;  // choices closer than this are one step of undo

QString pageIdAt(int index) {
  const auto& all = pages();
  return index >= 0 && index < static_cast<int>(all.size())
             ? all[static_cast<std::size_t>(index)].id
             : QString();
}

}  // namespace

void MainWindow::takePage(int index, Page* page) {
  const QString id = pageIdAt(index);
  for (QAction* one : page->findChildren<QAction*>()) {
    keys_.adopt(one, id, pages()[static_cast<std::size_t>(index)].title);
  }
  history_.begin(id, page->viewState());
  connect(page, &Page::viewChanged, this, [this, index] { viewChosen(index); });
}

void MainWindow::viewChosen(int index) {
  const auto found = made_.find(index);
  if (isShowingView_ || found == made_.end()) return;
  const bool goesOn = sinceView_.isValid() && sinceView_.elapsed() < kSameGestureMs;
  sinceView_.restart();
  history_.add(pageIdAt(index), found->second->viewState(),
               goesOn ? ViewHistory::Gesture::GoesOn : ViewHistory::Gesture::New);
  updateActions();
}

void MainWindow::showView(const ViewHistory::View& view) {
  isShowingView_ = true;
  if (showPage(view.page)) currentPage()->setViewState(view.state);
  isShowingView_ = false;
  sinceView_.invalidate();  // what is chosen next is a step of its own
  updateActions();
}

Layout MainWindow::layoutNow() const {
  Layout layout;
  layout.docks = saveState(kLayoutVersion);
  layout.page = pageIdAt(tabs_->currentIndex());
  for (const auto& [index, page] : made_) {
    if (Json view = page->viewState(); !view.is_null()) layout.views[pageIdAt(index)] = view;
  }
  return layout;
}

void MainWindow::showLayout(const Layout& layout) {
  restoreDocks(layout.docks);
  isShowingView_ = true;
  for (const auto& [id, view] : layout.views) {
    if (showPage(id)) currentPage()->setViewState(view);
  }
  if (!layout.page.isEmpty()) showPage(layout.page);
  isShowingView_ = false;
  updateActions();
}

void MainWindow::resetLayout() {
  restoreState(defaultState_, kLayoutVersion);
  resizeDocks({runsDock_, inspectorDock_}, {px(286), px(312)}, Qt::Horizontal);
  wasNarrow_ = !(width() <= px(kFoldWidth));
  foldInspector();
}

void MainWindow::restoreLayout() {
  const QByteArray geometry = setting(QStringLiteral("window/geometry")).toByteArray();
  const QByteArray state = setting(QStringLiteral("window/state")).toByteArray();
  if (!geometry.isEmpty()) restoreGeometry(geometry);
  if (!restoreDocks(state)) foldInspector();
}

bool MainWindow::restoreDocks(const QByteArray& state) {
  if (state.isEmpty() || !restoreState(state, kLayoutVersion)) return false;
  // The stored layout decides what a width of this side of the border looks like.
  wasNarrow_ = width() <= px(kFoldWidth);
  edge_->setVisible(inspectorDock_->isHidden());
  return true;
}

void MainWindow::storeLayout() {
  storeSetting(QStringLiteral("window/geometry"), saveGeometry());
  storeSetting(QStringLiteral("window/state"), saveState(kLayoutVersion));
  if (const QString page = pageIdAt(tabs_->currentIndex()); !page.isEmpty())
    storeSetting(QStringLiteral("window/page"), page);
}

void MainWindow::fillLayouts() {
  emptyMenu(*layoutMenu_);
  const QStringList names = layoutNames();
  for (const QString& name : names) {
    QString title = name;
    title.replace(QLatin1Char('&'), QLatin1String("&&"));
    connect(layoutMenu_->addAction(title), &QAction::triggered, this, [this, name] {
      if (const auto layout = storedLayout(name)) {
        showLayout(*layout);
      } else {
        workbench_.showMessage(
            tr("The layout \u201c%1\u201d cannot be read; save it again.").arg(name));
      }
    });
  }
  if (!names.isEmpty()) {
    layoutMenu_->addSeparator();
    QMenu* remove = layoutMenu_->addMenu(tr("&Delete"));
    for (const QString& name : names) {
      connect(remove->addAction(name), &QAction::triggered, this, [this, name] {
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
  bool isWanted = false;
  const QString name = QInputDialog::getText(this, tr("Save layout"), tr("Name of this layout"),
                                             QLineEdit::Normal, QString(), &isWanted)
                           .trimmed();
  if (!isWanted || name.isEmpty()) return;
  ui::storeLayout(name, layoutNow());
  workbench_.showMessage(tr("View, Layouts now has \u201c%1\u201d.").arg(name));
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

}  // namespace vitrine::ui
