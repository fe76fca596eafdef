// Names, tags and notes changed from the list of runs, through its keys, its menu and its dialogs.
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>
#include <chrono>
#include <memory>

#include "core/base/text.h"
#include "core/store/maintenance/trash.h"
#include "core/store/sqlite/writer_lock.h"
#include "tests/support/wait_until.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "ui/runs/runs_panel.h"
#include "ui/runs/tags_dialog.h"

namespace vitrine::ui {
namespace {

using Texts = std::vector<std::string>;

/// What was said last, and the Undo that was offered with it.
struct Offer {
  explicit Offer(StudioWorkbench& workbench) {
    QObject::connect(
        &workbench, &StudioWorkbench::offered, &workbench,
        [this](const QString& said, const QString& name, const std::function<void()>& act) {
          sentence = said;
          label = name;
          undo = act;
        });
  }
  QString sentence, label;
  std::function<void()> undo;
};

class RunEditing : public ::testing::Test {
 protected:
  RunEditing() : panel(studio.workbench), offer(studio.workbench) {
    panel.resize(300, 600);
    panel.show();
  }
  /// The entry of the context menu whose text begins so.
  void choose(const QString& start) {
    QMenu menu;
    panel.fillMenu(menu);
    for (QAction* one : menu.actions()) {
      if (QString(one->text()).remove(QLatin1Char('&')).startsWith(start)) return one->trigger();
    }
    ADD_FAILURE() << "no entry " << start.toStdString();
  }
  /// Acts on the dialog that opens next.
  template <typename Dialog>
  void inDialog(const std::function<void(Dialog&)>& act) {
    auto* look = new QTimer(&panel);
    QObject::connect(look, &QTimer::timeout, &panel, [look, act] {
      auto* dialog = qobject_cast<Dialog*>(QApplication::activeModalWidget());
      if (dialog == nullptr) return;
      look->stop();
      act(*dialog);
    });
    look->start(10);
  }
  [[nodiscard]] QLineEdit* editor() const {
    return panel.findChild<QTreeView*>()->viewport()->findChild<QLineEdit*>();
  }

  SampleStudio studio{SampleOptions{0, 50}};
  RunsPanel panel;
  Offer offer;
};

TEST_F(RunEditing, ARunIsRenamedInTheListAndBackWithUndo) {
  ASSERT_TRUE(QTest::qWaitForWindowActive(&panel));
  const std::int64_t run = studio.runs[2];
  const std::string before = studio.writer.run(run).name;
  panel.select({run}, run);
  choose(QStringLiteral("Rename"));
  ASSERT_NE(editor(), nullptr);
  EXPECT_EQ(editor()->text().toStdString(), before);
  editor()->selectAll();
  QTest::keyClicks(editor(), QStringLiteral("best so far"));
  QTest::keyClick(editor(), Qt::Key_Return);
  EXPECT_TRUE(soon([&] { return studio.writer.run(run).name == "best so far"; }));
  EXPECT_EQ(panel.model().indexOf(run).data().toString(), QStringLiteral("best so far"));
  EXPECT_TRUE(offer.sentence.contains(QStringLiteral("best so far")));
  ASSERT_TRUE(offer.undo);
  offer.undo();
  EXPECT_TRUE(offer.sentence.startsWith(QStringLiteral("Undid the change to the name of run")))
      << offer.sentence.toStdString() << ": the bar cuts the end of long names";
  EXPECT_EQ(studio.writer.run(run).name, before);
}

TEST_F(RunEditing, ANameThatIsTypedOutlastsNewNumbersOfItsRun) {
  ASSERT_TRUE(QTest::qWaitForWindowActive(&panel));
  const std::int64_t run = studio.runs[2];
  panel.select({run}, run);
  panel.rename();
  ASSERT_NE(editor(), nullptr);
  editor()->selectAll();
  QTest::keyClicks(editor(), QStringLiteral("best"));
  const QModelIndex at = panel.model().indexOf(run);
  Q_EMIT panel.model().dataChanged(at, at);
  QTest::keyClicks(editor(), QStringLiteral(" so far"));
  QTest::keyClick(editor(), Qt::Key_Return);
  EXPECT_TRUE(soon([&] { return studio.writer.run(run).name == "best so far"; }));
}

TEST_F(RunEditing, ANameThatIsTypedIsStoredWhereTheFilterTakesItsRow) {
  const std::int64_t run = studio.runs[2];
  // Its row goes alone, or with that of its experiment.
  for (const QString& filter :
       {QStringLiteral("id=%1").arg(studio.runs[1]), QStringLiteral("nothing like it")}) {
    const QString name = QStringLiteral("best of ") + filter.left(2);
    panel.select({run}, run);
    panel.rename();
    ASSERT_NE(editor(), nullptr);
    editor()->selectAll();
    QTest::keyClicks(editor(), name);
    panel.filter().setText(filter);
    EXPECT_TRUE(soon([&] { return studio.writer.run(run).name == name.toStdString(); }))
        << filter.toStdString();
    panel.filter().clear();
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  }
}

TEST_F(RunEditing, ANameThatIsTypedGoesWithARunThatIsDeleted) {
  QSignalSpy failed(&studio.workbench, &StudioWorkbench::errorSent);
  const std::int64_t run = studio.runs[0];
  panel.select({run}, run);
  panel.rename();
  ASSERT_NE(editor(), nullptr);
  QTest::keyClicks(editor(), QStringLiteral("x"));
  studio.writer.deleteRun(run);
  studio.workbench.watcher().poll();
  ASSERT_EQ(studio.workbench.run(run), nullptr);
  QCoreApplication::processEvents();  // a name is stored when the row is gone
  EXPECT_EQ(failed.count(), 0);
}

TEST_F(RunEditing, TheLineOverANameCoversBothLinesOfItsRun) {
  panel.select({studio.runs[2]}, studio.runs[2]);
  panel.rename();
  ASSERT_NE(editor(), nullptr);
  const QRect row = panel.view().visualRect(panel.view().currentIndex());
  EXPECT_LE(editor()->y(), row.top() + px(4));
  EXPECT_GE(editor()->geometry().bottom(), row.bottom() - px(6)) << "38 of 44 have words";
  EXPECT_LE(editor()->geometry().bottom(), row.bottom());
  QTest::keyClick(editor(), Qt::Key_Escape);
}

TEST_F(RunEditing, TheListKeepsTheKeysWhereTheFilterTakesTheRenamedRun) {
  ASSERT_TRUE(QTest::qWaitForWindowActive(&panel));
  const auto name = [this](std::int64_t run, const char* words) {
    panel.select({run}, run);
    panel.rename();
    ASSERT_NE(editor(), nullptr);
    editor()->selectAll();
    QTest::keyClicks(editor(), QString::fromLatin1(words));
    QTest::keyClick(editor(), Qt::Key_Return);
    EXPECT_TRUE(soon([&] { return studio.writer.run(run).name == words; }));
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  };
  name(studio.runs[1], "alpha one");
  name(studio.runs[2], "alpha two");
  panel.filter().setText(QStringLiteral("alpha"));
  name(studio.runs[1], "beta");
  EXPECT_TRUE(soon([this] { return panel.view().hasFocus(); }));
}

TEST_F(RunEditing, ReturnInANameKeepsTheSelectedRuns) {
  panel.select({studio.runs[1], studio.runs[2]}, studio.runs[2]);
  panel.rename();
  ASSERT_NE(editor(), nullptr);
  QTest::keyClicks(editor(), QStringLiteral("x"));
  QTest::keyClick(editor(), Qt::Key_Return);
  QCoreApplication::processEvents();  // the line is taken when the key is handled
  EXPECT_EQ(studio.workbench.selection().runs().size(), 2U);
}

TEST_F(RunEditing, TheListRenamesTheRunThatHasTheOutline) {
  ASSERT_TRUE(QTest::qWaitForWindowActive(&panel));
  const std::int64_t run = studio.runs[1];
  panel.select({studio.runs[0], run}, run);
  panel.view().setFocus();
  QTest::keyClick(&panel.view(), Qt::Key_Space);
  ASSERT_EQ(studio.workbench.selection().current(), studio.runs[0]) << "it was taken out";
  panel.rename();
  ASSERT_NE(editor(), nullptr);
  EXPECT_EQ(editor()->text().toStdString(), studio.writer.run(run).name);
  QTest::keyClick(editor(), Qt::Key_Escape);
}

TEST_F(RunEditing, EscapeAndAnEmptyNameChangeNothing) {
  const std::int64_t run = studio.runs[2];
  const std::string before = studio.writer.run(run).name;
  panel.select({run}, run);
  panel.rename();
  QTest::keyClicks(editor(), QStringLiteral("x"));
  QTest::keyClick(editor(), Qt::Key_Escape);
  QCoreApplication::processEvents();
  QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  panel.rename();
  ASSERT_NE(editor(), nullptr);
  editor()->clear();
  QTest::keyClick(editor(), Qt::Key_Return);
  QCoreApplication::processEvents();  // the line is taken when the key is handled
  EXPECT_EQ(studio.writer.run(run).name, before);
}

TEST_F(RunEditing, ARunThatTheFilterHidesIsNotRenamedUnseen) {
  panel.select({studio.runs[2]}, studio.runs[2]);
  QSignalSpy said(&studio.workbench, &StudioWorkbench::messageSent);
  panel.filter().setText(QStringLiteral("nothing like it"));
  panel.rename();
  ASSERT_EQ(said.count(), 1);
  EXPECT_TRUE(said[0][0].toString().contains(QStringLiteral("filter")));
}

TEST_F(RunEditing, TagsOfManyRunsAreSetAtOnceAndThoseOfSomeStay) {
  const std::int64_t a = studio.runs[0], b = studio.runs[1];
  studio.writer.setTags(a, {"keep", "old"});
  studio.writer.setTags(b, {"old"});
  panel.select({a, b}, a);
  inDialog<TagsDialog>([](TagsDialog& dialog) {
    const auto item = [&dialog](const char* tag) {
      return dialog.list().findItems(QString::fromLatin1(tag), Qt::MatchExactly).at(0);
    };
    EXPECT_EQ(item("keep")->checkState(), Qt::PartiallyChecked);
    EXPECT_EQ(item("old")->checkState(), Qt::Checked);
    item("old")->setCheckState(Qt::Unchecked);
    QTest::keyClicks(&dialog.fresh(), QStringLiteral("paper, best , paper"));
    QTest::keyClick(&dialog.fresh(), Qt::Key_Return);
  });
  choose(QStringLiteral("Tags"));
  EXPECT_EQ(studio.writer.tags(a), (Texts{"best", "keep", "paper"}));
  EXPECT_EQ(studio.writer.tags(b), (Texts{"best", "paper"}));
  EXPECT_TRUE(offer.sentence.startsWith(QStringLiteral("Stored the tags of runs")))
      << offer.sentence.toStdString();
  offer.undo();
  EXPECT_EQ(studio.writer.tags(a), (Texts{"keep", "old"}));
  EXPECT_EQ(studio.writer.tags(b), (Texts{"old"}));
}

TEST_F(RunEditing, TheListShowsTagsAndFollowsThem) {
  const std::int64_t run = studio.runs[0];
  const auto shown = [&](int role) { return panel.model().indexOf(run).data(role).toString(); };
  const QString plain = shown(RunsModel::DetailRole);
  const auto becomes = [&](const QString& detail) {
    return waitUntil([&] {
      QCoreApplication::processEvents();
      return shown(RunsModel::DetailRole) == detail;
    });
  };
  studio.writer.setTags(run, {"best", "paper"});  // by another process
  studio.workbench.watcher().poll();
  EXPECT_TRUE(becomes(QStringLiteral("[best, paper] ") + plain))
      << shown(RunsModel::DetailRole).toStdString();
  EXPECT_TRUE(shown(Qt::ToolTipRole).contains(QStringLiteral("Tags: best, paper")));
  EXPECT_TRUE(shown(Qt::AccessibleTextRole).contains(QStringLiteral("tags best, paper")));
  panel.select({run}, run);
  inDialog<TagsDialog>([](TagsDialog& dialog) {
    for (int i = 0; i < dialog.list().count(); ++i)
      dialog.list().item(i)->setCheckState(Qt::Unchecked);
    dialog.accept();
  });
  choose(QStringLiteral("Tags"));
  EXPECT_TRUE(becomes(plain)) << shown(RunsModel::DetailRole).toStdString();
}

TEST_F(RunEditing, ANoteReplacesThatOfOneRunAndIsAddedToThoseOfMany) {
  const std::int64_t a = studio.runs[0], b = studio.runs[1];
  studio.writer.setNote(a, "first");
  const auto type = [this](const QString& text) {
    inDialog<QInputDialog>([text](QInputDialog& dialog) {
      auto* edit = dialog.findChild<QPlainTextEdit*>();
      ASSERT_NE(edit, nullptr);
      EXPECT_EQ(edit->accessibleName().toStdString(), "Note");
      edit->selectAll();
      edit->insertPlainText(text);
      dialog.accept();
    });
  };
  panel.select({a}, a);
  type(QStringLiteral("second"));
  choose(QStringLiteral("Note"));
  EXPECT_EQ(studio.writer.note(a), "second");
  panel.select({a, b}, a);
  type(QStringLiteral("of both"));
  choose(QStringLiteral("Add to the notes"));
  EXPECT_EQ(studio.writer.note(a), "second\nof both");
  EXPECT_EQ(studio.writer.note(b), "of both");
}

TEST_F(RunEditing, TheNoteOfARunWithALongNameIsAskedForInANarrowWindow) {
  const std::int64_t run = studio.runs[0];
  studio.writer.setName(run, "<b>long</b> " + std::string(60, 'x') + " " + std::string(60, 'y'));
  studio.workbench.watcher().poll();
  panel.select({run}, run);
  inDialog<QInputDialog>([](QInputDialog& dialog) {
    EXPECT_LT(dialog.width(), px(640));
    EXPECT_EQ(dialog.findChild<QLabel*>()->textFormat(), Qt::PlainText);
    dialog.reject();
  });
  choose(QStringLiteral("Note"));
}

TEST_F(RunEditing, TheNotesOfManyRunsWithLongNamesAreAskedForInASmallWindow) {
  ASSERT_EQ(studio.runs.size(), 12U);
  for (const std::int64_t run : studio.runs)
    studio.writer.setName(run, std::string(200, 'x') + " seed " + std::to_string(run));
  studio.workbench.watcher().poll();
  panel.select(studio.runs, studio.runs.front());
  inDialog<QInputDialog>([this](QInputDialog& dialog) {
    EXPECT_LT(dialog.width(), px(520));
    EXPECT_LT(dialog.height(), px(500));
    const QStringList lines = dialog.findChild<QLabel*>()->text().split(QLatin1Char('\n'));
    dialog.reject();
    ASSERT_EQ(lines.size(), 8);
    EXPECT_EQ(lines[0].toStdString(), "Added to the notes of 12 runs:");
    EXPECT_TRUE(lines[1].startsWith(QStringLiteral("%1, xx").arg(studio.runs[0])));
    EXPECT_TRUE(lines[1].endsWith(QStringLiteral("seed %1").arg(studio.runs[0])));
    EXPECT_EQ(lines[7].toStdString(), "and 6 more");
  });
  choose(QStringLiteral("Add to the notes"));
  panel.select({studio.runs[1]}, studio.runs[1]);
  inDialog<QInputDialog>([](QInputDialog& dialog) {
    EXPECT_LT(dialog.width(), px(520));
    EXPECT_TRUE(dialog.findChild<QLabel*>()->text().startsWith(QStringLiteral("Note of run ")));
    dialog.reject();
  });
  choose(QStringLiteral("Note"));
}

TEST_F(RunEditing, UndoLeavesWhatAnotherUserWroteSince) {
  const std::int64_t run = studio.runs[0];
  RunEdits edits(studio.workbench, &panel);
  edits.rename(run, QStringLiteral("mine"));
  studio.writer.setName(run, "theirs");
  QSignalSpy said(&studio.workbench, &StudioWorkbench::errorSent);
  offer.undo();
  EXPECT_EQ(studio.writer.run(run).name, "theirs");
  ASSERT_EQ(said.count(), 1);
  EXPECT_TRUE(said[0][0].toString().contains(QStringLiteral("another user")));
}

TEST_F(RunEditing, UndoTakesBackWhatHadToWait) {
  const std::int64_t run = studio.runs[0];
  const std::string before = studio.writer.run(run).name;
  RunEdits edits(studio.workbench, &panel);
  auto gate = std::make_unique<store::WriterLock>(studio.writer.file());
  ASSERT_TRUE(gate->lock(std::chrono::milliseconds(1000)));
  edits.rename(run, QStringLiteral("typed meanwhile"));
  ASSERT_NE(studio.workbench.waiting(run, store::RunField::Name), nullptr);
  gate.reset();
  studio.workbench.edits().tryNow();
  ASSERT_EQ(studio.writer.run(run).name, "typed meanwhile");
  QSignalSpy said(&studio.workbench, &StudioWorkbench::errorSent);
  ASSERT_TRUE(offer.undo);
  offer.undo();
  EXPECT_EQ(studio.writer.run(run).name, before);
  EXPECT_EQ(said.count(), 0);
}

TEST_F(RunEditing, ANameThatWaitedTooLongIsReported) {
  const std::int64_t run = studio.runs[0];
  RunEdits edits(studio.workbench, &panel);
  auto gate = std::make_unique<store::WriterLock>(studio.writer.file());
  ASSERT_TRUE(gate->lock(std::chrono::milliseconds(1000)));
  edits.rename(run, QStringLiteral("mine"));
  ASSERT_NE(studio.workbench.waiting(run, store::RunField::Name), nullptr);
  gate.reset();
  studio.writer.setName(run, "theirs");
  QSignalSpy said(&studio.workbench, &StudioWorkbench::errorSent);
  QSignalSpy stored(&studio.workbench, &StudioWorkbench::messageSent);
  studio.workbench.edits().tryNow();
  EXPECT_EQ(studio.writer.run(run).name, "theirs");
  ASSERT_EQ(said.count(), 1);
  EXPECT_TRUE(said[0][0].toString().contains(QStringLiteral("another user")));
  EXPECT_EQ(stored.count(), 0) << stored.value(0).value(0).toString().toStdString();
}

TEST_F(RunEditing, TheDeleteKeyInTheListMovesEndedRunsToTheTrash) {
  panel.select({studio.runs[0]}, studio.runs[0]);
  panel.activateWindow();
  panel.view().setFocus();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&panel));
  bool isAsked = false;
  inDialog<QMessageBox>([&isAsked](QMessageBox& question) {
    isAsked = true;
    for (QAbstractButton* button : question.buttons()) {
      if (button->text().remove(QLatin1Char('&')) == QLatin1String("Delete"))
        return button->click();
    }
  });
  QTest::keyClick(&panel.view(), Qt::Key_Delete);
  ASSERT_TRUE(soon([&] { return isAsked; }));
  studio.workbench.queue().waitUntilIdle();
  QCoreApplication::processEvents();
  EXPECT_EQ(studio.workbench.run(studio.runs[0]), nullptr);
  EXPECT_EQ(offer.label, QStringLiteral("Undo"));
}

TEST_F(RunEditing, TheQuestionBeforeADeletionNamesOnlyRunsThatAreStillThere) {
  const std::int64_t gone = studio.runs[0], left = studio.runs[1];
  panel.select({gone, left}, left);
  QString question;
  inDialog<QMessageBox>([&question](QMessageBox& box) {
    question = box.informativeText();
    box.reject();
  });
  choose(QStringLiteral("Delete"));
  store::trashRun(studio.writer.file(), gone);  // by another process, while the size is read
  studio.workbench.watcher().poll();
  ASSERT_EQ(studio.workbench.run(gone), nullptr);
  ASSERT_TRUE(soon([&] { return !question.isEmpty(); }));
  EXPECT_TRUE(question.startsWith(QString::number(left) + QLatin1Char(' ')))
      << question.toStdString();
}

TEST_F(RunEditing, TheQuestionBeforeADeletionSaysWhatTheCheckpointsTake) {
  const std::int64_t run = studio.runs[0];
  store::RunStore::Batch batch;
  batch.checkpoints.push_back({.step = 100, .folder = "run-x/step-100", .bytes = 1'500'000});
  studio.writer.append(run, studio.writer.segments(run).back().number, batch);
  panel.select({run}, run);
  QString question;
  inDialog<QMessageBox>([&question](QMessageBox& box) {
    question = box.informativeText();
    box.reject();
  });
  choose(QStringLiteral("Delete"));
  ASSERT_TRUE(soon([&] { return !question.isEmpty(); }));
  EXPECT_TRUE(question.contains(QStringLiteral("The checkpoints take ") +
                                QString::fromStdString(formatBytes(1.5e6))))
      << question.toStdString();
  EXPECT_NE(studio.workbench.run(run), nullptr);
}

}  // namespace
}  // namespace vitrine::ui
