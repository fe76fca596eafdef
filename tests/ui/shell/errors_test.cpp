// What failed stands in the bar above the page, what was done in the line at the bottom.
#include <QClipboard>
#include <QTest>
#include <chrono>

#include "tests/ui/support/soon.h"
#include "tests/ui/support/studio_window.h"
#include "tests/ui/support/test_files.h"

namespace vitrine::ui {
namespace {

struct Errors : ::testing::Test {
  SampleStudio studio{SampleOptions{1, 50}};
  MainWindow window{studio.workbench};
  QString error() { return errorIn(window); }
};

TEST_F(Errors, ARunThatFailsIsOne) {
  std::int64_t run = 0;
  for (const auto& [id, row] : studio.workbench.runs())
    if (row.state == store::RunState::Running) run = id;
  ASSERT_NE(run, 0) << "the sample has one that runs";
  const QString before = only<BottomBar>(window).sentence();
  studio.writer.setState(run, store::RunState::Failed, "out of memory");
  studio.workbench.watcher().poll();
  EXPECT_TRUE(error().contains(QStringLiteral("out of memory"))) << error().toStdString();
  EXPECT_EQ(only<BottomBar>(window).sentence(), before);
}

TEST_F(Errors, AFileThatIsNotThereIsOne) {
  studio.workbench.openFile(studio.folder.filePath(QStringLiteral("gone.toml")));
  EXPECT_TRUE(error().contains(QStringLiteral("gone.toml")));
}

TEST_F(Errors, AFileThatVitrineCannotOpenIsOne) {
  studio.workbench.openFile(makeFile(studio.folder.filePath(QStringLiteral("notes.odt"))));
  EXPECT_TRUE(error().contains(QStringLiteral("notes.odt")));
}

TEST_F(Errors, AnOrderThatCannotBeCarriedOutIsOne) {
  studio.workbench.queue().execute({.what = jobs::Command::What::Limit, .runs = {7777}});
  studio.workbench.queue().waitUntilIdle();
  EXPECT_TRUE(error().contains(QStringLiteral("7777"))) << error().toStdString();
}

TEST_F(Errors, AreCopiedAndDismissedByCommands) {
  window.show();
  CommandPalette& palette = only<CommandPalette>(window);
  const auto said = [&](const char* title) {
    window.openPalette();
    palette.input().setText(QLatin1String(title));
    return palette.list().item(0)->data(Qt::AccessibleTextRole).toString();
  };
  EXPECT_EQ(said("Dismiss the error").toStdString(),
            "Dismiss the error, not now: there is no error");
  studio.workbench.showError(QStringLiteral("The disk is full."));
  EXPECT_FALSE(said("Copy the error").contains(QStringLiteral("not now")));
  QTest::keyClick(&palette.input(), Qt::Key_Return);
  EXPECT_EQ(QGuiApplication::clipboard()->text(), QStringLiteral("The disk is full."));
  (void)said("Dismiss the error");
  QTest::keyClick(&palette.input(), Qt::Key_Return);
  EXPECT_EQ(error(), QString());
}

TEST_F(Errors, WhatWasDoneIsNone) {
  studio.workbench.showMessage(QStringLiteral("Saved."));
  EXPECT_EQ(error(), QString());
  EXPECT_EQ(only<BottomBar>(window).sentence(), QStringLiteral("Saved."));
}

TEST_F(Errors, WhatWasDoneIsSaidForAWhileAndAnOfferStays) {
  BottomBar offering;
  bool isUndone = false;
  for (BottomBar* bar : {&offering, &only<BottomBar>(window)})
    bar->setMessageTime(std::chrono::milliseconds(1));
  offering.showMessage(QStringLiteral("Saved."));
  offering.offer(QStringLiteral("Deleted."), QStringLiteral("Undo"), [&] { isUndone = true; });
  studio.workbench.showError(QStringLiteral("The disk is full."));
  studio.workbench.showMessage(QStringLiteral("Saved."));
  EXPECT_TRUE(soon([this] { return only<BottomBar>(window).sentence().isEmpty(); }));
  EXPECT_EQ(error(), QStringLiteral("The disk is full."));
  EXPECT_EQ(offering.sentence(), QStringLiteral("Deleted."));
  offering.act();
  EXPECT_TRUE(isUndone);
}

TEST_F(Errors, TheButtonOfAMessageGivesTheFocusBack) {
  bringUp(window);
  QWidget& list = only<RunsPanel>(window).view();
  list.setFocus();
  for (const bool isTaken : {false, true}) {
    only<BottomBar>(window).offer(QStringLiteral("Deleted."), QStringLiteral("Undo"), [] {});
    auto* undo = button<QToolButton>(only<BottomBar>(window), "Undo");
    ASSERT_NE(undo, nullptr);
    if (isTaken) undo->setFocus(Qt::TabFocusReason);
    QTest::mouseClick(undo, Qt::LeftButton);
    EXPECT_TRUE(undo->isHidden());
    EXPECT_TRUE(list.hasFocus()) << isTaken;
  }
}

}  // namespace
}  // namespace vitrine::ui
