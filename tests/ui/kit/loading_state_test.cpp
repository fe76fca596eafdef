#include "ui/kit/loading_state.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>
#include <QTimer>
#include <algorithm>
#include <atomic>

#include "tests/support/wait_until.h"
#include "tests/ui/support/qt_test.h"
#include "tests/ui/support/soon.h"

namespace vitrine::ui {
namespace {

class ReadersTest : public ::testing::Test {
 protected:
  // Whatever a test found: no reader waits for ever.
  ~ReadersTest() override { isReleased_ = true; }

  /// A job that lasts until release().
  void hold(Background& reader) {
    reader.run([this](store::RunReader&, const std::atomic<bool>& isStale) -> Background::Finish {
      EXPECT_TRUE(waitUntil([&] { return isReleased_ || isStale; }));
      return {};
    });
  }
  void release() { isReleased_ = true; }
  /// Without one nothing is said, however long the test takes.
  [[nodiscard]] bool isAnyTimerActive() const {
    const auto timers = readers_.findChildren<QTimer*>();
    return std::any_of(timers.begin(), timers.end(),
                       [](const QTimer* timer) { return timer->isActive(); });
  }
  [[nodiscard]] QTimer* pauseTimer() const {
    const auto timers = readers_.findChildren<QTimer*>();
    return *std::find_if(timers.begin(), timers.end(),
                         [](const QTimer* timer) { return timer->interval() == kPauseMs; });
  }

  static constexpr int kPauseMs = 20;

  SampleStudio studio_;
  std::atomic<bool> isReleased_ = false;
  Background one_{studio_.writer.file()}, two_{studio_.writer.file()};
  LoadingState readers_{{&one_, &two_}, kPauseMs};
};

TEST_F(ReadersTest, SayThatAPageWaitsThenOfferToStopThenThatAllAreDone) {
  QStringList said;
  QObject::connect(&readers_, &LoadingState::waiting, [&] { said << QStringLiteral("waiting"); });
  QObject::connect(&readers_, &LoadingState::cancellable,
                   [&] { said << QStringLiteral("cancellable"); });
  QObject::connect(&readers_, &LoadingState::done, [&] { said << QStringLiteral("done"); });
  hold(one_);
  hold(two_);
  EXPECT_TRUE(readers_.isBusy());
  EXPECT_TRUE(soon([&] { return said.size() == 2; }));
  release();
  EXPECT_TRUE(soon([&] { return said.size() == 3; }));
  EXPECT_EQ(said.join(QLatin1Char(' ')), QStringLiteral("waiting cancellable done"));
  EXPECT_FALSE(readers_.isBusy());
}

TEST_F(ReadersTest, ThatAreQuickSayNothing) {
  QSignalSpy waiting(&readers_, &LoadingState::waiting),
      cancellable(&readers_, &LoadingState::cancellable);
  release();
  hold(one_);
  one_.waitUntilIdle();
  EXPECT_FALSE(isAnyTimerActive());
  EXPECT_EQ(waiting.count(), 0);
  EXPECT_EQ(cancellable.count(), 0);
}

TEST_F(ReadersTest, ReadAgainOnceForAllThatAskedAndNotBeforeWhatIsReadIsThere) {
  QSignalSpy again(&readers_, &LoadingState::again);
  hold(two_);
  for (int i = 0; i < 100; ++i) readers_.readLater();
  const QSignalSpy pauses(pauseTimer(), &QTimer::timeout);
  EXPECT_TRUE(soon([&] { return pauses.count() >= 3; }));
  EXPECT_EQ(again.count(), 0);
  release();
  EXPECT_TRUE(soon([&] { return again.count() > 0; }));
  EXPECT_EQ(again.count(), 1);
  EXPECT_FALSE(isAnyTimerActive());
}

TEST_F(ReadersTest, ThatAreCancelledAreDoneAndReadNothingLater) {
  QSignalSpy again(&readers_, &LoadingState::again), done(&readers_, &LoadingState::done);
  hold(one_);
  readers_.readLater();
  readers_.cancel();
  EXPECT_FALSE(readers_.isBusy());
  EXPECT_EQ(done.count(), 1);
  EXPECT_FALSE(isAnyTimerActive());
  EXPECT_EQ(again.count(), 0);
}

}  // namespace
}  // namespace vitrine::ui
