// What the Spectra page says of the other variants of the experiment.
#include <gmock/gmock.h>

#include "tests/support/has_texts.h"
#include "tests/ui/figures/figure_of.h"
#include "tests/ui/figures/svg_document.h"
#include "tests/ui/spectra/falling.h"
#include "tests/ui/support/page_test.h"
#include "tests/ui/support/qt_environment.h"
#include "ui/figures/line_chart.h"
#include "ui/spectra/seed_curves.h"
#include "ui/spectra/spectra_figures.h"
#include "ui/spectra/spectra_page.h"
#include "ui/workbench/figure_file.h"

namespace vitrine::ui {
namespace {

using ::testing::HasSubstr;

class SpectraVariants : public PageTest<SpectraPage> {
 protected:
  std::int64_t add(const std::string& variant, std::uint64_t seed, store::RunState state) {
    store::NewRun run;
    run.name = variant + ", seed " + std::to_string(seed);
    run.variant = variant;
    run.seed = seed;
    run.config = {{"model", {{"mask", variant}}}, {"train", {{"seed", seed}}}};
    store::RunStore& store = workbench_.store();
    const std::int64_t id = store.addRuns(store.experiment(experiment_, ""), {run}).front();
    (void)workbench_.run(id);
    workbench_.row(id).state = state;
    return id;
  }
  /// The rank that a run measured last.
  void measure(std::int64_t run, double rank) {
    store::RunStore& store = workbench_.store();
    const std::int64_t segment = store.openSegment(run, 0, store::thisWorker(), Json::object());
    store::RunStore::Batch batch;
    MetricRecord record{100, 1, 1, {}};
    record.values.emplace_back("analysis/attention_rank/rank80/layer0/head0", rank);
    batch.metrics.push_back(record);
    store.append(run, segment, batch);
  }

  std::string experiment_ = "Ranks";
};

TEST_F(SpectraVariants, ThatAreNotTrainedAreStartedInOneClick) {
  const std::int64_t causal = add("causal", 0, store::RunState::Done);
  workbench_.store().addArtifact(causal, samples::falling(0.9, 100));
  workbench_.row(causal).startedAt = "2026-03-01T10:00:00.000Z";
  workbench_.row(causal).finishedAt = "2026-03-01T10:05:00.000Z";
  const std::int64_t first = add("additive", 0, store::RunState::Queued);
  const std::int64_t second = add("additive", 1, store::RunState::Failed);
  (void)add("rope", 0, store::RunState::Done);
  (void)add("rope", 1, store::RunState::Queued);
  const auto shown = page({causal});
  EXPECT_THAT(labels(*shown), HasSubstr("not trained: additive. Cost: 2 runs, about 10\u2009min"));
  EXPECT_TRUE(workbench_.started.empty());
  press(*shown, "Start the missing variants");
  EXPECT_EQ(workbench_.started, (std::vector<std::int64_t>{first, second}));
  workbench_.row(first).state = store::RunState::Running;
  shown->waitUntilIdle();
  EXPECT_EQ(button(*shown, "Start the missing variants"), nullptr);
  EXPECT_EQ(labels(*shown).find("not trained"), std::string::npos);
}

TEST_F(SpectraVariants, AreComparedByTheRanksThatTheirSeedsMeasured) {
  std::int64_t drawn = 0;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const double above = 0.25 * static_cast<double>(seed);
    const std::int64_t plain = add("plain", seed, store::RunState::Done);
    const std::int64_t causal = add("causal", seed, store::RunState::Done);
    measure(plain, 4 + above);
    measure(causal, 6 + 2 * above);
    if (seed == 0) drawn = plain;
  }
  workbench_.store().addArtifact(drawn, samples::falling(0.9, 100));
  const auto shown = page({drawn});
  EXPECT_THAT(labels(*shown), test::HasTexts("Rank at 80 %", "plain 4.25 \u00b1 0.62 (3 seeds)",
                                             "higher: +2.25 \u00b1 0.62 against plain (3 pairs)"));
}

TEST_F(SpectraVariants, ThePapersClaimsAboutTheRanksStandBesideThem) {
  experiment_ = "iLLaMA roadmap, laptop size";
  const std::int64_t run = add("+ PS[cls]", 0, store::RunState::Done);
  workbench_.store().addArtifact(run, samples::falling(0.9, 100));
  const auto shown = page({run});
  const std::string csv = figure(*shown, "Controls").figure()->csv().toStdString();
  EXPECT_THAT(csv, test::HasTexts("causal attention has a higher rank than the ViT's,undecided,0,",
                                  "0 of 3 common seeds are done", "not counted: 1 with "))
      << "it was not made as the file says";
  EXPECT_EQ(csv.find("collapses"), std::string::npos) << "a claim about the accuracy";
}

TEST_F(SpectraVariants, AnExperimentWithoutClaimsHasNoVerdicts) {
  const std::int64_t run = add("causal", 0, store::RunState::Done);
  workbench_.store().addArtifact(run, samples::falling(0.9, 100));
  const auto shown = page({run});
  const Figure& controls = *figure(*shown, "Controls").figure();
  EXPECT_FALSE(controls.csv().contains(QLatin1String("verdict")));
  EXPECT_FALSE(controls.summary().contains(QLatin1String("undecided")));
  EXPECT_EQ(button(*shown, "Open the controls"), nullptr) << "its architecture is not known";
}

TEST_F(SpectraVariants, ControlsThatAnotherExperimentTrainsAreOpenedOrSelectedInOneClick) {
  const char* const kTitle = "iLLaMA attention rank with its controls";
  const Json config{{"model", {{"architecture", "illama"}}}};
  const std::int64_t run = runWith("a", {samples::falling(0.9, 100)}, config);
  const auto shown = page({run});
  EXPECT_THAT(labels(*shown), test::HasTexts("are trained by the experiment", kTitle));
  press(*shown, "Open the controls");
  ASSERT_EQ(workbench_.opened.size(), 1u);
  EXPECT_TRUE(workbench_.opened.front().endsWith(QLatin1String("illama/rank.toml")));
  experiment_ = kTitle;
  const std::int64_t causal = add("causal", 0, store::RunState::Done);
  (void)add("causal", 1, store::RunState::Done);
  const std::int64_t additive = add("causal, additive", 0, store::RunState::Done);
  workbench_.store().addArtifact(causal, samples::falling(0.9, 100));
  shown->waitUntilIdle();
  press(*shown, "Select the controls");
  EXPECT_EQ(workbench_.selection().drawn(), (std::vector<std::int64_t>{causal, additive}));
  shown->waitUntilIdle();
  EXPECT_EQ(button(*shown, "Select the controls"), nullptr) << "they are drawn";
}

TEST(RankControls, AreTheExperimentWithMostClaimsAboutTheRanks) {
  const RankControls controls = controlsOf("illama", "attention_rank");
  EXPECT_EQ(controls.file.filename(), "rank.toml") << "the roadmap has one claim alone";
  EXPECT_EQ(controlsOf("vit", "attention_rank").title, "") << "the tour has one claim alone";
  EXPECT_EQ(controlsOf("illama", "calibration").title, "");
  EXPECT_EQ(controlsOf("", "attention_rank").title, "");
}

TEST_F(SpectraVariants, ARankThatWasMeasuredOnceStandsInTheWholeTraining) {
  const std::int64_t run = runWith("a", {samples::falling(0.5, 0)});
  workbench_.row(run).totalSteps = 2000;
  store::RunStore& store = workbench_.store();
  const std::int64_t segment = store.openSegment(run, 0, store::thisWorker(), Json::object());
  store::RunStore::Batch batch;
  MetricRecord record{0, 0, 1, {}};
  record.values.emplace_back("analysis/attention_rank/effective_rank/layer0/head0", 6.2);
  batch.metrics.push_back(record);
  store.append(run, segment, batch);
  const auto shown = page({run});
  const auto& chart = dynamic_cast<const LineChartFigure&>(
                          *figure(*shown, "Effective rank over training").figure())
                          .chart();
  ASSERT_EQ(chart.series.size(), 1U);
  ASSERT_TRUE(chart.x.range.has_value());
  EXPECT_GT((*chart.x.range)[0], -100) << "no training begins before step 0";
  EXPECT_GE((*chart.x.range)[1], 2000);
}

TEST(SpectraWaterfall, OneStepIsSeenAtItsEnd) {
  WaterfallPicture fall;
  WaterfallPicture::Run run{.steps = {1000}, .totalSteps = 1000};
  run.columns.assign(1, HeadSpectrum{{1, 0.5F, 0.2F}, {0.6F, 0.9F, 1}});
  fall.runs = {run};
  const auto figure = makeWaterfallFigure(fall);
  const QImage image = figure->image(kSize, 1);
  const QRect lowest = where(*figure, QStringLiteral("of k = 1"));
  ASSERT_GT(lowest.width(), 200);
  const int y = lowest.center().y();
  EXPECT_NE(image.pixel(lowest.right() - 4, y), image.pixel(lowest.center().x(), y));
}

TEST(SpectraControls, AClaimAndItsEvidenceAreDrawnWithoutACut) {
  ClaimRow row;
  row.claim.name =
      "a causal mask gives a higher rank than the bidirectional attention of the same model, by 1";
  row.claim.margin = 1;
  row.judgement.verdict = Verdict::Reproduced;
  row.judgement.threshold = 1;
  row.judgement.statistics = statisticsOf(std::vector<double>{2.9, 3, 3.1});
  ControlsPicture picture{.claims = {row}, .notes = {QStringLiteral("4.0 before any training")}};
  QStringList words;
  for (const SvgDocument::Text& text :
       readSvg(figureBytes(*makeControlsFigure(picture), FigureFormat::Svg, {})).texts)
    words << text.words;
  const std::string all = words.join(QLatin1Char(' ')).simplified().toStdString();
  EXPECT_THAT(all, test::HasTexts("by 1", "claimed at least 1, 3 seeds", "4.0 before any"));
  EXPECT_FALSE(words.join(QString()).contains(QChar(0x2026))) << all;
}

TEST(SpectraControls, AVerdictIsAWordWithItsEvidence) {
  ClaimRow row;
  row.claim.name = "causal is higher";
  row.claim.margin = 1;
  row.judgement.verdict = Verdict::Reproduced;
  row.judgement.threshold = 1;
  row.judgement.statistics = statisticsOf(std::vector<double>{2.9, 3, 3.1});
  ControlsPicture picture{.claims = {row}};
  const auto figure = makeControlsFigure(picture);
  EXPECT_THAT(figure->summary().toStdString(),
              test::HasTexts("causal is higher, \u2713 reproduced", "claimed at least 1, 3 seeds"));
  QStringList words;
  for (const SvgDocument::Text& text :
       readSvg(figureBytes(*figure, FigureFormat::Svg, {})).texts)
    words << text.words;
  EXPECT_THAT(words.join(QLatin1Char('|')).toStdString(), HasSubstr("reproduced"));
  row.judgement.verdict = Verdict::Contradicted;
  EXPECT_EQ(verdictWords(row.judgement.verdict).toStdString(), "\u2717 contradicted");
  row.judgement.statistics = {};
  row.judgement.reason = "0 of 3 common seeds are done";
  EXPECT_EQ(evidenceText(row).toStdString(), "0 of 3 common seeds are done");
}

TEST(SeedVerdict, KeepsTheDigitsOfSeedsThatAgree) {
  SeedCurve base, other;
  base.name = QStringLiteral("base");
  base.sample.values = {{0, 4.25}, {1, 4.25}};
  base.sample.statistics = statisticsOf(std::vector<double>{4.25, 4.25});
  other = base;
  other.name = QStringLiteral("other");
  EXPECT_EQ(seedVerdict({base}).toStdString(), "base 4.25 \u00b1 0.00 (2 seeds)");
  const std::string verdict = seedVerdict({base, other}).toStdString();
  EXPECT_THAT(verdict, HasSubstr(": 0.00 \u00b1 0.00 against base (2 pairs)"));
}

}  // namespace
}  // namespace vitrine::ui
