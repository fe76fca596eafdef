// "Disk space..." and "Deleted runs..." of the window: what takes the space, and the ways to get it
// back.
#include "ui/shell/space_dialog.h"

#include <QAction>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QTimer>
#include <QTreeWidget>
#include <filesystem>
#include <functional>

#include "core/store/maintenance/trash.h"
#include "tests/ui/support/soon.h"
#include "tests/ui/support/studio_window.h"
#include "ui/shell/trash_dialog.h"

namespace vitrine::ui {
namespace {

class DiskSpace : public ::testing::Test {
 protected:
  DiskSpace() { window_.show(); }
  ~DiskSpace() override { qunsetenv("VITRINE_PROGRAM"); }

  /// Triggers the action of the window, and calls `act` with the dialog until it says that it is
  /// done with it.
  template <typename Dialog>
  void inDialog(const QString& text, const std::function<bool(Dialog&)>& act) {
    QTimer hand;
    int turns = 0;
    QObject::connect(&hand, &QTimer::timeout, &window_, [&] {
      auto* dialog = qobject_cast<Dialog*>(QApplication::activeModalWidget());
      if (dialog == nullptr) return;
      if (act(*dialog)) return hand.stop();
      if (++turns < 3000) return;
      ADD_FAILURE() << "the dialog does not show what it should";
      hand.stop();
      dialog->reject();
    });
    hand.start(20);
    for (QAction* one : window_.actions()) {
      if (one->text().remove(QLatin1Char('&')) != text) continue;
      one->trigger();
      // A question may open once the database has been read.
      EXPECT_TRUE(soon([&] { return !hand.isActive(); })) << "no dialog opened";
      return;
    }
    ADD_FAILURE() << "no action " << text.toStdString();
  }
  static QPushButton* button(const QDialog& dialog, const QString& text) {
    return saying<QPushButton>(dialog, text);
  }
  static QString wordsOf(const QDialog& dialog) {
    QStringList words;
    for (const QLabel* label : dialog.findChildren<QLabel*>()) words << label->text();
    return words.join(QLatin1Char('\n'));
  }

  SampleStudio studio_{SampleOptions{0, 50}};
  MainWindow window_{studio_.workbench};
};

TEST_F(DiskSpace, ListsExperimentsAndSelectsTheirRuns) {
  qputenv("VITRINE_PROGRAM", VITRINE_PROGRAM);
  inDialog<SpaceDialog>(QStringLiteral("Disk space\u2026"), [](SpaceDialog& dialog) {
    if (dialog.list().topLevelItemCount() == 0) return false;
    EXPECT_EQ(dialog.list().topLevelItemCount(), 3);
    const auto demo = dialog.list().findItems(QStringLiteral("Demo"), Qt::MatchExactly);
    EXPECT_EQ(demo.size(), 1);
    if (demo.size() != 1) {
      dialog.reject();
      return true;
    }
    EXPECT_EQ(demo.front()->text(1), QStringLiteral("2"));
    EXPECT_FALSE(demo.front()->text(6).isEmpty());
    EXPECT_TRUE(wordsOf(dialog).contains(QStringLiteral("Checkpoints 0 B")))
        << wordsOf(dialog).toStdString();
    dialog.list().setCurrentItem(demo.front());
    button(dialog, QStringLiteral("Select runs"))->click();
    return true;
  });
  EXPECT_EQ(studio_.workbench.selection().runs(),
            (std::vector<std::int64_t>{studio_.runs[4], studio_.runs[5]}));
}

TEST_F(DiskSpace, CompactsTheDatabaseWhereThatGivesSpaceBack) {
  becomeProgram(studio_,
                "if [ \"$2\" = compact ]; then echo '{\"before\":3000000,\"after\":1000000}'; else "
                "echo '{\"space\":{\"free\":2000000,\"files\":{},\"experiments\":[]}}'; fi");
  bool isClicked = false;
  inDialog<SpaceDialog>(QStringLiteral("Disk space\u2026"), [&isClicked](SpaceDialog& dialog) {
    QPushButton* compact = button(dialog, QStringLiteral("Compact"));
    if (!isClicked && compact->isEnabled()) {
      isClicked = true;
      compact->click();
    }
    if (!wordsOf(dialog).contains(QStringLiteral("The database took 3.0 MB"))) return false;
    dialog.reject();
    return true;
  });
  EXPECT_TRUE(isClicked);
}

TEST_F(DiskSpace, AProgramThatIsNotThereIsASentence) {
  qputenv("VITRINE_PROGRAM", "/no/such/program");
  inDialog<SpaceDialog>(QStringLiteral("Disk space\u2026"), [](SpaceDialog& dialog) {
    if (wordsOf(dialog).contains(QStringLiteral("Measuring"))) return false;
    EXPECT_TRUE(wordsOf(dialog).contains(QStringLiteral("/no/such/program")))
        << wordsOf(dialog).toStdString();
    dialog.reject();
    return true;
  });
}

TEST_F(DiskSpace, DeletesTheCheckpointsOfARunButTheBestAfterAQuestion) {
  qputenv("VITRINE_PROGRAM", VITRINE_PROGRAM);
  const std::int64_t run = studio_.runs[0];
  const std::string folder = store::runFolderName(studio_.writer.run(run).uuid);
  const std::filesystem::path files = store::filesFolder(studio_.writer.file());
  store::RunStore::Batch batch;
  for (const std::int64_t step : {50, 100}) {
    CheckpointRecord record;
    record.step = step;
    record.folder = folder + "/step-" + std::to_string(step);
    record.bytes = 1'500'000;
    record.isBest = step == 50;
    std::filesystem::create_directories(files / record.folder);
    batch.checkpoints.push_back(record);
  }
  studio_.writer.append(run, studio_.writer.segments(run).back().number, batch);
  studio_.workbench.watcher().poll();
  studio_.workbench.selection().setRuns({run}, run);
  inDialog<QMessageBox>(QStringLiteral("Delete checkpoints\u2026"), [](QMessageBox& question) {
    EXPECT_TRUE(question.text().contains(QStringLiteral("1 run, 3.0 MB")))
        << question.text().toStdString();
    button(question, QStringLiteral("Keep the best"))->click();
    return true;
  });
  EXPECT_TRUE(soon([&] { return studio_.writer.checkpoints(run).size() == 1; }));
  EXPECT_TRUE(std::filesystem::exists(files / folder / "step-50"));
  EXPECT_TRUE(soon([&] { return !std::filesystem::exists(files / folder / "step-100"); }));
  EXPECT_TRUE(soon([&] {
    return only<BottomBar>(window_).sentence().contains(
        QStringLiteral("Deleted 1 checkpoint, 1.5 MB"));
  })) << errorIn(window_).toStdString();
  EXPECT_FALSE(studio_.writer.points(run, "train/loss").empty());
}

TEST_F(DiskSpace, EmptyTrashRemovesDeletedRunsAfterAQuestion) {
  const std::filesystem::path database = studio_.writer.file();
  store::trashRun(database, studio_.runs[0]);
  studio_.workbench.watcher().poll();
  QTimer answer;  // of the question above the dialog
  QObject::connect(&answer, &QTimer::timeout, &window_, [&answer] {
    auto* question = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
    if (question == nullptr) return;
    answer.stop();
    button(*question, QStringLiteral("Remove"))->click();
  });
  answer.start(20);
  inDialog<TrashDialog>(QStringLiteral("Deleted runs (trash)\u2026"), [](TrashDialog& dialog) {
    EXPECT_EQ(dialog.runs().size(), 1U);
    button(dialog, QStringLiteral("Empty trash\u2026"))->click();
    return true;
  });
  studio_.workbench.queue().waitUntilIdle();
  EXPECT_TRUE(store::trashedRuns(database).empty());
}

}  // namespace
}  // namespace vitrine::ui
