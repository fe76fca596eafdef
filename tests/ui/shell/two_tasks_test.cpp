// Runs of two tasks in one window: each is shown by the card of its own task.
#include "tests/support/two_tasks.h"

#include <QSignalSpy>

#include "core/store/declared_metrics.h"
#include "tests/ui/support/find.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "tests/ui/support/test_files.h"
#include "ui/compare/compare_page.h"
#include "ui/kit/theme.h"
#include "ui/monitor/metric_card.h"
#include "ui/monitor/monitor_page.h"
#include "ui/runs/runs_panel.h"
#include "ui/shell/inspector.h"
#include "ui/workbench/fact_table.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {
namespace {

using Names = std::vector<std::string>;
using testing::addClassification, testing::addDrawing;

class TwoTasks : public ::testing::Test {
 protected:
  TwoTasks() {
    describeWith("cat '" + writeCatalog() + "'");
    for (const std::uint64_t seed : {0U, 1U}) {
      labels_.push_back(addClassification(studio_.writer, "labels", 0.8, seed));
      drawings_.push_back(addDrawing(studio_.writer, "drawing", 12.5, seed));
    }
    studio_.workbench.watcher().poll();
  }
  ~TwoTasks() override { qunsetenv("VITRINE_PROGRAM"); }

  QByteArray writeCatalog() {
    const std::string text = Json{{"catalog", toJson(testing::twoTasks())}}.dump();
    return makeFile(studio_.folder.filePath(QStringLiteral("catalog.json")),
                    QByteArray::fromStdString(text))
        .toLocal8Bit();
  }
  void describeWith(const QByteArray& script) { becomeProgram(studio_, script); }
  void select(const std::vector<std::int64_t>& runs) {
    studio_.workbench.selection().setRuns(runs, runs.front());
  }
  store::RunCard cardOfRun(std::int64_t run) {
    studio_.workbench.waitForCards();
    return store::runCard(
        store::cardOf(studio_.workbench.cards(), store::taskOf(studio_.writer.config(run))),
        studio_.writer.metricNames(run), metricKinds(studio_.writer));
  }
  QStringList factsOf(std::int64_t run) {
    QStringList lines;
    for (const Fact& fact : runFacts(studio_.writer.run(run), studio_.writer.summaries(run), Json(),
                                     cardOfRun(run), metricKinds(studio_.writer)))
      lines << fact.label + QStringLiteral(": ") + fact.value;
    return lines;
  }

  SampleStudio studio_{SampleOptions{0, 0}};
  std::vector<std::int64_t> labels_, drawings_;
};

TEST_F(TwoTasks, TheListShowsTheScoreOfEachTask) {
  RunsPanel panel(studio_.workbench);
  studio_.workbench.waitForCards();
  const auto shown = [&](std::int64_t run, int role) {
    return panel.model().indexOf(run).data(role).toString().toStdString();
  };
  EXPECT_EQ(shown(labels_[0], RunsModel::ScoreRole), "80.0\u2009%");
  EXPECT_EQ(shown(drawings_[0], RunsModel::ScoreRole), "12.50");
  EXPECT_NE(shown(drawings_[0], Qt::ToolTipRole).find("FID, test, last value: 12.50"),
            std::string::npos);
}

TEST_F(TwoTasks, TheListShowsNoScoreOfAnotherMetricBeforeTheCardsCome) {
  describeWith("sleep 1; cat '" + writeCatalog() + "'");
  RunsPanel panel(studio_.workbench);
  const auto score = [&] {
    return panel.model().indexOf(labels_[0]).data(RunsModel::ScoreRole).toString().toStdString();
  };
  EXPECT_EQ(score(), "");
  addDrawing(studio_.writer, "drawing", 12.5, 2);
  studio_.workbench.watcher().poll();
  QTest::qWait(200);
  EXPECT_EQ(score(), "") << "another reading meanwhile";
  studio_.workbench.waitForCards();
  EXPECT_EQ(score(), "80.0\u2009%");
}

TEST_F(TwoTasks, TheListShowsScoresThatNoCardNames) {
  describeWith("exit 1");
  RunsPanel panel(studio_.workbench);
  studio_.workbench.waitForCards();
  EXPECT_TRUE(studio_.workbench.cards().empty());
  for (const auto& [run, score] : {std::pair(labels_[0], "80.0\u2009%"), {drawings_[0], "12.50"}}) {
    EXPECT_EQ(panel.model().indexOf(run).data(RunsModel::ScoreRole).toString().toStdString(),
              score);
  }
}

TEST_F(TwoTasks, TheFactsOfARunAreTheHeadlineOfItsTask) {
  const QStringList labels = factsOf(labels_[0]), drawing = factsOf(drawings_[0]);
  for (const char* line : {"Accuracy, test: 80.0\u2009%", "ECE, test: 3.0\u2009%",
                           "Top-5, test: 99.0\u2009%", "Speed: 5,120\u2009images/s"})
    EXPECT_TRUE(labels.contains(QString::fromUtf8(line))) << labels.join('\n').toStdString();
  for (const char* line : {"FID, test: 12.50", "Speed: 5,120\u2009tokens/s"})
    EXPECT_TRUE(drawing.contains(QString::fromUtf8(line))) << drawing.join('\n').toStdString();
  EXPECT_TRUE(drawing.filter(QStringLiteral("Accuracy")).isEmpty());
}

TEST_F(TwoTasks, TheInspectorTakesTheCardOfTheCurrentRun) {
  Inspector inspector(studio_.workbench);
  select({drawings_[0]});
  studio_.workbench.waitForCards();
  const auto labels = [&inspector] {
    QStringList found;
    for (const FactTable* table : inspector.findChildren<FactTable*>()) {
      for (int row = 0; row < table->topLevelItemCount(); ++row)
        found << table->topLevelItem(row)->text(0);
    }
    return found;
  };
  EXPECT_TRUE(labels().contains(QStringLiteral("FID, test"))) << labels().join('\n').toStdString();

  store::declareMetrics(studio_.writer, {{"test/fid", "Distance", "", "lower", ""}});
  select({labels_[0]});
  select({drawings_[0]});
  EXPECT_TRUE(labels().contains(QStringLiteral("Distance, test")))
      << "titles that a run declares while the window is open: "
      << labels().join('\n').toStdString();
}

TEST_F(TwoTasks, ALongValueCutsNoLabelOfItsTable) {
  FactTable table(QStringLiteral("Recipe"));
  table.setLabelWidth(134);
  table.resize(px(270), px(100));
  table.show();
  const QString label = QStringLiteral("relative tolerance");
  table.setFacts({{label, QStringLiteral("0.001"), {}},
                  {QStringLiteral("run"), QString(80, QLatin1Char('w')), {}}});
  EXPECT_GE(table.columnWidth(0), table.fontMetrics().horizontalAdvance(label) + px(8));
}

TEST_F(TwoTasks, TheMonitorPinsThePlotsOfTheSelectedTasksUntilTheUserChooses) {
  MonitorPage page(studio_.workbench);
  page.resize(1000, 700);
  page.show();
  const auto shown = [&](const std::vector<std::int64_t>& runs) {
    select(runs);
    page.waitUntilIdle();
    return page.metrics();
  };
  const Names drawing{"train/loss/diffusion", "optimizer/learning_rate"};
  EXPECT_EQ(shown({drawings_[0]}), drawing);
  ASSERT_EQ(page.cards().size(), 2U);
  EXPECT_EQ(page.cards().front()->plot().curves().size(), 1U);
  EXPECT_EQ(shown({labels_[0]}), (Names{"train/loss", "test/top1", "optimizer/learning_rate"}));
  EXPECT_EQ(shown({labels_[0], drawings_[0]}),
            (Names{"train/loss", "test/top1", "train/loss/diffusion", "optimizer/learning_rate"}));
  page.setMetrics({"test/fid"});
  EXPECT_EQ(shown({labels_[0]}), Names{"test/fid"}) << "chosen";
  page.setUsualMetrics();
  EXPECT_EQ(shown({drawings_[0]}), drawing);
  forgetSettings();
}

TEST_F(TwoTasks, TheMonitorKeepsAViewThatFollowsTheTask) {
  MonitorPage page(studio_.workbench);
  page.resize(1000, 700);
  page.show();
  select({labels_[0]});
  page.waitUntilIdle();
  const Json usual = page.viewState();
  page.setMetrics({"test/ece"});
  page.setViewState(usual);
  select({drawings_[0]});
  page.waitUntilIdle();
  EXPECT_EQ(page.metrics().front(), "train/loss/diffusion");
  forgetSettings();
}

TEST_F(TwoTasks, TheStepBarCountsInTheUnitOfTheTask) {
  const std::int64_t run = addDrawing(studio_.writer, "live", 9, 2, store::RunState::Running);
  studio_.workbench.watcher().poll();
  MonitorPage page(studio_.workbench);
  page.show();
  select({run});
  page.waitUntilIdle();
  bool isSaid = false;
  for (const QLabel* label : only<RunStrip>(page).findChildren<QLabel*>())
    isSaid = isSaid || label->text().contains(QStringLiteral("5,120 tokens/s"));
  EXPECT_TRUE(isSaid);
}

TEST_F(TwoTasks, CompareBeginsWithTheScoreOfTheTask) {
  ComparePage page(studio_.workbench);
  page.resize(1000, 700);
  page.show();
  const auto speed = [&] {
    for (const Quantity& quantity : page.data()->quantities) {
      if (quantity.id == "cost:speed") return quantity.unit.toStdString();
    }
    return std::string();
  };
  select(drawings_);
  page.waitUntilIdle();
  ASSERT_NE(page.data(), nullptr);
  EXPECT_EQ(page.data()->metrics, Names{"test/fid"});
  EXPECT_EQ(speed(), "tokens/s");
  select({labels_[0], drawings_[0]});
  page.waitUntilIdle();
  EXPECT_EQ(page.data()->metrics, Names{"test/top1"});
  EXPECT_EQ(speed(), "samples/s");
}

TEST_F(TwoTasks, AFailureToDescribeIsToldOnlyWhereTheSchemasAreNeeded) {
  describeWith("exit 1");
  QSignalSpy said(&studio_.workbench, &StudioWorkbench::messageSent);
  QSignalSpy failed(&studio_.workbench, &Workbench::catalogFailed);
  studio_.workbench.waitForCards();
  EXPECT_EQ(said.count() + failed.count(), 0);
  (void)studio_.workbench.catalog();
  EXPECT_TRUE(soon([&] { return failed.count() == 1; }));
}

TEST(MetricCard, HasAReadableTitleForEveryMetric) {
  const auto titles = [](const char* name) {
    const MetricCard card = metricCard(name);
    return (card.title + QStringLiteral(" | ") + card.subtitle).toStdString();
  };
  EXPECT_EQ(titles("test/top1"), "Accuracy, test | top-1");
  EXPECT_EQ(titles("test/ece@ema"), "Calibration error, test, averaged weights | ECE, 15 bins");
  EXPECT_EQ(titles("test/word_error_rate"), "Word error rate, test | test");
  EXPECT_EQ(titles("train/loss/diffusion"), "Loss (diffusion), train | ");
  EXPECT_EQ(titles("system/tokens_per_second"), "Speed | tokens/s");
  EXPECT_EQ(titles("analysis/attention_rank/rank80/layer1"),
            "Rank at 80 %, layer 1 | singular values, mean over heads");
  EXPECT_EQ(titles("analysis/attention_rank/rank80/layer1/head2"),
            "Rank at 80 %, layer 1 | head 2");
  EXPECT_EQ(titles("analysis/colour/spread_of_hue"), "Spread of hue | colour");
  EXPECT_FALSE(metricCard("optimizer/learning_rate").isNoisy);
}

}  // namespace
}  // namespace vitrine::ui
