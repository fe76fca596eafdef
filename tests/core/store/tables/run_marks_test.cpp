// Marks of runs: archived, baseline, colour. What one may be, whose it is, and what two users make
// of it.
#include "core/store/tables/run_marks.h"

#include <gmock/gmock.h>

#include "core/store/exchange/exchange.h"
#include "core/store/maintenance/trash.h"
#include "tests/core/store/temp_database.h"

namespace vitrine::store {
namespace {

using test::Fails;
using ::testing::IsEmpty, ::testing::SizeIs;

class Marks : public testing::StoreTest {
 protected:
  Marks() : one_(file()), two_(file()), run_(addRun(one_)), other_(addRun(one_)) {}
  RunStore one_, two_;
  std::int64_t run_, other_;
};

TEST_F(Marks, AreRowsOfTheDatabaseThatReadersHearOf) {
  const std::int64_t change = one_.lastChange();
  EXPECT_EQ(one_.setMark(run_, RunField::Archived, "yes", 0), 1);
  EXPECT_EQ(one_.setMark(run_, RunField::Colour, "7", 0), 1);
  EXPECT_GT(two_.lastChange(), change);
  EXPECT_EQ(two_.mark(run_, RunField::Archived), "yes");
  const auto marks = marksByRun(two_);
  ASSERT_THAT(marks, SizeIs(1));
  EXPECT_EQ(marks.at(run_), (RunMarks{true, false, 7}));
  EXPECT_EQ(Json(two_.query("SELECT * FROM run_marks ORDER BY field").rows).dump(),
            R"([[1,"archived","yes"],[1,"colour","7"]])");
  EXPECT_EQ(one_.setMark(run_, RunField::Archived, "", 1), 2);
  EXPECT_EQ(one_.setMark(run_, RunField::Colour, "", 1), 2);
  EXPECT_THAT(marksByRun(two_), IsEmpty());
  EXPECT_THAT(one_.edits(run_, RunField::Archived), SizeIs(3));
}

TEST_F(Marks, HaveNoOtherValues) {
  EXPECT_EQ(test::refusal<ConfigError>([&] { one_.setMark(run_, RunField::Archived, "no"); }),
            "the mark 'archived' of a run has to be 'yes' or nothing, not 'no'");
  for (const char* colour : {"0", "8", "07", "1 ", "red"}) {
    EXPECT_THAT([&] { one_.setMark(run_, RunField::Colour, colour); },
                Fails<ConfigError>("colour", 1, 7));
  }
  EXPECT_THAT([&] { one_.setMark(run_, RunField::Note, "yes"); }, Fails<ConfigError>("note"));
  EXPECT_THAT(marksByRun(two_), IsEmpty());
}

TEST_F(Marks, OfABaselineIsOnlyOneAnExperiment) {
  const std::int64_t elsewhere =
      one_.addRuns(one_.experiment("another one", ""), {newRun("elsewhere")}).front();
  one_.setMark(elsewhere, RunField::Baseline, "yes");
  EXPECT_EQ(one_.setMark(run_, RunField::Baseline, "yes", 0), 1);
  EXPECT_EQ(one_.setMark(other_, RunField::Baseline, "yes", 0), 1);
  const auto marks = marksByRun(two_);
  EXPECT_FALSE(marks.contains(run_));
  EXPECT_TRUE(marks.at(other_).isBaseline);
  EXPECT_TRUE(marks.at(elsewhere).isBaseline);
  EXPECT_EQ(two_.version(run_, RunField::Baseline), 2) << "it was taken away by an edit";
  EXPECT_EQ(one_.setMark(run_, RunField::Baseline, "yes", 2), 3) << "and can be given back";
  EXPECT_FALSE(marksByRun(two_).contains(other_));
}

TEST_F(Marks, OfTwoUsersTheLaterOneIsTold) {
  EXPECT_EQ(one_.setMark(run_, RunField::Colour, "2", 0), 1);
  EXPECT_THROW(two_.setMark(run_, RunField::Colour, "3", 0), EditConflict);
  EXPECT_EQ(two_.setMark(run_, RunField::Colour, "2", 0), 1) << "both mean the same";
  EXPECT_EQ(one_.mark(run_, RunField::Colour), "2");
}

TEST_F(Marks, GoWithTheirRunIntoTheTrashAndBackButNotASecondBaseline) {
  one_.setState(run_, RunState::Failed, "for the trash");
  one_.setMark(run_, RunField::Baseline, "yes");
  one_.setMark(run_, RunField::Archived, "yes");
  trashRun(file(), run_);
  EXPECT_THAT(marksByRun(two_), IsEmpty());
  one_.setMark(other_, RunField::Baseline, "yes");
  const std::int64_t back = restoreRun(file(), run_);
  const auto marks = marksByRun(two_);
  EXPECT_EQ(marks.at(back), (RunMarks{true, false, 0}));
  EXPECT_TRUE(marks.at(other_).isBaseline);
}

}  // namespace
}  // namespace vitrine::store
