#include "ui/spectra/spectra_page.h"

#include <gmock/gmock.h>

#include <QComboBox>
#include <QSignalSpy>
#include <QSpinBox>
#include <QToolButton>
#include <cmath>
#include <memory>
#include <set>

#include "tests/support/has_texts.h"
#include "tests/ui/attention/catalog.h"
#include "tests/ui/figures/figure_of.h"
#include "tests/ui/figures/svg_document.h"
#include "tests/ui/spectra/falling.h"
#include "tests/ui/support/fake_serve.h"
#include "tests/ui/support/fit.h"
#include "tests/ui/support/page_test.h"
#include "tests/ui/support/qt_environment.h"
#include "tests/ui/support/soon.h"
#include "ui/kit/series/run_series.h"
#include "ui/spectra/spectra_figures.h"
#include "ui/workbench/figure_file.h"

namespace vitrine::ui {
namespace {

using samples::falling;
using test::HasLine;
using ::testing::HasSubstr;

class Spectra : public PageTest<SpectraPage> {
 protected:
  std::int64_t trained() {
    return runWith("a", {falling(0.5, 0), falling(0.7, 50), falling(0.9, 100)});
  }
};

TEST_F(Spectra, DrawsTheNewestStepWithTheUntrainedModelAsControl) {
  const auto shown = page({trained()});
  ASSERT_EQ(shown->shown().size(), 1u);
  EXPECT_EQ(shown->shownStep(), 100);
  EXPECT_EQ(shown->shown().front()->steps.size(), 3u);
  EXPECT_THAT(figure(*shown, "Controls").figure()->csv().toStdString(),
              HasLine("\"a, untrained\","));
  EXPECT_THAT(figure(*shown, "Spectrum of the chosen head").figure()->csv().toStdString(),
              HasLine("\"a, untrained\",1,"));
}

TEST_F(Spectra, TheHeadsOfSeveralRunsNameThemOnPaper) {
  HeadSpectrum head{{1, 0.5F}, {0.7F, 1}};
  auto spectrum = std::make_shared<Spectrum>();
  spectrum->layers.push_back({0, {head, head}});
  HeadGridPicture picture{.title = QStringLiteral("Layers and heads")};
  for (int run = 1; run <= 2; ++run)
    picture.runs.push_back({run, QStringLiteral("variant %1").arg(run), spectrum});
  const auto figure = makeHeadGridFigure(std::move(picture), {});
  QStringList names;
  for (const SvgDocument::Text& one : readSvg(figureBytes(*figure, FigureFormat::Svg, {})).texts) {
    if (one.words.startsWith(QLatin1String("variant"))) names << one.words;
  }
  EXPECT_EQ(names.join(QLatin1Char(',')).toStdString(), "variant 1,variant 2");
}

TEST_F(Spectra, TheHeadsAreExportedWithTheirSingularValues) {
  auto spectrum = std::make_shared<Spectrum>();
  spectrum->layers.push_back({0, {HeadSpectrum{{1, 0.5F}, {0.7F, 1}}, HeadSpectrum{{2}, {1}}}});
  HeadGridPicture picture;
  picture.runs.push_back({1, QStringLiteral("a"), spectrum});
  const std::string csv = makeHeadGridFigure(std::move(picture), {})->csv().toStdString();
  EXPECT_THAT(csv, test::HasTexts("largest,value_1,value_2\na,0,0,0,2,", ",1,1,0.5\n", ",2,2,\n"));
}

// Wherever the line of the threshold is dragged to.
TEST_F(Spectra, TheThresholdAndItsRanksRunThroughNoName) {
  HeadSpectrum head;
  for (int k = 0; k < 12; ++k) {
    head.values.push_back(1);
    head.shares.push_back(static_cast<float>((k + 1) / 12.0));
  }
  for (int percent = 2; percent <= 98; percent += 4) {
    SharePicture picture;
    for (int run = 1; run <= 4; ++run)
      picture.lines.push_back({run, QStringLiteral("variant %1").arg(run), head, run > 2});
    picture.threshold = percent / 100.0;
    const auto figure = makeShareFigure(std::move(picture), {});
    const SvgDocument svg = readSvg(figureBytes(*figure, FigureFormat::Svg, {}));
    auto lines = svg.linesOf(themeColors(ThemeKind::Light).accent);
    ASSERT_FALSE(lines.empty()) << percent;
    for (const SvgDocument::Line& one : svg.lines) {
      if (std::abs(one.line.dx()) < 1e-6) lines.push_back(one.line);  // down to a rank
    }
    int names = 0;
    for (const SvgDocument::Text& one : svg.texts) {
      if (!one.words.startsWith(QLatin1String("variant"))) continue;
      ++names;
      for (const QLineF& line : lines) {
        for (int step = 0; step <= 100; ++step)
          ASSERT_FALSE(one.box.contains(line.pointAt(step / 100.0))) << percent;
      }
    }
    EXPECT_EQ(names, 4) << percent;
  }
}

// A head whose values stay near the largest, and one whose values fall at once.
TEST_F(Spectra, NoCurveRunsThroughTheRanksOfTheHeads) {
  HeadSpectrum flat, steep;
  for (int k = 0; k < 12; ++k) {
    flat.values.push_back(static_cast<float>(1 - 0.2 * k / 11));
    flat.shares.push_back(static_cast<float>((k + 1) / 12.0));
    steep.values.push_back(static_cast<float>(std::pow(0.5, k)));
    steep.shares.push_back(k == 0 ? 0.5F : 1.0F);
  }
  auto spectrum = std::make_shared<Spectrum>();
  spectrum->layers.push_back({0, {flat, steep}});
  HeadGridPicture picture;
  picture.runs.push_back({1, QStringLiteral("a"), spectrum});
  const auto figure = makeHeadGridFigure(std::move(picture), {});
  const SvgDocument svg = readSvg(figureBytes(*figure, FigureFormat::Svg, {}));
  const auto lines = svg.linesOf(seriesColor(seriesOf(1), ThemeKind::Light));
  EXPECT_GE(lines.size(), 22U);
  int ranks = 0;
  for (const SvgDocument::Text& one : svg.texts) {
    if (one.words != QLatin1String("10") && one.words != QLatin1String("2")) continue;
    ++ranks;
    const QRectF digits = one.box.adjusted(0, 2, 0, -2);
    for (const QLineF& line : lines) {
      for (int step = 0; step <= 100; ++step)
        ASSERT_FALSE(digits.contains(line.pointAt(step / 100.0))) << one.words.toStdString();
    }
  }
  EXPECT_EQ(ranks, 2);
}

TEST_F(Spectra, AClickAndTheKeysReachEveryHead) {
  const auto shown = page({trained()});
  FigureView& heads = figure(*shown, "Spectra of all heads");
  clickAt(heads, [](const FigureTarget& target) { return target.layer == 1 && target.head == 1; });
  EXPECT_EQ(shown->viewState()["layer"], 1);
  EXPECT_EQ(shown->viewState()["head"], 1);
  EXPECT_EQ(workbench_.selection().layer(), 1);
  heads.setFocus();
  QTest::keyClick(&heads, Qt::Key_Up);
  QTest::keyClick(&heads, Qt::Key_Left);
  EXPECT_EQ(shown->viewState()["layer"], 0);
  EXPECT_EQ(shown->viewState()["head"], 0);
  QTest::keyClick(&heads, Qt::Key_Left);
  EXPECT_EQ(shown->viewState()["head"], 0);
}

TEST_F(Spectra, TheThresholdIsDraggedOnTheChart) {
  const auto shown = page({trained()});
  FigureView& share = figure(*shown, "Spectrum of the chosen head");
  const auto near = [](double wanted) {
    return [wanted](const FigureTarget& target) {
      return target.queryAt && std::abs((*target.queryAt)[0] - wanted) < 0.01;
    };
  };
  QSignalSpy changed(shown.get(), &Page::viewChanged);
  const QPoint from = placeOf(share, near(0.8)), to = placeOf(share, near(0.5));
  QTest::mousePress(&share, Qt::LeftButton, Qt::NoModifier, from);
  QMouseEvent move(QEvent::MouseMove, QPointF(to), share.mapToGlobal(QPointF(to)), Qt::NoButton,
                   Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&share, &move);
  QTest::mouseRelease(&share, Qt::LeftButton, Qt::NoModifier, to);
  EXPECT_NEAR(shown->viewState()["threshold"].get<double>(), 0.5, 0.011);
  EXPECT_GE(changed.count(), 1);
  EXPECT_NEAR(shown->findChild<QSpinBox*>()->value(), 50, 1);
  share.setFocus();
  const double before = shown->viewState()["threshold"].get<double>();
  QTest::keyClick(&share, Qt::Key_Up);
  EXPECT_NEAR(shown->viewState()["threshold"].get<double>(), before + 0.01, 1e-9);
}

TEST_F(Spectra, StepsAreReachedByKeyAndOnTheWaterfall) {
  const auto shown = page({trained()});
  FigureView& fall = figure(*shown, "Waterfall over training");
  fall.setFocus();
  QTest::keyClick(&fall, Qt::Key_Left);
  EXPECT_EQ(shown->shownStep(), 50);
  EXPECT_EQ(workbench_.selection().step(), 50);
  QTest::keyClick(&fall, Qt::Key_Right, Qt::ControlModifier);
  EXPECT_EQ(shown->shownStep(), 100);
  clickAt(fall,
          [](const FigureTarget& target) { return target.queryAt && (*target.queryAt)[1] < 0.1; });
  EXPECT_EQ(shown->shownStep(), 0);
  // A column reaches half way to the next one.
  clickAt(fall,
          [](const FigureTarget& target) { return target.queryAt && (*target.queryAt)[1] > 0.3; });
  EXPECT_EQ(shown->shownStep(), 50);
}

TEST_F(Spectra, TheWaterfallGrowsWhileARunTrains) {
  const std::int64_t run = runWith("a", {falling(0.5, 0), falling(0.6, 10)});
  workbench_.row(run).state = store::RunState::Running;
  workbench_.row(run).totalSteps = 100;
  const auto shown = page({run});
  EXPECT_THAT(figure(*shown, "Waterfall over training").figure()->summary().toStdString(),
              HasSubstr("live"));
  store::RunStore other(workbench_.store().file());
  other.addArtifact(run, falling(0.8, 20));
  Q_EMIT workbench_.watcher().dataChanged();
  EXPECT_TRUE(soon([&] { return shown->shownStep() == 20; }));
  EXPECT_THAT(figure(*shown, "Waterfall over training").figure()->csv().toStdString(),
              HasLine("a,20,1,"));
}

TEST_F(Spectra, WhatIsStoredOfAveragedWeightsAloneIsShown) {
  Artifact averaged = falling(0.9, 100);
  averaged.meta["weights"] = "ema";
  const auto shown = page({runWith("a", {averaged})});
  ASSERT_EQ(shown->shown().size(), 1u);
  EXPECT_EQ(shown->notice().toStdString(), "Of averaged weights: \u201ca\u201d.");
  EXPECT_EQ(scoreName(*shown->shown().front(), "stable_rank", 1, -1),
            "analysis/attention_rank/stable_rank/layer1@ema");
}

TEST_F(Spectra, APartThatIsStoredLaterIsRead) {
  const std::int64_t run = runWith("a", {falling(0.5, 10)});
  const auto shown = page({run});
  const auto first = [&] { return shown->shown().front()->steps.front()->layers[0].heads[0]; };
  EXPECT_GT(first().shares[0], 0.4F) << "of the values";
  Artifact curves = falling(0.5, 10);
  curves.name = "cumulative";
  curves.kind = artifact_kind::kHeatmap;
  setFloat32(curves, std::vector<float>(32, 0.25F), {2, 2, 8}, {"layer", "head", "k"});
  store::RunStore other(workbench_.store().file());
  other.addArtifact(run, curves);
  Q_EMIT workbench_.watcher().dataChanged();
  EXPECT_TRUE(soon([&] { return first().shares[0] == 0.25F; }));
}

TEST_F(Spectra, OtherRunsAreControlsNamedByWhatDiffers) {
  const std::int64_t a =
      runWith("a", {falling(0.5, 100)}, {{"model", {{"mask", "causal"}, {"width", 64}}}});
  const std::int64_t b =
      runWith("b", {falling(0.9, 100)}, {{"model", {{"mask", "none"}, {"width", 64}}}});
  const auto shown = page({a, b});
  const std::string rows = figure(*shown, "Controls").figure()->csv().toStdString();
  EXPECT_THAT(rows, test::HasTexts("a,mask = causal,0,", "b,mask = none,0,"));
  EXPECT_EQ(shown->notice().toStdString(), "");
}

TEST_F(Spectra, SaysWhenMatricesAreNotOfOneKind) {
  Artifact other = falling(0.9, 100);
  other.meta["attention"] = "effective";
  const auto shown = page({runWith("a", {falling(0.5, 100)}), runWith("b", {other})});
  EXPECT_THAT(shown->notice().toStdString(), HasSubstr("a: softmax, b: effective"));
}

TEST_F(Spectra, DrawsTheScoresThatTheRunMeasured) {
  const std::int64_t run = trained();
  const std::int64_t segment =
      workbench_.store().openSegment(run, 0, store::thisWorker(), Json::object());
  store::RunStore::Batch batch;
  MetricRecord record{50, 1, 1, {}};
  record.values.emplace_back("analysis/attention_rank/effective_rank/layer0/head0", 4.5);
  batch.metrics.push_back(record);
  workbench_.store().append(run, segment, batch);
  const auto shown = page({run});
  EXPECT_EQ(shown->shown().front()->effective, (RankCurve{{50, 4.5}}));
  EXPECT_TRUE(shown->shown().front()->stable.empty());
}

TEST_F(Spectra, ComputesWhatIsMissingInOneClick) {
  const FakeAnalyses program;
  workbench_.serve();
  const std::int64_t run = runWith("a", {});
  workbench_.row(run).latestCheckpoint = 40;
  const auto shown = page({run});
  EXPECT_THAT(labels(*shown), HasSubstr("Cost: 1 checkpoint"));
  press(*shown, "Compute the spectra");
  ASSERT_TRUE(soon([&] { return !program.asked().empty(); }));
  workbench_.store().addArtifact(run, falling(0.5, 40));
  Q_EMIT workbench_.watcher().dataChanged();
  EXPECT_TRUE(soon([&] { return shown->shown().size() == 1; }));
  EXPECT_EQ(program.asked()[0]["item"], "attention_rank");
}

Catalog spectraCatalog() {
  return {{cardWith(ItemKind::Architecture, "memory",
                    {"image_classifier", "signed_memory_weights"}),
           cardWith(ItemKind::Architecture, "blind", {"image_classifier"}),
           cardWith(ItemKind::Analysis, "attention_rank", {"spectrum"}, {"attention_source"}),
           cardWith(ItemKind::Analysis, "memory_rank", {"spectrum"}, {"signed_memory_weights"})}};
}

TEST_F(Spectra, AModelIsMeasuredByTheAnalysisThatFitsIt) {
  const FakeAnalyses program;
  workbench_.serve();
  workbench_.become(spectraCatalog());
  const std::int64_t run = runWith("a", {}, configOf("memory"));
  workbench_.row(run).latestCheckpoint = 40;
  const auto shown = page({run});
  press(*shown, "Compute the spectra");
  ASSERT_TRUE(soon([&] { return !program.asked().empty(); }));
  EXPECT_EQ(program.asked()[0]["item"], "memory_rank");
}

TEST_F(Spectra, SaysWhyAModelHasNoSpectra) {
  workbench_.become(spectraCatalog());
  const std::int64_t run = runWith("a", {}, configOf("blind"));
  workbench_.row(run).latestCheckpoint = 40;
  const auto shown = page({run});
  EXPECT_THAT(labels(*shown), HasSubstr("for the model of \u201ca\u201d."));
  EXPECT_EQ(button(*shown, "Compute the spectra"), nullptr);
}

TEST_F(Spectra, TheWaterfallIsCompletedFromTheStoredCheckpoints) {
  const FakeAnalyses program;
  workbench_.serve();
  const std::int64_t run = runWith("a", {falling(0.5, 0), falling(0.9, 100)});
  for (const std::int64_t step : {40, 60, 100}) workbench_.addCheckpoint(run, step);
  const auto shown = page({run});
  EXPECT_THAT(labels(*shown), HasSubstr("Not in the waterfall: 2 stored checkpoints. Cost: 2"))
      << "the cost is told before anything is computed";
  EXPECT_TRUE(program.asked().empty());
  press(*shown, "Complete the waterfall");
  ASSERT_TRUE(soon([&] { return program.asked().size() == 2; }));
  EXPECT_EQ(program.asked()[0]["model"], "40");
  EXPECT_EQ(program.asked()[1]["model"], "60");
  for (const Json& request : program.asked()) EXPECT_EQ(request["item"], "attention_rank");
  store::RunStore other(workbench_.store().file());
  for (const std::int64_t step : {40, 60}) other.addArtifact(run, falling(0.7, step));
  Q_EMIT workbench_.watcher().dataChanged();
  EXPECT_TRUE(soon([&] { return shown->shown().front()->steps.size() == 4; }));
  EXPECT_EQ(button(*shown, "Complete the waterfall"), nullptr) << "nothing is missing any more";
}

TEST_F(Spectra, TheNumbersOfAnAxisAreWhereTheySay) {
  ControlsPicture controls;
  ControlsPicture::Row row{.name = QStringLiteral("a"), .rank = {7, 0, 1}};
  controls.rows = {row};
  const SvgDocument ranks =
      readSvg(figureBytes(*makeControlsFigure(controls), FigureFormat::Svg, {}));
  QStringList words;
  for (const SvgDocument::Text& text : ranks.texts) words << text.words;
  // The ticks are 0, 2.5 and 5.
  EXPECT_TRUE(words.contains(QStringLiteral("2.5"))) << words.join(QLatin1Char('|')).toStdString();
  EXPECT_FALSE(words.contains(QStringLiteral("3")));

  WaterfallPicture fall;
  WaterfallPicture::Run run{.steps = {0, 5}};
  run.columns.assign(2, HeadSpectrum{{1, 0.5F, 0.2F}, {0.6F, 0.9F, 1}});
  fall.runs = {run};
  const SvgDocument steps = readSvg(figureBytes(*makeWaterfallFigure(fall), FigureFormat::Svg, {}));
  for (const SvgDocument::Text& text : steps.texts)
    EXPECT_FALSE(text.words.startsWith(QStringLiteral("2.5"))) << "no step is between two";
}

TEST_F(Spectra, TheWaterfallHasNoSeamsAndNamesTheColumnUnderThePointer) {
  WaterfallPicture fall;
  WaterfallPicture::Run run;
  for (int step = 0; step <= 1000; step += 25) run.steps.push_back(step);
  run.columns.assign(run.steps.size(), HeadSpectrum{{1, 0.5F, 0.2F}, {0.6F, 0.9F, 1}});
  fall.runs = {run};
  const auto figure = makeWaterfallFigure(fall);
  const QImage image = figure->image(kSize, 1);
  const QRect lowest = where(*figure, QStringLiteral("of k = 1"));
  ASSERT_GT(lowest.width(), 200);
  std::set<QRgb> colors;
  for (int x = lowest.left() + 2; x < lowest.right() - 2; ++x)
    colors.insert(image.pixel(x, lowest.center().y()));
  EXPECT_EQ(colors.size(), 1u);
  const double x = lowest.left() + 0.024 * lowest.width();  // step 24 of 1,000
  EXPECT_TRUE(
      figure->describeAt({x, lowest.center().y() + 0.0}).contains(QStringLiteral("step 25:")));
}

TEST_F(Spectra, NamesOfSingularValuesStandWhereFewLinesAre) {
  const auto nameOf = [](std::vector<float> values) {
    SharePicture picture{.isValues = true};
    picture.lines.assign(4, {1, QStringLiteral("one"), {values, values}});
    const SvgDocument svg = readSvg(figureBytes(*makeShareFigure(picture), FigureFormat::Svg, {}));
    for (const SvgDocument::Text& text : svg.texts)
      if (text.words == QStringLiteral("one")) return text.box;
    return QRectF();
  };
  const QRectF late = nameOf({1, 0.7F, 0.6F, 0.5F, 0.4F, 0.4F, 0.3F, 0.3F, 0.3F, 1e-4F}),
               early = nameOf({1, 1e-3F, 1e-4F, 1e-4F, 1e-4F, 1e-4F, 1e-4F, 1e-4F, 1e-4F, 1e-4F});
  EXPECT_LT(late.center().x(), early.center().x());
  EXPECT_GT(late.center().y(), early.center().y());
}

TEST_F(Spectra, EachRunHasItsOwnScaleWhenAsked) {
  Artifact large = falling(0.9, 100);
  std::vector<double> values;
  const ArrayView view = arrayOf(large.meta, large.data);
  for (std::int64_t i = 0; i < view.count(); ++i) values.push_back(1000 * view.at(i));
  setFloat64(large, values, {2, 2, 8}, {"layer", "head", "value"});
  const auto one = page({runWith("alone", {falling(0.9, 100)})});
  EXPECT_EQ(button<QToolButton>(*one, "Same scale"), nullptr) << "one run has one scale";
  const auto shown = page({runWith("a", {falling(0.9, 100)}), runWith("b", {large})});
  const FigureView& fall = figure(*shown, "Waterfall over training");
  const auto range = [&] { return *fall.figure()->valueRange(); };
  const QImage together = figure(*shown, "Spectra of all heads").figure()->image({400, 300}, 1);
  EXPECT_NEAR(range()[1], 1000, 1e-3) << "the largest of both";
  auto* sameScale = button<QToolButton>(*shown, "Same scale");
  ASSERT_NE(sameScale, nullptr);
  QTest::mouseClick(sameScale, Qt::LeftButton);
  EXPECT_NEAR(range()[1], 1, 1e-6) << "shares of each run's largest";
  EXPECT_NE(figure(*shown, "Spectra of all heads").figure()->image({400, 300}, 1), together);
}

TEST_F(Spectra, SeedsAreAveragedAndComparedInPairs) {
  std::vector<std::int64_t> runs;
  for (const char* variant : {"base", "wide"}) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      store::NewRun run;
      run.name = std::string(variant) + ", seed " + std::to_string(seed);
      run.variant = variant;
      run.seed = seed;
      run.config = {{"model", {{"mask", variant}}}, {"train", {{"seed", seed}}}};
      store::RunStore& store = workbench_.store();
      runs.push_back(store.addRuns(store.experiment("Ranks", ""), {run}).front());
      const std::int64_t segment =
          store.openSegment(runs.back(), 0, store::thisWorker(), Json::object());
      const double above = 0.25 * static_cast<double>(seed);
      const double last = 4 + above + (*variant == 'w' ? 2 + above : 0);
      store::RunStore::Batch batch;
      for (const auto& [step, value] : {std::pair(50, last - 1), std::pair(100, last)}) {
        MetricRecord record{step, 1, 1, {}};
        record.values.emplace_back("analysis/attention_rank/stable_rank/layer0/head0", value);
        batch.metrics.push_back(record);
      }
      store.append(runs.back(), segment, batch);
      store.addArtifact(runs.back(), falling(0.5, 100));
      (void)workbench_.run(runs.back());
    }
  }
  const auto shown = page(runs);
  auto* seeds = button<QToolButton>(*shown, "Mean of seeds");
  ASSERT_NE(seeds, nullptr);
  QTest::mouseClick(seeds, Qt::LeftButton);
  shown->setViewState({{"picture", 5}});
  shown->waitUntilIdle();
  const std::string csv = shown->figure()->csv().toStdString();
  EXPECT_THAT(csv, test::HasTexts("base,50,3.25", "wide,100,6.5"));
  const std::string verdict = shown->figure()->note().toStdString();
  EXPECT_THAT(verdict, test::HasTexts("base 4.25 \u00b1 0.62 (3 seeds)",
                                      "higher: +2.25 \u00b1 0.62", "against base (3 pairs)"));
}

TEST_F(Spectra, SaysWhenNoRunsDifferInTheirSeedAlone) {
  const auto shown = page({trained()});
  QTest::mouseClick(button<QToolButton>(*shown, "Mean of seeds"), Qt::LeftButton);
  shown->setViewState({{"picture", 5}});
  shown->waitUntilIdle();
  EXPECT_THAT(shown->figure()->note().toStdString(), HasSubstr("differ in their seed alone"));
}

TEST_F(Spectra, TheStateOfTheViewComesBack) {
  const auto shown = page({trained()});
  const Json wanted{{"threshold", 0.6},    {"log", false},  {"values", true},
                    {"same_scale", false}, {"seeds", true}, {"layer", 1},
                    {"head", -1},          {"step", 50},    {"picture", 2}};
  shown->setViewState(wanted);
  shown->waitUntilIdle();
  EXPECT_EQ(shown->viewState(), wanted);
  EXPECT_EQ(shown->shownStep(), 50);
  EXPECT_THAT(shown->figure()->csv().toStdString(), HasLine("run,step,index,"));
  shown->setViewState({{"threshold", 7}, {"layer", "first"}, {"unknown", 1}});
  EXPECT_NEAR(shown->viewState()["threshold"].get<double>(), 0.6, 1e-12);
}

TEST_F(Spectra, NothingLiesOnAnythingElseAtAnySize) {
  const std::int64_t a = trained();
  const std::int64_t b = runWith("a run with a long name", {falling(0.5, 0), falling(0.9, 200)});
  workbench_.selection().setRuns({a, b}, a);
  for (const double zoom : {1.0, 1.6}) {
    const PageAtZoom<SpectraPage> shown(workbench_, zoom);
    EXPECT_EQ(whatDoesNotFitAnywhere(*shown.page), "");
  }
}

}  // namespace
}  // namespace vitrine::ui
