// What a window learns of runs that others write.
#include "core/store/run_watcher.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QCoreApplication>

#include "tests/core/store/temp_database.h"
#include "tests/support/child.h"
#include "tests/support/wait_until.h"

namespace vitrine::store {
namespace {

using ::testing::ElementsAre;

class RunWatcherTest : public testing::StoreTest {
 protected:
  RunWatcherTest() : application_(count_, words_), store_(file()), watcher_(store_) {
    QObject::connect(&watcher_, &RunWatcher::runsChanged, [this](const std::vector<RunRow>& runs) {
      ++signals_;
      for (const RunRow& run : runs) names_.push_back(run.name);
    });
    QObject::connect(&watcher_, &RunWatcher::runsDeleted,
                     [this](const std::vector<std::int64_t>& ids) {
                       deleted_.insert(deleted_.end(), ids.begin(), ids.end());
                     });
    QObject::connect(&watcher_, &RunWatcher::dataChanged, [this] { ++changes_; });
    QObject::connect(&watcher_, &RunWatcher::failed,
                     [this](const QString& text) { failure_ = text.toStdString(); });
  }

  int count_ = 1;
  char name_[5] = "test";
  char* words_[2] = {name_, nullptr};
  QCoreApplication application_;
  RunStore store_;
  RunWatcher watcher_;
  std::vector<std::string> names_;
  std::vector<std::int64_t> deleted_;
  int signals_ = 0, changes_ = 0;
  std::string failure_;
};

TEST_F(RunWatcherTest, ReportsAllRunsFirstAndThenOnlyChangedOnes) {
  addRun(store_, "first");
  const std::int64_t second = addRun(store_, "second");
  watcher_.poll();
  EXPECT_THAT(names_, ElementsAre("first", "second"));
  names_.clear();
  watcher_.poll();
  EXPECT_THAT(names_, ElementsAre());
  store_.setNote(second, "written by this very process");
  watcher_.poll();
  EXPECT_THAT(names_, ElementsAre("second"));
  EXPECT_EQ(signals_, 2);
  EXPECT_EQ(changes_, 2);
}

TEST_F(RunWatcherTest, SeesWhatAnotherConnectionWroteAtTheNextLook) {
  watcher_.poll();
  RunStore other(file());
  const std::int64_t run = addRunning(other, "from elsewhere");
  watcher_.poll();
  EXPECT_THAT(names_, ElementsAre("from elsewhere"));
  other.setState(run, RunState::Done);
  other.deleteRun(run);
  watcher_.poll();
  EXPECT_THAT(deleted_, ElementsAre(run));
}

TEST_F(RunWatcherTest, SeesRowsOfAnotherProcessByItself) {
  watcher_.start();
  const std::string database = file().string();
  const std::string acknowledgements = (folder_ / "acknowledged").string();
  const pid_t child = forkChild();
  if (child == 0) {
    ::execl(STORE_WORKER, STORE_WORKER, database.c_str(), "from elsewhere", "1",
            acknowledgements.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  // The timer of the watcher is what wakes the loop.
  ASSERT_TRUE(waitUntil([&] {
    QCoreApplication::processEvents();
    return !names_.empty();
  }));
  EXPECT_THAT(names_, ElementsAre("from elsewhere"));
  EXPECT_EQ(signals_, 1);
}

TEST_F(RunWatcherTest, SaysOnceThatTheStoreCannotBeReadAndContinues) {
  watcher_.poll();
  testing::RawDatabase raw(file());
  raw.run("ALTER TABLE counter RENAME TO elsewhere");
  watcher_.poll();
  EXPECT_THAT(failure_, test::Names("counter"));
  failure_.clear();
  watcher_.poll();
  EXPECT_EQ(failure_, "");
  raw.run("ALTER TABLE elsewhere RENAME TO counter");
  addRun(store_, "after all");
  watcher_.poll();
  EXPECT_THAT(names_, ElementsAre("after all"));
}

}  // namespace
}  // namespace vitrine::store
