#include "core/store/search.h"

#include <gmock/gmock.h>

#include "tests/core/store/full_database.h"

namespace vitrine::store {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre, ::testing::UnorderedElementsAre;

class Search : public testing::FullDatabase {
 protected:
  [[nodiscard]] fs::path cache() const { return folder_ / "cache"; }
  std::vector<SearchHit> hits(const std::string& words) const {
    return searchRuns(file(), words, 50, cache());
  }
  std::vector<std::int64_t> found(const std::string& words) const {
    std::vector<std::int64_t> ids;
    for (const SearchHit& hit : hits(words)) ids.push_back(hit.run);
    return ids;
  }
};

TEST_F(Search, FindsRunsByNameNoteTagConfigurationAndLog) {
  fill();
  const std::vector<std::pair<std::string, std::string>> words{
      {"pre-train", "name"}, {"second line", "note"}, {"warm-up", "note"}, {"paper", "tags"}};
  for (const auto& [text, where] : words) {
    ASSERT_THAT(found(text), ElementsAre(1)) << text;
    EXPECT_EQ(hits(text)[0].where, where) << text;
  }
  EXPECT_EQ(hits("paper")[0].text, "keep [paper] ");
  EXPECT_THAT(found("model.width"), UnorderedElementsAre(1, 2, 3));
  EXPECT_EQ(hits("width 64")[0].where, "configuration");
  EXPECT_THAT(found("line of run 2"), ElementsAre(2));
  EXPECT_EQ(hits("line of run 2")[0].where, "log");
  EXPECT_THAT(found("nothing of the kind"), ElementsAre());
}

TEST_F(Search, TakesBeginningsOfWordsAnyCaseWithoutAccentsAndAcrossFields) {
  fill();
  EXPECT_THAT(found("FINE-tu"), ElementsAre(2));
  EXPECT_THAT(found("a note a"), ElementsAre(1));  // the note says ä
  EXPECT_THAT(found("paper width pre"), ElementsAre(1));
  EXPECT_THAT(found("paper alone"), ElementsAre());
}

TEST_F(Search, ReadsNothingButWordsInWhatIsTyped) {
  fill();
  for (const char* words :
       {"\"", "*", "AND", "name:x", "NEAR(a b)", "(", "a\"b", "'; DROP TABLE run", "-", "", "   ",
        "^pre", "{name note}: x", "\xff\xfe"}) {
    EXPECT_NO_THROW(hits(words)) << words;
  }
  EXPECT_THAT(found("\"pre-train\""), ElementsAre(1));
}

TEST_F(Search, KeepsUpWithWhatChanges) {
  fill();
  EXPECT_THAT(found("zebra"), ElementsAre());
  RunStore store(file());
  store.setNote(2, "a zebra");
  EXPECT_THAT(found("zebra"), ElementsAre(2));
  store.setNote(2, "a horse");
  EXPECT_THAT(found("zebra"), ElementsAre());
  std::ofstream(filesFolder(file()) / store.run(1).logFile, std::ios::app) << "giraffe\n";
  EXPECT_THAT(found("giraffe"), ElementsAre(1));
  store.deleteRun(3);
  EXPECT_THAT(found("alone"), ElementsAre());
}

TEST_F(Search, MakesItsIndexAgainWhenItIsGoneOrBroken) {
  fill();
  EXPECT_THAT(found("paper"), ElementsAre(1));
  fs::path index;
  for (const auto& entry : fs::directory_iterator(cache())) index = entry.path();
  ASSERT_EQ(index.filename().string(),
            RunStore(file()).info().at("uuid").get<std::string>() + ".sqlite");
  fs::remove(index);
  EXPECT_THAT(found("paper"), ElementsAre(1));
  std::ofstream(index) << std::string(8192, 'x');
  EXPECT_THAT(found("paper"), ElementsAre(1));
  testing::RawDatabase(index).run("PRAGMA user_version = 99");
  EXPECT_THAT(found("paper"), ElementsAre(1));
  testing::RawDatabase(index).run("DROP TABLE indexed");
  EXPECT_THAT(found("paper"), ElementsAre(1));
}

TEST_F(Search, SaysWhereItsIndexCannotBe) {
  fill();
  std::ofstream(cache()) << "a file";
  EXPECT_THAT([&] { (void)hits("paper"); },
              test::Fails<StoreError>("'" + cache().string() + "'", "XDG_CACHE_HOME"));
}

}  // namespace
}  // namespace vitrine::store
