// Views of Calibration: what an exported figure keeps, and what is shown at a step.
#include <gmock/gmock.h>

#include <QImage>
#include <QLayout>
#include <QPainter>
#include <QTest>
#include <QToolButton>
#include <algorithm>

#include "core/store/script_runs.h"
#include "tests/support/has_texts.h"
#include "tests/ui/calibration/answers.h"
#include "tests/ui/figures/svg_document.h"
#include "tests/ui/support/page_test.h"
#include "ui/calibration/calibration_figures.h"
#include "ui/calibration/calibration_page.h"
#include "ui/calibration/sample_strip.h"
#include "ui/kit/theme.h"
#include "ui/workbench/figure_file.h"

namespace vitrine::ui {
namespace {

using test::HasLine;

class CalibrationRecipe : public PageTest<CalibrationPage> {};

TEST_F(CalibrationRecipe, SaysThatVitrineHasNoModelOfWhatAScriptLogged) {
  const std::int64_t run = runWith("a", {});
  store::RunStore other(workbench_.store().file());
  (void)other.openSegment(run, 0, store::thisWorker(), {{store::kScriptKey, "python train.py"}});
  const auto shown = page({run});
  EXPECT_THAT(labels(*shown),
              ::testing::HasSubstr("This run was logged by a script: Vitrine has no model of it."));
  EXPECT_EQ(button(*shown, "Compute the answers"), nullptr);
}

TEST_F(CalibrationRecipe, ErrorsThatAreAllListedAreCountedOnce) {
  const auto shown = page({runWith("a", {samples::predictions(samples::mixedAnswers(), 100)})});
  press<QToolButton>(*shown, "Misclassified");
  const std::string errors = std::to_string(only<SampleStrip>(*shown).entries().size());
  EXPECT_THAT(labels(*shown), HasLine(errors + " misclassified, most confident first"));
}

TEST_F(CalibrationRecipe, TheStateOfTheViewComesBack) {
  const std::int64_t run = runWith("a", {samples::predictions(samples::mixedAnswers(), 100),
                                         samples::predictions(samples::mixedAnswers(), 200)});
  const auto shown = page({run});
  const std::string uuid = workbench_.run(run)->uuid;
  const Json wanted{{"edges", "mass"},    {"bins", 6},
                    {"target", 1},        {"split", "test"},
                    {"weights", "model"}, {"temperatures", {{uuid, 1.5}}},
                    {"gap", false},       {"only_errors", false},
                    {"cues", true},       {"bin", 3},
                    {"cell", {-1, -1}},   {"all_errors", false},
                    {"sample", 24},       {"step", 100},
                    {"picture", 0}};
  shown->setViewState(wanted);
  shown->waitUntilIdle();
  EXPECT_EQ(shown->viewState(), wanted);
  EXPECT_EQ(shown->current()->step, 100);
  EXPECT_EQ(shown->current()->temperature, 1.5);
  EXPECT_EQ(std::ssize(only<SampleStrip>(*shown).entries()), shown->current()->now.bins[3].count);
  EXPECT_EQ(only<SampleStrip>(*shown)
                .entries()[static_cast<std::size_t>(only<SampleStrip>(*shown).current())]
                .id,
            24);
  shown->setViewState({{"bins", "many"}, {"edges", 3}, {"cell", {1}}, {"unknown", 1}});
  shown->waitUntilIdle();
  EXPECT_EQ(shown->current()->now.bins.size(), 6u);
}

TEST_F(CalibrationRecipe, ExportsThePictureThatHadTheFocusLast) {
  const auto shown = page({runWith("a", {samples::predictions(samples::mixedAnswers())})});
  EXPECT_THAT(shown->figure()->csv().toStdString(), HasLine("run,temperature,bin,"));
  figure(*shown, "Confusion matrix").setFocus();
  EXPECT_THAT(shown->figure()->csv().toStdString(), HasLine("label,predicted,count\n"));
  figure(*shown, "Film of the diagram over training").setFocus();
  EXPECT_THAT(shown->figure()->csv().toStdString(), HasLine("step,run,bin,"));
}

TEST_F(CalibrationRecipe, CountsOnlyTheRunsThatItDraws) {
  std::vector runs{runWith("a", {samples::predictions(samples::fourAnswers())})};
  for (const char* name : {"b", "c", "d", "e"}) runs.push_back(runWith(name, {}));
  const auto shown = page(runs);
  EXPECT_THAT(shown->notice().toStdString(),
              ::testing::HasSubstr("1 of 5 selected runs is drawn."));
}

TEST_F(CalibrationRecipe, OneImageOfACellIsInTheSingular) {
  const auto shown = page({runWith("a", {samples::predictions(samples::fourAnswers())})});
  FigureView& cells = figure(*shown, "Confusion matrix");
  cells.setFocus();
  QTest::keyClick(&cells, Qt::Key_Right);
  QTest::keyClick(&cells, Qt::Key_Down);
  ASSERT_EQ(shown->viewState()["cell"], Json({1, 0}));
  EXPECT_THAT(labels(*shown), ::testing::HasSubstr("predicted 0: 1 image"));
  EXPECT_THAT(labels(*shown), ::testing::Not(::testing::HasSubstr("1 images")));
}

TEST_F(CalibrationRecipe, TheCurveOverTheTemperatureNamesItsNumbers) {
  const auto shown = page({runWith("a", {samples::predictions(samples::mixedAnswers())})});
  const FigureView& view = figure(*shown, "Calibration error over the temperature");
  ASSERT_NE(view.figure(), nullptr);
  EXPECT_TRUE(view.figure()->style().hasAxisTitles) << "numbers need a name";
  const QLayout* card = view.parentWidget()->layout();
  ASSERT_NE(card, nullptr);
  EXPECT_EQ(card->contentsMargins().top(), card->contentsMargins().left())
      << "titles of cards and of pictures beside each other are on one line";
}

// After seven runs colours and symbols begin again.
TEST(ReliabilityPicture, RunsOfOneColourHaveLinesOfTheirOwn) {
  const auto lower = [](std::int64_t run) {
    ReliabilityPicture picture;
    picture.lines = {{2, QStringLiteral("main"), 1, {{0, 1, 9, 0.1, 0.1}}},
                     {run, QString(), 1, {{0, 0.5, 9, 0.2, 0.2}, {0.5, 1, 9, 0.9, 0.3}}}};
    const QImage image = makeReliabilityFigure(picture)->image({400, 400}, 1);
    return image.copy(0, 220, 400, 180);  // below the names
  };
  EXPECT_EQ(seriesColor(1), seriesColor(8));
  EXPECT_NE(lower(1), lower(8));
  const auto film = [](std::int64_t run) {
    FilmPicture picture;
    picture.frames.resize(1);
    picture.frames[0].lines = {{run, {{0, 0.5, 9, 0.2, 0.2}, {0.5, 1, 9, 0.9, 0.3}}}};
    return makeFilmFigure(picture)->image({200, 200}, 1);
  };
  EXPECT_NE(film(1), film(8));
}

// The page says it elsewhere.
TEST_F(CalibrationRecipe, AnExportedConfusionMatrixNamesItsRun) {
  const auto shown = page({runWith("a", {samples::predictions(samples::mixedAnswers(), 100)})});
  figure(*shown, "Confusion matrix").setFocus();
  QStringList words;
  for (const SvgDocument::Text& one :
       readSvg(figureBytes(*shown->figure(), FigureFormat::Svg, {})).texts)
    words << one.words;
  EXPECT_TRUE(words.contains(QStringLiteral("a \u00b7 240 images \u00b7 step 100")))
      << words.join(QLatin1Char('\n')).toStdString();
}

TEST_F(CalibrationRecipe, AtAStepBeforeAllAnswersTheFirstOnesAreShown) {
  const std::int64_t run = runWith("a", {samples::predictions(samples::mixedAnswers(), 100),
                                         samples::predictions(samples::mixedAnswers(), 200)});
  workbench_.selection().setStep(0);  // as Spectra has it, before any training
  const auto shown = page({run});
  ASSERT_EQ(shown->shown().size(), 1u);
  EXPECT_EQ(shown->current()->step, 100);
  figure(*shown, "Film of the diagram over training").setFocus();
  QTest::keyClick(&figure(*shown, "Film of the diagram over training"), Qt::Key_Right);
  shown->waitUntilIdle();
  EXPECT_EQ(shown->current()->step, 200);
}

TEST_F(CalibrationRecipe, AFigureOfAnImageOpensWithThatImage) {
  const std::int64_t run = runWith("a", {samples::predictions(samples::mixedAnswers())});
  Json state;
  std::string csv;
  {
    const auto shown = page({run});
    QTest::mouseClick(button<QToolButton>(*shown, "Misclassified"), Qt::LeftButton);
    only<SampleStrip>(*shown).setFocus();
    for (int i = 0; i < 2; ++i) QTest::keyClick(&only<SampleStrip>(*shown), Qt::Key_Right);
    state = shown->viewState();
    csv = shown->figure()->csv().toStdString();
    EXPECT_EQ(state["sample"], only<SampleStrip>(*shown).entries()[2].id);
    EXPECT_THAT(csv, HasLine("class,probability,is_label\n"));
  }
  const auto again = page({run});
  again->setViewState(state);
  again->waitUntilIdle();
  EXPECT_EQ(only<SampleStrip>(*again).current(), 2);
  EXPECT_EQ(again->viewState(), state);
  EXPECT_EQ(again->figure()->csv().toStdString(), csv);
}

TEST_F(CalibrationRecipe, ATemperatureIsOfTheRunWhateverItsNumberIs) {
  const std::int64_t run = runWith("a", {samples::predictions(samples::overconfident())});
  const auto shown = page({run});
  shown->setViewState({{"temperatures", {{std::to_string(run), 3}, {"another database's", 4}}}});
  shown->waitUntilIdle();
  EXPECT_EQ(shown->current()->temperature, 1) << "a number is of another run elsewhere";
  shown->setViewState({{"temperatures", {{workbench_.run(run)->uuid, 3}}}});
  shown->waitUntilIdle();
  EXPECT_EQ(shown->current()->temperature, 3);
}

TEST(SampleFigure, ThePictureLeavesRoomForTheNames) {
  SamplePicture sample;
  sample.picture = QImage(28, 28, QImage::Format_RGB32);
  sample.names = QStringList{QStringLiteral("Sneaker"), QStringLiteral("Ankle boot")};
  sample.shares = {{1, 0.929}};
  sample.label = 0;
  sample.predicted = 1;
  const auto figure = makeSampleFigure(sample);
  QImage image(214, 140, QImage::Format_RGB32);
  QPainter painter(&image);
  figure->paint(painter, image.rect());
  // A name that is cut has a tool tip.
  for (int y = 0; y < image.height(); y += 4) {
    for (int x = 0; x < image.width(); x += 4)
      EXPECT_FALSE(figure->describeAt(QPointF(x, y)).contains(QStringLiteral("Ankle boot")));
  }
}

TEST(SampleFigure, NamesOfClassesBeginNextToThePicture) {
  SamplePicture sample{.picture = QImage(28, 28, QImage::Format_RGB32)};
  sample.picture.fill(Qt::white);
  sample.names = QStringList{QStringLiteral("Sneaker"), QStringLiteral("Ankle boot")};
  sample.shares = {{1, 0.929}};
  sample.label = 0;
  sample.predicted = 1;
  QImage image(214, 140, QImage::Format_RGB32);
  image.fill(themeColors().panel);
  QPainter painter(&image);
  makeSampleFigure(sample)->paint(painter, image.rect());
  painter.end();
  int end = -1, bar = image.width();
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      if (image.pixel(x, y) == qRgb(255, 255, 255)) end = std::max(end, x);
      if (image.pixel(x, y) == themeColors().bad.rgb()) bar = std::min(bar, x);
    }
  }
  ASSERT_GE(end, 0);
  EXPECT_GT(bar, end);
  EXPECT_LE(bar - end, 14);
}

}  // namespace
}  // namespace vitrine::ui
