// What is typed in the window reaches the database, or is said not to; what is deleted can be
// brought back.
#include <QElapsedTimer>
#include <QFileDialog>
#include <QFileSystemModel>
#include <QPushButton>
#include <QToolButton>

#include "core/store/maintenance/maintenance.h"
#include "core/store/maintenance/trash.h"
#include "core/store/sqlite/writer_lock.h"
#include "tests/support/file_locks.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "ui/shell/main_window.h"
#include "ui/runs/runs_panel.h"
#include "ui/shell/store_bar.h"
#include "ui/shell/trash_dialog.h"

namespace vitrine::ui {
namespace {

namespace fs = std::filesystem;

class Storing : public ::testing::Test {
 protected:
  Storing() : studio_(SampleOptions{0, 20}) {}
  void edit(std::int64_t run, const std::string& note) {
    studio_.workbench.edit(run, store::RunField::Note, note,
                           studio_.workbench.store().version(run, store::RunField::Note), &asker_,
                           [this](const EditOutcome& outcome) { last_ = outcome; });
  }
  void deleteLog() const {
    fs::remove(database_.string() + "-wal");
    fs::remove(database_.string() + "-shm");
  }
  static StoreBar* barOf(MainWindow& window) { return window.findChild<StoreBar*>(); }

  mutable SampleStudio studio_;
  const fs::path database_ = studio_.writer.file();
  QObject asker_;
  EditOutcome last_;
};

TEST_F(Storing, AFileDialogInTheFolderOfTheDatabaseLeavesItsLocks) {
  constexpr off_t kShared = 0x40000002, kUseOfMemory = 128;
  ASSERT_TRUE(isLocked(database_, kShared));
  ASSERT_TRUE(isLocked(database_.string() + "-shm", kUseOfMemory));
  {
    QFileDialog dialog(nullptr, QString(),
                       QString::fromStdString(database_.parent_path().string()));
    dialog.setOption(QFileDialog::DontUseNativeDialog);
    dialog.show();
    const auto* model = dialog.findChild<QFileSystemModel*>();
    ASSERT_NE(model, nullptr);
    const QModelIndex at = model->index(QString::fromStdString(database_.string()));
    // The type is what makes the dialog read the file.
    EXPECT_TRUE(soon([&] { return at.isValid() && !model->type(at).isEmpty(); }));
    (void)model->fileIcon(at);
  }
  EXPECT_TRUE(isLocked(database_, kShared));
  EXPECT_TRUE(isLocked(database_.string() + "-shm", kUseOfMemory));
}

TEST_F(Storing, ABusyDatabaseNeverHoldsTheWindowUp) {
  const std::int64_t run = studio_.runs.front();
  auto gate = std::make_unique<store::WriterLock>(database_);
  ASSERT_TRUE(gate->lock(std::chrono::milliseconds(1000)));
  QElapsedTimer clock;
  clock.start();
  edit(run, "typed while another process writes");
  EXPECT_LT(clock.elapsed(), 2000);
  EXPECT_TRUE(last_.isWaiting);
  ASSERT_NE(studio_.workbench.waiting(run, store::RunField::Note), nullptr);
  EXPECT_TRUE(studio_.workbench.edits().isKept());
  gate.reset();
  studio_.workbench.edits().tryNow();
  EXPECT_FALSE(last_.isWaiting);
  EXPECT_EQ(studio_.writer.note(run), "typed while another process writes");
  EXPECT_EQ(studio_.workbench.waiting(run, store::RunField::Note), nullptr);
}

TEST_F(Storing, WhatCannotBeStoredIsSaidUntilItIs) {
  MainWindow window(studio_.workbench);
  StoreBar* bar = barOf(window);
  ASSERT_NE(bar, nullptr);
  EXPECT_EQ(bar->sentence(), QString());
  const std::int64_t run = studio_.runs.front();
  auto gate = std::make_unique<store::WriterLock>(database_);
  ASSERT_TRUE(gate->lock(std::chrono::milliseconds(1000)));
  edit(run, "a note");
  EXPECT_EQ(bar->sentence(), QString()) << "a moment is not a reason to move the pages";
  studio_.workbench.edits().tryNow();
  EXPECT_TRUE(bar->sentence().contains(QStringLiteral("the note of run %1").arg(run)))
      << bar->sentence().toStdString();
  EXPECT_TRUE(bar->sentence().contains(QStringLiteral("is busy"))) << bar->sentence().toStdString();
  gate.reset();
  studio_.workbench.edits().tryNow();
  EXPECT_EQ(bar->sentence(), QString());
  EXPECT_EQ(studio_.writer.note(run), "a note");
}

TEST_F(Storing, TheButtonsOfTheBarAreCommandsWhileItOffersThem) {
  MainWindow window(studio_.workbench);
  window.show();
  const QString tryNow = QStringLiteral("Try to store now");
  const auto said = [&window](const QString& title) {
    window.openPalette();
    only<CommandPalette>(window).input().setText(title);
    return only<CommandPalette>(window).list().item(0)->data(Qt::AccessibleTextRole).toString();
  };
  EXPECT_EQ(said(tryNow), tryNow + QStringLiteral(", not now: all text is stored"));
  EXPECT_TRUE(said(QStringLiteral("Open the database again")).contains(QStringLiteral("not now")));
  const std::int64_t run = studio_.runs.front();
  auto gate = std::make_unique<store::WriterLock>(database_);
  ASSERT_TRUE(gate->lock(std::chrono::milliseconds(1000)));
  edit(run, "a note");
  studio_.workbench.edits().tryNow();
  EXPECT_FALSE(said(tryNow).contains(QStringLiteral("not now")));
  gate.reset();
  QTest::keyClick(&only<CommandPalette>(window).input(), Qt::Key_Return);
  EXPECT_EQ(studio_.writer.note(run), "a note");
  EXPECT_TRUE(said(tryNow).contains(QStringLiteral("not now")));
  deleteLog();
  studio_.workbench.watcher().poll();
  EXPECT_FALSE(said(QStringLiteral("Open the database again")).contains(QStringLiteral("not now")));
  only<CommandPalette>(window).reject();
}

TEST_F(Storing, ADeletedLogIsNoticedAndWhatIsTypedIsKeptForTheNextWindow) {
  const std::int64_t run = studio_.runs.front();
  const fs::path copy = studio_.folder.filePath(QStringLiteral("next.sqlite")).toStdString();
  store::backupDatabase(database_, copy);
  {
    MainWindow window(studio_.workbench);
    StoreBar* bar = barOf(window);
    deleteLog();
    studio_.workbench.watcher().poll();
    EXPECT_TRUE(bar->sentence().contains(QStringLiteral("deleted the log")))
        << bar->sentence().toStdString();
    edit(run, "typed after the log was deleted");
    EXPECT_TRUE(last_.isWaiting);
    EXPECT_TRUE(bar->sentence().contains(QStringLiteral("Not stored yet: the note of run")))
        << bar->sentence().toStdString();
    bool isOffered = false;
    for (const QPushButton* button : bar->findChildren<QPushButton*>())
      isOffered = isOffered ||
                  (button->text().contains(QStringLiteral("Open again")) && !button->isHidden());
    EXPECT_TRUE(isOffered);
    EXPECT_TRUE(studio_.workbench.edits().isKept());
  }
  // As the next window does, in a process of its own: here, with a copy of the database.
  fs::create_directories(store::filesFolder(copy));
  fs::copy(store::filesFolder(database_), store::filesFolder(copy),
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  store::RunStore store(copy);
  LocalEdits next(store);
  next.takeOver();
  EXPECT_EQ(store.note(run), "typed after the log was deleted");
  EXPECT_EQ(next.sentence(), QString());
}

TEST_F(Storing, ADeletedRunIsNamedAndCanBeTakenBack) {
  MainWindow window(studio_.workbench);
  const std::int64_t run = studio_.runs[0];
  const QString name = QString::fromStdString(studio_.workbench.run(run)->name);
  studio_.workbench.selection().setRuns({run}, run);
  studio_.workbench.deleteRuns({run});
  studio_.workbench.queue().waitUntilIdle();
  QCoreApplication::processEvents();
  EXPECT_EQ(only<RunsPanel>(window).model().runCount(), 11);
  const QString said = only<BottomBar>(window).sentence();
  EXPECT_TRUE(said.contains(QStringLiteral("Moved run %1, %2 to the trash").arg(run).arg(name)))
      << said.toStdString();
  auto* undo = button<QToolButton>(only<BottomBar>(window), "Undo");
  ASSERT_NE(undo, nullptr);
  undo->click();
  studio_.workbench.queue().waitUntilIdle();
  QCoreApplication::processEvents();
  EXPECT_EQ(only<RunsPanel>(window).model().runCount(), 12);
  EXPECT_EQ(studio_.workbench.selection().current(), run);
  EXPECT_TRUE(
      only<BottomBar>(window).sentence().contains(QStringLiteral("Restored run %1").arg(run)));
  EXPECT_TRUE(undo->isHidden());
}

TEST_F(Storing, TheTrashListsDeletedRunsAndBringsThemBack) {
  store::trashRun(database_, studio_.runs[0]);
  store::trashRun(database_, studio_.runs[1]);
  studio_.workbench.watcher().poll();
  TrashDialog dialog(studio_.workbench);
  ASSERT_EQ(dialog.runs().size(), 2u);
  EXPECT_EQ(dialog.runs().front().id, studio_.runs[1]) << "the newest first";
  dialog.restore();
  studio_.workbench.queue().waitUntilIdle();
  EXPECT_EQ(store::trashedRuns(database_).size(), 1u);
  EXPECT_NE(studio_.workbench.run(studio_.runs[1]), nullptr);
}

}  // namespace
}  // namespace vitrine::ui
