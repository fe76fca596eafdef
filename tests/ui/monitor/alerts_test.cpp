#include "ui/monitor/alerts.h"

#include <gtest/gtest.h>

#include <QSignalSpy>

#include "tests/ui/support/probe.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"
#include "ui/monitor/alert_service.h"

namespace vitrine::ui {
namespace {

/// A run in progress whose values a test writes.
class Alerts : public ::testing::Test {
 protected:
  void write(const std::vector<double>& values, const std::string& metric = "alerts/test") {
    store::RunStore::Batch batch;
    for (const double value : values)
      batch.metrics.push_back({.step = step_++, .values = {{metric, value}}});
    studio_.writer.append(run_, 1, batch);
  }
  /// What is new is read and judged.
  void look(double now = 0) { look({studio_.writer.run(run_)}, now); }
  void look(const std::vector<store::RunRow>& runs, double now) {
    auto news = watch_.asks(runs);
    readNews(studio_.writer, news);
    watch_.judge(runs, news, now);
  }
  [[nodiscard]] std::string said() const {
    return raised_.isEmpty() ? std::string() : raised_.last().front().toString().toStdString();
  }

  SampleStudio studio_{SampleOptions{0, 600}};
  const std::int64_t run_ = studio_.runs[8];
  AlertWatch watch_;
  QSignalSpy raised_{&watch_, &AlertWatch::raised};
  std::int64_t step_ = 100'000;
};

TEST_F(Alerts, WarnOnceForEachRunUntilItHasPassed) {
  watch_.setRules(
      {{"train/loss", AlertRule::Kind::Above, 0.0}, {"train/loss", AlertRule::Kind::Stuck, 5}});
  ASSERT_TRUE(isAlive(studio_.writer.run(run_).state));
  look();
  ASSERT_EQ(raised_.count(), 1);
  EXPECT_NE(said().find("above 0"), std::string::npos) << said();
  look(10);
  EXPECT_EQ(raised_.count(), 1);
  look(301);
  ASSERT_EQ(raised_.count(), 2);
  EXPECT_NE(said().find("no new value"), std::string::npos) << said();
  // Other runs, which have ended, are none of its business.
  look({studio_.writer.run(studio_.runs[0])}, 5000);
  EXPECT_EQ(raised_.count(), 2);
}

TEST_F(Alerts, JudgeTheLastValuesOfARunThatEndedOnce) {
  watch_.setRules(
      {{"alerts/test", AlertRule::Kind::Diverged, 10}, {"alerts/test", AlertRule::Kind::Stuck, 5}});
  write({1});
  look(0);
  write({std::nan("")});
  studio_.writer.setState(run_, store::RunState::Failed, "the loss is not finite");
  EXPECT_TRUE(watch_.follows(studio_.writer.run(run_)));
  look(1000);
  ASSERT_EQ(raised_.count(), 1) << "it ended between two looks, and is not stuck";
  EXPECT_NE(said().find("is not finite"), std::string::npos) << said();
  EXPECT_FALSE(watch_.follows(studio_.writer.run(run_)));
  EXPECT_TRUE(watch_.asks({studio_.writer.run(run_)}).empty());
}

TEST_F(Alerts, ARunThatWasResumedIsNotStuckAtOnce) {
  watch_.setRules({{"alerts/test", AlertRule::Kind::Stuck, 5}});
  store::RunRow row = studio_.writer.run(run_);
  look({row}, 0);
  row.state = store::RunState::Paused;
  look({row}, 10);
  row.state = store::RunState::Running;
  look({row}, 1000);
  EXPECT_EQ(raised_.count(), 0) << said();
  look({row}, 1301);
  EXPECT_EQ(raised_.count(), 1);
}

TEST_F(Alerts, WriteTheMetricAndItsValuesAsThePlotDoes) {
  watch_.setRules({{"test/top1", AlertRule::Kind::Below, 0.5}});
  write({0.4231}, "test/top1");
  look();
  ASSERT_EQ(raised_.count(), 1);
  EXPECT_TRUE(said().starts_with("Accuracy, test of run ")) << said();
  EXPECT_TRUE(said().ends_with("is 42.3 %, below 50.0 %")) << said();
}

TEST_F(Alerts, KeepAPercentSignInTheNameOfAMetric) {
  watch_.setRules({{"alerts/at %2", AlertRule::Kind::Above, 1}});
  write({3}, "alerts/at %2");
  look();
  ASSERT_EQ(raised_.count(), 1);
  EXPECT_NE(said().find("%2"), std::string::npos) << said();
  EXPECT_NE(said().find("of run " + std::to_string(run_)), std::string::npos) << said();
}

TEST_F(Alerts, SeeEveryValueNotOnlyTheLast) {
  watch_.setRules({{"alerts/test", AlertRule::Kind::Diverged, 10}});
  write({1, 2, 1.5});
  look(0);
  EXPECT_EQ(raised_.count(), 0);
  write({1, 50, 1});
  look(1);
  EXPECT_EQ(raised_.count(), 1) << "the spike between two looks";
  write({1});
  look(2);
  write({std::nan("")});
  look(3);
  EXPECT_EQ(raised_.count(), 2);
}

TEST_F(Alerts, DoNotWarnOfWhatWasOverBeforeTheUserLooked) {
  write({2.3, 0.1, std::nan(""), 0.5});
  watch_.setRules({{"alerts/test", AlertRule::Kind::Above, 1.0},
                   {"alerts/test", AlertRule::Kind::Below, 0.2},
                   {"alerts/test", AlertRule::Kind::Diverged, 10}});
  look();
  EXPECT_EQ(raised_.count(), 0) << said();
  write({2.0, 0.5});
  look();
  ASSERT_EQ(raised_.count(), 2) << "a spike between two looks: above, and far above the least";
  EXPECT_NE(said().find("times its minimum"), std::string::npos) << said();
}

TEST_F(Alerts, WarnOfWhereARunStandsAtTheFirstLook) {
  write({0.5, 1.5});
  watch_.setRules({{"alerts/test", AlertRule::Kind::Above, 1.0}});
  look();
  ASSERT_EQ(raised_.count(), 1);
  EXPECT_NE(said().find("is 1.5, above 1"), std::string::npos) << said();
}

TEST_F(Alerts, WarnOfARunThatIsNotFiniteAtTheFirstLook) {
  write({0.5, std::nan("")});
  watch_.setRules({{"alerts/test", AlertRule::Kind::Diverged, 10}});
  look();
  ASSERT_EQ(raised_.count(), 1);
  EXPECT_NE(said().find("is not finite"), std::string::npos) << said();
}

TEST_F(Alerts, AreReadBackAsTheyWereWritten) {
  const std::vector<AlertRule> rules{{"a", AlertRule::Kind::Below, -1.5},
                                     {"b", AlertRule::Kind::Stuck, 10}};
  EXPECT_EQ(alertsFromJson(toJson(rules)), rules);
  EXPECT_TRUE(alertsFromJson(Json::parse("[1, {\"metric\": 2}, {\"metric\": \"a\", \"kind\": "
                                         "\"odd\", \"value\": 1}]"))
                  .empty());
}

TEST_F(Alerts, AreWatchedWithoutThePageAndNothingIsReadWithoutRulesOrRunsInProgress) {
  AlertService& service = AlertService::of(studio_.workbench);
  EXPECT_EQ(&AlertService::of(studio_.workbench), &service) << "one for each workbench";
  service.waitUntilIdle();
  EXPECT_EQ(Probe::looks(service), 0);
  QSignalSpy raised(&service, &AlertService::raised),
      told(&studio_.workbench, &StudioWorkbench::messageSent);
  service.setRulesOf("train/loss", {{"train/loss", AlertRule::Kind::Above, 0.0}});
  service.waitUntilIdle();
  EXPECT_EQ(Probe::looks(service), 1);
  ASSERT_GE(raised.count(), 1);
  EXPECT_EQ(told.count(), raised.count());
  const auto before = raised.count();
  service.waitUntilIdle();
  EXPECT_EQ(raised.count(), before) << "once, until it has passed";
  service.setRulesOf("train/loss", {});
  service.waitUntilIdle();
  EXPECT_EQ(Probe::looks(service), 2);
}

TEST_F(Alerts, AreRaisedByNewValuesWithoutBeingAsked) {
  AlertService& service = AlertService::of(studio_.workbench);
  QSignalSpy raised(&service, &AlertService::raised);
  service.setRulesOf("alerts/test", {{"alerts/test", AlertRule::Kind::Above, 10.0}});
  service.waitUntilIdle();
  ASSERT_EQ(raised.count(), 0);
  write({11});
  studio_.workbench.watcher().poll();
  EXPECT_TRUE(soon([&] { return raised.count() == 1; }));
}

}  // namespace
}  // namespace vitrine::ui
