#include "ui/kit/background.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <atomic>
#include <future>

#include "core/base/error.h"
#include "tests/ui/support/qt_test.h"

namespace vitrine::ui {
namespace {

TEST(Background, ShowsTheResultInTheThreadOfTheWindow) {
  const SampleStudio studio;
  Background background(studio.writer.file());
  std::size_t runs = 0;
  bool isOtherThread = false, isWindowThread = false;
  QThread* const window = QThread::currentThread();
  background.run([&](store::RunReader& store, const std::atomic<bool>&) -> Background::Finish {
    isOtherThread = QThread::currentThread() != window;
    return [&, found = store.runs().size()] {
      runs = found;
      isWindowThread = QThread::currentThread() == window;
    };
  });
  EXPECT_TRUE(background.isBusy());
  background.waitUntilIdle();
  EXPECT_FALSE(background.isBusy());
  EXPECT_EQ(runs, studio.runs.size());
  EXPECT_TRUE(isOtherThread);
  EXPECT_TRUE(isWindowThread);
}

TEST(Background, DropsWhatANewerJobReplaced) {
  const SampleStudio studio;
  Background background(studio.writer.file());
  std::promise<void> isRunning;
  std::vector<int> shown;
  background.run([&](store::RunReader&, const std::atomic<bool>& isStale) -> Background::Finish {
    isRunning.set_value();
    while (!isStale) std::this_thread::yield();
    return [&] { shown.push_back(1); };
  });
  isRunning.get_future().wait();
  background.run([&](store::RunReader&, const std::atomic<bool>&) -> Background::Finish {
    return [&] { shown.push_back(2); };
  });
  background.run([&](store::RunReader&, const std::atomic<bool>&) -> Background::Finish {
    return [&] { shown.push_back(3); };
  });
  background.waitUntilIdle();
  EXPECT_EQ(shown, std::vector<int>{3});
}

TEST(Background, ShowsNothingAfterItWasCancelled) {
  const SampleStudio studio;
  Background background(studio.writer.file());
  std::promise<void> isRunning;
  bool isShown = false;
  background.run([&](store::RunReader&, const std::atomic<bool>& isStale) -> Background::Finish {
    isRunning.set_value();
    while (!isStale) std::this_thread::yield();
    return [&] { isShown = true; };
  });
  isRunning.get_future().wait();
  background.cancel();
  EXPECT_FALSE(background.isBusy());
  int after = 0;
  background.run([&](store::RunReader&, const std::atomic<bool>&) -> Background::Finish {
    return [&] { ++after; };
  });
  background.waitUntilIdle();
  QCoreApplication::processEvents();
  EXPECT_FALSE(isShown);
  EXPECT_EQ(after, 1);
}

TEST(Background, TellsWhyAJobFailed) {
  const SampleStudio studio;
  Background background(studio.writer.file());
  QSignalSpy failed(&background, &Background::failed);
  background.run([](store::RunReader& store, const std::atomic<bool>&) -> Background::Finish {
    (void)store.query("SELECT * FROM nowhere");
    return {};
  });
  background.waitUntilIdle();
  ASSERT_EQ(failed.count(), 1);
  EXPECT_TRUE(failed.front().front().toString().contains(QStringLiteral("nowhere")));
}

TEST(Background, StopsAStatementThatRunsWhenTheWindowGoes) {
  const SampleStudio studio;
  auto background = std::make_unique<Background>(studio.writer.file());
  std::promise<void> isRunning;
  std::string why;
  background->run([&](store::RunReader& store,
                      const std::atomic<bool>& isStale) -> Background::Finish {
    isRunning.set_value();
    store::RunStore::QueryLimits limits{.isStopped = &isStale};
    try {
      (void)store.query(
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
          limits);
    } catch (const StoreError& error) {
      why = error.what();
    }
    return {};
  });
  isRunning.get_future().wait();
  background.reset();
  EXPECT_EQ(why, "the query was stopped");  // not "after 30 s"
}

}  // namespace
}  // namespace vitrine::ui
