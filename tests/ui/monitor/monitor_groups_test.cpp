// Seeds of a variant as one curve with a band on the Monitor.
#include <gmock/gmock.h>

#include <QTest>

#include "tests/support/has_texts.h"
#include "tests/ui/compare/ablation.h"
#include "tests/ui/support/probe.h"
#include "tests/ui/support/qt_test.h"
#include "ui/figures/line_chart.h"
#include "ui/monitor/monitor_page.h"

namespace vitrine::ui {
namespace {

using ::testing::ElementsAre, ::testing::HasSubstr;

constexpr const char* kTop1 = "test/top1";

struct OpenAblation {
  OpenAblation() : studio({0, 0}), runs(fillAblation(studio.writer)) {
    studio.workbench.watcher().poll();
    select({runs[0], runs[1], runs[2], runs[3], runs[4], runs[5]});
    page = std::make_unique<MonitorPage>(studio.workbench);
    page->setMetrics({kTop1});
    page->resize(1000, 700);
    page->show();
    page->waitUntilIdle();
  }
  void select(const std::vector<std::int64_t>& ids) {
    studio.workbench.selection().setRuns(ids, ids.front());
  }
  /// Chooses it in the menu of the tool bar.
  void chooseSeeds(const QString& text) {
    QAction* tool = seedsTool();
    ASSERT_NE(tool, nullptr);
    for (QAction* choice : tool->menu()->actions())
      if (choice->text() == text) choice->trigger();
    page->waitUntilIdle();
  }
  QAction* seedsTool() {
    for (QAction* tool : page->tools())
      if (tool->text().startsWith(QStringLiteral("Seeds"))) return tool;
    return nullptr;
  }
  CurvePlot& plot() { return page->card(kTop1)->plot(); }

  SampleStudio studio;
  std::vector<std::int64_t> runs;
  std::unique_ptr<MonitorPage> page;
};

const QString kRange = QStringLiteral("Mean, minimum to maximum");

struct MonitorSeeds : ::testing::Test {
  OpenAblation open;
};

TEST_F(MonitorSeeds, AreOneCurveAVariantWithABand) {
  EXPECT_EQ(open.plot().curves().size(), 6u);
  open.chooseSeeds(kRange);
  EXPECT_EQ(open.seedsTool()->text(), QStringLiteral("Seeds: mean"));
  const auto& curves = open.plot().curves();
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[0].name, QStringLiteral("base (n = 3)"));
  EXPECT_EQ(curves[1].name, QStringLiteral("+ better (n = 3)"));
  EXPECT_EQ(curves[0].run, open.runs[0]) << "its colour";
  EXPECT_NEAR(curves[0].series->y().back(), 0.82, 1e-12);
  EXPECT_NEAR(curves[0].group->low.y().back(), 0.80, 1e-12);
  EXPECT_NEAR(curves[0].group->high.y().back(), 0.84, 1e-12);
  (void)open.plot().grab();
  ASSERT_EQ(Probe::bands(open.plot()).size(), 2u);
  ASSERT_EQ(Probe::bands(open.plot())[0].outlines.size(), 1u);
  EXPECT_EQ(Probe::bands(open.plot())[0].outlines[0].size(), 6u) << "three points there and back";
  EXPECT_LE(open.plot().yAxis().lower, 0.5);
  EXPECT_GE(open.plot().yAxis().upper, 0.861) << "the bands are in sight";
  open.chooseSeeds(QStringLiteral("Each run"));
  EXPECT_EQ(open.plot().curves().size(), 6u);
  (void)open.plot().grab();
  EXPECT_TRUE(Probe::bands(open.plot()).empty());
}

TEST_F(MonitorSeeds, ABandIsSeenBetweenItsEdgesAndNotOutside) {
  open.select({open.runs[0], open.runs[1], open.runs[2]});
  open.chooseSeeds(kRange);
  CurvePlot& plot = open.plot();
  const QImage picture = plot.grab().toImage();
  const auto colorAt = [&](double step, double value) {
    return picture.pixelColor(qRound(plot.xAxis().pixelOf(step)),
                              qRound(plot.yAxis().pixelOf(value)));
  };
  const QColor inside = colorAt(25, 0.77 + 0.01), outside = colorAt(25, 0.77 + 0.06);
  EXPECT_NE(inside, outside);
  EXPECT_EQ(outside, themeColors().panel);
}

TEST_F(MonitorSeeds, TheLegendAndTheSubtitleSayWhatIsDrawn) {
  open.chooseSeeds(QStringLiteral("Mean \u00b1 standard deviation"));
  QStringList texts;
  for (const QLabel* label : open.page->card(kTop1)->findChildren<QLabel*>())
    if (label->isVisibleTo(open.page.get())) texts << label->text();
  const std::string all = texts.join(QLatin1Char('\n')).toStdString();
  EXPECT_THAT(
      all, test::HasTexts("base (n\u00a0=\u00a03)", "top-1 \u00b7 mean \u00b1 standard deviation"));
}

TEST_F(MonitorSeeds, FollowRunsThatGrow) {
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> segments;
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    ids.push_back(addAblationRun(open.studio.writer,
                                 {"base", {{"width", 9}}, seed, {}, store::RunState::Running}));
    segments.push_back(open.studio.writer.openSegment(ids.back(), 0, store::thisWorker(), {}));
  }
  const auto append = [&](std::size_t run, std::int64_t step, double value) {
    open.studio.writer.append(ids[run], segments[run],
                              {.metrics = {{.step = step, .values = {{kTop1, value}}}}});
  };
  for (const std::size_t run : {0u, 1u}) {
    append(run, 10, 0.1);
    append(run, 20, 0.2);
  }
  open.studio.workbench.watcher().poll();
  open.select(ids);
  open.chooseSeeds(kRange);
  ASSERT_EQ(open.plot().curves().size(), 1u);
  EXPECT_EQ(open.plot().curves()[0].series->size(), 2u);
  append(0, 30, 0.3);
  open.studio.workbench.watcher().poll();
  open.page->waitUntilIdle();
  EXPECT_EQ(open.plot().curves()[0].series->size(), 2u) << "up to the shortest seed";
  append(1, 30, 0.5);
  open.studio.workbench.watcher().poll();
  open.page->waitUntilIdle();
  ASSERT_EQ(open.plot().curves()[0].series->size(), 3u);
  EXPECT_NEAR(open.plot().curves()[0].series->y().back(), 0.4, 1e-12);
}

TEST_F(MonitorSeeds, AreSingleRunsOverAClock) {
  open.chooseSeeds(kRange);
  PlotSettings settings = open.page->settings();
  settings.x = XAxis::Wall;
  open.page->setSettings(settings);
  open.page->waitUntilIdle();
  EXPECT_EQ(open.plot().curves().size(), 6u);
  EXPECT_FALSE(open.seedsTool()->isEnabled());
  settings.x = XAxis::Time;
  open.page->setSettings(settings);
  open.page->waitUntilIdle();
  ASSERT_EQ(open.plot().curves().size(), 2u);
  EXPECT_THAT(std::vector<double>(open.plot().curves()[0].series->x(XAxis::Time).begin(),
                                  open.plot().curves()[0].series->x(XAxis::Time).end()),
              ElementsAre(5, 10, 15));
}

TEST_F(MonitorSeeds, AreAPartOfTheView) {
  open.chooseSeeds(kRange);
  const Json view = open.page->viewState();
  MonitorPage other(open.studio.workbench);
  other.resize(1000, 700);
  other.show();
  other.setViewState(view);
  other.waitUntilIdle();
  EXPECT_EQ(other.settings().band, Spread::Range);
  EXPECT_EQ(other.card(kTop1)->plot().curves().size(), 2u);
  EXPECT_EQ(other.viewState(), view);
}

TEST_F(MonitorSeeds, AFigureHasTheBandsAndSaysWhatTheyAre) {
  open.chooseSeeds(kRange);
  open.plot().setFocus();
  const auto figure = open.page->figure();
  auto* chart = dynamic_cast<LineChartFigure*>(figure.get());
  ASSERT_NE(chart, nullptr);
  ASSERT_EQ(chart->chart().series.size(), 2u);
  EXPECT_NEAR(chart->chart().series[0].low.back(), 0.80, 1e-12);
  EXPECT_NEAR(chart->chart().series[0].high.back(), 0.84, 1e-12);
  EXPECT_THAT(chart->chart().footnote.toStdString(), HasSubstr("mean, band: minimum to maximum"));
}

TEST_F(MonitorSeeds, ANoteOfAnySeedStandsAtTheirCurve) {
  open.page->addNote(open.runs[1], kTop1, 20, QStringLiteral("rate drops"));
  open.chooseSeeds(kRange);
  ASSERT_EQ(open.plot().notes().size(), 1u);
  EXPECT_EQ(open.plot().notes()[0].run, open.runs[0]);
}

TEST_F(MonitorSeeds, OfAMetricWithOneValueAreABarWithItsEnds) {
  std::vector<std::int64_t> ids;
  for (std::uint64_t seed = 0; seed < 2; ++seed)
    ids.push_back(addAblationRun(open.studio.writer,
                                 {"once", {{"width", 9}}, seed, {seed == 0 ? 0.25 : 0.75}}));
  open.studio.workbench.watcher().poll();
  open.select(ids);
  open.chooseSeeds(kRange);
  ASSERT_TRUE(open.plot().hasOneValue());
  EXPECT_EQ(open.plot().bars("Accuracy", "")->csv().toStdString(),
            "run,name,value,low,high\n" + std::to_string(ids[0]) + ",once (n = 2),0.5,0.25,0.75\n");
}

TEST_F(MonitorSeeds, OfImportedRunsWithoutASeedStayApart) {
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 2; ++i) {
    store::NewRun run{.name = "imported"};
    auto& writer = open.studio.writer;
    ids.push_back(writer.addRuns(writer.experiment("Imported", ""), {run}).front());
    const std::int64_t segment = writer.openSegment(ids.back(), 0, store::thisWorker(), {});
    writer.append(ids.back(), segment, {.metrics = {{.values = {{kTop1, 0.5}}}}});
  }
  open.studio.workbench.watcher().poll();
  open.select(ids);
  open.chooseSeeds(kRange);
  EXPECT_EQ(open.plot().curves().size(), 2u);
}

}  // namespace
}  // namespace vitrine::ui
