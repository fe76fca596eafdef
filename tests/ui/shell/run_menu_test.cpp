// The menu Run and the way through the window with the keyboard alone, on a small screen.
#include <QDesktopServices>
#include <QHelpEvent>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabBar>
#include <QTest>
#include <QTextBrowser>
#include <QTimer>
#include <QToolTip>
#include <QTreeView>
#include <algorithm>

#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "ui/kit/menus.h"
#include "ui/runs/tags_dialog.h"
#include "ui/shell/main_window.h"

namespace vitrine::ui {
namespace {

struct RunMenu : ::testing::Test {
  SampleStudio studio{SampleOptions{1, 50}};
  MainWindow window{studio.workbench};

  void SetUp() override {
    window.resize(1366, 768);
    window.show();
    window.showPage(QStringLiteral("monitor"));
    window.waitUntilIdle();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
    only<RunsPanel>(window).view().setFocus();
  }
  void select(std::int64_t run) { studio.workbench.selection().setRuns({run}, run); }
  std::int64_t runIn(store::RunState state) const {
    for (const auto& [id, row] : studio.workbench.runs())
      if (row.state == state) return id;
    return 0;
  }
  /// Calls `answer` once a modal dialog is open: the menu itself runs events before it opens one.
  template <typename Answer>
  void onceModal(Answer answer) {
    auto* look = new QTimer(&window);
    QObject::connect(look, &QTimer::timeout, &window, [look, answer] {
      QWidget* dialog = QApplication::activeModalWidget();
      if (dialog == nullptr) return;
      dialog->activateWindow();
      if (QApplication::activeWindow() != dialog || QApplication::focusWidget() == nullptr) return;
      look->stop();
      answer();
    });
    look->start(10);
  }
  /// Alt+R, the arrow down until the entry is chosen, Return.
  void choose(const QString& entry) {
    QTest::keyClick(&window, Qt::Key_R, Qt::AltModifier);
    ASSERT_TRUE(soon([] { return QApplication::activePopupWidget() != nullptr; }));
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    ASSERT_NE(menu, nullptr);
    for (int i = 0; i < menu->actions().size(); ++i) {
      const QAction* at = menu->activeAction();
      if (at != nullptr && at->text().remove(QLatin1Char('&')) == entry) break;
      QTest::keyClick(menu, Qt::Key_Down);
    }
    ASSERT_NE(menu->activeAction(), nullptr);
    ASSERT_EQ(menu->activeAction()->text().remove(QLatin1Char('&')).toStdString(),
              entry.toStdString());
    QTest::keyClick(menu, Qt::Key_Return);
  }
  /// Tab until `isThere` says so of what has the focus.
  template <typename IsThere>
  static bool tabTo(IsThere&& isThere) {
    for (int i = 0; i < 300; ++i) {
      QWidget* now = QApplication::focusWidget();
      if (now == nullptr) return false;
      if (isThere(*now)) return true;
      QTest::keyClick(now, Qt::Key_Tab);
    }
    return false;
  }
  static bool isButton(const QWidget& widget, const QString& text) {
    const auto* button = qobject_cast<const QAbstractButton*>(&widget);
    return button != nullptr && button->text().remove(QLatin1Char('&')) == text;
  }
};

TEST_F(RunMenu, RenamesARun) {
  const std::int64_t run = studio.runs[0];
  select(run);
  choose(QStringLiteral("Rename run"));
  auto* line = qobject_cast<QLineEdit*>(QApplication::focusWidget());
  ASSERT_NE(line, nullptr);
  ASSERT_TRUE(only<RunsPanel>(window).view().isAncestorOf(line));
  line->selectAll();
  QTest::keyClicks(line, "my best");
  QTest::keyClick(line, Qt::Key_Return);
  EXPECT_TRUE(soon([&] { return studio.writer.run(run).name == "my best"; }));
}

TEST_F(RunMenu, OfTheListHasTheEntriesAndKeysOfTheWindows) {
  const std::int64_t run = runIn(store::RunState::Done);
  select(run);
  const QString hide = QStringLiteral("window/hide-from-charts");
  window.keys().setKeys(hide, {Qt::CTRL | Qt::SHIFT | Qt::Key_H});
  QMenu menu;
  only<RunsPanel>(window).fillMenu(menu);
  const auto entry = [&menu](const QString& text) -> QAction* {
    for (QAction* one : menu.actions())
      if (one->text().remove(QLatin1Char('&')) == text) return one;
    return nullptr;
  };
  ASSERT_NE(entry(QStringLiteral("Hide from charts")), nullptr);
  EXPECT_EQ(entry(QStringLiteral("Hide from charts"))->shortcut(),
            QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_H));
  window.keys().reset(hide);
  QAction* stop = entry(QStringLiteral("Stop"));
  ASSERT_NE(stop, nullptr);
  ASSERT_FALSE(stop->isEnabled()) << "the run has ended";
  menu.popup(window.mapToGlobal(QPoint(20, 20)));
  const QPoint at = menu.actionGeometry(stop).center();
  QHelpEvent help(QEvent::ToolTip, at, menu.mapToGlobal(at));
  QCoreApplication::sendEvent(&menu, &help);
  EXPECT_EQ(QToolTip::text(), QStringLiteral("Not now: select a run that runs or waits."));
  menu.close();
}

TEST_F(RunMenu, APaletteCommandRenamesARun) {
  const std::int64_t run = studio.runs[1];
  select(run);
  window.openPalette();
  CommandPalette& palette = only<CommandPalette>(window);
  QTest::keyClicks(&palette.input(), "rename run");
  ASSERT_GT(palette.list().count(), 0);
  EXPECT_EQ(palette.list().item(0)->text(), QStringLiteral("Rename run"));
  QTest::keyClick(&palette.input(), Qt::Key_Return);
  auto* line = only<RunsPanel>(window).view().viewport()->findChild<QLineEdit*>();
  ASSERT_NE(line, nullptr);
  line->selectAll();
  QTest::keyClicks(line, "from the palette");
  QTest::keyClick(line, Qt::Key_Return);
  EXPECT_TRUE(soon([&] { return studio.writer.run(run).name == "from the palette"; }));
}

TEST_F(RunMenu, RenamesTheOutlinedRunWhereNoneIsSelected) {
  const std::int64_t run = studio.runs[1];
  QTreeView& list = only<RunsPanel>(window).view();
  select(run);
  studio.workbench.selection().setRuns({}, 0);
  ASSERT_EQ(list.currentIndex().data(RunsModel::IdRole).toLongLong(), run);
  const auto isOpen = [&list] { return list.viewport()->findChild<QLineEdit*>() != nullptr; };
  QTest::keyClick(&list, Qt::Key_F2);
  ASSERT_TRUE(isOpen());
  QTest::keyClick(list.viewport()->findChild<QLineEdit*>(), Qt::Key_Escape);
  ASSERT_TRUE(soon([&] { return !isOpen(); }));
  window.openPalette();
  CommandPalette& palette = only<CommandPalette>(window);
  QTest::keyClicks(&palette.input(), "rename run");
  QTest::keyClick(&palette.input(), Qt::Key_Return);
  EXPECT_TRUE(isOpen());
}

TEST_F(RunMenu, AddsATag) {
  const std::int64_t run = studio.runs[0];
  select(run);
  bool isTyped = false;
  onceModal([&isTyped] {
    auto* dialog = qobject_cast<TagsDialog*>(QApplication::activeModalWidget());
    ASSERT_NE(dialog, nullptr);
    dialog->activateWindow();
    EXPECT_TRUE(tabTo(
        [](const QWidget& widget) { return qobject_cast<const QLineEdit*>(&widget) != nullptr; }));
    QTest::keyClicks(QApplication::focusWidget(), "paper");
    isTyped = true;
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
  });
  choose(QStringLiteral("Tags\u2026"));
  EXPECT_TRUE(isTyped);
  EXPECT_TRUE(soon([&] {
    const auto tags = studio.writer.tags(run);
    return std::find(tags.begin(), tags.end(), "paper") != tags.end();
  }));
}

TEST_F(RunMenu, StopsARunThatWaits) {
  const std::int64_t run = runIn(store::RunState::Queued);
  ASSERT_NE(run, 0);
  select(run);
  choose(QStringLiteral("Stop"));
  studio.workbench.queue().waitUntilIdle();
  EXPECT_TRUE(soon([&] { return studio.writer.run(run).state == store::RunState::Stopped; }));
}

TEST_F(RunMenu, DeletesARunAndTakesThatBack) {
  const std::int64_t run = runIn(store::RunState::Done);
  ASSERT_NE(run, 0);
  select(run);
  bool isAnswered = false;
  onceModal([&isAnswered] {
    auto* question = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
    ASSERT_NE(question, nullptr);
    question->activateWindow();
    EXPECT_TRUE(
        tabTo([](const QWidget& widget) { return isButton(widget, QStringLiteral("Delete")); }));
    isAnswered = true;
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Space);
  });
  choose(QStringLiteral("Delete\u2026"));
  ASSERT_TRUE(soon([&] { return isAnswered; }));
  studio.workbench.queue().waitUntilIdle();
  ASSERT_TRUE(soon([&] { return studio.workbench.run(run) == nullptr; }));
  ASSERT_TRUE(
      soon([&] { return only<BottomBar>(window).sentence().contains(QStringLiteral("trash")); }));
  const QList<QAbstractButton*> buttons = window.findChildren<QAbstractButton*>();
  const auto undo = std::find_if(buttons.begin(), buttons.end(), [](const QAbstractButton* each) {
    return each->isVisible() && isButton(*each, QStringLiteral("Undo"));
  });
  ASSERT_NE(undo, buttons.end());
  EXPECT_EQ(tipWithKey(**undo), QStringLiteral("Undo (F6)")) << "its key is shown";
  bringUp(window);
  only<RunsPanel>(window).view().setFocus();
  QTest::keyClick(&only<RunsPanel>(window).view(), Qt::Key_F6);
  EXPECT_FALSE((*undo)->isVisible()) << "it is done once";
  studio.workbench.queue().waitUntilIdle();
  EXPECT_TRUE(soon([&] { return studio.workbench.run(run) != nullptr; }));
}

TEST_F(RunMenu, SelectsTheExperimentOfARunAsFarAsTheFilterShowsIt) {
  select(studio.runs[7]);
  choose(QStringLiteral("Select all runs of the experiment"));
  const auto begin = studio.runs.begin();
  EXPECT_EQ(studio.workbench.selection().runs(), std::vector<std::int64_t>(begin + 6, begin + 12));
  EXPECT_EQ(studio.workbench.selection().current(), studio.runs[7]);
  select(studio.runs[7]);
  only<RunsPanel>(window).filter().setText(QStringLiteral("state=done"));
  choose(QStringLiteral("Select all runs of the experiment"));
  EXPECT_EQ(studio.workbench.selection().runs(), std::vector<std::int64_t>(begin + 6, begin + 8));
}

TEST_F(RunMenu, OpensTheFolderOfARun) {
  QTextBrowser fileManager;
  QSignalSpy opened(&fileManager, &QTextBrowser::anchorClicked);
  QDesktopServices::setUrlHandler(QStringLiteral("file"), &fileManager, "anchorClicked");
  const std::int64_t run = studio.runs[0];
  select(run);
  choose(QStringLiteral("Open folder of the run"));
  ASSERT_EQ(opened.count(), 1);
  const QString folder = opened.front()[0].toUrl().toLocalFile();
  const QString uuid = QString::fromStdString(studio.writer.run(run).uuid);
  EXPECT_TRUE(folder.endsWith(uuid)) << folder.toStdString();
  EXPECT_TRUE(QFile::exists(folder + QStringLiteral("/run.log")));
  select(runIn(store::RunState::Queued));
  choose(QStringLiteral("Open folder of the run"));
  QDesktopServices::unsetUrlHandler(QStringLiteral("file"));
  EXPECT_EQ(opened.count(), 1);
  EXPECT_TRUE(only<BottomBar>(window).sentence().contains(QStringLiteral("has no files yet")));
}

TEST_F(RunMenu, TabGoesFromTheListOverTheTabsIntoThePage) {
  select(studio.runs[0]);
  QTest::keyClick(&only<RunsPanel>(window).view(), Qt::Key_Tab);
  EXPECT_NE(qobject_cast<QTabBar*>(QApplication::focusWidget()), nullptr);
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
  ASSERT_NE(QApplication::focusWidget(), nullptr);
  EXPECT_TRUE(window.currentPage()->isAncestorOf(QApplication::focusWidget()))
      << QApplication::focusWidget()->metaObject()->className();
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Backtab);
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Backtab);
  EXPECT_EQ(QApplication::focusWidget(), &only<RunsPanel>(window).view());
}

TEST_F(RunMenu, APageThatTheProgramShowsHasTheFocusUnlessTheListHasIt) {
  select(studio.runs[0]);
  studio.workbench.showPage(QStringLiteral("monitor"));
  EXPECT_EQ(QApplication::focusWidget(), &only<RunsPanel>(window).view());
  studio.workbench.showPage(QStringLiteral("start"));
  window.currentPage()->setFocus();
  studio.workbench.showPage(QStringLiteral("monitor"));
  ASSERT_NE(QApplication::focusWidget(), nullptr);
  EXPECT_TRUE(window.currentPage() == QApplication::focusWidget() ||
              window.currentPage()->isAncestorOf(QApplication::focusWidget()))
      << QApplication::focusWidget()->metaObject()->className();
}

}  // namespace
}  // namespace vitrine::ui
