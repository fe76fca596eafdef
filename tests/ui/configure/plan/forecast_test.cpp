// The estimated time of planned runs, and its source.
#include "tests/ui/configure/configure_fixture.h"
#include "ui/configure/plan/planned_runs.h"
#include "ui/configure/plan/side_panel.h"

namespace vitrine::ui {
namespace {

class Forecasts : public Configure {
 protected:
  /// A page whose runs have 1,000 steps.
  std::unique_ptr<ConfigurePage> thousandSteps() {
    auto shown = page();
    type(*shown, "train.steps", QStringLiteral("1000"));
    type(*shown, "train.epochs", QString());
    shown->planNow();
    return shown;
  }
  /// A run that is done: 400 steps of 0.1 s.
  std::int64_t done(const Json& config, const char* device = "cpu") {
    const std::int64_t run = workbench_.addRun("earlier", config);
    store::RunRow& row = workbench_.row(run);
    row.state = store::RunState::Done;
    row.device = device;
    row.step = row.totalSteps = 400;
    row.startedAt = "2026-01-01T00:00:00.000Z";
    row.finishedAt = "2026-01-01T00:00:40.000Z";
    return run;
  }
  /// The program counts four times the operations where the width is not 32.
  void countByWidth() {
    writeScript(
        program_,
        "if grep -q 'width = 32$'; then f=1e6; else f=4e6; fi\n"
        "echo '{\"problems\":[],\"warnings\":[],\"totals\":{\"parameters\":1,\"flops\":'$f'}}'");
  }
};

TEST_F(Forecasts, OfTheSameModelWithAnotherLengthAreItsStepsAtTheSameSpeed) {
  const auto shown = thousandSteps();
  Json config = shown->plan().runs.at(0).config;
  config["train"]["steps"] = 400;
  const std::int64_t run = done(config);
  shown->waitUntilIdle();
  EXPECT_NEAR(Probe::forecast(*shown).seconds, 100, 1e-6);
  EXPECT_EQ(Probe::forecast(*shown).timeSource.toStdString(),
            "from run #" + std::to_string(run) + ": same model, batch size and device");
}

TEST_F(Forecasts, OfAnotherBatchSizeAreScaledByItsImagesAndSaySo) {
  const auto shown = thousandSteps();
  Json config = shown->plan().runs.at(0).config;
  const auto batch = config["train"]["batch_size"].get<std::int64_t>();
  config["train"]["batch_size"] = 2 * batch;
  const std::int64_t first = done(config);
  const std::int64_t second = done(config);
  shown->waitUntilIdle();
  EXPECT_NEAR(Probe::forecast(*shown).seconds, 50, 1e-6);
  const QString basis = Probe::forecast(*shown).timeSource;
  EXPECT_TRUE(basis.startsWith(QStringLiteral("from 2 runs of picture"))) << basis.toStdString();
  EXPECT_TRUE(basis.contains(QStringLiteral("(#%1 and #%2)").arg(first).arg(second)));
  EXPECT_TRUE(basis.endsWith(QStringLiteral("other batch size, scaled by the samples of a step")))
      << basis.toStdString();
  EXPECT_TRUE(labels(*shown).contains(basis)) << "the ground stands beside the number";
}

TEST_F(Forecasts, OfATaskThatCountsTokensTakeWhatTheRunItselfExpects) {
  Catalog catalog = testCatalog();
  for (ItemCard& item : catalog.items) {
    if (item.kind == ItemKind::Task) item.metrics.unit = "tokens";
  }
  workbench_.become(catalog);
  const auto shown = thousandSteps();
  const std::int64_t run = workbench_.addRun("live", shown->plan().runs.at(0).config);
  store::RunRow& row = workbench_.row(run);
  row.state = store::RunState::Running;
  row.device = "cpu";
  row.step = 100;
  row.totalSteps = 400;
  row.imagesPerSecond = 1e6;
  row.remainingSeconds = 60;
  shown->waitUntilIdle();
  EXPECT_NEAR(Probe::forecast(*shown).seconds, 200, 1e-6) << "0.2 s a step, whatever a token is";
}

TEST_F(Forecasts, OfAnotherModelAreScaledByTheOperationsThatCheckCountsForBoth) {
  countByWidth();
  const auto shown = thousandSteps();
  Json config = shown->plan().runs.at(0).config;
  config["model"]["width"] = 32;
  done(config);
  shown->waitUntilIdle();
  EXPECT_NEAR(Probe::forecast(*shown).seconds, 400, 1e-6);
  EXPECT_TRUE(Probe::forecast(*shown).timeSource.endsWith(
      QStringLiteral("other settings of the model, scaled by the operations of a step")))
      << Probe::forecast(*shown).timeSource.toStdString();
}

TEST_F(Forecasts, PreferTheClosestRunAndLeaveTheOthersAlone) {
  const auto shown = thousandSteps();
  const Json same = shown->plan().runs.at(0).config;
  Json wider = same;
  wider["model"]["width"] = 32;
  done(wider);
  const std::int64_t closest = done(same);
  done(wider);
  shown->waitUntilIdle();
  EXPECT_TRUE(
      Probe::forecast(*shown).timeSource.startsWith(QStringLiteral("from run #%1:").arg(closest)))
      << Probe::forecast(*shown).timeSource.toStdString();
}

TEST_F(Forecasts, AreNotInventedAndSayWhatWouldTell) {
  const auto shown = thousandSteps();
  shown->waitUntilIdle();
  EXPECT_EQ(Probe::forecast(*shown).timed, 0);
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("time unknown")));
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("Time unknown until picture has run 20 ")))
      << labels(*shown).toStdString();
  // One of another device says nothing.
  Json config = shown->plan().runs.at(0).config;
  config["train"]["device"] = "cuda:7";
  done(config, "cuda:7");
  shown->waitUntilIdle();
  EXPECT_EQ(Probe::forecast(*shown).timed, 0);
  type(*shown, "train.steps", QString());
  type(*shown, "train.epochs", QStringLiteral("3"));
  shown->waitUntilIdle();
  EXPECT_TRUE(labels(*shown).contains(QStringLiteral("Time unknown until a first run on squares")))
      << labels(*shown).toStdString();
}

TEST_F(Forecasts, OfAPartOfTheSamplesHaveTheStepsOfThatPart) {
  const auto shown = page();
  type(*shown, "train.steps", QString());
  type(*shown, "train.epochs", QStringLiteral("4"));
  shown->planNow();
  workbench_.row(done(shown->plan().runs.at(0).config)).totalEpochs = 4;
  shown->waitUntilIdle();
  EXPECT_NEAR(Probe::forecast(*shown).seconds, 40, 1e-6);
  type(*shown, "data.train_share", QStringLiteral("0.5"));
  shown->waitUntilIdle();
  EXPECT_NEAR(Probe::forecast(*shown).seconds, 20, 1e-6);
  type(*shown, "data.holdout", QStringLiteral("0.5"));
  shown->waitUntilIdle();
  EXPECT_NEAR(Probe::forecast(*shown).seconds, 10, 1e-6);
}

TEST_F(Forecasts, SayOfEachRunWhatItsTimeIsTakenFrom) {
  const auto shown = thousandSteps();
  done(shown->plan().runs.at(0).config);
  shown->waitUntilIdle();
  const QString tip = shown->side().plannedRuns().runs().index(0).data(Qt::ToolTipRole).toString();
  EXPECT_TRUE(tip.contains(QStringLiteral("same model, batch size and device")))
      << tip.toStdString();
}

}  // namespace
}  // namespace vitrine::ui
