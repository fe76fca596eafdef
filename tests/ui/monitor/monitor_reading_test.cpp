// What the Monitor reads, and on which thread: counted with SQLite's own trace of every statement.
#include <sqlite3.h>

#include <QCoreApplication>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "tests/ui/support/probe.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "ui/monitor/monitor_page.h"

namespace vitrine::ui {
namespace {

std::thread::id countedThread;
std::atomic<int> countedStatements{0}, otherStatements{0};

int onStatement(unsigned /*kind*/, void* /*context*/, void* /*statement*/, void* /*text*/) {
  ++(std::this_thread::get_id() == countedThread ? countedStatements : otherStatements);
  return 0;
}

int traceConnection(sqlite3* database, char** /*error*/, const sqlite3_api_routines* /*api*/) {
  return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, onStatement, nullptr);
}

/// Counts the statements of all connections that are opened while it lives.
struct StatementCount {
  StatementCount() {
    countedThread = std::this_thread::get_id();
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(traceConnection));
  }
  ~StatementCount() { sqlite3_reset_auto_extension(); }
  /// Statements of this thread since the last call.
  static int here() { return countedStatements.exchange(0); }
  static int elsewhere() { return otherStatements.exchange(0); }
};

bool areShown(MonitorPage& page, std::size_t curves) {
  if (page.cards().empty() || Probe::isReading(page)) return false;
  for (PlotCard* card : page.cards())
    if (card->plot().curves().size() != curves) return false;
  return true;
}

TEST(MonitorReading, AsksTheStoreNothingOnTheThreadOfTheWindow) {
  const StatementCount count;
  SampleStudio studio(SampleOptions{0, 1500});
  EXPECT_GT(StatementCount::here(), 0) << "opening and filling is counted";
  studio.workbench.selection().setRuns({studio.runs[6], studio.runs[7], studio.runs[8]},
                                       studio.runs[8]);
  MonitorPage page(studio.workbench);
  page.resize(1000, 700);
  page.show();
  EXPECT_TRUE(soon([&] { return areShown(page, 3); }));
  EXPECT_EQ(StatementCount::here(), 0) << "of opening the page";
  EXPECT_GT(StatementCount::elsewhere(), 0);

  studio.workbench.selection().setRuns({studio.runs[0], studio.runs[1]}, studio.runs[0]);
  EXPECT_TRUE(soon([&] { return areShown(page, 2); }));
  for (const XAxis axis : {XAxis::Wall, XAxis::Metric, XAxis::Step}) {
    PlotSettings settings = page.settings();
    settings.x = axis;
    settings.xMetric = axis == XAxis::Metric ? "optimizer/learning_rate" : "";
    page.setSettings(settings);
    EXPECT_TRUE(soon([&] { return !Probe::isReading(page); }));
  }
  for (const QString& group : page.groups()) page.setGroupOpen(group, true);
  page.waitUntilIdle();
  EXPECT_EQ(StatementCount::here(), 0) << "of runs, axes and groups";
}

TEST(MonitorReading, OfLiveDataAsksNothingOnTheThreadOfTheWindowEither) {
  const StatementCount count;
  SampleStudio studio(SampleOptions{0, 1500});
  studio.workbench.selection().setRuns({studio.runs[8]}, studio.runs[8]);
  MonitorPage page(studio.workbench);
  page.resize(1000, 700);
  page.show();
  page.waitUntilIdle();
  const CurveSeries& series = *page.cards().front()->plot().curves().front().series;
  const std::size_t before = series.size();
  appendSamplePoints(studio.writer, studio.runs[8], 1, 8, 1400, 1408, 3000);
  studio.workbench.watcher().poll();  // what the watcher asks is its own
  (void)StatementCount::here();
  EXPECT_TRUE(soon([&] { return series.size() == before + 8; }));
  EXPECT_EQ(StatementCount::here(), 0);
}

TEST(MonitorReading, OverTheClockOfWhatARunNeverMeasuredIsAskedOnce) {
  const StatementCount count;
  SampleStudio studio(SampleOptions{0, 300});
  studio.workbench.selection().setRuns({studio.runs[0], studio.runs[1]}, studio.runs[0]);
  MonitorPage page(studio.workbench);
  page.setMetrics({"train/loss", "never/measured"});
  page.resize(1000, 700);
  page.show();
  PlotSettings settings = page.settings();
  settings.x = XAxis::Wall;
  page.setSettings(settings);
  const auto isShown = [&page] {
    return !Probe::isReading(page) && page.card("train/loss")->plot().curves().size() == 2;
  };
  EXPECT_TRUE(soon(isShown));
  page.waitUntilIdle();
  // A reading that asks for the next one does it with the events that its end brings.
  const auto passEvents = [&page] {
    for (int round = 0; round < 5; ++round) {
      QCoreApplication::processEvents();
      EXPECT_TRUE(soon([&page] { return !Probe::isReading(page); }));
    }
  };
  passEvents();
  (void)StatementCount::elsewhere();
  passEvents();
  EXPECT_EQ(StatementCount::elsewhere(), 0);
}

TEST(MonitorReading, SmoothsLongCurvesAgainOffTheThreadOfTheWindow) {
  SampleStudio studio(SampleOptions{0, 300});
  const std::int64_t run = studio.runs[8];
  store::RunStore::Batch batch;
  for (int i = 0; i < 2 * static_cast<int>(CurveSeries::kSmoothedAtOnce); ++i) {
    batch.metrics.push_back(
        {.step = 100'000 + i, .values = {{"train/loss", 1 + 0.5 * std::sin(i)}}});
  }
  studio.writer.append(run, 1, batch);
  studio.workbench.selection().setRuns({run}, run);
  MonitorPage page(studio.workbench);
  page.setMetrics({"train/loss"});
  page.resize(1000, 700);
  page.show();
  page.waitUntilIdle();
  const CurvePlot& plot = page.card("train/loss")->plot();
  ASSERT_EQ(plot.curves().size(), 1u);
  const CurveSeries& series = *plot.curves().front().series;
  const Smoothing before = plot.settings().smoothing;
  PlotSettings settings = page.settings();
  for (const Smoothing& other :
       {Smoothing{Smoothing::Kind::Centred, 25}, Smoothing{Smoothing::Kind::Ema, 0.99}}) {
    settings.smoothing = other;
    page.setSettings(settings);
    EXPECT_TRUE(plot.settings().smoothing == before) << "drawn as before until the other is made";
    EXPECT_FALSE(series.isReady(other));
  }
  EXPECT_TRUE(soon([&] { return plot.settings().smoothing == settings.smoothing; }));
  EXPECT_TRUE(series.isReady(settings.smoothing));
  const auto looked = series.looked();
  const auto shown = series.smoothed(settings.smoothing);
  EXPECT_EQ(series.looked(), looked) << "nothing is left to do where it is drawn";
  SmoothedLine line(settings.smoothing);
  line.follow(series.y());
  EXPECT_TRUE(std::equal(shown.begin(), shown.end(), line.values().begin(), line.values().end()));
}

TEST(MonitorReading, ShowsTheNewestSelectionHoweverFastItChanges) {
  SampleStudio studio(SampleOptions{0, 3000});
  MonitorPage page(studio.workbench);
  page.resize(1000, 700);
  page.show();
  for (int turn = 0; turn < 20; ++turn) {
    const std::int64_t run = studio.runs[static_cast<std::size_t>(turn % 3)];
    studio.workbench.selection().setRuns({run}, run);
    QCoreApplication::processEvents();
  }
  const std::int64_t last = studio.runs[19 % 3];
  EXPECT_TRUE(soon([&] { return areShown(page, 1); }));
  for (PlotCard* card : page.cards()) EXPECT_EQ(card->plot().curves().front().run, last);
  EXPECT_FALSE(Probe::isReading(page));
}

TEST(MonitorReading, ReadsARunThatHasEndedOnlyOnce) {
  SampleStudio studio(SampleOptions{0, 1500});
  studio.workbench.selection().setRuns({studio.runs[0]}, studio.runs[0]);
  ASSERT_FALSE(isAlive(studio.workbench.run(studio.runs[0])->state));
  MonitorPage page(studio.workbench);
  page.resize(1000, 700);
  page.show();
  page.waitUntilIdle();
  const std::int64_t before = Probe::readings(page);
  page.waitUntilIdle();
  page.waitUntilIdle();
  EXPECT_EQ(Probe::readings(page), before);
}

}  // namespace
}  // namespace vitrine::ui
