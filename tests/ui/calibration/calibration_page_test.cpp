#include "ui/calibration/calibration_page.h"

#include <gmock/gmock.h>

#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSlider>
#include <QSpinBox>
#include <QTableWidget>
#include <QToolButton>

#include "core/base/error.h"
#include "core/store/metrics/metric_titles.h"
#include "tests/support/has_texts.h"
#include "tests/ui/calibration/answers.h"
#include "tests/ui/support/fake_serve.h"
#include "tests/ui/support/fit.h"
#include "tests/ui/support/item_card.h"
#include "tests/ui/support/page_test.h"
#include "tests/ui/support/qt_environment.h"
#include "tests/ui/support/soon.h"
#include "ui/calibration/sample_strip.h"
#include "ui/kit/fit_area.h"

namespace vitrine::ui {
namespace {

using test::HasLine;
using ::testing::HasSubstr;

class Calibration : public PageTest<CalibrationPage> {
 protected:
  std::int64_t mixed() { return runWith("a", {samples::predictions(samples::mixedAnswers())}); }
};

TEST_F(Calibration, DrawsTheNewestAnswersWithTheSplitInTheTitle) {
  const auto shown = page({runWith("a", {samples::predictions(samples::fourAnswers(), 100),
                                         samples::predictions(samples::mixedAnswers(), 200)})});
  ASSERT_EQ(shown->shown().size(), 1u);
  EXPECT_EQ(shown->current()->step, 200);
  EXPECT_THAT(figure(*shown, "Reliability diagram").figure()->summary().toStdString(),
              ::testing::StartsWith("Reliability, test"));
  EXPECT_EQ(shown->notice().toStdString(), "");
}

TEST_F(Calibration, OpensWithTheBinsOfTheStoredMetric) {
  const auto shown = page({mixed()});
  const auto bins = QString::number(shown->current()->now.bins.size());
  EXPECT_EQ(QString::fromStdString(store::titleOf("ece").subtitle),
            QStringLiteral("ECE, %1 bins").arg(bins));
}

TEST_F(Calibration, BinsAgainWhenAnotherNumberIsTyped) {
  const auto shown = page({mixed()});
  QSignalSpy changed(shown.get(), &Page::viewChanged);
  auto* bins = named<QSpinBox>(*shown, "Number of bins");
  bins->setFocus();
  bins->selectAll();
  QTest::keyClicks(bins, QStringLiteral("4"));
  EXPECT_TRUE(soon([&] { return shown->current()->now.bins.size() == 4; }));
  EXPECT_GE(changed.count(), 1);
}

TEST_F(Calibration, EqualMassAndOneClassAreChosenFromTheirLists) {
  const auto shown = page({mixed()});
  auto* edges = named<QComboBox>(*shown, "Bin edges");
  edges->setFocus();
  QTest::keyClick(edges, Qt::Key_Down);
  EXPECT_TRUE(soon([&] { return shown->current()->binning.edges == Binning::Edges::EqualMass; }));
  EXPECT_NEAR(static_cast<double>(shown->current()->now.bins[0].count), 16, 10);
  auto* target = named<QComboBox>(*shown, "Probability");
  ASSERT_EQ(target->count(), 4);
  target->setFocus();
  QTest::keyClick(target, Qt::Key_Down);
  EXPECT_TRUE(soon([&] { return shown->current()->binning.target == 0; }));
}

TEST_F(Calibration, TheSliderMovesTheTemperatureByKeyboard) {
  const auto shown = page({runWith("a", {samples::predictions(samples::overconfident())})});
  auto* slider = named<QSlider>(*shown, "Temperature");
  slider->setFocus();
  QTest::keyClick(slider, Qt::Key_PageUp);
  EXPECT_TRUE(soon([&] { return shown->current()->temperature > 1.1; }));
  EXPECT_LT(shown->current()->now.scores.ece, 0.15);
  const auto* table = shown->findChild<QTableWidget*>();
  EXPECT_EQ(table->columnCount(), 3);
  QStringList scores;
  for (int row = 0; row < table->rowCount(); ++row)
    scores << table->verticalHeaderItem(row)->text();
  EXPECT_EQ(scores.join(QLatin1Char(' ')).toStdString(),
            "ECE, % MCE, % Classwise, % Brier NLL Accuracy, %");
  EXPECT_EQ(table->item(0, 0)->text(), number(15, 2));
}

TEST_F(Calibration, AClickOnABinOpensItsErrorsTheMostConfidentFirst) {
  const auto shown = page({mixed()});
  FigureView& view = figure(*shown, "Reliability diagram");
  clickAt(view, [](const FigureTarget& target) { return target.image == 12; });
  const auto& entries = only<SampleStrip>(*shown).entries();
  ASSERT_GE(entries.size(), 2u);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_FALSE(entries[i].isRight);
    EXPECT_GT(entries[i].confidence, 0.8);
    EXPECT_LE(entries[i].confidence, 13.0 / 15 + 1e-9);
    if (i > 0) {
      EXPECT_LE(entries[i].confidence, entries[i - 1].confidence);
    }
  }
  EXPECT_EQ(shown->viewState()["bin"], 12);
  EXPECT_EQ(only<SampleStrip>(*shown).current(), 0);
}

TEST_F(Calibration, ABinOfOneClassListsItsProbabilityAndWhichImagesAreOfIt) {
  const auto shown = page({mixed()});
  QTest::keyClick(named<QComboBox>(*shown, "Probability"), Qt::Key_Down);
  ASSERT_TRUE(soon([&] { return shown->current()->binning.target == 0; }));
  FigureView& view = figure(*shown, "Reliability diagram");
  clickAt(view, [](const FigureTarget& target) { return target.image == 0; });
  const auto& entries = only<SampleStrip>(*shown).entries();
  ASSERT_EQ(std::ssize(entries), shown->current()->now.bins[0].count);
  for (const auto& entry : entries) {
    EXPECT_EQ(entry.target.toStdString(), "0");
    EXPECT_EQ(entry.isRight, entry.label == QLatin1String("0"));
    EXPECT_LE(entry.confidence, 1.0 / 15 + 1e-9) << "of class 0, not of the predicted one";
  }
  EXPECT_EQ(only<SampleStrip>(*shown).plotTable().columns[3].toStdString(), "probability of 0");
  EXPECT_THAT(labels(*shown), HasSubstr("those not of 0 first"));
  press<QToolButton>(*shown, "Misclassified");
  ASSERT_FALSE(only<SampleStrip>(*shown).entries().empty());
  for (const auto& entry : only<SampleStrip>(*shown).entries()) {
    EXPECT_EQ(entry.target.toStdString(), "");
    EXPECT_FALSE(entry.isRight);
    EXPECT_GE(entry.confidence, 0.4 - 1e-6) << "of the largest of three";
  }
}

TEST_F(Calibration, KeysReachEveryBinEveryImageAndEveryCell) {
  const auto shown = page({mixed()});
  FigureView& view = figure(*shown, "Reliability diagram");
  view.setFocus();
  for (int i = 0; i < 14; ++i) QTest::keyClick(&view, Qt::Key_Right);
  EXPECT_EQ(shown->viewState()["bin"], 13);
  QTest::keyClick(&view, Qt::Key_Left);
  EXPECT_EQ(shown->viewState()["bin"], 12);
  QTest::keyClick(&view, Qt::Key_Return);
  EXPECT_TRUE(only<SampleStrip>(*shown).hasFocus());
  QTest::keyClick(&only<SampleStrip>(*shown), Qt::Key_Right);
  EXPECT_EQ(only<SampleStrip>(*shown).current(), 1);
  FigureView& cells = figure(*shown, "Confusion matrix");
  cells.setFocus();
  QTest::keyClick(&cells, Qt::Key_Right);
  QTest::keyClick(&cells, Qt::Key_Right);
  QTest::keyClick(&cells, Qt::Key_Down);
  EXPECT_EQ(shown->viewState()["cell"], Json({1, 1}));
}

TEST_F(Calibration, ACellOpensItsImages) {
  const auto shown = page({mixed()});
  FigureView& view = figure(*shown, "Confusion matrix");
  clickAt(view, [](const FigureTarget& target) { return target.cell == std::array{1, 0}; });
  const auto& entries = only<SampleStrip>(*shown).entries();
  ASSERT_FALSE(entries.empty());
  for (const auto& entry : entries) {
    EXPECT_EQ(entry.label.toStdString(), "1");
    EXPECT_EQ(entry.predicted.toStdString(), "0");
  }
}

TEST_F(Calibration, OfManyClassesThoseThatAreConfusedMostHaveCells) {
  std::vector<samples::Answer> answers;
  for (int i = 0; i < 240; ++i) {
    const int label = i % 120;
    std::vector<double> logits(120, 0.0);
    logits[label == 107 ? 109 : static_cast<std::size_t>(label)] = 5;
    answers.push_back({logits, label});
  }
  const auto shown = page({runWith("a", {samples::predictions(answers)})});
  FigureView& view = figure(*shown, "Confusion matrix");
  EXPECT_TRUE(view.figure()->summary().startsWith(
      QLatin1String("Confusion, test: the 30 most confused of 120 classes: ")));
  clickAt(view, [](const FigureTarget& target) { return target.cell == std::array{28, 29}; });
  EXPECT_EQ(shown->viewState()["cell"], Json({107, 109}));
  EXPECT_EQ(only<SampleStrip>(*shown).entries().size(), 2u);
  view.setFocus();
  QTest::keyClick(&view, Qt::Key_Left);
  EXPECT_EQ(shown->viewState()["cell"], Json({107, 107}));
}

TEST_F(Calibration, AllThatIsMisclassifiedIsListedMostConfidentFirst) {
  const auto shown = page({mixed()});
  const CalibrationRun& run = *shown->current();
  std::ptrdiff_t wrong = 0;
  for (std::size_t i = 0; i < run.predictions->samples(); ++i)
    wrong += run.predictions->labels[i] != run.now.confidence.predicted[i] ? 1 : 0;
  auto* all = button<QToolButton>(*shown, "Misclassified");
  ASSERT_NE(all, nullptr);
  QTest::mouseClick(all, Qt::LeftButton);
  const auto& entries = only<SampleStrip>(*shown).entries();
  ASSERT_EQ(std::ssize(entries), wrong);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_FALSE(entries[i].isRight);
    if (i > 0) {
      EXPECT_LE(entries[i].confidence, entries[i - 1].confidence);
    }
  }
  EXPECT_EQ(shown->viewState()["all_errors"], true);
  figure(*shown, "Reliability diagram").setFocus();
  QTest::keyClick(&figure(*shown, "Reliability diagram"), Qt::Key_Left);
  EXPECT_EQ(shown->viewState()["all_errors"], false);
  EXPECT_FALSE(all->isChecked());
}

TEST_F(Calibration, TheChosenImageHasAShortNameAndTheWholeInItsToolTip) {
  const auto shown = page({mixed()});
  press<QToolButton>(*shown, "Misclassified");
  const QString name = QStringLiteral("Image %1, test \u00b7 T 1.00")
                           .arg(only<SampleStrip>(*shown).entries().front().id);
  Figure* figure = named<FigureView>(*shown, "Chosen image")->figure();
  ASSERT_NE(figure, nullptr);
  EXPECT_TRUE(figure->summary().startsWith(name)) << figure->summary().toStdString();
  (void)figure->image({200, 140}, 1);
  EXPECT_EQ(figure->describeAt({20, 20}).toStdString(), name.toStdString());
}

TEST_F(Calibration, AnImageLeadsToWhereTheModelLooksInIt) {
  const auto shown = page({mixed()});
  auto* open = button<QToolButton>(*shown, "Open in Attention");
  ASSERT_NE(open, nullptr);
  EXPECT_FALSE(open->isEnabled());
  shown->setViewState({{"all_errors", true}});
  shown->waitUntilIdle();
  only<SampleStrip>(*shown).setFocus();
  QTest::keyClick(&only<SampleStrip>(*shown), Qt::Key_Right);
  QTest::keyClick(&only<SampleStrip>(*shown), Qt::Key_Return);
  ASSERT_EQ(workbench_.views.size(), 1u);
  EXPECT_EQ(workbench_.pages.back().toStdString(), "attention");
  EXPECT_EQ(workbench_.views.back()["image"], only<SampleStrip>(*shown).entries()[1].id);
  EXPECT_EQ(workbench_.views.back()["split"], "test");
  EXPECT_EQ(workbench_.views.back()["weights"], "model");
  EXPECT_EQ(workbench_.views.back()["listed"].size(), only<SampleStrip>(*shown).entries().size());
  EXPECT_EQ(workbench_.views.back()["listed"][1], workbench_.views.back()["image"]);
  ASSERT_TRUE(open->isEnabled());
  QTest::mouseClick(open, Qt::LeftButton);
  EXPECT_EQ(workbench_.views.size(), 2u);
}

TEST_F(Calibration, RunsOfDifferentSplitsAreNotDrawnNextToEachOther) {
  const std::int64_t a = runWith("a", {samples::predictions(samples::mixedAnswers(), 100, "test")});
  const std::int64_t b =
      runWith("b", {samples::predictions(samples::mixedAnswers(), 100, "validation")});
  const auto shown = page({a, b});
  ASSERT_EQ(shown->shown().size(), 1u);
  EXPECT_EQ(shown->current()->run, a);
  EXPECT_EQ(shown->notice().toStdString(),
            "Answers of different splits are not drawn next to each other; excluded: b "
            "(validation).");
}

TEST_F(Calibration, SeveralRunsAreOverlaidAndTheCurrentOneHasTheBars) {
  const std::int64_t a = mixed();
  const std::int64_t b = runWith("b", {samples::predictions(samples::fourAnswers())});
  const auto shown = page({a, b});
  EXPECT_EQ(shown->shown().size(), 2u);
  EXPECT_EQ(shown->current()->run, a);
  workbench_.selection().setRuns({a, b}, b);
  shown->waitUntilIdle();
  EXPECT_EQ(shown->current()->run, b);
  EXPECT_THAT(figure(*shown, "Reliability diagram").figure()->csv().toStdString(),
              HasLine("a,1,1,"));
  EXPECT_EQ(shown->notice().toStdString(),
            "\u201ca\u201d have another number of classes: their data are not those of "
            "\u201cb\u201d.");
}

TEST_F(Calibration, TheFilmGoesThroughTheStepsByKeyAndClick) {
  const auto shown = page({runWith("a", {samples::predictions(samples::mixedAnswers(), 100),
                                         samples::predictions(samples::fourAnswers(), 200),
                                         samples::predictions(samples::mixedAnswers(), 300)})});
  FigureView& film = figure(*shown, "Film of the diagram over training");
  EXPECT_EQ(film.figure()->imageCount(), 3);
  EXPECT_THAT(film.figure()->csv().toStdString(), HasLine("200,a,1,"));
  film.setFocus();
  QTest::keyClick(&film, Qt::Key_Left, Qt::ControlModifier);
  EXPECT_TRUE(soon([&] { return shown->current()->step == 200; }));
  EXPECT_EQ(workbench_.selection().step(), 200);
  QTest::keyClick(&film, Qt::Key_Right);
  EXPECT_TRUE(soon([&] { return shown->current()->step == 300; }));
  clickAt(film, [](const FigureTarget& target) { return target.image == 0; });
  EXPECT_TRUE(soon([&] { return shown->current()->step == 100; }));
}

TEST_F(Calibration, FollowsWhatARunStoresWhileItTrains) {
  const std::int64_t run = mixed();
  const auto shown = page({run});
  workbench_.store().addArtifact(run, samples::predictions(samples::mixedAnswers(), 200));
  Q_EMIT workbench_.watcher().dataChanged();
  EXPECT_TRUE(soon([&] { return shown->current()->step == 200; }));
}

TEST_F(Calibration, SaysWhatIsMissingAndComputesItInOneClick) {
  const FakeAnalyses program;
  workbench_.serve();
  const std::int64_t run = runWith("a", {});
  workbench_.row(run).latestCheckpoint = 40;
  const auto shown = page({run});
  EXPECT_THAT(labels(*shown), HasSubstr("loading 1 checkpoint, at most one evaluation of each."));
  press(*shown, "Compute the answers");
  ASSERT_TRUE(soon([&] { return !program.asked().empty(); }));
  workbench_.store().addArtifact(run, samples::predictions(samples::mixedAnswers(), 40));
  Q_EMIT workbench_.watcher().dataChanged();
  EXPECT_TRUE(soon([&] { return shown->shown().size() == 1; }));
  EXPECT_EQ(program.asked()[0]["item"], "calibration");
  EXPECT_EQ(program.asked()[0]["store"], true);
}

TEST_F(Calibration, AModelThatDoesNotClassifyIsASentenceAndNoOffer) {
  const FakeAnalyses program;
  workbench_.serve();
  const std::int64_t run = runWith("a", {}, {{"model", {{"architecture", "painter"}}}});
  workbench_.row(run).latestCheckpoint = 40;
  const auto shown = page({run});
  ASSERT_NE(button(*shown, "Compute the answers"), nullptr) << "while the plugins are read";
  workbench_.become({{cardWith(ItemKind::Architecture, "painter", {"denoiser"}),
                      cardWith(ItemKind::Analysis, "calibration", {}, {"image_classifier"})}});
  EXPECT_TRUE(soon([&] { return button(*shown, "Compute the answers") == nullptr; }));
  EXPECT_THAT(labels(*shown), HasSubstr("for the model of \u201ca\u201d."));
}

TEST_F(Calibration, TheFilmIsCompletedFromTheStoredCheckpoints) {
  const FakeAnalyses program;
  workbench_.serve();
  const std::int64_t run = runWith("a", {samples::predictions(samples::mixedAnswers(), 300)});
  for (const std::int64_t step : {100, 200, 300}) workbench_.addCheckpoint(run, step);
  const auto shown = page({run});
  const FigureView& film = figure(*shown, "Film of the diagram over training");
  EXPECT_EQ(film.figure()->imageCount(), 1);
  EXPECT_THAT(labels(*shown), HasSubstr("Without answers: 2 stored checkpoints. Cost: loading 2"))
      << "the cost is told before anything is computed";
  EXPECT_TRUE(program.asked().empty());
  press(*shown, "Complete the film");
  ASSERT_TRUE(soon([&] { return program.asked().size() == 2; }));
  EXPECT_EQ(program.asked()[0]["model"], "100");
  EXPECT_EQ(program.asked()[1]["model"], "200");
  for (const Json& request : program.asked()) EXPECT_EQ(request["split"], "test");
  for (const std::int64_t step : {100, 200})
    workbench_.store().addArtifact(run, samples::predictions(samples::fourAnswers(), step));
  Q_EMIT workbench_.watcher().dataChanged();
  EXPECT_TRUE(soon([&] { return film.figure()->imageCount() == 3; }));
  EXPECT_EQ(button(*shown, "Complete the film"), nullptr) << "nothing is missing any more";
}

TEST_F(Calibration, AFailedComputationIsASentence) {
  const FakeServe program(R"(
def load(request):
    return {"error": {"kind": "refused", "message": "there is too little memory"}}
)");
  workbench_.serve();
  const std::int64_t run = runWith("a", {});
  workbench_.row(run).latestCheckpoint = 40;
  const auto shown = page({run});
  press(*shown, "Compute the answers");
  EXPECT_TRUE(
      soon([&] { return labels(*shown).find("there is too little memory") != std::string::npos; }));
}

TEST_F(Calibration, FetchesTheImagesOfABin) {
  const FakeServe program(R"(
def samples(request):
    open(here("split"), "w").write(request["split"])
    for number in request["sample_ids"]:
        yield {"sample": whole({"sample_id": number}, png(255, 1))}
    return {"samples": len(request["sample_ids"])}
)");
  workbench_.serve();
  const auto shown = page({mixed()});
  figure(*shown, "Reliability diagram").setFocus();
  for (int i = 0; i < 3; ++i)  // the last two bins are empty
    QTest::keyClick(&figure(*shown, "Reliability diagram"), Qt::Key_Left);
  ASSERT_FALSE(only<SampleStrip>(*shown).entries().empty());
  EXPECT_TRUE(soon([&] { return !only<SampleStrip>(*shown).entries().back().picture.isNull(); }));
  EXPECT_EQ(program.read(QStringLiteral("split")).toStdString(), "test");
}

TEST_F(Calibration, ShapeAgainstTextureIsADotACategory) {
  const std::int64_t a = runWith("a", {samples::predictions(samples::mixedAnswers()),
                                       samples::cueDecisions({10, 2, 6, 10, 6, 2, 10, 0, 0})});
  const auto shown = page({a});
  press<QToolButton>(*shown, "Shape or texture");
  figure(*shown, "Confusion matrix").setFocus();
  const std::string csv = shown->figure()->csv().toStdString();
  EXPECT_THAT(csv, HasLine("a,circle,10,2,6,0.25\n"));
  EXPECT_THAT(csv, HasLine("a,star,10,0,0,\n")) << "nothing was decided for either cue";
  EXPECT_EQ(figure(*shown, "Confusion matrix").figure()->summary().toStdString(),
            "Shape or texture; a: 50.0\u2009% by shape, 16 of 30 images for either cue");
  press<QToolButton>(*shown, "Shape or texture");
  EXPECT_THAT(shown->figure()->csv().toStdString(), HasLine("label,predicted,count\n"));
}

TEST_F(Calibration, SaysThatNoDecisionsBetweenCuesAreStored) {
  const auto shown = page({mixed()});
  press<QToolButton>(*shown, "Shape or texture");
  EXPECT_EQ(figure(*shown, "Confusion matrix").figure(), nullptr);
  EXPECT_EQ(figure(*shown, "Confusion matrix").plotSummary().toStdString(),
            "These runs have stored no decisions between shape and texture up to this step. A run "
            "stores them while it trains when shape bias is ticked under Observe. Its test images "
            "need the shape of one class and the texture of another.");
}

TEST_F(Calibration, DecisionsBetweenCuesAreComputedInOneClickWhereTheDataHaveBoth) {
  const FakeAnalyses program;
  workbench_.serve();
  workbench_.become(
      {{cardWith(ItemKind::Dataset, "cues", {"image", "label", "shape", "texture"})}});
  const std::int64_t run = runWith("a", {samples::predictions(samples::mixedAnswers())},
                                   {{"data", {{"dataset", "cues"}}}});
  workbench_.row(run).latestCheckpoint = 100;
  const auto shown = page({run});
  EXPECT_EQ(button(*shown, "Compute the answers"), nullptr) << "nothing that is shown is missing";
  press<QToolButton>(*shown, "Shape or texture");
  EXPECT_THAT(shown->notice().toStdString(), HasSubstr("of \u201ca\u201d. Cost: loading 1"));
  press(*shown, "Compute the answers");
  ASSERT_TRUE(soon([&] { return !program.asked().empty(); }));
  workbench_.store().addArtifact(run, samples::cueDecisions({10, 2, 6, 10, 6, 2, 10, 0, 0}));
  Q_EMIT workbench_.watcher().dataChanged();
  EXPECT_TRUE(soon([&] { return figure(*shown, "Confusion matrix").figure() != nullptr; }));
  EXPECT_TRUE(soon([&] { return button(*shown, "Compute the answers") == nullptr; }));
  EXPECT_EQ(program.asked()[0]["item"], "shape_bias");
}

TEST_F(Calibration, DecisionsThatDoNotFitAreRefused) {
  const Artifact bad = samples::cueDecisions({10, 8, 6});
  EXPECT_THROW((void)readCueDecisions(bad.meta, bad.data), FileError);
  Artifact flat = samples::cueDecisions({10, 8, 1});
  flat.meta["shape"] = {3, 1};
  EXPECT_THROW((void)readCueDecisions(flat.meta, flat.data), FileError);
}

// What a window of 1366 x 768 leaves for the page.
TEST_F(Calibration, TheScoresOfTwoRunsNeedNoScrollBarInAUsualWindow) {
  const std::int64_t a = runWith("a", {samples::predictions(samples::overconfident())});
  const std::int64_t b = runWith("a run with quite a long name, 3 seeds, width 128",
                                 {samples::predictions(samples::overconfident())});
  const auto shown = page({a, b});
  shown->resize(1050, 610);
  named<QSlider>(*shown, "Temperature")->setFocus();
  QTest::keyClick(named<QSlider>(*shown, "Temperature"), Qt::Key_PageUp);
  const auto* table = shown->findChild<QTableWidget*>();
  ASSERT_NE(table, nullptr);
  EXPECT_TRUE(soon([&] { return table->columnCount() == 4; })) << "1, chosen, fitted, other run";
  layOutNow();
  EXPECT_EQ(table->horizontalScrollBar()->maximum(), 0)
      << table->horizontalHeader()->length() << " in " << table->viewport()->width();
}

TEST_F(Calibration, NothingLiesOnAnythingElseAtAnySize) {
  const std::int64_t a = mixed();
  const std::int64_t b =
      runWith("a run with a long name", {samples::predictions(samples::mixedAnswers())});
  workbench_.selection().setRuns({a, b}, a);
  for (const double zoom : {1.0, 1.6}) {
    const PageAtZoom<CalibrationPage> shown(workbench_, zoom);
    EXPECT_EQ(whatDoesNotFitAnywhere(*shown.page), "");
  }
}

}  // namespace
}  // namespace vitrine::ui
