// The verbs export, import, db and search from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/program.h"
#include "tests/support/has_texts.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// Everything that `show` says of a run but where it is.
Json factsOf(const std::string& database, const std::string& run) {
  Json facts = vitrine({"show", run, "--json", "--db", database}).json();
  facts.erase("id");
  for (Json& artifact : facts.at("artifacts")) artifact.erase("id");
  return facts;
}

TEST(Export, ARunComesBackFromItsFileAsItWas) {
  Scratch scratch;
  const std::string file = scratch.path("two.vitrine"), other = scratch.path("other.sqlite");
  const std::string uuid = onShared({"show", "1", "--json"}).json().at("uuid");
  const Ended exported = onShared({"export", "3", uuid, file, "--checkpoints", "all", "--json"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  const Json report = exported.json();
  EXPECT_EQ(report.at("runs"), 2);
  EXPECT_EQ(report.at("checkpoints"),
            onShared({"show", "1", "--json"}).json().at("checkpoints").size() +
                onShared({"show", "3", "--json"}).json().at("checkpoints").size());
  EXPECT_GT(report.at("points"), 48);
  EXPECT_EQ(report.at("bytes"), fs::file_size(file));

  const Ended imported = vitrine({"import", file, "--db", other, "--json"});
  ASSERT_EQ(imported.code, 0) << imported.err;
  ASSERT_EQ(imported.json().at("runs").size(), 2u);
  EXPECT_EQ(imported.json().at("runs").at(0).at("uuid"), uuid);
  EXPECT_TRUE(factsOf(other, "2") == factsOf(sharedDatabase(), "3"));
  EXPECT_EQ(vitrine({"db", "check", "--checksums", "--db", other}).code, 0);

  const Ended again = vitrine({"import", file, "--db", other, "--json"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.json().at("runs").at(0).at("imported"), false);
  EXPECT_THAT(again.err, Names("--again"));
  const Ended copied = vitrine({"import", file, "--again", "--db", other, "--json"});
  EXPECT_EQ(copied.json().at("runs").at(0).at("imported"), true);
  EXPECT_NE(copied.json().at("runs").at(0).at("uuid"), uuid);
  EXPECT_EQ(vitrine({"runs", "--json", "--db", other}).json().size(), 4u);
}

TEST(Export, WritesPointsAndRunsForOtherProgramsByTheEnding) {
  Scratch scratch;
  EXPECT_THAT(onShared({"export", "1", scratch.path("x.csv")}).out,
              HasTexts("x.csv: 1 run, ", " points"));
  EXPECT_THAT(readText(scratch.path("x.csv")), Names("train/loss"));
  EXPECT_EQ(onShared({"export", "all", scratch.path("x.jsonl")}).code, 0);
  EXPECT_TRUE(Json::accept(
      readText(scratch.path("x.jsonl")).substr(0, readText(scratch.path("x.jsonl")).find('\n'))));
  EXPECT_EQ(onShared({"export", "1", "2", scratch.path("board")}).code, 0);
  const Ended back = vitrine({"import", scratch.path("board"), "--experiment", "from a board",
                              "--db", scratch.path("new.sqlite"), "--json"});
  EXPECT_EQ(back.code, 0) << back.err;
  EXPECT_EQ(back.json().at("runs").size(), 2u);
  const Json runs = vitrine({"runs", "--json", "--db", scratch.path("new.sqlite")}).json();
  EXPECT_EQ(runs.at(0).at("experiment"), "from a board");
}

TEST(Export, SaysWhatIsWrongWithWhatItIsAskedFor) {
  Scratch scratch;
  const std::string file = scratch.path("x.vitrine");
  const auto expect = [&](std::vector<std::string> words, int code, const std::string& item) {
    const Ended ended = onShared(std::move(words));
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_THAT(ended.err, Names(item));
    EXPECT_EQ(ended.out, "");
  };
  expect({"export", file}, 2, "one run and then a file");
  expect({"export", "1", ""}, 2, "one run and then a file");
  expect({"export", "1", scratch.path("x.zip")}, 2, ".vitrine");
  expect({"export", "1", file, "--checkpoints", "some"}, 2, "--checkpoints");
  expect({"export", "99", file}, 3, "run 99");
  expect({"export", "third", file}, 3, "run 'third'");
  EXPECT_FALSE(fs::exists(file));
  writeText(file, "mine");
  expect({"export", "1", file}, 4, file);
  EXPECT_EQ(readText(file), "mine");
}

TEST(Import, SaysWhatIsWrongWithTheFileAndChangesNothing) {
  const Copy copy;
  const auto expect = [&](const std::string& file, int code) {
    const Ended ended = copy.run({"import", file});
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_THAT(ended.err, Names(fs::path(file).filename().string()));
    EXPECT_EQ(ended.out, "");
  };
  expect(copy.path("none.vitrine"), 3);
  writeText(copy.path("text.vitrine"), "not a database at all");
  expect(copy.path("text.vitrine"), 1);
  ASSERT_EQ(copy.run({"export", "1", copy.path("good.vitrine")}).code, 0);
  const std::string good = readText(copy.path("good.vitrine"));
  writeText(copy.path("cut.vitrine"), good.substr(0, good.size() / 2));
  expect(copy.path("cut.vitrine"), 1);
  expect(copy.database(), 4);
  EXPECT_EQ(copy.run({"runs", "--json"}).json().size(), 4u);
  EXPECT_EQ(copy.run({"db", "check"}).code, 0);
}

TEST(Import, ThatFailsLeavesNoDatabaseWhereThereWasNone) {
  Scratch scratch;
  writeText(scratch.path("text.vitrine"), "not a database at all");
  writeText(scratch.path("nothing.tfevents"), "");
  fs::create_directories(scratch.path("empty"));
  for (const char* name : {"text.vitrine", "nothing.tfevents", "empty", "none.vitrine"}) {
    const Ended ended =
        vitrine({"import", scratch.path(name), "--db", scratch.path("new/folder/lab.sqlite")});
    EXPECT_NE(ended.code, 0);
    EXPECT_THAT(ended.err, Names(name));
    EXPECT_FALSE(fs::exists(scratch.path("new"))) << name;
  }
}

TEST(Import, NamesWhatCanBeReadWhereAFileIsOfAnotherKind) {
  const Copy copy;
  writeText(copy.path("x.csv"), "step,loss\n1,0.5\n");
  fs::create_directories(copy.path("empty"));
  for (const char* name : {"x.csv", "empty"}) {
    const Ended ended = copy.run({"import", copy.path(name)});
    EXPECT_NE(ended.code, 0);
    EXPECT_THAT(ended.err, Names(name, ".vitrine", "*tfevents*", "vitrine log"));
  }
}

TEST(Db, BackUpIsCheckedAndNeverReplacesAFile) {
  Scratch scratch;
  const std::string file = scratch.path("backup.sqlite");
  const Ended ended = onShared({"db", "backup", file, "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(ended.json().at("bytes"), fs::file_size(file));
  EXPECT_TRUE(factsOf(file, "4") == factsOf(sharedDatabase(), "4"));
  const Ended again = onShared({"db", "backup", file});
  EXPECT_EQ(again.code, 4);
  EXPECT_THAT(again.err, Names(file));
  const Ended nowhere = onShared({"db", "backup"});
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_EQ(nowhere.err,
            "error: vitrine db backup: which FILE should the copy be? See `vitrine db --help`\n");
}

TEST(Db, CheckNamesWhatIsWrongAndEndsWithOne) {
  const Copy copy;
  EXPECT_THAT(copy.run({"db", "check"}).out, HasSubstr("runs.sqlite: ok"));
  EXPECT_EQ(copy.run({"db", "check", "--json"}).json().at("ok"), true);
  // A byte of a checkpoint: only its checksum tells.
  fs::path changed;
  for (const auto& entry : fs::recursive_directory_iterator(copy.path("runs.files"))) {
    if (entry.path().filename() == "model.safetensors") changed = entry.path();
  }
  ASSERT_FALSE(changed.empty());
  std::string bytes = readText(changed);
  bytes.back() ^= 1;
  writeText(changed, bytes);
  EXPECT_EQ(copy.run({"db", "check"}).code, 0);
  const Ended found = copy.run({"db", "check", "--checksums", "--json"});
  EXPECT_EQ(found.code, 1);
  ASSERT_EQ(found.json().at("problems").size(), 1u) << found.out;
  EXPECT_THAT(found.json().at("problems").at(0).get<std::string>(), Names("model.safetensors"));
  fs::remove_all(changed.parent_path());
  const Ended missing = copy.run({"db", "check"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.out, Names(changed.parent_path().filename().string()));
}

TEST(Db, CheckOfADamagedFileSaysSo) {
  const Copy copy;
  std::string bytes = readText(copy.database());
  std::fill(bytes.begin() + 100, bytes.begin() + 4000, '\x55');
  writeText(copy.database(), bytes);
  const Ended ended = copy.run({"db", "check"});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasTexts("is damaged", "restore a backup"));
}

TEST(Db, CompactGivesBackTheSpaceOfDeletedRuns) {
  const Copy copy;
  ASSERT_EQ(copy.run({"delete", "2"}).code, 0);
  const Json report = copy.run({"db", "compact", "--json"}).json();
  EXPECT_LT(report.at("after"), report.at("before"));
  EXPECT_EQ(report.at("after"), fs::file_size(copy.database()));
  const Json info = copy.run({"db", "info", "--json"}).json();
  EXPECT_EQ(info.at("runs"), 3);
  EXPECT_EQ(info.at("space").at("free"), 0);
  EXPECT_EQ(info.at("space").at("experiments").at(0).at("title"), "Tiny");
  EXPECT_THAT(copy.run({"db", "info"}).out, HasTexts("schema_version", "files: checkpoints"));
}

TEST(Db, SaysWhatIsWrongWithWhatItIsAskedFor) {
  Scratch scratch;
  EXPECT_EQ(onShared({"db"}).code, 2);
  EXPECT_EQ(onShared({"db", "improve"}).code, 2);
  const Ended file = onShared({"db", "check", "x.sqlite"});
  EXPECT_EQ(file.code, 2);
  EXPECT_THAT(file.err, Names("x.sqlite", "--db"));
  const auto refused = [](const std::string& action, const char* option,
                          std::vector<std::string> rest) {
    rest.insert(rest.begin(), {"db", action, option});
    const Ended ended = onShared(std::move(rest));
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, Names("vitrine db " + action, option));
  };
  refused("info", "--yes", {});
  refused("check", "--keep", {"best"});
  refused("thin", "--checksums", {"1"});
  refused("prune", "--bucket", {"50", "1", "--yes"});
  refused("prune", "--older-than", {"3", "1"});
  for (const char* action : {"check", "compact"}) {
    const Ended none = vitrine({"db", action, "--db", scratch.path("none.sqlite")});
    EXPECT_EQ(none.code, 3) << none.err;
    EXPECT_THAT(none.err, Names("none.sqlite"));
  }
  writeText(scratch.path("text.sqlite"), "a letter to my aunt");
  const Ended text = vitrine({"db", "check", "--db", scratch.path("text.sqlite")});
  EXPECT_EQ(text.code, 1);
  EXPECT_THAT(text.err, Names("text.sqlite"));
}

TEST(Search, FindsRunsByBeginningsOfTheirWords) {
  const Copy copy;
  ASSERT_EQ(copy.run({"note", "2", "the ostrich hides"}).code, 0);
  const Json found = copy.run({"search", "ostr", "--json"}).json();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.at(0).at("id"), 2);
  EXPECT_EQ(found.at(0).at("where"), "note");
  EXPECT_THAT(found.at(0).at("text").get<std::string>(), HasSubstr("[ostrich]"));
  EXPECT_EQ(copy.run({"search", "wide", "--json"}).json().size(), 2u);
  EXPECT_EQ(copy.run({"search", "wide", "--limit", "1", "--json"}).json().size(), 1u);
  EXPECT_THAT(copy.run({"search", "ostr", "--csv"}).out,
              HasLine("id,experiment,name,state,where,text\r\n"));
  const Ended none = copy.run({"search", "zebra", "\"OR", "*"});
  EXPECT_EQ(none.code, 0);
  EXPECT_EQ(none.out, "no run contains all of these words\n");
  EXPECT_EQ(copy.run({"search"}).code, 2);
  EXPECT_EQ(vitrine({"search", "x", "--db", copy.path("none.sqlite")}).code, 3);
}

}  // namespace
}  // namespace vitrine::test
