// Notes on curves: rows of the database, which several people write at the same time.
#include "core/store/tables/curve_notes.h"

#include <gmock/gmock.h>

#include <limits>
#include <ostream>

#include "core/store/tables/list_edits.h"
#include "tests/core/store/temp_database.h"

namespace vitrine::store {

void PrintTo(const CurveNoteRow& note, std::ostream* out) {
  *out << note.metric << " " << note.step << " " << note.text;
}

namespace {

using test::Fails, test::Names;
using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;
using Notes = std::vector<CurveNoteRow>;

const CurveNoteRow kWarm{"train/loss", 300, "warm-up ends"};
const CurveNoteRow kHalved{"train/loss", 1500, "rate halved"};
const CurveNoteRow kBest{"test/top1", 900, "best so far: ä \"b\""};

class CurveNotes : public testing::StoreTest {
 protected:
  CurveNotes() : one_(file()), two_(file()), run_(addRun(one_)) {}

  static Notes many(int count) {
    Notes notes;
    for (int i = 0; i < count; ++i) notes.push_back({"train/loss", i, "note"});
    return notes;
  }

  RunStore one_, two_;
  std::int64_t run_;
};

TEST_F(CurveNotes, AreRowsOfTheDatabaseInAnOrderOfTheirOwn) {
  const std::int64_t change = one_.lastChange();
  EXPECT_EQ(one_.setCurveNotes(run_, {kHalved, kBest, kWarm, kHalved}, 0), 1);
  EXPECT_THAT(two_.curveNotes(run_), ElementsAre(kBest, kWarm, kHalved));
  EXPECT_GT(two_.lastChange(), change);
  EXPECT_EQ(two_.version(run_, RunField::CurveNotes), 1);
  EXPECT_EQ(
      Json(two_.query("SELECT run_id, metric, step, text FROM curve_notes WHERE step < 500").rows)
          .dump(),
      R"([[1,"train/loss",300,"warm-up ends"]])");
  EXPECT_EQ(two_.setCurveNotes(run_, {kWarm, kHalved, kBest}), 1) << "the same in another order";
  EXPECT_EQ(one_.setCurveNotes(run_, {}, 1), 2);
  EXPECT_THAT(two_.curveNotes(run_), IsEmpty());
  EXPECT_EQ(two_.edits(run_, RunField::CurveNotes).at(1).text,
            curveNotesText({kBest, kWarm, kHalved}));
  EXPECT_THROW(one_.setCurveNotes(77, {kBest}), NotFoundError);
}

TEST_F(CurveNotes, GoWithTheirRun) {
  one_.setCurveNotes(run_, {kWarm});
  one_.deleteRun(run_);
  EXPECT_EQ(testing::RawDatabase(file()).integer("SELECT count(*) FROM curve_note"), 0);
}

TEST_F(CurveNotes, OfTwoWhoSawTheSameListAreAllThere) {
  EXPECT_EQ(one_.setCurveNotes(run_, {kWarm, kBest}, 0), 1);
  // One adds, the other removes, and the third had the page open before any of them.
  EXPECT_EQ(one_.setCurveNotes(run_, {kWarm, kBest, kHalved}, 1), 2);
  EXPECT_EQ(two_.setCurveNotes(run_, {kBest}, 1), 3);
  EXPECT_THAT(one_.curveNotes(run_), ElementsAre(kBest, kHalved));
  const CurveNoteRow third{"train/loss", 1, "third"};
  EXPECT_EQ(two_.setCurveNotes(run_, {third}, 0), 4);
  EXPECT_THAT(one_.curveNotes(run_), ElementsAre(kBest, third, kHalved));
  EXPECT_EQ(two_.setCurveNotes(run_, {kBest, kHalved, third, kWarm}, 2), 4)
      << "what was added is there already, what stayed was removed by another";
  for (const EditRow& edit : one_.edits(run_, RunField::CurveNotes)) EXPECT_TRUE(edit.isTaken);
}

TEST_F(CurveNotes, AreAConflictWhereTheListThatWasSeenIsNotKeptAnyMore) {
  for (int i = 0; i < 60; ++i) one_.setCurveNotes(run_, many(i + 1));
  const Notes standing = one_.curveNotes(run_);
  try {
    two_.setCurveNotes(run_, {kBest}, 3);
    FAIL() << "it is unknown what was added to which list";
  } catch (const EditConflict& conflict) {
    EXPECT_THAT(conflict.what(), Names("the notes on curves of run 1 were changed"));
    EXPECT_EQ(curveNotesFromText(conflict.theirs), standing);
    EXPECT_EQ(conflict.version, 60);
  }
  EXPECT_EQ(one_.curveNotes(run_), standing);
  const auto edits = one_.edits(run_, RunField::CurveNotes);
  EXPECT_FALSE(edits.back().isTaken);
  EXPECT_EQ(edits.back().text, curveNotesText({kBest}));
}

TEST_F(CurveNotes, ThatHaveNoRoomAreRefusedAndNothingIsLost) {
  one_.setCurveNotes(run_, many(999), 0);
  one_.setCurveNotes(run_, many(1000), 1);
  EXPECT_THAT(
      [&] {
        Notes mine = many(999);
        mine.push_back(kBest);
        two_.setCurveNotes(run_, mine, 1);
      },
      Fails<ConfigError>("1,000", "1,001"));
  EXPECT_THAT([&] { two_.setCurveNotes(run_, many(1001)); }, Fails<ConfigError>("1,001"));
  EXPECT_THAT(two_.curveNotes(run_), SizeIs(1000));
  EXPECT_EQ(two_.version(run_, RunField::CurveNotes), 2);
  const auto with = [&](const std::string& metric, const std::string& text) {
    return test::refusal<ConfigError>([&] { one_.setCurveNotes(run_, {{metric, 7, text}}); });
  };
  EXPECT_THAT(with("train/loss", std::string(201, 'x')), Names("train/loss", "step 7", 201));
  EXPECT_THAT(with("train/loss", ""), Names("train/loss", "step 7"));
  EXPECT_THAT(with("", "words"), Names("metric"));
  std::string umlauts;
  for (int i = 0; i < 200; ++i) umlauts += "ä";
  EXPECT_NO_THROW(one_.setCurveNotes(run_, {{"train/loss", 7, umlauts}}));
}

TEST(CurveNotesText, ThatIsNoListOfNotesIsRefusedInOneSentence) {
  for (const char* text : {"", "x", "null", "{}", "[1]", "[[]]", R"([{"metric": "a", "step": 1}])",
                           R"([{"metric": "a", "step": 1.5, "text": "b"}])",
                           R"([{"metric": "a", "step": "1", "text": "b"}])",
                           R"([{"metric": "a", "step": 9223372036854775808, "text": "b"}])",
                           R"([{"metric": 1, "step": 1, "text": "b"}])",
                           R"([{"metric": "a", "step": 1, "text": null}])",
                           R"([{"metric": "a", "step": 1, "text": "b", "colour": "red"}])",
                           "[{\"metric\": \"a\", \"step\": 1, \"text\": \"\xff\"}]"}) {
    EXPECT_EQ(test::refusal<ConfigError>([&] { static_cast<void>(curveNotesFromText(text)); }),
              "notes on curves have to be a JSON list of {\"metric\": text, \"step\": integer, "
              "\"text\": text}")
        << text;
  }
  const Notes notes{kBest, kWarm, kHalved};
  EXPECT_EQ(curveNotesFromText(curveNotesText({kHalved, kWarm, kBest})), notes);
  EXPECT_EQ(curveNotesText({}), "[]");
  EXPECT_EQ(curveNotesFromText(R"([{"metric": "a", "step": -9223372036854775808, "text": "b"}])")
                .front()
                .step,
            std::numeric_limits<std::int64_t>::min());
}

TEST(CurveNotesMerge, DoesToTheirListWhatWasDoneToTheOldOne) {
  EXPECT_THAT(mergedList<CurveNoteRow>({}, {kWarm}, {kBest}), ElementsAre(kBest, kWarm));
  EXPECT_THAT(mergedList<CurveNoteRow>({kWarm}, {}, {kBest, kWarm}), ElementsAre(kBest));
  EXPECT_THAT(mergedList<CurveNoteRow>({kWarm}, {kWarm, kBest}, {}), ElementsAre(kBest));
  EXPECT_THAT(mergedList<CurveNoteRow>({kWarm}, {}, {}), IsEmpty());
  EXPECT_THAT(mergedList<CurveNoteRow>({}, {kBest}, {kBest}), ElementsAre(kBest));
}

}  // namespace
}  // namespace vitrine::store
