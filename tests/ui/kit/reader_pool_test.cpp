// What readers in the background share, and how much of it there is.
#include "ui/kit/reader_pool.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "core/base/error.h"
#include "tests/ui/support/connections.h"
#include "tests/ui/support/qt_test.h"
#include "ui/kit/background.h"

namespace vitrine::ui {
namespace {

using Connection = ReaderPool::Connection;

/// Jobs that wait in it until it opens, and how many do.
class JobGate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    most_ = std::max(most_, ++inside_);
    changed_.notify_all();
    changed_.wait(lock, [this] { return isOpen_; });
    --inside_;
  }
  void waitFor(int inside) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return inside_ >= inside; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    isOpen_ = true;
    changed_.notify_all();
  }
  int most() {
    const std::lock_guard lock(mutex_);
    return most_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0, most_ = 0;
  bool isOpen_ = false;
};

/// A database that only the writer has open.
struct Sample {
  QTemporaryDir folder;
  std::string file = folder.filePath(QStringLiteral("experiments.sqlite")).toStdString();
  std::vector<std::int64_t> runs = makeSampleDatabase(file, {0, 20});
  store::RunStore writer{file};
};

TEST(ReaderPool, OpensNoMoreConnectionsThanItMay) {
  const Sample sample;
  const auto before = connectionsTo(sample.writer.file());
  JobGate gate;
  std::atomic<int> read = 0;
  std::vector<std::unique_ptr<Background>> readers;
  for (int i = 0; i < 18; ++i) {
    readers.push_back(std::make_unique<Background>(sample.writer.file()));
    readers.back()->run([&](store::RunReader& store, const std::atomic<bool>&) {
      read += store.runs().empty() ? 0 : 1;
      gate.pass();
      return Background::Finish();
    });
  }
  gate.waitFor(ReaderPool::kMostReaders);
  EXPECT_EQ(connectionsTo(sample.writer.file()) - before,
            static_cast<std::ptrdiff_t>(ReaderPool::kMostReaders));
  gate.open();
  for (const auto& reader : readers) reader->waitUntilIdle();
  EXPECT_EQ(read, 18);
  EXPECT_LE(gate.most(), static_cast<int>(ReaderPool::kMostReaders));
  EXPECT_EQ(connectionsTo(sample.writer.file()) - before,
            static_cast<std::ptrdiff_t>(ReaderPool::kMostReaders));
}

TEST(ReaderPool, OpensOneConnectionForJobsThatFollowEachOther) {
  const Sample sample;
  const auto before = connectionsTo(sample.writer.file());
  Background one(sample.writer.file()), two(sample.writer.file());
  for (int i = 0; i < 6; ++i) {
    Background& next = i % 2 == 0 ? one : two;
    next.run([](store::RunReader& store, const std::atomic<bool>&) {
      EXPECT_FALSE(store.runs().empty());
      return Background::Finish();
    });
    next.waitUntilIdle();
  }
  // The thread of the first job may not be back when the second comes.
  EXPECT_LE(connectionsTo(sample.writer.file()) - before, 2);
}

TEST(ReaderPool, OpensNothingForTasksThatReadNothing) {
  const Sample sample;
  const auto before = connectionsTo(sample.writer.file());
  Background one(sample.writer.file());
  bool isDone = false;
  one.run([&](const std::atomic<bool>&) -> Background::Finish { return [&] { isDone = true; }; });
  one.waitUntilIdle();
  EXPECT_TRUE(isDone);
  EXPECT_EQ(connectionsTo(sample.writer.file()), before);
}

TEST(ReaderPool, ClosesItsConnectionsWithTheLastWhoHoldsIt) {
  const Sample sample;
  std::weak_ptr<ReaderPool> pool;
  {
    Background one(sample.writer.file());
    pool = ReaderPool::of(sample.writer.file());
    Background two(sample.writer.file());
    EXPECT_EQ(ReaderPool::of(sample.writer.file()), pool.lock());
  }
  EXPECT_TRUE(pool.expired());
}

TEST(ReaderPool, LetsLinesTakeTurns) {
  const auto pool = std::make_shared<ReaderPool>("", 1);
  ReaderPool::Line busy(pool), other(pool);
  std::vector<int> order;
  JobGate gate;
  busy.run([&](Connection&, const std::atomic<bool>&) {
    gate.pass();
    order.push_back(1);
  });
  gate.waitFor(1);
  other.run([&](Connection&, const std::atomic<bool>&) { order.push_back(2); });
  // Asked for later, and by the line that has just had its turn.
  busy.run([&](Connection&, const std::atomic<bool>&) { order.push_back(3); });
  gate.open();
  busy.wait();
  other.wait();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(ReaderPool, DropsAJobThatNoPageWaitsForAnyMore) {
  const auto pool = std::make_shared<ReaderPool>("", 1);
  ReaderPool::Line busy(pool);
  JobGate gate;
  std::atomic<int> done = 0;
  busy.run([&](Connection&, const std::atomic<bool>&) { gate.pass(); });
  gate.waitFor(1);
  {
    ReaderPool::Line gone(pool), cancelled(pool);
    for (ReaderPool::Line* line : {&gone, &cancelled, &gone})
      line->run([&](Connection&, const std::atomic<bool>&) { ++done; });
    cancelled.cancel();
    cancelled.wait();  // although the only thread is busy
  }
  gate.open();
  busy.wait();
  busy.run([&](Connection&, const std::atomic<bool>&) { done += 100; });
  busy.wait();
  EXPECT_EQ(done, 100);
}

TEST(ReaderPool, TriesAgainToOpenAFileThatWasNotThere) {
  const QTemporaryDir folder;
  const std::filesystem::path file = folder.filePath(QStringLiteral("late.sqlite")).toStdString();
  const auto pool = std::make_shared<ReaderPool>(file, 1);
  ReaderPool::Line line(pool);
  int refused = 0, opened = 0;
  const auto look = [&](Connection& connection, const std::atomic<bool>&) {
    try {
      opened += connection.store().runs().empty() ? 1 : 0;
    } catch (const NotFoundError&) {
      ++refused;
    }
  };
  line.run(look);
  line.wait();
  { const store::RunStore made(file); }
  line.run(look);
  line.wait();
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(opened, 1);
}

}  // namespace
}  // namespace vitrine::ui
