// One reader of changes for the window, the queue and `serve`.
#include "core/store/change_reader.h"

#include <gmock/gmock.h>

#include "core/base/error.h"
#include "tests/core/store/temp_database.h"

namespace vitrine::store {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty;

class ChangeReaderTest : public testing::StoreTest {
 protected:
  ChangeReaderTest() : store_(file()) {}

  static std::vector<std::int64_t> idsOf(const ChangeReader::Changes& changes) {
    std::vector<std::int64_t> ids;
    for (const RunRow& run : changes.runs) ids.push_back(run.id);
    return ids;
  }
  std::int64_t addDone(const std::string& name) {
    const std::int64_t run = addRunning(store_, name);
    store_.setState(run, RunState::Done);
    return run;
  }

  RunStore store_;
};

TEST_F(ChangeReaderTest, ReportsAllRunsFirstAndNothingThatWasDeletedBefore) {
  const std::int64_t gone = addDone("gone"), here = addDone("here");
  store_.deleteRun(gone);
  ChangeReader reader(store_);
  const ChangeReader::Changes changes = reader.read();
  EXPECT_TRUE(changes.isNew);
  EXPECT_THAT(idsOf(changes), ElementsAre(here));
  EXPECT_THAT(changes.deleted, IsEmpty());
  EXPECT_EQ(reader.seen(), store_.lastChange());
}

TEST_F(ChangeReaderTest, ReportsNothingUntilSomethingIsCommittedHereOrElsewhere) {
  const std::int64_t run = addRun(store_, "run");
  ChangeReader reader(store_);
  (void)reader.read();
  EXPECT_FALSE(reader.read().isNew);
  store_.setNote(run, "by the same connection");
  const ChangeReader::Changes own = reader.read();
  EXPECT_TRUE(own.isNew);
  EXPECT_THAT(idsOf(own), ElementsAre(run));
  testing::RawDatabase(file()).run("INSERT INTO meta(key, value) VALUES ('a', 'b')");
  const ChangeReader::Changes foreign = reader.read();  // of no run
  EXPECT_TRUE(foreign.isNew);
  EXPECT_THAT(idsOf(foreign), IsEmpty());
  EXPECT_FALSE(reader.read().isNew);
}

TEST_F(ChangeReaderTest, ContinuesWhereACallerLeftOff) {
  const std::int64_t known = addDone("known"), gone = addDone("gone");
  const std::int64_t left = store_.lastChange();
  store_.deleteRun(gone);
  const std::int64_t later = addRun(store_, "later");
  ChangeReader reader(store_, left);
  const ChangeReader::Changes changes = reader.read();
  EXPECT_THAT(idsOf(changes), ElementsAre(later));
  EXPECT_THAT(changes.deleted, ElementsAre(gone));
  EXPECT_NE(known, later);
}

TEST_F(ChangeReaderTest, StaysQuietForACallerThatIsAheadOfTheDatabase) {
  addRun(store_, "run");
  ChangeReader reader(store_, 1'000'000);  // of another file, say
  EXPECT_TRUE(reader.read().isNew);
  EXPECT_FALSE(reader.read().isNew);
  EXPECT_EQ(reader.seen(), 1'000'000);
}

TEST_F(ChangeReaderTest, ReportsAgainWhatAFailedCallDidNot) {
  ChangeReader reader(store_);
  (void)reader.read();
  const std::int64_t run = addRun(store_, "run");
  testing::RawDatabase raw(file());
  raw.run("ALTER TABLE counter RENAME TO elsewhere");
  EXPECT_THROW((void)reader.read(), StoreError);
  raw.run("ALTER TABLE elsewhere RENAME TO counter");
  EXPECT_THAT(idsOf(reader.read()), ElementsAre(run));
}

}  // namespace
}  // namespace vitrine::store
