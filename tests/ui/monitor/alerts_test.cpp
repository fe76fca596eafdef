#include "ui/monitor/alerts.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <cmath>

#include "tests/ui/support/qt_test.h"

namespace vitrine::ui {
namespace {

class AlertsOfARun : public ::testing::Test {
 protected:
  void write(const std::vector<double>& values) {
    RunStore::Batch batch;
    for (const double value : values) {
      MetricRecord record;
      record.step = step_++;
      record.values = {{"alerts/test", value}};
      batch.metrics.push_back(record);
    }
    studio_.writer.append(studio_.runs[8], 1, batch);
  }
  void look() {
    const std::vector<RunRow> runs{studio_.writer.run(studio_.runs[8])};
    auto news = watch_.asks(runs);
    readNews(studio_.writer, news);
    watch_.judge(runs, news, 0);
  }
  [[nodiscard]] QString said() const {
    return raised_.isEmpty() ? QString() : raised_.last().front().toString();
  }

  SampleStudio studio_{SampleOptions{0, 600}};
  AlertWatch watch_;
  QSignalSpy raised_{&watch_, &AlertWatch::raised};
  std::int64_t step_ = 100'000;
};

TEST_F(AlertsOfARun, DoNotWarnOfWhatWasOverBeforeSomebodyLooked) {
  write({2.3, 0.1, std::nan(""), 0.5});
  watch_.setRules({{"alerts/test", AlertRule::Kind::Above, 1.0},
                   {"alerts/test", AlertRule::Kind::Below, 0.2},
                   {"alerts/test", AlertRule::Kind::Diverged, 10}});
  look();
  EXPECT_EQ(raised_.count(), 0) << said().toStdString();
  write({2.0, 0.5});
  look();
  ASSERT_EQ(raised_.count(), 2) << "a spike between two looks: above, and far above the least";
  EXPECT_TRUE(said().contains(QStringLiteral("times its least value"))) << said().toStdString();
}

TEST_F(AlertsOfARun, WarnOfWhereItStandsAtTheFirstLook) {
  write({0.5, 1.5});
  watch_.setRules({{"alerts/test", AlertRule::Kind::Above, 1.0}});
  look();
  ASSERT_EQ(raised_.count(), 1);
  EXPECT_TRUE(said().contains(QStringLiteral("is 1.5, above 1"))) << said().toStdString();
}

TEST_F(AlertsOfARun, WarnOfARunThatIsNotFiniteAtTheFirstLook) {
  write({0.5, std::nan("")});
  watch_.setRules({{"alerts/test", AlertRule::Kind::Diverged, 10}});
  look();
  ASSERT_EQ(raised_.count(), 1);
  EXPECT_TRUE(said().contains(QStringLiteral("is not finite"))) << said().toStdString();
}

}  // namespace
}  // namespace vitrine::ui
