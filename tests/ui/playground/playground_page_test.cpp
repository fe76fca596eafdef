#include "ui/playground/playground_page.h"

#include <QAbstractButton>
#include <QClipboard>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QTest>

#include "tests/ui/playground/playground_fixture.h"
#include "tests/ui/support/fit.h"
#include "ui/figures/figure.h"
#include "ui/workbench/page_commands.h"

namespace vitrine::ui {
namespace {

class Playground : public PlaygroundTest {};

TEST_F(Playground, WithoutARunThatDrawsOffersAnExperimentThatDoes) {
  open(addRun("judge", "judge", "choose"));
  EXPECT_TRUE(visibleText().contains(QStringLiteral("No run here")));
  QTest::mouseClick(button(QStringLiteral("New experiment")), Qt::LeftButton);
  ASSERT_EQ(workbench_.configured.size(), 1U);
  EXPECT_NE(workbench_.configured[0].find("painter"), std::string::npos);
}

TEST_F(Playground, LoadsTheModelWhenItIsChosenAndLearnsWhichSamplerFits) {
  openPainter();
  EXPECT_EQ(log().split('\n').first(), "load 1 100 ema");
  EXPECT_EQ(probe().form().values().at(kSamplerKey), "quick");
  EXPECT_TRUE(visibleText().contains(QStringLiteral("5\u202fMB")));
}

TEST_F(Playground, DrawsOneImageAndShowsItsRecipe) {
  openPainter();
  type("seed", QStringLiteral("40"));
  draw();
  ASSERT_NE(probe().shown(), nullptr);
  ASSERT_EQ(probe().shown()->imageCount(), 1);
  EXPECT_EQ(probe().shown()->cells[0].images[0].image.pixelColor(0, 0).red(), 40);
  EXPECT_GE(probe().shown()->firstSeconds, 0);
  EXPECT_EQ(probe().film().frameCount(), 10);
  EXPECT_TRUE(visibleText().contains(QStringLiteral("vitrine sample 1")));
}

TEST_F(Playground, SaysWhyNothingCanBeDoneWithAnImageYet) {
  openPainter();
  for (const char* text : {"Verify", "Send to gallery", "Recall all", "Seed", "Prompt", "Remix",
                           "Info", "Copy as command", "Cancel drawing"}) {
    const QAction* one = action(QString::fromLatin1(text));
    ASSERT_NE(one, nullptr) << text;
    EXPECT_FALSE(one->isEnabled()) << text;
    EXPECT_FALSE(one->property(kWhyNot).toString().isEmpty()) << text;
  }
}

TEST_F(Playground, CtrlReturnInAFieldDraws) {
  openPainter();
  formPart(probe().form(), "seed")->setFocus();
  QTest::keyClick(formPart(probe().form(), "seed"), Qt::Key_Return, Qt::ControlModifier);
  EXPECT_TRUE(soon([&] { return !probe().history().empty() && !probe().worker().isBusy(); }));
  EXPECT_EQ(probe().history().size(), 1U);
  EXPECT_EQ(probe().shown()->imageCount(), 1);
}

TEST_F(Playground, AFieldStaysWhileRunsAreReadAgain) {
  open(addRun("a", "painter", "paint"));
  QWidget* seed = formPart(probe().form(), "seed");
  seed->setFocus();
  Q_EMIT workbench_.watcher().dataChanged();
  page_->waitUntilIdle();
  EXPECT_EQ(formPart(probe().form(), "seed"), seed) << "a list that is open would close";
}

TEST_F(Playground, WithoutADrawingTheSentenceHasTheWholeCard) {
  open(addRun("a", "painter", "paint"));
  EXPECT_EQ(probe().board().size(), probe().board().area()->viewport()->size());
  EXPECT_GT(probe().board().width(), 160);
}

TEST_F(Playground, AClickWhileTheModelIsBeingLoadedDrawsOnceItIsThere) {
  open(addRun("a", "painter", "paint"));
  QTest::mouseClick(button(QStringLiteral("Draw")), Qt::LeftButton);
  EXPECT_TRUE(soon([&] { return !probe().history().empty() && !probe().worker().isBusy(); }));
  EXPECT_EQ(probe().shown()->imageCount(), 1);
  EXPECT_EQ(probe().shown()->base.sampler, "quick");
}

TEST_F(Playground, DrawsAGridOverTwoSettings) {
  nameClasses();
  openPainter();
  makeAxis("class", kRows, QStringLiteral("Sneaker, 2"));
  makeAxis("guidance", kColumns, QStringLiteral("1..3"));
  EXPECT_TRUE(visibleText().contains(QStringLiteral("6 images")));
  draw();
  ASSERT_EQ(probe().shown()->cells.size(), 6U);
  EXPECT_EQ(probe().shown()->cells[4].settings.values.at("class"), 2);
  EXPECT_EQ(probe().shown()->cells[4].settings.values.at("guidance"), 2.0);
  EXPECT_EQ(probe().shown()->grid.rows->labels, (QStringList{"Sneaker", "Bag"}));
  EXPECT_EQ(probe().board().tiles().tiles.size(), 6U);
  QTest::keyClick(&probe().board(), Qt::Key_Right);
  QTest::keyClick(&probe().board(), Qt::Key_Down);
  EXPECT_EQ(probe().board().selected().cell, 4);
}

TEST_F(Playground, AnImageOfAGridOverSeedsNamesItsSeedOnce) {
  openPainter();
  makeAxis("seed", kRows, QStringLiteral("3, 4"));
  makeAxis("guidance", kColumns, QStringLiteral("1, 2"));
  draw();
  EXPECT_TRUE(visibleText().contains(QStringLiteral("Seed 3, guidance 1")));
  EXPECT_FALSE(visibleText().contains(QStringLiteral(", seed 3")));
}

TEST_F(Playground, DrawsAGridOverRuns) {
  const std::int64_t a = addRun("a", "painter", "paint");
  const std::int64_t b = addRun("b", "painter", "paint");
  open(b);
  waitForModel();
  SampleGrid grid{.rows = GridAxis{kRunKey, {}, {std::to_string(a), std::to_string(b)}, {}}};
  probe().form().setGrid(grid);
  draw();
  ASSERT_EQ(probe().shown()->cells.size(), 2U);
  EXPECT_EQ(probe().shown()->cells[0].settings.model.run, a);
  EXPECT_EQ(probe().shown()->cells[1].settings.model.run, b);
  EXPECT_EQ(probe().shown()->cells[1].settings.model.checkpoint, "100");
  EXPECT_EQ(probe().shown()->grid.rows->labels, (QStringList{"#1 a", "#2 b"}));
  EXPECT_TRUE(log().contains("load 1 latest ema"));
  EXPECT_EQ(probe().run(), b) << "the chosen run stays chosen";
}

TEST_F(Playground, CallsWhatWasDrawnByTheNameOfItsClass) {
  nameClasses();
  openPainter();
  probe().form().setValues({{"class", 1}});
  draw();
  EXPECT_EQ(probe().shown()->title(), QStringLiteral("Sneaker"));
  EXPECT_TRUE(visibleText().contains(QStringLiteral("Denoising: Sneaker")));
}

TEST_F(Playground, TheRecipeIsFoldedUntilItIsAskedFor) {
  openPainter();
  draw();
  QWidget* recipe = nullptr;
  for (QWidget* one : page_->findChildren<QWidget*>()) {
    const bool isButton = qobject_cast<QAbstractButton*>(one) != nullptr;
    if (!isButton && one->accessibleName() == QStringLiteral("Recipe")) recipe = one;
  }
  ASSERT_NE(recipe, nullptr);
  EXPECT_FALSE(recipe->isVisible());
  probe().board().setFocus();
  QTest::keyClick(&probe().board(), Qt::Key_I);
  EXPECT_TRUE(recipe->isVisible());
  EXPECT_EQ(page_->viewState()["recipe"], true);
}

TEST_F(Playground, SaysWhichSizeTheModelDraws) {
  openPainter();
  EXPECT_TRUE(visibleText().contains(QStringLiteral("It draws 8 \u00d7 8 pixels, the size it was")))
      << visibleText().toStdString();
}

TEST_F(Playground, TheCostIsInSecondsOnceADrawingWasTimed) {
  openPainter();
  EXPECT_TRUE(visibleText().contains(QStringLiteral("1 image \u00b7 4 steps each")));
  draw();
  EXPECT_TRUE(visibleText().contains(QStringLiteral("8 evaluations each")));
}

TEST_F(Playground, RecallsSettingsByOneKey) {
  openPainter();
  type("seed", QStringLiteral("40"));
  type("guidance", QStringLiteral("3"));
  draw();
  type("seed", QStringLiteral("7"));
  type("guidance", QStringLiteral("1"));
  probe().board().setFocus();
  QTest::keyClick(&probe().board(), Qt::Key_R);
  EXPECT_EQ(probe().form().values().at("seed"), 7);
  EXPECT_EQ(probe().form().values().at("guidance"), 3.0);
  QTest::keyClick(&probe().board(), Qt::Key_S);
  EXPECT_EQ(probe().form().values().at("seed"), 40);
  type("guidance", QStringLiteral("2"));
  type("steps", QStringLiteral("9"));
  probe().board().setFocus();
  QTest::keyClick(&probe().board(), Qt::Key_A);
  EXPECT_EQ(probe().form().values().at("steps"), 4);
  EXPECT_EQ(probe().form().values().at("guidance"), 3.0);
}

TEST_F(Playground, LettersStayInATextField) {
  open(addRun("a", "talker", "talk"));
  waitForModel();
  draw();
  type("prompt", QStringLiteral("a spare"));
  EXPECT_EQ(probe().form().values().at("prompt"), "a spare");
}

TEST_F(Playground, ShowsTextsAsTexts) {
  open(addRun("a", "talker", "talk"));
  waitForModel();
  type("image", QStringLiteral("test/3"));
  draw("Describe");
  EXPECT_EQ(probe().shown()->textCount(), 1);
  EXPECT_TRUE(probe().board().tiles().isText);
  EXPECT_TRUE(visibleText().contains(QStringLiteral("a bag of words")));
  EXPECT_TRUE(visibleText().contains(QStringLiteral("1 text \u00b7")))
      << visibleText().toStdString();
  EXPECT_FALSE(visibleText().contains(QStringLiteral("1 image")));
}

TEST_F(Playground, TheButtonSaysWhatTheSettingsMake) {
  open(addRun("a", "talker", "talk"));
  waitForModel();
  EXPECT_NE(button(QStringLiteral("Draw")), nullptr);
  type("image", QStringLiteral("test/3"));
  EXPECT_NE(button(QStringLiteral("Describe")), nullptr);
  becomeWriter();
  page_->waitUntilIdle();
  QTest::keyClick(formPart(probe().form(), "image"), Qt::Key_A, Qt::ControlModifier);
  QTest::keyClick(formPart(probe().form(), "image"), Qt::Key_Delete);
  EXPECT_TRUE(soon([&] { return button(QStringLiteral("Write")) != nullptr; }));
}

TEST_F(Playground, ShowsTheImageThatATextDescribes) {
  open(addRun("a", "talker", "talk"));
  waitForModel();
  type("image", QStringLiteral("test/3"));
  draw("Describe");
  const auto described = [&] { return probe().shown()->cells[0].texts[0].image; };
  ASSERT_TRUE(soon([&] { return !described().isNull(); }));
  EXPECT_EQ(described().pixelColor(0, 0).red(), 33) << "sample 3 of the split test";
  EXPECT_TRUE(named<QLabel>(*page_, "Selected image")->isVisibleTo(page_.get()));
  EXPECT_TRUE(log().contains("samples test [3]")) << log().toStdString();
  QImage file(8, 8, QImage::Format_RGB32);
  file.fill(Qt::red);
  ASSERT_TRUE(file.save(workbench_.path(QStringLiteral("own.png"))));
  type("image", workbench_.path(QStringLiteral("own.png")));
  draw("Describe");
  ASSERT_TRUE(soon([&] { return !described().isNull(); }));
  EXPECT_EQ(described().pixelColor(0, 0), QColor(Qt::red));
}

TEST_F(Playground, CancelEndsTheDrawingAndThePageContinues) {
  openPainter();
  serve_.touch(QStringLiteral("waits"));
  QTest::mouseClick(button(QStringLiteral("Draw")), Qt::LeftButton);
  EXPECT_TRUE(soon([&] { return probe().worker().share() > 0; }));
  QTest::mouseClick(button(QStringLiteral("Cancel")), Qt::LeftButton);
  EXPECT_FALSE(probe().worker().isBusy());
  EXPECT_EQ(probe().shown()->state, Drawing::State::Cancelled);
  QFile::remove(serve_.path(QStringLiteral("waits")));
  draw();
  EXPECT_EQ(probe().shown()->state, Drawing::State::Done);
  EXPECT_EQ(probe().history().size(), 2U);
}

TEST_F(Playground, AWorkerThatDiesIsASentenceAndThePageContinues) {
  openPainter();
  serve_.touch(QStringLiteral("dies"));
  draw();
  EXPECT_EQ(probe().shown()->state, Drawing::State::Failed);
  EXPECT_TRUE(visibleText().contains(QStringLiteral("signal 9")));
  EXPECT_TRUE(visibleText().contains(QStringLiteral("Seed 0"))) << "the title of what failed";
  EXPECT_FALSE(visibleText().contains(QStringLiteral("Draw to see")));
  type("seed", QStringLiteral("3"));
  EXPECT_FALSE(visibleText().contains(QStringLiteral("signal 9"))) << "of other settings";
  draw();
  EXPECT_EQ(probe().shown()->imageCount(), 1);
}

TEST_F(Playground, ADrawingOfTheHistoryIsShownAgain) {
  openPainter();
  type("seed", QStringLiteral("1"));
  draw();
  type("seed", QStringLiteral("2"));
  draw();
  auto* list = page_->findChild<QListWidget*>();
  ASSERT_EQ(list->count(), 2);
  EXPECT_TRUE(list->item(0)->text().contains(QStringLiteral("other seed")));
  list->setCurrentRow(1);
  EXPECT_EQ(probe().shown()->base.seed(), 1U);
}

TEST_F(Playground, TakesTheSettingsOfAStoredImageOver) {
  const std::int64_t run = addRun("a", "painter", "paint");
  addRun("b", "painter", "paint");
  open(2);
  waitForModel();
  Json recipe{{"run", "uuid"},
              {"step", 50},
              {"weights", "model"},
              {"sampler", "quick"},
              {"seed", 17},
              {"device", "cpu"},
              {"settings", {{"guidance", 3.5}, {"steps", 9}}},
              {"batch", {{"first_seed", 10}, {"size", 8}}}};
  workbench_.selection().recall(run, recipe);
  page_->waitUntilIdle();
  EXPECT_EQ(probe().run(), run);
  const Json values = probe().form().values();
  EXPECT_EQ(values["checkpoint"], "50");
  EXPECT_EQ(values["weights"], "model");
  EXPECT_EQ(values["guidance"], 3.5);
  EXPECT_EQ(values["steps"], 9);
  EXPECT_EQ(values["seed"], 17) << "of the image, not of its batch";
  EXPECT_EQ(values["count"], 1);
  recipe["step"] = 25;
  workbench_.selection().recall(run, recipe);
  page_->waitUntilIdle();
  EXPECT_TRUE(visibleText().contains(QStringLiteral("step 25 is not stored any more")));
  workbench_.selection().recall(99, recipe);
  page_->waitUntilIdle();
  EXPECT_TRUE(visibleText().contains(QStringLiteral("Run 99 cannot draw here: it is not in")));
}

TEST_F(Playground, CopiesTheCommandThatDrawsTheImage) {
  openPainter();
  type("seed", QStringLiteral("40"));
  draw();
  action(QStringLiteral("Copy as command"))->trigger();
  const QString command = QGuiApplication::clipboard()->text();
  EXPECT_TRUE(command.startsWith(QStringLiteral("vitrine sample 1 --db ")));
  EXPECT_TRUE(command.contains(QStringLiteral("--with quick seed=40 count=1")));
}

TEST_F(Playground, AViewComesBackWithItsSettingsAndItsDrawing) {
  openPainter();
  type("seed", QStringLiteral("40"));
  makeAxis("guidance", kRows, QStringLiteral("1, 2"));
  draw();
  const Json state = page_->viewState();
  open(1);
  page_->setViewState(state);
  page_->waitUntilIdle();
  ASSERT_NE(probe().shown(), nullptr);
  EXPECT_EQ(probe().shown()->imageCount(), 2);
  EXPECT_EQ(probe().shown()->base.seed(), 40U);
  const std::size_t drawings = probe().history().size();
  page_->setViewState(state);
  page_->waitUntilIdle();
  EXPECT_EQ(probe().history().size(), drawings);  // what is there is shown, not drawn again
}

TEST_F(Playground, AFigureNamesItsRunsByUuid) {
  const std::int64_t run = addRun("a", "painter", "paint");
  const std::int64_t other = addRun("b", "painter", "paint");
  open(run);
  waitForModel();
  Json view = page_->viewState();
  view["rows"] = {{"key", "run"}, {"values", {std::to_string(run), std::to_string(other)}}};
  page_->setViewState(view);
  page_->waitUntilIdle();
  const std::string uuid = workbench_.run(run)->uuid, otherUuid = workbench_.run(other)->uuid;
  Json figure = page_->figureState();
  EXPECT_EQ(figure["settings"]["run"], uuid);
  EXPECT_EQ(figure["rows"]["values"], Json::array({uuid, otherUuid}));
  open(other);
  page_->setViewState(figure);
  page_->waitUntilIdle();
  EXPECT_EQ(probe().run(), run);
  EXPECT_EQ(page_->viewState()["rows"], view["rows"]);
  figure["settings"]["run"] = "00000000-0000-0000-0000-000000000000";
  page_->setViewState(figure);
  page_->waitUntilIdle();
  EXPECT_TRUE(visibleText().contains(QStringLiteral("is not in this database")));
}

TEST_F(Playground, AWrongViewIsLeftOut) {
  open(addRun("a", "painter", "paint"));
  for (const char* text :
       {"[]", R"({"settings": 3})", R"({"settings": {"run": 99}, "drawn": true, "zoom": "x"})",
        R"({"rows": {"key": "class"}, "columns": 7, "step": -5})"})
    page_->setViewState(Json::parse(text));
  page_->waitUntilIdle();
  EXPECT_EQ(probe().run(), 1);
}

TEST_F(Playground, TheFigureHasTheImagesAndTheirRecipes) {
  open(addRun("a", "painter", "paint"));
  EXPECT_EQ(page_->figure(), nullptr);
  waitForModel();
  draw();
  const std::unique_ptr<Figure> figure = page_->figure();
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->imageCount(), 1);
  EXPECT_TRUE(figure->csv().contains(QStringLiteral("sampler")));
  EXPECT_FALSE(figure->image(figure->sizeHint(), 1).isNull());
}

TEST_F(Playground, OffersToPauseATrainingAndResumesIt) {
  const std::int64_t run = addRun("a", "painter", "paint");
  const std::int64_t other = addRun("training", "judge", "choose");
  workbench_.row(other).state = store::RunState::Running;
  workbench_.row(other).device = "cpu";
  open(run);
  EXPECT_TRUE(visibleText().contains(QStringLiteral("\u201ctraining\u201d trains on CPU:")));
  QPushButton* pause = button(QStringLiteral("Pause training"));
  ASSERT_NE(pause, nullptr);
  EXPECT_TRUE(pause->isVisibleTo(page_.get()));
  QTest::mouseClick(pause, Qt::LeftButton);
  workbench_.row(other).state = store::RunState::Paused;
  Q_EMIT workbench_.watcher().dataChanged();
  QPushButton* resume = button(QStringLiteral("Resume training"));
  ASSERT_NE(resume, nullptr);
  QTest::mouseClick(resume, Qt::LeftButton);
  EXPECT_EQ(workbench_.started, (std::vector<std::int64_t>{other}));
}

TEST_F(Playground, PausesEveryRunItNamesAndHoldsTheQueueUntilResume) {
  const std::int64_t run = addRun("a", "painter", "paint");
  store::RunStore& store = workbench_.store();
  jobs::JobQueue queue(store);
  std::vector<std::int64_t> runs;
  for (const char* name : {"first", "second", "waiting"})
    runs.push_back(workbench_.addRun(name, {{"model", {{"architecture", "judge"}}}}));
  queue.enqueue(runs, {});
  const jobs::Device device{"cpu", "", "", 0, 0};
  for (int i = 0; i < 2; ++i) {
    const auto started = queue.next(device, {});
    ASSERT_TRUE(started);
    store.openSegment(started->run, 0, store::thisWorker(), {{"device", "cpu"}, {"commit", ""}});
  }
  for (const std::int64_t each : runs) (void)workbench_.run(each);
  open(run);
  workbench_.queue().waitUntilIdle();
  EXPECT_TRUE(visibleText().contains(QStringLiteral("\u201cfirst\u201d, \u201csecond\u201d train")))
      << visibleText().toStdString();
  QTest::mouseClick(button(QStringLiteral("Pause training")), Qt::LeftButton);
  workbench_.queue().waitUntilIdle();
  EXPECT_EQ(store.request(runs[0]), "pause");
  EXPECT_EQ(store.request(runs[1]), "pause");
  EXPECT_FALSE(queue.next(device, {})) << "the run that waits would train in their place";
  for (int i = 0; i < 2; ++i) {
    store.setState(runs[static_cast<std::size_t>(i)], store::RunState::Paused);
    (void)workbench_.run(runs[static_cast<std::size_t>(i)]);
  }
  Q_EMIT workbench_.watcher().dataChanged();
  EXPECT_TRUE(visibleText().contains(QStringLiteral("The queue starts nothing until you resume")))
      << visibleText().toStdString();
  QTest::mouseClick(button(QStringLiteral("Resume training")), Qt::LeftButton);
  workbench_.queue().waitUntilIdle();
  EXPECT_EQ(queue.mode(), store::QueueMode::Running);
  std::vector<std::int64_t> order;
  for (const jobs::QueueEntry& entry : queue.list()) order.push_back(entry.run);
  EXPECT_EQ(order, runs) << "what was paused is before what waited";
}

TEST_F(Playground, OffersThePauseAgainWhereItWasRefused) {
  const std::int64_t run = addRun("a", "painter", "paint");
  const std::int64_t other = addRun("training", "judge", "choose");
  workbench_.row(other).state = store::RunState::Running;  // and ended in the database meanwhile
  open(run);
  QTest::mouseClick(button(QStringLiteral("Pause training")), Qt::LeftButton);
  workbench_.queue().waitUntilIdle();
  QPushButton* pause = button(QStringLiteral("Pause training"));
  ASSERT_NE(pause, nullptr);
  EXPECT_TRUE(pause->isEnabled());
}

TEST_F(Playground, SaysNothingOfTrainingsWhereNoneRuns) {
  open(addRun("a", "painter", "paint"));
  QPushButton* pause = button(QStringLiteral("Pause training"));
  EXPECT_TRUE(pause == nullptr || !pause->isVisibleTo(page_.get()));
}

TEST_F(Playground, NothingLiesOnAnythingElse) {
  nameClasses();
  openPainter();
  makeAxis("class", kRows, QStringLiteral("0..2"));
  draw();
  QWidget holder;
  holder.resize(1200, 800);
  page_->setParent(&holder);
  holder.show();
  page_->show();
  EXPECT_EQ(whatDoesNotFitAnywhere(*page_), "");
  page_->setParent(nullptr);
}

}  // namespace
}  // namespace vitrine::ui
