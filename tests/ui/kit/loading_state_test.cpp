#include "ui/kit/loading_state.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>
#include <atomic>
#include <thread>

#include "tests/ui/support/qt_test.h"

namespace vitrine::ui {
namespace {

class ReadersTest : public ::testing::Test {
 protected:
  // Whatever a test found: no reader waits for ever.
  ~ReadersTest() override { isReleased_ = true; }

  /// A job that lasts until release().
  void hold(Background& reader) {
    reader.run([this](store::RunReader&, const std::atomic<bool>& isStale) -> Background::Finish {
      while (!isReleased_ && !isStale) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return {};
    });
  }
  void release() { isReleased_ = true; }

  SampleStudio studio_;
  std::atomic<bool> isReleased_ = false;
  Background one_{studio_.writer.file()}, two_{studio_.writer.file()};
  LoadingState readers_{{&one_, &two_}, 20};
};

TEST_F(ReadersTest, SayThatSomebodyWaitsThenOfferToStopThenThatAllAreDone) {
  QStringList said;
  QObject::connect(&readers_, &LoadingState::waiting, [&] { said << QStringLiteral("waiting"); });
  QObject::connect(&readers_, &LoadingState::cancellable,
                   [&] { said << QStringLiteral("cancellable"); });
  QObject::connect(&readers_, &LoadingState::done, [&] { said << QStringLiteral("done"); });
  hold(one_);
  hold(two_);
  EXPECT_TRUE(readers_.isBusy());
  EXPECT_TRUE(QTest::qWaitFor([&] { return said.size() == 2; }, 10000));
  release();
  EXPECT_TRUE(QTest::qWaitFor([&] { return said.size() == 3; }, 10000));
  EXPECT_EQ(said.join(QLatin1Char(' ')), QStringLiteral("waiting cancellable done"));
  EXPECT_FALSE(readers_.isBusy());
}

TEST_F(ReadersTest, ThatAreQuickSayNothing) {
  QSignalSpy waiting(&readers_, &LoadingState::waiting),
      cancellable(&readers_, &LoadingState::cancellable);
  release();
  hold(one_);
  one_.waitUntilIdle();
  QTest::qWait(LoadingState::kCancelAfterMs + 200);
  EXPECT_EQ(waiting.count(), 0);
  EXPECT_EQ(cancellable.count(), 0);
}

TEST_F(ReadersTest, ReadAgainOnceForAllThatAskedAndNotBeforeWhatIsReadIsThere) {
  QSignalSpy again(&readers_, &LoadingState::again);
  hold(two_);
  for (int i = 0; i < 100; ++i) readers_.readLater();
  QTest::qWait(200);  // ten pauses
  EXPECT_EQ(again.count(), 0);
  release();
  EXPECT_TRUE(QTest::qWaitFor([&] { return again.count() > 0; }, 10000));
  QTest::qWait(200);
  EXPECT_EQ(again.count(), 1);
}

TEST_F(ReadersTest, ThatAreCancelledAreDoneAndReadNothingLater) {
  QSignalSpy again(&readers_, &LoadingState::again), done(&readers_, &LoadingState::done);
  hold(one_);
  readers_.readLater();
  readers_.cancel();
  EXPECT_FALSE(readers_.isBusy());
  EXPECT_EQ(done.count(), 1);
  QTest::qWait(200);
  EXPECT_EQ(again.count(), 0);
}

}  // namespace
}  // namespace vitrine::ui
