// The words of the tree, and that the reader sees what it is for.
#include "tests/structure/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vitrine::structure {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty;

std::vector<std::string> wordsIn(std::string_view text) {
  std::vector<std::string> words;
  for (const FoundWord& one : forbiddenWords("a.cpp", text)) words.push_back(one.word);
  return words;
}

TEST(Words, OfPeopleForProcessesAreFound) {
  EXPECT_THAT(wordsIn("Nobody waits, and somebody_else is fine."), ElementsAre("nobody"));
  EXPECT_THAT(wordsIn("It goes on, as this is going on."), ElementsAre("go on", "go on"));
  EXPECT_THAT(wordsIn("/// whoever goes\n/// on"), ElementsAre("whoever", "go on"));
}

TEST(Words, IsNoIsFoundApartFromThereIsNo) {
  EXPECT_THAT(wordsIn("It is no file. This is no: the end"), ElementsAre("is no", "is no"));
  EXPECT_THAT(wordsIn("There is no file, and\n  // there\n  // is no folder"), IsEmpty());
  EXPECT_THAT(wordsIn("It is no longer there; is not; is. No"), IsEmpty());
  EXPECT_THAT(wordsIn("ends with: it is no"), ElementsAre("is no"));
}

TEST(Words, ReplacedNamesAndCodesAreFoundAsWholeIdentifiers) {
  EXPECT_THAT(wordsIn("Keeper a; KeeperOfAll b; tokenAsked(); bool isAsked, wasWanted;"),
              ElementsAre("Keeper", "tokenAsked"));
  EXPECT_THAT(wordsIn("as DB9 says, CK12 and DESIGN; DB, CKPT, DESIGNER"),
              ElementsAre("DB9", "CK12", "DESIGN"));
  EXPECT_EQ(forbiddenWords("a.cpp", "one\ntwo\nTR6\n").front().line, 3);
}

TEST(Words, SomeReplacedNamesAreFoundWithinOthersAndAsTypes) {
  EXPECT_THAT(wordsIn("kLongSettleMs; UntilItIsPutBack; attention; settled"),
              ElementsAre("kLongSettleMs", "UntilItIsPutBack"));
  EXPECT_THAT(wordsIn("struct Kept {}; template <class Wanted> bool isKept; State::Kept"),
              ElementsAre("Kept", "Wanted"));
}

TEST(Words, APermissionIsForAFileAndGoesWithItsUse) {
  const std::vector<FoundWord> found{{"ui/a.cpp", 3, "anew"}, {"core/b.cpp", 1, "anew"}};
  EXPECT_EQ(violations(found, {{"ui/", "anew", ""}}).size(), 1U);
  EXPECT_THAT(violations(found, {{"ui/", "anew", ""}, {"core/b.cpp", "anew", ""}}), IsEmpty());
  EXPECT_EQ(violations({}, {{"ui/", "anew", ""}}).size(), 1U);
}

TEST(Words, TheTreeHasNoneApartFromThoseAllowed) {
  EXPECT_THAT(violations(forbiddenWords(VITRINE_SOURCE_DIR), allowedWords()), IsEmpty());
}

}  // namespace
}  // namespace vitrine::structure
