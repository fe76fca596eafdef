// Notes on curves, by the menu of a plot and from there into the database.
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>
#include <filesystem>
#include <functional>
#include <memory>

#include "tests/ui/support/qt_test.h"
#include "ui/monitor/monitor_page.h"
#include "ui/workbench/recipe.h"

namespace vitrine::ui {
namespace {

constexpr const char* kMetric = "train/loss";

/// A window on a database: its own connection, its own page.
struct NotesWindow {
  explicit NotesWindow(const std::filesystem::path& file, const std::vector<std::int64_t>& runs)
      : workbench(file) {
    workbench.watcher().poll();
    workbench.selection().setRuns(runs, runs.back());
    page = std::make_unique<MonitorPage>(workbench);
    page->resize(1000, 700);
    page->show();
    page->waitUntilIdle();
    QCoreApplication::processEvents();
  }
  [[nodiscard]] PlotCard& card() const { return *page->card(kMetric); }
  /// Words of the notes in the plot of the training loss.
  [[nodiscard]] QStringList shown() const {
    QStringList words;
    for (const CurveNote& note : card().plot().notes()) words << note.text;
    return words;
  }
  void lookAgain() {
    workbench.watcher().poll();
    page->waitUntilIdle();
  }
  /// Right click, an entry of the menu, and `answer` to the dialog that comes.
  void choose(const char* entry, const std::function<void(QWidget& dialog)>& answer) {
    QTimer hand;
    bool isChosen = false;
    QObject::connect(&hand, &QTimer::timeout, &hand, [&] {
      if (auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
          menu != nullptr && !isChosen) {
        for (QAction* action : menu->actions()) {
          if (action->text().remove(QLatin1Char('&')).startsWith(QLatin1String(entry)))
            menu->setActiveAction(action);
        }
        isChosen = true;
        QEvent leave(QEvent::Leave);  // the menu has the mouse
        QCoreApplication::sendEvent(&card().plot(), &leave);
        QTest::keyClick(menu, menu->activeAction() != nullptr ? Qt::Key_Return : Qt::Key_Escape);
      } else if (QWidget* dialog = QApplication::activeModalWidget(); dialog != nullptr) {
        ++dialogs;
        answer(*dialog);
      }
    });
    hand.start(5);
    QTest::mousePress(&card().plot(), Qt::RightButton, {}, QPoint(100, 60));
    QTest::mouseRelease(&card().plot(), Qt::RightButton, {}, QPoint(100, 60));
  }
  void write(const QString& words) {
    choose("Add note", [&](QWidget& dialog) {
      dialog.findChild<QLineEdit*>()->setText(words);
      dynamic_cast<QDialog&>(dialog).accept();
    });
  }
  void remove(QMessageBox::ButtonRole pressed = QMessageBox::DestructiveRole) {
    choose("Remove the notes", [&](QWidget& dialog) {
      auto& question = dynamic_cast<QMessageBox&>(dialog);
      for (QAbstractButton* button : question.buttons())
        if (question.buttonRole(button) == pressed) return button->click();
    });
  }

  StudioWorkbench workbench;
  std::unique_ptr<MonitorPage> page;
  int dialogs = 0;
};

struct MonitorNotes : ::testing::Test {
  SampleStudio studio{SampleOptions{0, 600}};
  std::int64_t run = studio.runs[8];
  std::vector<std::int64_t> runs{studio.runs[7], run};

  [[nodiscard]] QStringList stored(std::int64_t of = 0) {
    QStringList words;
    for (const store::CurveNoteRow& note : studio.writer.curveNotes(of == 0 ? run : of))
      words << QString::fromStdString(note.text);
    return words;
  }
};

TEST_F(MonitorNotes, AreWrittenIntoTheDatabaseByTheMenuOfAPlotAndTakenOutOfIt) {
  NotesWindow window(studio.writer.file(), runs);
  window.write(QStringLiteral("  rate halved "));
  EXPECT_EQ(stored(), QStringList{QStringLiteral("rate halved")});
  EXPECT_EQ(window.shown(), stored());
  const store::CurveNoteRow note = studio.writer.curveNotes(run).front();
  EXPECT_EQ(note.metric, kMetric);
  EXPECT_EQ(note.step, studio.writer.run(run).step);
  window.write(QStringLiteral("   "));
  EXPECT_EQ(stored().size(), 1) << "no words, no note";
  EXPECT_EQ(window.dialogs, 2);
  window.remove();
  EXPECT_EQ(window.dialogs, 2) << "one is removed without a question";
  EXPECT_TRUE(stored().isEmpty());
  EXPECT_TRUE(window.shown().isEmpty());
}

TEST_F(MonitorNotes, StandAtTheStepThatWasClicked) {
  NotesWindow window(studio.writer.file(), runs);
  CurvePlot& plot = window.card().plot();
  const double clicked = plot.xAxis().valueAt(100);  // choose() clicks there
  const std::int64_t last = studio.writer.run(run).step;
  ASSERT_LT(clicked, static_cast<double>(last) / 2);
  QTest::mouseMove(&plot, QPoint(100, 60));
  window.write(QStringLiteral("here"));
  const auto notes = studio.writer.curveNotes(run);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NEAR(static_cast<double>(notes[0].step), clicked, static_cast<double>(last) / 50);
}

TEST_F(MonitorNotes, AreThereInEveryWindowAndAfterTheNextStart) {
  NotesWindow one(studio.writer.file(), runs);
  {
    NotesWindow two(studio.writer.file(), runs);
    two.write(QStringLiteral("seen from two"));
  }
  EXPECT_TRUE(one.shown().isEmpty());
  one.lookAgain();
  EXPECT_EQ(one.shown(), QStringList{QStringLiteral("seen from two")});
  NotesWindow three(studio.writer.file(), runs);
  EXPECT_EQ(three.shown(), one.shown());
  EXPECT_FALSE(three.page->viewState().contains("notes"));
}

TEST_F(MonitorNotes, OfTwoWindowsThatAddOneBothStay) {
  NotesWindow one(studio.writer.file(), runs), two(studio.writer.file(), runs);
  one.write(QStringLiteral("from one"));
  two.write(QStringLiteral("from two"));  // which has not looked since
  const QStringList both{QStringLiteral("from one"), QStringLiteral("from two")};
  EXPECT_EQ(stored(), both);
  EXPECT_EQ(two.shown(), both);
  one.lookAgain();
  EXPECT_EQ(one.shown(), both);
}

TEST_F(MonitorNotes, ThatWereNotSeenAreNotRemovedWithTheOthers) {
  NotesWindow one(studio.writer.file(), runs);
  one.write(QStringLiteral("mine"));
  studio.writer.setCurveNotes(
      run, {{kMetric, 5, "theirs"}, {kMetric, studio.writer.run(run).step, "mine"}});
  one.remove();
  EXPECT_EQ(stored(), QStringList{QStringLiteral("theirs")});
  EXPECT_EQ(one.shown(), stored());
}

TEST_F(MonitorNotes, AreRemovedAfterAQuestionWhereThereIsMoreThanOne) {
  studio.writer.setCurveNotes(run, {{kMetric, 5, "a"}, {"test/top1", 5, "of another plot"}});
  studio.writer.setCurveNotes(runs[0], {{kMetric, 5, "b"}});
  NotesWindow window(studio.writer.file(), runs);
  window.remove(QMessageBox::RejectRole);
  EXPECT_EQ(window.dialogs, 1);
  EXPECT_EQ(window.shown().size(), 2);
  window.remove();
  EXPECT_TRUE(window.shown().isEmpty());
  EXPECT_EQ(stored(), QStringList{QStringLiteral("of another plot")});
  EXPECT_TRUE(stored(runs[0]).isEmpty());
}

TEST_F(MonitorNotes, ThatCannotBeStoredWaitForTheNextWindowAndThisOneSaysWhy) {
  auto window = std::make_unique<NotesWindow>(studio.writer.file(), runs);
  window->write(QStringLiteral("stored"));
  const std::filesystem::path file = studio.writer.file(), away = file.string() + ".away";
  std::filesystem::rename(file, away);
  window->write(QStringLiteral("nowhere"));
  const LocalEdits& edits = window->workbench.edits();
  EXPECT_TRUE(edits.sentence().contains(QString::fromStdString(file.string())))
      << edits.sentence().toStdString();
  EXPECT_TRUE(edits.isKept());
  window.reset();
  std::filesystem::rename(away, file);
  EXPECT_EQ(stored(), QStringList{QStringLiteral("stored")});
  NotesWindow next(studio.writer.file(), runs);
  next.workbench.edits().takeOver();
  EXPECT_EQ(stored().size(), 2) << "the next window has not stored what waited";
  next.lookAgain();
  EXPECT_EQ(next.shown().size(), 2);
}

TEST_F(MonitorNotes, ThatHaveNoRoomAreNotShownAndTheWindowSaysWhy) {
  std::vector<store::CurveNoteRow> many;
  for (int i = 0; i < 1000; ++i) many.push_back({"test/top1", i, "note"});
  studio.writer.setCurveNotes(run, many);
  NotesWindow window(studio.writer.file(), runs);
  QSignalSpy said(&window.workbench, &StudioWorkbench::errorSent);
  window.write(QStringLiteral("one too many"));
  ASSERT_EQ(said.count(), 1);
  EXPECT_TRUE(said.last()[0].toString().contains(QStringLiteral("has room for 1,000 notes")));
  EXPECT_TRUE(window.shown().isEmpty());
  EXPECT_EQ(stored().size(), 1000);
}

struct NotesOfBefore : MonitorNotes {
  void SetUp() override {
    useSettings(studio.folder.filePath(QStringLiteral("studio.ini")));
    key = QStringLiteral("notes/") + QString::fromStdString(databaseUuid(studio.writer));
  }
  void TearDown() override { forgetSettings(); }
  [[nodiscard]] Json note(std::int64_t of, std::int64_t step, const char* text) {
    const std::string uuid = studio.writer.run(of).uuid;
    return {{"run", uuid}, {"metric", kMetric}, {"step", step}, {"text", text}};
  }
  void store(const Json& notes) const {
    storeSetting(key, QByteArray::fromStdString(notes.dump()));
  }
  [[nodiscard]] Json left() const {
    return Json::parse(setting(key, QByteArray("[]")).toByteArray().toStdString());
  }
  QString key;
};

TEST_F(NotesOfBefore, AreMovedFromTheSettingsIntoTheDatabaseOnce) {
  Json foreign = note(run, 3, "of a run that is not here");
  foreign["run"] = "00000000-0000-4000-8000-000000000000";
  studio.writer.setCurveNotes(run, {{kMetric, 1, "there already"}});
  store({note(run, 1, "there already"),
         note(run, 2, "new"),
         note(studio.runs[0], 2, "not selected"),
         foreign,
         {{"run", 1}},
         5});
  {
    NotesWindow window(studio.writer.file(), runs);
    const QStringList both{QStringLiteral("there already"), QStringLiteral("new")};
    EXPECT_EQ(window.shown(), both);
    EXPECT_EQ(stored(), both);
    EXPECT_EQ(stored(studio.runs[0]), QStringList{QStringLiteral("not selected")});
    EXPECT_EQ(left(), Json({foreign}));
  }
  studio.writer.setCurveNotes(run, {});
  NotesWindow window(studio.writer.file(), runs);
  EXPECT_TRUE(window.shown().isEmpty()) << "what was removed does not come back";
  EXPECT_EQ(studio.writer.version(studio.runs[0], store::RunField::CurveNotes), 1);
}

TEST_F(NotesOfBefore, StayWhereTheyAreUntilTheyAreStored) {
  std::vector<store::CurveNoteRow> many;
  for (int i = 0; i < 1000; ++i) many.push_back({"test/top1", i, "note"});
  studio.writer.setCurveNotes(run, many);
  store({note(run, 1, "no room yet"), note(runs[0], 2, "has room")});
  {
    NotesWindow window(studio.writer.file(), runs);
    EXPECT_EQ(window.shown(), QStringList{QStringLiteral("has room")});
    EXPECT_EQ(left(), Json({note(run, 1, "no room yet")}));
  }
  studio.writer.setCurveNotes(run, {});
  const NotesWindow window(studio.writer.file(), runs);
  EXPECT_EQ(window.shown().size(), 2);
  EXPECT_TRUE(left().empty());
  EXPECT_FALSE(setting(key).isValid());
}

TEST_F(MonitorNotes, OfAViewOfBeforeAreLeftOut) {
  NotesWindow window(studio.writer.file(), runs);
  Json view = window.page->viewState();
  view["notes"] = {{{"run", "x"}, {"metric", kMetric}, {"step", 3}, {"text", "old"}}};
  window.page->setViewState(view);
  window.page->waitUntilIdle();
  EXPECT_TRUE(window.shown().isEmpty());
  EXPECT_TRUE(stored().isEmpty());
}

}  // namespace
}  // namespace vitrine::ui
