// What the window remembers and takes back: keys, layouts, views, recent databases, settings that
// are broken.
#include <gtest/gtest.h>

#include <QDir>
#include <QFileDialog>
#include <QKeySequenceEdit>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QTest>
#include <QTextBrowser>
#include <QTreeWidget>

#include "tests/ui/support/soon.h"
#include "tests/ui/support/studio_window.h"
#include "tests/ui/support/test_files.h"
#include "ui/shell/key_dialog.h"
#include "ui/shell/layouts.h"
#include "ui/shell/pages.h"
#include "ui/shell/view_history.h"
#include "ui/workbench/help_viewer.h"
#include "ui/workbench/recent_databases.h"

namespace vitrine::ui {
namespace {

/// Settings of their own for a test, and none after it.
class WindowMemory : public ::testing::Test {
 protected:
  void SetUp() override { useSettings(folder_.filePath(QStringLiteral("studio.ini"))); }
  void TearDown() override { forgetSettings(); }
  /// As if the program were started again.
  void startAgain() { useSettings(folder_.filePath(QStringLiteral("studio.ini"))); }

  QTemporaryDir folder_;
};

QAction* actionNamed(const QWidget& window, const QString& title) {
  for (QAction* action : window.actions()) {
    QString text = action->text();
    if (text.remove(QLatin1Char('&')) == title) return action;
  }
  return nullptr;
}

TEST_F(WindowMemory, KeysThatTheUserChoseAreThereAtTheNextStart) {
  QAction first(QStringLiteral("&New experiment"));
  first.setShortcut(Qt::CTRL | Qt::Key_N);
  {
    KeyMap keys;
    keys.adopt(&first, QStringLiteral("window"), QStringLiteral("Window"));
    ASSERT_EQ(keys.entries().size(), 1u);
    EXPECT_EQ(keys.entries()[0].id.toStdString(), "window/new-experiment");
    keys.setKeys(QStringLiteral("window/new-experiment"), {QKeySequence(Qt::Key_F7)});
    EXPECT_EQ(first.shortcut(), QKeySequence(Qt::Key_F7));
  }
  startAgain();
  QAction second(QStringLiteral("&New experiment"));
  second.setShortcut(Qt::CTRL | Qt::Key_N);
  KeyMap keys;
  keys.adopt(&second, QStringLiteral("window"), QStringLiteral("Window"));
  EXPECT_EQ(second.shortcut(), QKeySequence(Qt::Key_F7));
  keys.reset(QStringLiteral("window/new-experiment"));
  EXPECT_EQ(second.shortcut(), QKeySequence(Qt::CTRL | Qt::Key_N));
  EXPECT_FALSE(setting(QStringLiteral("keys/window/new-experiment")).isValid());
}

TEST_F(WindowMemory, EverythingIsSavedWhereTheUserSavedLast) {
  SampleStudio studio(SampleOptions{0, 50});
  MainWindow window(studio.workbench);
  window.show();
  const auto dialog = [&window] { return window.findChild<QFileDialog*>(); };
  const auto open = [&](const char* title) {
    actionNamed(window, QString::fromUtf8(title))->trigger();
    return soon([&] { return dialog() != nullptr; });
  };
  const auto isClosed = [&] { return dialog() == nullptr; };
  ASSERT_TRUE(open("Export table of runs\u2026"));
  EXPECT_EQ(dialog()->directory(), QDir::home()) << "nothing was saved yet";
  const QString file = studio.folder.filePath(QStringLiteral("table.csv"));
  dialog()->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"))->setText(file);
  QMetaObject::invokeMethod(dialog(), "accept");
  ASSERT_TRUE(soon(isClosed));
  ASSERT_TRUE(QFile::exists(file));
  startAgain();
  for (const char* title : {"Export runs\u2026", "Report\u2026"}) {
    ASSERT_TRUE(open(title)) << title;
    EXPECT_EQ(dialog()->directory(), QDir(studio.folder.path())) << title;
    dialog()->reject();
    ASSERT_TRUE(soon(isClosed)) << title;
  }
}

TEST_F(WindowMemory, OneKeyHasOneActionInTheWindowAndInEachPage) {
  QAction window(QStringLiteral("Find")), page(QStringLiteral("Fit")),
      other(QStringLiteral("Fold"));
  window.setShortcut(Qt::CTRL | Qt::Key_F);
  page.setShortcut(Qt::Key_H);
  other.setShortcut(Qt::Key_H);
  KeyMap keys;
  keys.adopt(&window, QStringLiteral("window"), QStringLiteral("Window"));
  keys.adopt(&page, QStringLiteral("monitor"), QStringLiteral("Monitor"));
  keys.adopt(&other, QStringLiteral("queue"), QStringLiteral("Queue"));
  EXPECT_EQ(keys.rivalOf(QStringLiteral("monitor/fit"), {Qt::Key_H}), nullptr)
      << "two pages may use one key";
  const KeyMap::Entry* rival =
      keys.rivalOf(QStringLiteral("monitor/fit"), {QKeySequence(Qt::CTRL | Qt::Key_F)});
  ASSERT_NE(rival, nullptr);
  EXPECT_EQ(rival->id.toStdString(), "window/find");
}

TEST_F(WindowMemory, TheDialogFindsAnActionAndTakesItsKeyFromAnother) {
  SampleStudio studio(SampleOptions{0, 50});
  MainWindow window(studio.workbench);
  KeyDialog dialog(window.keys(), &window);
  dialog.show();
  QTest::keyClicks(&dialog.search(), "full screen");
  QTreeWidgetItem* found = nullptr;
  int shown = 0;
  for (int row = 0; row < dialog.list().topLevelItemCount(); ++row) {
    if (dialog.list().topLevelItem(row)->isHidden()) continue;
    found = dialog.list().topLevelItem(row);
    ++shown;
  }
  ASSERT_EQ(shown, 1);
  dialog.list().setCurrentItem(found);
  dialog.editor().setKeySequence(QKeySequence(Qt::CTRL | Qt::Key_N));
  EXPECT_TRUE(dialog.sentence().contains(QStringLiteral("New experiment")));
  dialog.assign().click();
  EXPECT_EQ(actionNamed(window, QStringLiteral("Full screen"))->shortcut(),
            QKeySequence(Qt::CTRL | Qt::Key_N));
  EXPECT_TRUE(actionNamed(window, QStringLiteral("New experiment"))->shortcuts().isEmpty());
  saying<QPushButton>(dialog, "Default")->click();
  EXPECT_EQ(actionNamed(window, QStringLiteral("Full screen"))->shortcut(),
            QKeySequence(Qt::Key_F11));
}

TEST_F(WindowMemory, EveryActionOfTheWindowStandsInTheListOfKeys) {
  SampleStudio studio(SampleOptions{0, 50});
  MainWindow window(studio.workbench);
  for (const QAction* action : window.actions()) {
    const auto entries = window.keys().entries();
    EXPECT_TRUE(std::any_of(entries.begin(), entries.end(), [action](const KeyMap::Entry& entry) {
      return entry.action == action;
    })) << action->text().toStdString();
  }
}

TEST(ViewHistory, TakesBackChoicesInTheOrderInWhichTheyCame) {
  ViewHistory history;
  history.begin(QStringLiteral("monitor"), Json{{"x", "step"}});
  history.begin(QStringLiteral("compare"), Json{{"sort", 0}});
  history.add(QStringLiteral("monitor"), Json{{"x", "epoch"}}, ViewHistory::Gesture::New);
  history.add(QStringLiteral("compare"), Json{{"sort", 2}}, ViewHistory::Gesture::New);
  ViewHistory::View view = history.undo();
  EXPECT_EQ(view.page.toStdString(), "compare");
  EXPECT_EQ(view.state, (Json{{"sort", 0}}));
  view = history.undo();
  EXPECT_EQ(view.page.toStdString(), "monitor");
  EXPECT_EQ(view.state, (Json{{"x", "step"}}));
  EXPECT_FALSE(history.canUndo());
  EXPECT_EQ(history.redo().state, (Json{{"x", "epoch"}}));
  history.add(QStringLiteral("monitor"), Json{{"x", "time"}}, ViewHistory::Gesture::New);
  EXPECT_FALSE(history.canRedo()) << "a new choice ends what could be done again";
}

TEST(ViewHistory, NamesTheChangeThatUndoConcerns) {
  ViewHistory history;
  EXPECT_EQ(history.undoName().toStdString(), "");
  const Json whole{{"x", "step"}, {"ranges", Json::object()}, {"follow", true}};
  Json zoomed = whole, byEpoch = whole;
  zoomed["ranges"] = {{"train/loss", {{"x", {0, 10}}}}};
  zoomed["follow"] = false;
  byEpoch["x"] = "epoch";
  history.begin(QStringLiteral("monitor"), whole);
  history.begin(QStringLiteral("compare"), Json{{"sort_column", -1}});
  history.add(QStringLiteral("monitor"), zoomed, ViewHistory::Gesture::New);
  EXPECT_EQ(history.undoName().toStdString(), "zoom");
  history.add(QStringLiteral("monitor"), byEpoch, ViewHistory::Gesture::New);
  EXPECT_EQ(history.undoName().toStdString(), "x axis") << "its ranges change with it";
  history.add(QStringLiteral("compare"), Json{{"sort_column", 2}}, ViewHistory::Gesture::New);
  EXPECT_EQ(history.undoName().toStdString(), "sort");
  EXPECT_EQ(history.redoName().toStdString(), "");
  history.undo();
  EXPECT_EQ(history.redoName().toStdString(), "sort");
  EXPECT_EQ(history.undoName().toStdString(), "x axis");
}

TEST(ViewHistory, WhatAPageDoesByItselfIsNoChoice) {
  const QString page = QStringLiteral("attention");
  ViewHistory history;
  history.begin(page, Json{{"image", nullptr}, {"layer", 0}});
  history.setNow(page, Json{{"image", 3}, {"layer", 0}});
  EXPECT_FALSE(history.canUndo());
  history.add(page, Json{{"image", 3}, {"layer", 2}}, ViewHistory::Gesture::New);
  EXPECT_EQ(history.undoName().toStdString(), "layer");
  EXPECT_EQ(history.undo().state, (Json{{"image", 3}, {"layer", 0}}));
}

TEST(ViewHistory, HasANameForEveryChoiceOfEveryPage) {
  SampleStudio studio(SampleOptions{0, 50});
  studio.workbench.selection().setRuns({studio.runs[0], studio.runs[1]}, studio.runs[0]);
  MainWindow window(studio.workbench);
  window.show();
  std::size_t choices = 0;
  for (const PageFactory& page : pages()) {
    ASSERT_TRUE(window.showPage(page.id));
    window.waitUntilIdle();
    const Json state = window.currentPage()->viewState();
    if (!state.is_object()) continue;
    for (const auto& [key, value] : state.items()) {
      Json other = state;
      other[key] = "another choice";
      ViewHistory history;
      history.begin(page.id, state);
      history.add(page.id, other, ViewHistory::Gesture::New);
      EXPECT_NE(history.undoName(), QStringLiteral("view")) << page.id.toStdString() << ": " << key;
      ++choices;
    }
  }
  EXPECT_GT(choices, 60U);
}

TEST(ViewHistory, AGestureIsOneStep) {
  ViewHistory history;
  history.begin(QStringLiteral("monitor"), Json{{"zoom", 1}});
  history.add(QStringLiteral("monitor"), Json{{"zoom", 2}}, ViewHistory::Gesture::New);
  for (int zoom = 3; zoom < 9; ++zoom)
    history.add(QStringLiteral("monitor"), Json{{"zoom", zoom}}, ViewHistory::Gesture::Continues);
  EXPECT_EQ(history.undo().state, (Json{{"zoom", 1}}));
  EXPECT_FALSE(history.canUndo());
}

TEST(ViewHistory, KeepsAHeldNumberOfSteps) {
  ViewHistory history;
  history.begin(QStringLiteral("monitor"), Json(0));
  for (int i = 1; i <= 1000; ++i)
    history.add(QStringLiteral("monitor"), Json(i), ViewHistory::Gesture::New);
  std::size_t steps = 0;
  while (history.canUndo()) {
    history.undo();
    ++steps;
  }
  EXPECT_EQ(steps, ViewHistory::kMost);
}

TEST_F(WindowMemory, ALayoutComesBackWithItsPageAndItsPanels) {
  SampleStudio studio(SampleOptions{0, 50});
  MainWindow window(studio.workbench);
  window.resize(1440, 900);
  window.show();
  window.showPage(QStringLiteral("queue"));
  inspectorDock(window).hide();
  storeLayout(QStringLiteral("wide / narrow"), window.layoutNow());
  inspectorDock(window).show();
  window.showPage(QStringLiteral("monitor"));
  startAgain();
  EXPECT_EQ(layoutNames().join(QLatin1Char('|')).toStdString(), "wide / narrow");
  const auto layout = storedLayout(QStringLiteral("wide / narrow"));
  ASSERT_TRUE(layout.has_value());
  window.showLayout(*layout);
  EXPECT_TRUE(inspectorDock(window).isHidden());
  EXPECT_STREQ(window.currentPage()->metaObject()->className(), "vitrine::ui::QueuePage");
  window.resetLayout();
  EXPECT_FALSE(inspectorDock(window).isHidden());
}

TEST_F(WindowMemory, TheNameOfALayoutIsWholeInTheMenus) {
  SampleStudio studio(SampleOptions{0, 50});
  MainWindow window(studio.workbench);
  storeLayout(QStringLiteral("R&D"), window.layoutNow());
  for (QMenu* menu : window.findChildren<QMenu*>())
    if (menu->title() == QStringLiteral("&Layouts")) Q_EMIT menu->aboutToShow();
  QStringList names;
  for (const QMenu* menu : window.findChildren<QMenu*>()) {
    for (const QAction* action : menu->actions())
      if (action->text().startsWith(QStringLiteral("R&"))) names << action->text();
  }
  EXPECT_EQ(names.join(QLatin1Char(' ')).toStdString(), "R&&D R&&D") << "to show and to delete";
}

TEST_F(WindowMemory, ALayoutThatIsBrokenIsNotShown) {
  storeSetting(QStringLiteral("layouts/") + QString::fromLatin1(QByteArray("bad").toHex()),
               QStringLiteral("{\"docks\": 7, \"page\": ["));
  EXPECT_FALSE(storedLayout(QStringLiteral("bad")).has_value());
  storeSetting(QStringLiteral("layouts/") + QString::fromLatin1(QByteArray("odd").toHex()),
               QStringLiteral("{\"docks\": 7, \"page\": [1], \"views\": 3}"));
  SampleStudio studio(SampleOptions{0, 50});
  MainWindow window(studio.workbench);
  window.showPage(QStringLiteral("queue"));
  const auto odd = storedLayout(QStringLiteral("odd"));
  ASSERT_TRUE(odd.has_value());
  window.showLayout(*odd);
  EXPECT_STREQ(window.currentPage()->metaObject()->className(), "vitrine::ui::QueuePage");
}

TEST_F(WindowMemory, RecentDatabasesAreThoseThatAreStillThere) {
  QStringList files;
  for (int i = 0; i < 12; ++i) {
    files << makeFile(folder_.filePath(QStringLiteral("db%1.sqlite").arg(i)));
    rememberDatabase(files.back());
  }
  rememberDatabase(files[5]);
  ASSERT_EQ(recentDatabases().size(), 10);
  EXPECT_EQ(recentDatabases().front(), files[5]);
  EXPECT_EQ(recentDatabases()[1], files[11]);
  QFile::remove(files[11]);
  EXPECT_EQ(recentDatabases().size(), 9);
  forgetDatabases();
  EXPECT_TRUE(recentDatabases().isEmpty());
}

TEST_F(WindowMemory, TheWindowOpensWhateverItsSettingsSay) {
  for (const char* key : {"window/geometry", "window/state", "window/page", "window/zoom",
                          "window/theme", "window/own_layout", "recent/databases",
                          "keys/window/quit", "monitor/metrics", "monitor/settings"}) {
    for (const QVariant& value :
         {QVariant(QStringLiteral("no such thing")), QVariant(QByteArray(4000, '\xff')),
          QVariant(-1), QVariant(QStringList{QStringLiteral("a"), QString()})}) {
      storeSetting(QString::fromLatin1(key), value);
    }
    SampleStudio studio(SampleOptions{0, 20});
    MainWindow window(studio.workbench);
    window.show();
    QCoreApplication::processEvents();
    EXPECT_NE(window.currentPage(), nullptr) << key;
  }
}

TEST_F(WindowMemory, ASettingsFileOfNoiseIsAsNone) {
  QByteArray noise;
  std::uint32_t state = 7;
  for (int i = 0; i < 20'000; ++i) {
    state = state * 1664525u + 1013904223u;
    noise += static_cast<char>(state >> 24);
  }
  useSettings(makeFile(folder_.filePath(QStringLiteral("noise.ini")), noise));
  SampleStudio studio(SampleOptions{0, 20});
  MainWindow window(studio.workbench);
  window.show();
  QCoreApplication::processEvents();
  EXPECT_NE(window.currentPage(), nullptr);
}

TEST(HelpViewer, HoldsEveryDocumentAndFindsWords) {
  HelpViewer viewer(nullptr);
  viewer.show();
  EXPECT_GE(viewer.list().count(), 9);
  for (int row = 0; row < viewer.list().count(); ++row) {
    viewer.list().setCurrentRow(row);
    EXPECT_GT(viewer.text().toPlainText().size(), 500)
        << viewer.list().item(row)->text().toStdString();
  }
  viewer.showDocument(QStringLiteral("database.md"));
  QTest::keyClicks(&viewer.search(), "metric_summaries");
  EXPECT_EQ(viewer.text().textCursor().selectedText().toStdString(), "metric_summaries");
}

}  // namespace
}  // namespace vitrine::ui
