// Two editors of one note: the Inspector of the window, and another process.
#include "ui/shell/inspector.h"

#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTest>
#include <QTreeWidget>
#include <algorithm>

#include "tests/ui/support/soon.h"
#include "tests/ui/support/studio_window.h"
#include "ui/kit/small_widgets.h"

namespace vitrine::ui {
namespace {

struct InspectorOfTwo : ::testing::Test {
  SampleStudio studio{SampleOptions{0, 50}};
  MainWindow window{studio.workbench};
  std::int64_t run = studio.runs[0];
  Inspector* inspector = nullptr;
  QPlainTextEdit* note = nullptr;
  QLineEdit* tags = nullptr;

  void SetUp() override {
    window.resize(1600, 900);
    window.show();
    studio.writer.setNote(run, "at first");
    studio.writer.setTags(run, {"old"});
    studio.workbench.selection().setRuns({run}, run);
    QCoreApplication::processEvents();
    inspector = window.findChild<Inspector*>();
    note = named<QPlainTextEdit>(*inspector, "Note on the run");
    tags = inspector->findChild<QLineEdit*>();
    ASSERT_NE(note, nullptr);
    ASSERT_EQ(note->toPlainText().toStdString(), "at first");
  }

  [[nodiscard]] QPushButton* button(const char* name) const {
    return firstWhere<QPushButton>(*inspector, [name](const QPushButton& each) {
      return each.accessibleName() == QLatin1String(name) && each.isVisible();
    });
  }
  void type(const char* text) const {
    note->selectAll();
    QTest::keyClicks(note, text);
  }
  void typeTags(const char* text) const {
    tags->selectAll();
    QTest::keyClicks(tags, text);
    QTest::keyClick(tags, Qt::Key_Return);
  }
  [[nodiscard]] bool showsText(const char* text) const {
    const auto labels = inspector->findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) {
      return label->isVisible() && label->text() == QLatin1String(text);
    });
  }
  /// What came too late and is kept.
  [[nodiscard]] bool isKept(store::RunField field, const std::string& text) {
    const auto edits = studio.writer.edits(run, field);
    return std::any_of(edits.begin(), edits.end(),
                       [&](const store::EditRow& edit) { return edit.text == text; });
  }
  /// They write after the window has read the note, and before what is typed here is saved.
  void meetInTheNote() {
    studio.writer.setNote(run, "theirs");
    type("mine");
    ASSERT_TRUE(soon([&] { return button("Keep my note") != nullptr; }));
  }
};

TEST_F(InspectorOfTwo, SavesWhatIsTyped) {
  type("mine");
  EXPECT_TRUE(soon([&] { return studio.writer.note(run) == "mine"; }));
  typeTags("b, a");
  EXPECT_EQ(studio.writer.tags(run), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(button("Keep my note"), nullptr);
}

TEST_F(InspectorOfTwo, SaysThatWhatWasTypedIsStored) {
  EXPECT_FALSE(showsText("stored"));
  type("mine");
  EXPECT_FALSE(showsText("stored"));
  EXPECT_TRUE(soon([&] { return showsText("stored"); }));
  EXPECT_EQ(studio.writer.note(run), "mine");
  QTest::keyClicks(note, " and more");
  EXPECT_FALSE(showsText("stored"));
  EXPECT_TRUE(soon([&] { return showsText("stored"); }));
  typeTags("b, a");
  EXPECT_TRUE(soon([&] { return showsText("stored"); }));
  studio.workbench.selection().setRuns({studio.runs[1]}, studio.runs[1]);
  EXPECT_FALSE(showsText("stored")) << "it is about another run";
}

TEST_F(InspectorOfTwo, ShowsBothNotesAndLeavesTheOtherOneInPlace) {
  meetInTheNote();
  EXPECT_EQ(note->toPlainText().toStdString(), "mine");
  EXPECT_TRUE(showsText("theirs"));
  EXPECT_EQ(studio.writer.note(run), "theirs");
  EXPECT_TRUE(isKept(store::RunField::Note, "mine"));
}

TEST_F(InspectorOfTwo, KeepsMyNoteWhenIChooseIt) {
  meetInTheNote();
  QTest::mouseClick(button("Keep my note"), Qt::LeftButton);
  EXPECT_EQ(studio.writer.note(run), "mine");
  EXPECT_TRUE(isKept(store::RunField::Note, "theirs"));
  EXPECT_EQ(button("Keep my note"), nullptr);
}

TEST_F(InspectorOfTwo, AsksAgainWhenTheyWriteAgainBeforeIChoose) {
  meetInTheNote();
  studio.writer.setNote(run, "theirs again");
  QTest::mouseClick(button("Keep my note"), Qt::LeftButton);
  EXPECT_EQ(studio.writer.note(run), "theirs again");
  EXPECT_TRUE(showsText("theirs again"));
  EXPECT_EQ(note->toPlainText().toStdString(), "mine");
}

TEST_F(InspectorOfTwo, TakesTheirNoteAndKeepsMineInTheHistory) {
  meetInTheNote();
  QTest::keyClicks(note, " and more");
  const std::string typed = note->toPlainText().toStdString();
  QTest::mouseClick(button("Take their note"), Qt::LeftButton);
  EXPECT_EQ(note->toPlainText().toStdString(), "theirs");
  EXPECT_EQ(studio.writer.note(run), "theirs");
  EXPECT_TRUE(isKept(store::RunField::Note, "mine"));
  EXPECT_TRUE(isKept(store::RunField::Note, typed)) << typed;
  type("a third one");
  EXPECT_TRUE(soon([&] { return studio.writer.note(run) == "a third one"; }))
      << "the next edit is based on what was taken";
}

TEST_F(InspectorOfTwo, KeepsWhatWasTypedWhenAnotherRunIsShown) {
  meetInTheNote();
  QTest::keyClicks(note, " and more");
  const std::string typed = note->toPlainText().toStdString();
  studio.workbench.selection().setRuns({studio.runs[1]}, studio.runs[1]);
  QCoreApplication::processEvents();
  EXPECT_EQ(studio.writer.note(run), "theirs");
  EXPECT_TRUE(isKept(store::RunField::Note, typed)) << typed;
  EXPECT_EQ(button("Keep my note"), nullptr);
  EXPECT_EQ(note->toPlainText().toStdString(), studio.writer.note(studio.runs[1]));
}

TEST_F(InspectorOfTwo, ShowsARunThatWasSelectedBeforeItWasKnown) {
  type("mine");
  const std::int64_t late =
      studio.writer.addRuns(studio.writer.experiment("late", ""), {{.name = "coming"}}).front();
  studio.workbench.selection().setRuns({late}, late);
  EXPECT_FALSE(note->isVisible());
  studio.workbench.watcher().poll();
  EXPECT_TRUE(soon([&] { return note->isVisible(); }));
  EXPECT_EQ(note->toPlainText().toStdString(), "");
  studio.workbench.selection().setRuns({run}, run);
  EXPECT_TRUE(soon([&] { return studio.writer.note(run) == "mine"; }));
  EXPECT_EQ(studio.writer.note(late), "") << "what was typed for another run";
}

TEST_F(InspectorOfTwo, SaysNothingOfARunThatIsDeletedWhileOthersAre) {
  studio.writer.deleteRun(studio.runs[1]);
  studio.workbench.selection().setRuns({studio.runs[1]}, studio.runs[1]);  // before it is read
  EXPECT_EQ(errorIn(window), QString());
  studio.workbench.watcher().poll();
  EXPECT_EQ(errorIn(window), QString());
  EXPECT_NE(studio.workbench.selection().current(), studio.runs[1]);
}

TEST_F(InspectorOfTwo, HasTheNewNameOfARunThatIsRenamed) {
  studio.writer.setName(run, "renamed");
  studio.workbench.watcher().poll();
  const DockHeader* header = nullptr;
  for (const DockHeader* one : window.findChildren<DockHeader*>())
    if (one->note().startsWith(QLatin1Char('#'))) header = one;
  ASSERT_NE(header, nullptr);
  EXPECT_TRUE(soon([header] {
    const auto labels = header->findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
      return label->text() == QLatin1String("renamed");
    });
  }));
}

TEST_F(InspectorOfTwo, AsksAboutTagsInTheSameWay) {
  studio.writer.setTags(run, {"theirs", "too"});
  typeTags("mine");
  ASSERT_NE(button("Take their tags"), nullptr);
  EXPECT_TRUE(showsText("theirs, too"));
  EXPECT_TRUE(isKept(store::RunField::Tags, "mine"));
  QTest::mouseClick(button("Take their tags"), Qt::LeftButton);
  EXPECT_EQ(tags->text().toStdString(), "theirs, too");
  EXPECT_EQ(studio.writer.tags(run), (std::vector<std::string>{"theirs", "too"}));
}

TEST_F(InspectorOfTwo, ShowsWhatTheyWriteWhereNothingIsTyped) {
  studio.writer.setNote(run, "theirs");
  studio.writer.setTags(run, {"new"});
  studio.workbench.watcher().poll();
  EXPECT_TRUE(soon([&] { return note->toPlainText() == QLatin1String("theirs"); }));
  EXPECT_EQ(tags->text().toStdString(), "new");
}

TEST(Inspector, MakesItsContentWithTheFirstRunThatIsShown) {
  SampleStudio studio(SampleOptions{0, 20});
  studio.workbench.selection().setRuns({}, 0);
  Inspector inspector(studio.workbench);
  EXPECT_EQ(inspector.findChild<QPlainTextEdit*>(), nullptr);
  const std::int64_t run = studio.runs.front();
  studio.workbench.selection().setRuns({run}, run);
  EXPECT_NE(inspector.findChild<QPlainTextEdit*>(), nullptr);
}

TEST(Inspector, NoFactOfARunIsCut) {
  SampleStudio studio(SampleOptions{0, 2340});
  studio.workbench.selection().setRuns({studio.runs[0]}, studio.runs[0]);
  MainWindow window(studio.workbench);
  window.resize(1440, 900);
  window.show();
  window.showPage(QStringLiteral("monitor"));
  window.waitUntilIdle();
  for (int i = 0; i < 4; ++i) QCoreApplication::processEvents();
  ASSERT_TRUE(inspectorDock(window).isVisible());
  const auto* facts = named<QTreeWidget>(inspectorDock(window), "Facts of the run");
  ASSERT_GT(facts->topLevelItemCount(), 5);
  for (int row = 0; row < facts->topLevelItemCount(); ++row) {
    const QString value = facts->topLevelItem(row)->text(1);
    EXPECT_LE(facts->fontMetrics().horizontalAdvance(value) + 6, facts->columnWidth(1))
        << value.toStdString();
  }
}

TEST(Inspector, ShowsWhatDiffersFromTheBaselineThatTheMenuMarks) {
  SampleStudio studio(SampleOptions{0, 50});
  MainWindow window(studio.workbench);
  window.resize(1600, 900);
  window.show();
  studio.workbench.selection().setRuns({studio.runs[7]}, studio.runs[7]);
  QCoreApplication::processEvents();
  auto* inspector = window.findChild<Inspector*>();
  const auto isBaseline = [inspector] {
    const auto labels = inspector->findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(), [](const QLabel* label) {
      return label->isVisible() &&
             label->text().startsWith(QLatin1String("This run is the baseline"));
    });
  };
  QAction& mark = only<RunsPanel>(window).marks().baseline();
  EXPECT_FALSE(isBaseline()) << "the first run of the experiment is another one";
  mark.trigger();
  studio.workbench.watcher().poll();
  EXPECT_TRUE(soon(isBaseline));
  ASSERT_TRUE(soon([&mark] { return mark.isChecked(); }));
  mark.trigger();
  studio.workbench.watcher().poll();
  EXPECT_TRUE(soon([&isBaseline] { return !isBaseline(); }));
}

}  // namespace
}  // namespace vitrine::ui
