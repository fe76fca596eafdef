// Notes, marks, archive and trash: what is changed of a trained run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/store/run_store.h"
#include "tests/app/program.h"
#include "tests/support/has_texts.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::Not;

TEST(Notes, StayWithTheRun) {
  const Copy copy;
  EXPECT_EQ(copy.run({"note", "2", "too wide; drop"}).code, 0);
  EXPECT_EQ(copy.run({"tag", "2", "paper", "baseline"}).code, 0);
  const Json run = copy.run({"show", "2", "--json"}).json();
  EXPECT_EQ(run.at("note"), "too wide; drop");
  EXPECT_EQ(run.at("tags").size(), 2u);
  EXPECT_THAT(copy.run({"show", "2"}).out, HasTexts("too wide; drop", "paper"));
}

TEST(Tags, OfSeparatorsAloneAreRefusedAndThoseOfTheRunStay) {
  const Copy copy;
  ASSERT_EQ(copy.run({"tag", "2", "paper"}).code, 0);
  for (const char* tag : {"", "  ", ",", " , "}) {
    const Ended ended = copy.run({"tag", "2", "baseline", tag});
    EXPECT_EQ(ended.code, 2) << '\'' << tag << '\'';
    EXPECT_THAT(ended.err, HasTexts("tags", std::string("'") + tag + "'", "has no word"));
  }
  EXPECT_EQ(copy.run({"show", "2", "--json"}).json().at("tags"), Json::array({"paper"}));
}

TEST(Marks, AreSaidByShowOfTheRunsThatHaveThem) {
  const Copy copy;
  {
    store::RunStore store(copy.database());
    store.setMark(2, store::RunField::Baseline, "yes");
    store.setMark(2, store::RunField::Colour, "3");
    store.setMark(3, store::RunField::Archived, "yes");
  }
  const Json marked = copy.run({"show", "2", "--json"}).json();
  EXPECT_EQ(marked.at("baseline"), true);
  EXPECT_EQ(marked.at("colour"), 3);
  EXPECT_EQ(marked.at("archived"), false);
  const Json archived = copy.run({"show", "3", "--json"}).json();
  EXPECT_EQ(archived.at("archived"), true);
  EXPECT_EQ(archived.at("baseline"), false);
  EXPECT_TRUE(archived.at("colour").is_null());
  EXPECT_THAT(copy.run({"show", "2"}).out,
              AllOf(ContainsRegex("baseline +true"), ContainsRegex("colour +3")));
  EXPECT_THAT(copy.run({"show", "3"}).out,
              AllOf(ContainsRegex("archived +true"), Not(ContainsRegex("colour "))));
}

TEST(Archive, TakesRunsOutOfTheListWithAllTheirDataAndBack) {
  const Copy copy;
  const auto listed = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"runs", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    std::set<std::int64_t> ids;
    for (const Json& run : copy.run(words).json()) ids.insert(run.at("id").get<std::int64_t>());
    return ids;
  };
  const std::set<std::int64_t> all{1, 2, 3, 4};
  ASSERT_EQ(listed({}), all);
  const Json before = copy.run({"show", "2", "--json"}).json();
  EXPECT_EQ(copy.run({"archive", "2", "99"}).code, 3);
  EXPECT_EQ(listed({}), all) << "all or none";
  const Json answer = copy.run({"archive", "2", "3", "--json"}).json();
  EXPECT_EQ(answer.at("archived"), true);
  EXPECT_EQ(listed({}), (std::set<std::int64_t>{1, 4}));
  EXPECT_EQ(listed({"--archived"}), all);
  Json after = copy.run({"show", "2", "--json"}).json();
  EXPECT_EQ(after.at("archived"), true);
  after["archived"] = false;
  EXPECT_EQ(after, before) << "it keeps its data";
  EXPECT_EQ(copy.run({"archive", "2", "3", "--undo"}).code, 0);
  EXPECT_EQ(listed({}), all);
  EXPECT_EQ(copy.run({"archive", "1", "2", "3", "4"}).code, 0);
  EXPECT_EQ(copy.run({"runs"}).out, "all archived: `vitrine runs --archived` lists them\n");
}

TEST(Delete, MovesRowsAndFilesOfAllOrNoneToTheTrash) {
  const Copy copy;
  const std::string uuid = copy.run({"show", "2", "--json"}).json().at("uuid");
  const fs::path folder = fs::path(copy.path("runs.files")) / ("run-" + uuid);
  ASSERT_TRUE(fs::exists(folder));
  EXPECT_EQ(copy.run({"delete", "2", "99"}).code, 3);
  EXPECT_EQ(copy.run({"runs", "--json"}).json().size(), 4u);
  {
    store::RunStore store(copy.database());
    store::NewRun started{.name = "started", .config = store.config(2)};
    const std::int64_t id = store.addRuns(store.run(2).experimentId, {started}).front();
    store.claim(id);  // for this process, which is there
    const Ended refused = copy.run({"delete", "2", std::to_string(id)});
    EXPECT_EQ(refused.code, 4) << refused.err;
    EXPECT_EQ(store.runs().size(), 5u);
    store.setState(id, store::RunState::Interrupted);
    store.deleteRun(id);
  }
  EXPECT_EQ(copy.run({"delete", "2"}).code, 0);
  EXPECT_EQ(copy.run({"runs", "--json"}).json().size(), 3u);
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_EQ(copy.run({"delete", "4", "3", "4", "--json"}).json().at("deleted"), Json({4, 3}));
}

TEST(Trash, ListsARunThatWasDeletedAndBringsItBack) {
  const Copy copy;
  const Json before = copy.run({"show", "2", "--json"}).json();
  const Ended deleted = copy.run({"delete", "2"});
  EXPECT_THAT(deleted.err, Names("vitrine trash restore 2"));
  const Json listed = copy.run({"trash", "--json"}).json();
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed.at(0).at("id"), 2);
  EXPECT_EQ(listed.at(0).at("name"), before.at("name"));
  EXPECT_EQ(copy.run({"trash", "restore", "2", "99"}).code, 3);
  EXPECT_EQ(copy.run({"trash", "--json"}).json().size(), 1u) << "all or none";
  EXPECT_EQ(copy.run({"trash", "restore", "2", "2"}).code, 0);
  const Json after = copy.run({"show", "2", "--json"}).json();
  EXPECT_EQ(after.at("uuid"), before.at("uuid"));
  EXPECT_EQ(after.at("config"), before.at("config"));
  EXPECT_TRUE(fs::exists(fs::path(copy.path("runs.files")) /
                         ("run-" + before.at("uuid").get<std::string>())));
  EXPECT_EQ(copy.run({"trash", "restore", "2"}).code, 3);
  EXPECT_EQ(copy.run({"trash", "restore"}).code, 2);
}

TEST(Trash, IsEmptiedForGood) {
  const Copy copy;
  ASSERT_EQ(copy.run({"delete", "2"}).code, 0);
  EXPECT_EQ(copy.run({"trash", "empty", "--json"}).json().at("removed"), 1);
  EXPECT_TRUE(copy.run({"trash", "--json"}).json().empty());
  EXPECT_EQ(copy.run({"trash", "restore", "2"}).code, 3);
  ASSERT_EQ(copy.run({"delete", "3", "--for-good"}).code, 0);
  EXPECT_TRUE(copy.run({"trash", "--json"}).json().empty());
}

TEST(Db, SaysThatAWholeFileIsWhole) {
  EXPECT_EQ(onShared({"db", "check"}).code, 0);
  EXPECT_TRUE(onShared({"db", "check", "--json"}).json().at("ok").get<bool>());
  EXPECT_EQ(onShared({"db", "info", "--json"}).json().at("runs"), 4);
}

}  // namespace
}  // namespace vitrine::test
