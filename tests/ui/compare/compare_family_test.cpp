// Scores of an analysis at several numbers: one curve a variant.
#include <gmock/gmock.h>

#include "core/store/declared_metrics.h"
#include "tests/support/has_texts.h"
#include "tests/ui/compare/compare_page_fixture.h"
#include "tests/ui/support/find.h"
#include "ui/figures/figure_view.h"
#include "ui/figures/line_chart.h"

namespace vitrine::ui {
namespace {

using ::testing::ElementsAre;

class CompareFamily : public ComparePageTest {
 protected:
  /// Two variants of three seeds: the second one is 10 points better at 112, and alike elsewhere.
  void fillSweep() {
    for (const bool isWide : {false, true}) {
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const double shift = 0.02 * static_cast<double>(seed);
        AblationRun run{
            isWide ? "+ wide" : "base", {{"width", isWide ? 64 : 48}}, seed, {0.4, 0.5}};
        run.scores = {{"analysis/sweep/top1/28", 0.8 + shift},
                      {"analysis/sweep/top1/56", 0.6 + shift},
                      {"analysis/sweep/top1/112", (isWide ? 0.4 : 0.3) + shift}};
        addAblationRun(studio_.writer, run);
      }
    }
  }
  void choose(const std::string& metric, ComparePicture picture = ComparePicture::Table) {
    CompareChoice choice = page_->choice();
    choice.metrics = {metric};
    choice.picture = picture;
    page_->choose(choice);
    page_->waitUntilIdle();
  }
  const LineChart* chart(FigureView& view) {
    const auto* figure = dynamic_cast<const LineChartFigure*>(view.figure());
    return figure == nullptr ? nullptr : &figure->chart();
  }
};

TEST_F(CompareFamily, IsDrawnAgainstItsNumbersWithTheSpreadOverSeeds) {
  fillSweep();
  show();
  choose("analysis/sweep/top1/56");
  const LineChart* values = chart(curves());
  ASSERT_NE(values, nullptr);
  ASSERT_EQ(values->series.size(), 2U);
  EXPECT_EQ(values->x.title.toStdString(), "sweep");
  EXPECT_EQ(values->y.title.toStdString(), "Accuracy (%)");
  const ChartSeries& base = values->series[0];
  EXPECT_EQ(base.name.toStdString(), "base (n = 3)");
  EXPECT_THAT(base.x, ElementsAre(28, 56, 112)) << "by number, not by letters";
  EXPECT_NEAR(base.y.at(1), 62, 1e-9);
  ASSERT_EQ(base.low.size(), 3U);
  EXPECT_NEAR(base.high.at(1) - base.y.at(1), 4.9687, 1e-3) << "4.303 * 2 / sqrt(3)";
  const LineChart* differences = chart(difference());
  ASSERT_NE(differences, nullptr);
  ASSERT_EQ(differences->series.size(), 1U) << "the baseline has no difference";
  EXPECT_NEAR(differences->series[0].y.at(0), 0, 1e-9);
  EXPECT_NEAR(differences->series[0].y.at(2), 10, 1e-9);
}

TEST_F(CompareFamily, DifferencesOfFractionsAreInPoints) {
  store::declareMetrics(studio_.writer, {{"analysis/*/fall/*", "fall", "points", "lower", ""}});
  for (const char* variant : {"base", "+ wide"}) {
    AblationRun run{variant, {{"width", variant[0] == '+' ? 64 : 48}}, 0, {0.4, 0.5}};
    run.scores = {{"analysis/sweep/fall/56", 0.179}, {"analysis/sweep/fall/112", 0.3}};
    addAblationRun(studio_.writer, run);
  }
  show();
  choose("analysis/sweep/fall/56");
  const LineChart* values = chart(curves());
  ASSERT_NE(values, nullptr);
  EXPECT_EQ(values->y.title.toStdString(), "Fall (points)");
  ASSERT_EQ(values->series.size(), 2U);
  EXPECT_NEAR(values->series[0].y.at(0), 17.9, 1e-9);
}

TEST_F(CompareFamily, HasTheRowsThatAreSelectedAndIsExported) {
  fillSweep();
  show();
  choose("analysis/sweep/top1/112", ComparePicture::Curves);
  EXPECT_THAT(page_->figure()->csv().toStdString(), test::HasLine("base (n = 3),112,"));
  only<QTableView>(*page_).selectRow(1);
  page_->waitUntilIdle();
  const LineChart* values = chart(curves());
  ASSERT_NE(values, nullptr);
  ASSERT_EQ(values->series.size(), 1U);
  EXPECT_EQ(values->series[0].name.toStdString(), "+ wide (n = 3)");
}

TEST_F(CompareFamily, LeavesOtherMetricsTheirCurvesOverTraining) {
  fillSweep();
  show();
  choose("test/top1");
  const LineChart* again = chart(curves());
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->x.title.toStdString(), "step");
}

}  // namespace
}  // namespace vitrine::ui
