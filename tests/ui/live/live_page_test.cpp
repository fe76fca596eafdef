// The page against a trainer in this process: what it asks for, shows and leaves behind.
#include "ui/live/live_page.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <QAction>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>
#include <filesystem>

#include "core/store/types.h"
#include "tests/support/wait_until.h"
#include "tests/ui/live/live_frames.h"
#include "tests/ui/support/fake_workbench.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/item_card.h"
#include "tests/ui/support/program_script.h"
#include "tests/ui/support/qt_environment.h"
#include "tests/ui/support/soon.h"
#include "tests/ui/support/test_files.h"
#include "ui/figures/line_chart.h"
#include "ui/kit/empty_page.h"
#include "ui/live/part_words.h"

namespace vitrine::ui {
namespace {

class Live : public ::testing::Test {
 protected:
  std::int64_t running(const std::string& name) {
    const std::int64_t id = workbench_.addRun(name, Json::object());
    train(id);
    return id;
  }
  void train(std::int64_t id) {
    store::RunRow& row = workbench_.row(id);
    row.state = store::RunState::Running;
    row.worker = store::thisWorker();
    row.totalSteps = 100;
  }
  std::unique_ptr<LivePage> page() {
    auto made = std::make_unique<LivePage>(workbench_);
    made->resize(1000, 700);
    made->show();
    return made;
  }
  void choose(std::int64_t run) { workbench_.selection().setRuns({run}, run); }
  bool hasSegment(std::int64_t run) {
    return std::filesystem::exists("/dev/shm" +
                                   live::segmentName(::getpid(), workbench_.row(run).uuid));
  }
  /// Ends the training, and the window hears of it.
  void end(std::int64_t run) {
    workbench_.row(run).state = store::RunState::Done;
    workbench_.watcher().poll();
    Q_EMIT workbench_.watcher().runsChanged({});
  }
  /// Publishes a frame as the trainer of that run and lets the page look.
  void publish(live::Publisher& trainer, LivePage& shown, const live::Frame& frame) {
    ASSERT_TRUE(waitUntil([&] { return trainer.isWatched(live::liveNow()); }));
    ASSERT_TRUE(trainer.publish(live::encode(frame)));
    shown.look();
  }
  /// nullptr: the picture is in the page.
  static QWidget* ownWindowOf(const LivePage& shown) {
    for (QWidget* child : shown.findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
      if (child->isWindow() && child->isVisible()) return child;
    }
    return nullptr;
  }
  static QString sentence(const LivePage& shown) {
    for (const QLabel* label : shown.findChildren<QLabel*>()) {
      if (label->isVisibleTo(&shown) && !label->text().isEmpty()) return label->text();
    }
    return {};
  }

  FakeWorkbench workbench_;
};

/// The page in front of a run whose trainer is this process.
class LiveTraining : public Live {
 protected:
  LiveTraining() {
    choose(run);
    shown = page();
  }
  /// Name and value in each row of a table in sight.
  QStringList rows(const char* name) const {
    QStringList all;
    for (const QTreeWidget* table : shown->findChildren<QTreeWidget*>()) {
      if (table->accessibleName() != QString::fromUtf8(name) || !table->isVisible()) continue;
      for (int i = 0; i < table->topLevelItemCount(); ++i)
        all << table->topLevelItem(i)->text(0) + QLatin1Char('=') + table->topLevelItem(i)->text(1);
    }
    return all;
  }
  /// Puts the picture in a window of its own, or back.
  QAction* own() const { return saying<QAction>(*shown, "Own window"); }

  const std::int64_t run = running("a");
  live::Publisher trainer{workbench_.row(run).uuid};
  std::unique_ptr<LivePage> shown;
};

TEST_F(LiveTraining, WatchesTheSelectedRunOnlyWhileThePageIsInFront) {
  EXPECT_TRUE(shown->isWatching());
  EXPECT_TRUE(hasSegment(run));
  shown->hide();
  EXPECT_FALSE(shown->isWatching());
  EXPECT_FALSE(hasSegment(run));
  shown->show();
  EXPECT_TRUE(hasSegment(run));
}

TEST_F(LiveTraining, LeavesNothingWhenItCloses) {
  ASSERT_TRUE(hasSegment(run));
  shown.reset();
  EXPECT_FALSE(hasSegment(run));
}

TEST_F(Live, ARunThatDoesNotTrainIsASentenceWithAWayOn) {
  const std::int64_t done = workbench_.addRun("done one", Json::object());
  const std::int64_t other = running("busy one");
  choose(done);
  const auto shown = page();
  EXPECT_FALSE(shown->isWatching());
  EXPECT_TRUE(sentence(*shown).contains(QStringLiteral("done one")));
  auto* button = shown->findChild<EmptyPage*>()->findChild<QPushButton*>();
  ASSERT_TRUE(button->isVisible());
  QTest::mouseClick(button, Qt::LeftButton);
  EXPECT_EQ(workbench_.selection().current(), other);
  EXPECT_TRUE(shown->isWatching());
}

TEST_F(Live, WhatWaitsInTheQueueIsShownWhereNothingTrains) {
  const std::int64_t run = workbench_.addRun("waiting one", Json::object());
  choose(run);
  const auto shown = page();
  auto* button = shown->findChild<EmptyPage*>()->findChild<QPushButton*>();
  EXPECT_EQ(button->text().toStdString(), "Train the demo") << "stored, and not in the queue";
  jobs::JobQueue(workbench_.store()).enqueue(std::vector{run}, {});
  workbench_.queue().refresh();
  workbench_.queue().waitUntilIdle();
  EXPECT_EQ(button->text().toStdString(), "Show the queue");
  QTest::mouseClick(button, Qt::LeftButton);
  ASSERT_FALSE(workbench_.pages.empty());
  EXPECT_EQ(workbench_.pages.back().toStdString(), "queue");
}

TEST_F(Live, WhereNothingTrainsTheDemoIsStartedInOneClickWithItsCost) {
  const std::int64_t done = workbench_.addRun("done one", Json::object());
  workbench_.row(done).state = store::RunState::Done;
  choose(done);
  // Stands in for `vitrine enqueue FILE`.
  const QTemporaryDir folder;
  const QString kept = folder.filePath(QStringLiteral("kept.toml"));
  becomeProgram(folder, "[ \"$1\" = enqueue ] || exit 0\ncp \"$2\" '" + kept.toLocal8Bit() +
                            "'\necho 'the disk is full' >&2\nexit 1");
  const auto shown = page();
  EXPECT_TRUE(sentence(*shown).contains(QStringLiteral("Cost: 2 runs")));
  auto* button = shown->findChild<EmptyPage*>()->findChild<QPushButton*>();
  EXPECT_EQ(button->text().toStdString(), "Train the demo");
  QTest::mouseClick(button, Qt::LeftButton);
  EXPECT_TRUE(sentence(*shown).contains(QStringLiteral("is tried")));
  EXPECT_TRUE(soon([&] {
    return !workbench_.said.empty() &&
           workbench_.said.back().contains(QStringLiteral("the disk is full"));
  }));
  qunsetenv("VITRINE_PROGRAM");
  EXPECT_EQ(button->text().toStdString(), "Train the demo") << "it is offered again";
  EXPECT_TRUE(bytesOf(kept).contains("Demo: "));
}

TEST_F(LiveTraining, ShowsFramesAsTheyComeAndAsksForWhatTheUserChooses) {
  publish(trainer, *shown, liveFrame(10));
  ASSERT_TRUE(shown->model().hasFrame());
  EXPECT_EQ(shown->model().shown()->step, 10);
  QTest::keyClick(shown.get(), Qt::Key_Period);
  QTest::keyClick(shown.get(), Qt::Key_Greater, Qt::ShiftModifier);
  QTest::keyClick(shown.get(), Qt::Key_BracketRight);
  QTest::keyClick(shown.get(), Qt::Key_Right);
  const live::Wishes wishes = trainer.wishes();
  EXPECT_EQ(wishes.layer, 1);
  EXPECT_EQ(wishes.head, 1);
  EXPECT_EQ(wishes.image, 1);
  EXPECT_NEAR(wishes.queryColumn, 2.5 / 3, 1e-9);
  EXPECT_EQ(workbench_.selection().layer(), 1);
  EXPECT_TRUE(shown->accessibleDescription().contains(QStringLiteral("row 1, column 2")));
}

TEST_F(Live, ALongNameLeavesTheStepAndTheEndOfTheTrainingToBeRead) {
  const std::int64_t run = running(std::string(200, 'n'));
  choose(run);
  const auto shown = page();
  live::Publisher trainer(workbench_.row(run).uuid);
  const auto expectRead = [&](const char* words) {
    auto* label = firstWhere<QLabel>(
        *shown, [words](const QLabel& one) { return one.text().endsWith(QLatin1String(words)); });
    ASSERT_NE(label, nullptr) << words;
    QCoreApplication::processEvents();
    EXPECT_LE(label->fontMetrics().horizontalAdvance(label->text()), label->width()) << words;
    (void)label->grab();
    EXPECT_TRUE(label->toolTip().startsWith(QString(200, QLatin1Char('n')))) << words;
  };
  publish(trainer, *shown, liveFrame(10));
  expectRead("step 10 of 100");
  end(run);
  expectRead("the last frames stay");
}

TEST_F(LiveTraining, OtherPagesTakeTheSampleOfAnImageThatWasChosenHere) {
  publish(trainer, *shown, liveFrame(10));
  EXPECT_EQ(workbench_.selection().image(), 0) << "no image was chosen";
  QTest::keyClick(shown.get(), Qt::Key_BracketRight);
  live::Frame second = liveFrame(20);
  second.image = 1;
  second.sample = 77;
  publish(trainer, *shown, second);
  EXPECT_EQ(workbench_.selection().image(), 77) << "the second of the watched images";
  workbench_.selection().setFocus(5, 0, 0);
  second.step = 30;
  publish(trainer, *shown, second);
  EXPECT_EQ(workbench_.selection().image(), 5) << "chosen on another page since";
}

TEST_F(LiveTraining, OffersAWindowOfItsOwnOnlyForAPicture) {
  EXPECT_TRUE(shown->tools().contains(own()));
  EXPECT_FALSE(own()->isEnabled());
  publish(trainer, *shown, liveFrame(10));
  ASSERT_TRUE(own()->isEnabled());
  own()->trigger();
  EXPECT_NE(ownWindowOf(*shown), nullptr);
  own()->trigger();
  EXPECT_EQ(ownWindowOf(*shown), nullptr);
}

TEST_F(LiveTraining, TheOwnWindowTakesTheKeysOfThePageAndEscapeClosesIt) {
  publish(trainer, *shown, liveFrame(10));
  own()->trigger();
  QWidget* window = ownWindowOf(*shown);
  ASSERT_NE(window, nullptr);
  QTest::keyClick(window, Qt::Key_Period);
  EXPECT_EQ(shown->model().layer, 1);
  QTest::keyClick(window, Qt::Key_Escape);
  EXPECT_TRUE(soon([&] { return !own()->isChecked(); }));
  EXPECT_EQ(ownWindowOf(*shown), nullptr);
}

TEST_F(LiveTraining, HoldsThePictureAndFollowsAgain) {
  publish(trainer, *shown, liveFrame(10));
  QTest::keyClick(shown.get(), Qt::Key_Space);
  publish(trainer, *shown, liveFrame(20));
  EXPECT_EQ(shown->model().shown()->step, 10);
  QTest::keyClick(shown.get(), Qt::Key_End);
  EXPECT_EQ(shown->model().shown()->step, 20);
  QTest::keyClick(shown.get(), Qt::Key_PageUp);
  EXPECT_TRUE(shown->model().scrubbed());
}

TEST_F(LiveTraining, BytesThatAreNoFrameAreNotShown) {
  publish(trainer, *shown, liveFrame(10));
  ASSERT_TRUE(trainer.publish(std::vector<std::byte>(1000, std::byte{255})));
  shown->look();
  EXPECT_EQ(shown->model().shown()->step, 10);
}

TEST_F(Live, KeepsTheLastPictureWhenTheTrainingEnds) {
  const std::int64_t run = running("a");
  auto trainer = std::make_unique<live::Publisher>(workbench_.row(run).uuid);
  choose(run);
  const auto shown = page();
  publish(*trainer, *shown, liveFrame(10));
  trainer.reset();
  end(run);
  EXPECT_FALSE(shown->isWatching());
  EXPECT_FALSE(hasSegment(run));
  EXPECT_EQ(shown->model().shown()->step, 10);
  EXPECT_FALSE(shown->grab().isNull());
}

TEST_F(LiveTraining, AnExportOfTheMeanQueryHasTheMean) {
  publish(trainer, *shown, liveFrame(10));
  QTest::keyClick(shown.get(), Qt::Key_M);
  const auto figure = shown->figure();
  ASSERT_NE(figure, nullptr);
  EXPECT_TRUE(figure->summary().contains(QStringLiteral("query: mean of all queries")))
      << figure->summary().toStdString();
  const QStringList lines = figure->csv().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  ASSERT_EQ(lines.size(), 1 + 2 * 10);
  EXPECT_TRUE(lines[1].startsWith(QStringLiteral("0,0,0,0,0,0,0"))) << lines[1].toStdString();
  EXPECT_TRUE(lines[2].startsWith(QStringLiteral("0,0,0,1,0,1,0.1"))) << lines[2].toStdString();
}

TEST_F(LiveTraining, AnExportWithoutPlacesIsDrawn) {
  live::Frame frame = liveFrame(10);
  for (live::AttentionLayer& layer : frame.attention) {
    for (auto* places : {&layer.queries, &layer.keys})
      places->assign(places->size(), {std::nanf(""), std::nanf("")});
  }
  publish(trainer, *shown, frame);
  const auto figure = shown->figure();
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->error(), QString());
}

TEST_F(LiveTraining, EveryPartIsAFigureWithItsValues) {
  for (const auto part : {LivePage::FigurePart::Attention, LivePage::FigurePart::Schedule,
                          LivePage::FigurePart::Matrices, LivePage::FigurePart::Steps})
    EXPECT_EQ(shown->figureOf(part), nullptr);
  publish(trainer, *shown, liveFrame(10));
  publish(trainer, *shown, liveFrame(20));
  const auto csv = [&](LivePage::FigurePart part) {
    const auto figure = shown->figureOf(part);
    EXPECT_NE(figure, nullptr);
    EXPECT_EQ(figure->error(), QString());
    EXPECT_FALSE(figure->image(figure->sizeHint(), 1).isNull());
    return figure->csv();
  };
  EXPECT_TRUE(csv(LivePage::FigurePart::Schedule).contains(QStringLiteral("mask factor")));
  EXPECT_TRUE(csv(LivePage::FigurePart::Schedule).contains(QStringLiteral("0.8")));
  // Ten values of each of two heads, from the class token.
  EXPECT_EQ(csv(LivePage::FigurePart::Attention).count(QLatin1Char('\n')), 1 + 2 * 10);
  // Mask, attention before and after it: 10 x 10 values each, below one line of titles.
  EXPECT_EQ(csv(LivePage::FigurePart::Matrices).count(QLatin1Char('\n')), 1 + 3 * 100);
  const QString steps = csv(LivePage::FigurePart::Steps);
  EXPECT_TRUE(steps.contains(QStringLiteral("\nmedians,backward,20,"))) << steps.toStdString();
  EXPECT_TRUE(steps.contains(QStringLiteral("\nmedians,\"watching, mean")));
}

TEST_F(LiveTraining, TheImagesBeingDenoisedAreAFigureWithARowForEachPrompt) {
  publish(trainer, *shown, liveFrame(10));
  EXPECT_EQ(shown->figureOf(LivePage::FigurePart::Film), nullptr) << "the run makes none yet";
  live::Frame frame = liveFrame(20);
  frame.film = liveFilm();
  frame.film->bytes[48 + 0] = 200;  // red of the first pixel of the second image at time 1
  publish(trainer, *shown, frame);
  const auto figure = shown->figureOf(LivePage::FigurePart::Film);
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->error(), QString());
  const QStringList lines = figure->csv().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  ASSERT_EQ(lines.size(), 1 + 2 * 3 * 16);
  EXPECT_EQ(lines[1].toStdString(), "a red square,1,0,0,90,90,90");
  EXPECT_EQ(lines[1 + 16].toStdString(), "a red square,0.5,0,0,90,90,90");
  EXPECT_EQ(lines[1 + 3 * 16].toStdString(), "a circle,1,0,0,200,90,90");
  QTest::keyClick(shown.get(), Qt::Key_T);
  EXPECT_EQ(rows("Mean pixel of each image being denoised").join(QLatin1Char(';')).toStdString(),
            "a red square=90.0 \u2192 90.0;a circle=92.3 \u2192 90.0");
}

TEST_F(LiveTraining, TheScheduleIsMarkedAtTheStepThatIsShown) {
  for (const std::int64_t step : {10, 20}) {
    live::Frame frame = liveFrame(step);
    frame.gap.reset();  // the schedule alone
    publish(trainer, *shown, frame);
    if (step == 10) QTest::keyClick(shown.get(), Qt::Key_Space);
  }
  const auto marked = [&] {
    const auto figure = shown->figureOf(LivePage::FigurePart::Schedule);
    const auto* chart = dynamic_cast<const LineChartFigure*>(figure.get());
    return chart == nullptr || chart->chart().notes.empty() ? -1 : chart->chart().notes.front().x;
  };
  EXPECT_EQ(marked(), 10) << "frozen";
  QTest::keyClick(shown.get(), Qt::Key_PageUp);
  EXPECT_EQ(marked(), 9) << "a twentieth of 20 steps back";
  QTest::keyClick(shown.get(), Qt::Key_End);
  EXPECT_EQ(marked(), 20);
}

TEST_F(LiveTraining, ShowsTheNumbersBehindThePictureAsTables) {
  publish(trainer, *shown, liveFrame(10));
  QTest::keyClick(shown.get(), Qt::Key_T);
  // The class token reads itself with 0.5 and every patch with 0.01.
  EXPECT_EQ(rows("Attention of the query by patch").size(), 10);
  EXPECT_TRUE(
      rows("Attention of the query by patch").contains(QStringLiteral("class token=0.5000")))
      << rows("Attention of the query by patch").join(QLatin1Char('\n')).toStdString();
  EXPECT_TRUE(rows("Values of the moment").contains(QStringLiteral("mask factor=0.9000")));
  EXPECT_EQ(rows("Time of each part of a step").size(), kStepParts + 2);
  EXPECT_TRUE(rows("Time of each part of a step").at(2).startsWith(QStringLiteral("backward=20")));
  QTest::keyClick(shown.get(), Qt::Key_Right);
  EXPECT_TRUE(
      rows("Attention of the query by patch").contains(QStringLiteral("row 1, column 2=0.5000")));
  EXPECT_EQ(shown->viewState()["values"], true);
  QTest::keyClick(shown.get(), Qt::Key_T);
  EXPECT_TRUE(rows("Values of the moment").isEmpty());
}

TEST_F(Live, SaysTheUnitOfTheTaskAndTheClassOfTheProbeImage) {
  ItemCard task = cardWith(ItemKind::Task, "describe", {});
  task.metrics.unit = "texts";
  workbench_.become({{task}});
  const std::int64_t run = workbench_.addRun(
      "a", {{"task", {{"name", "describe"}}},
            {"data", {{"dataset", "clothes"}, {"classes", {"shirt", "dress", "coat", "shoe"}}}}});
  train(run);
  live::Publisher trainer(workbench_.row(run).uuid);
  choose(run);
  const auto shown = page();
  publish(trainer, *shown, liveFrame(10));
  shown->waitUntilIdle();
  EXPECT_EQ(scene::throughputText(shown->model()), QStringLiteral("1,234 texts/s"));
  const auto figure = shown->figure();
  ASSERT_NE(figure, nullptr);
  EXPECT_TRUE(figure->summary().contains(QStringLiteral("true: shoe")))
      << figure->summary().toStdString();
}

// As in a pyramid, where a layer chosen later has fewer heads.
TEST_F(LiveTraining, TheTableIsOfTheHeadThatIsDrawn) {
  publish(trainer, *shown, liveFrame(10));
  shown->setViewState({{"head", 5}});
  QTest::keyClick(shown.get(), Qt::Key_T);
  QStringList said;
  for (const QLabel* label : shown->findChildren<QLabel*>()) said << label->text();
  EXPECT_TRUE(said.contains(QStringLiteral("Layer 0, head 1, from the class token")))
      << said.join(QLatin1Char('\n')).toStdString();
}

TEST_F(LiveTraining, TheMomentOfTheScheduleIsPartOfTheView) {
  shown->setViewState({{"scrubbed", 12.0}});
  EXPECT_EQ(shown->viewState()["scrubbed"], 12.0) << "kept for the first frame";
  publish(trainer, *shown, liveFrame(20));
  EXPECT_EQ(shown->model().scrubbed(), 12.0);
  shown->setViewState({{"scrubbed", 5.0}});
  EXPECT_EQ(shown->viewState()["scrubbed"], 5.0);
  shown->setViewState({{"scrubbed", 30.0}});
  EXPECT_EQ(shown->viewState()["scrubbed"], 30.0) << "kept until it is trained";
  EXPECT_FALSE(shown->model().scrubbed());
  publish(trainer, *shown, liveFrame(40));
  EXPECT_EQ(shown->model().scrubbed(), 30.0);
  shown->setViewState({{"scrubbed", nullptr}});
  EXPECT_FALSE(shown->model().scrubbed());
  shown->setViewState({{"scrubbed", "now"}});
  EXPECT_TRUE(shown->viewState()["scrubbed"].is_null());
}

TEST_F(Live, TheViewCanBeTakenBackAndNonsenseIsLeftOut) {
  const auto shown = page();
  shown->setViewState({{"layer", 3}, {"head", 2}, {"query", "mean"}, {"same_scale", false}});
  const Json state = shown->viewState();
  shown->setViewState({{"layer", "x"}, {"head", -7}, {"query", 5}, {"row", 1e9}});
  EXPECT_EQ(shown->viewState()["layer"], 3);
  EXPECT_EQ(shown->viewState()["head"], 0);
  EXPECT_EQ(shown->viewState()["query"], "mean");
  shown->setViewState(state);
  EXPECT_EQ(shown->viewState()["head"], 2);
}

TEST_F(LiveTraining, OpensInAWindowOfItsOwnAndComesBack) {
  publish(trainer, *shown, liveFrame(10));
  own()->trigger();
  shown->hide();
  EXPECT_TRUE(shown->isWatching());  // its own window still shows it
  own()->trigger();
  EXPECT_FALSE(own()->isChecked());
}

TEST_F(LiveTraining, ThePageSaysWhereItsPictureIsAndBringsItBack) {
  publish(trainer, *shown, liveFrame(10));
  own()->trigger();
  auto* back = saying<QPushButton>(*shown, "Show it here");
  EXPECT_TRUE(back->isVisible());
  back->click();
  EXPECT_FALSE(own()->isChecked());
  EXPECT_FALSE(back->isVisible());
}

}  // namespace
}  // namespace vitrine::ui
