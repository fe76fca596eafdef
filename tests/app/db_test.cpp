// The verbs `db thin` and `db probe` from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/store/run_store.h"
#include "tests/app/program.h"
#include "tests/support/has_texts.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using ::testing::Not;

/// A finished run of 1,000 points whose lowest and highest are at steps 333 and 667.
std::int64_t addFinishedRun(store::RunStore& store, store::RunState end = store::RunState::Done) {
  const std::int64_t id = store.addRuns(store.experiment("e", ""), {{.name = "long"}}).front();
  const std::int64_t segment = store.openSegment(id, 0, store::thisWorker(), Json::object());
  store::RunStore::Batch batch;
  for (int step = 1; step <= 1000; ++step) {
    const double value = step == 333 ? -1 : step == 667 ? 9 : std::sin(step);
    batch.metrics.push_back({step, 0.01 * step, 0.1 * step, {{"train/loss", value}}});
  }
  store.append(id, segment, batch);
  if (end != store::RunState::Running) store.setState(id, end);
  return id;
}

struct Thinning : ::testing::Test {
  Scratch scratch;
  std::string database = scratch.path("x.sqlite");
  Ended thin(std::vector<std::string> words) const {
    words.insert(words.begin(), {"db", "thin"});
    words.insert(words.end(), {"--db", database});
    return vitrine(words);
  }
  std::size_t points(std::int64_t run) const {
    return store::RunStore(database, store::OpenMode::ReadOnly).points(run, "train/loss").size();
  }
};

TEST_F(Thinning, SaysWhatItWouldTakeOutAndTakesNothing) {
  {
    store::RunStore store(database);
    addFinishedRun(store);
  }
  const Ended asked = thin({"1", "--bucket", "50"});
  EXPECT_EQ(asked.code, 4) << asked.err;
  EXPECT_THAT(asked.err, HasTexts("of 1,000 points would be removed permanently", "of every 50",
                                  "give --yes to do it"));
  EXPECT_EQ(points(1), 1000u);
  EXPECT_EQ(vitrine({"db", "check", "--db", database}).code, 0);
}

TEST_F(Thinning, KeepsTheLowestAndTheHighestOfEveryBucketWhenItIsMeant) {
  {
    store::RunStore store(database);
    addFinishedRun(store);
    addFinishedRun(store);
  }
  const Ended done = thin({"1", "--bucket", "50", "--yes", "--json"});
  ASSERT_EQ(done.code, 0) << done.err;
  const Json report = done.json();
  EXPECT_EQ(report.at("bucket"), 50);
  EXPECT_EQ(report.at("done"), true);
  EXPECT_EQ(report.at("runs").at(0).at("before"), 1000);
  EXPECT_EQ(report.at("runs").at(0).at("after"), points(1));
  EXPECT_GE(points(1), 40u);
  EXPECT_LE(points(1), 44u);
  EXPECT_EQ(points(2), 1000u) << "which was not named";
  bool hasLowest = false, hasHighest = false;
  for (const store::MetricPoint& point :
       store::RunStore(database, store::OpenMode::ReadOnly).points(1, "train/loss")) {
    hasLowest |= point.step == 333 && point.value == -1;
    hasHighest |= point.step == 667 && point.value == 9;
  }
  EXPECT_TRUE(hasLowest && hasHighest);
  EXPECT_EQ(vitrine({"db", "check", "--db", database}).code, 0);
  const Ended again = thin({"1", "--bucket", "50", "--yes"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.err, HasLine("nothing to remove\n"));
}

TEST_F(Thinning, TakesRunsByTheirAge) {
  {
    store::RunStore store(database);
    addFinishedRun(store);
  }
  EXPECT_EQ(thin({"--older-than", "1", "--yes"}).code, 0);
  EXPECT_EQ(points(1), 1000u) << "it ended just now";
  EXPECT_EQ(thin({"--older-than", "0", "--bucket", "100", "--yes"}).code, 0);
  EXPECT_LT(points(1), 30u);
}

TEST_F(Thinning, LeavesARunInProgressAlone) {
  store::RunStore store(database);
  const std::int64_t run = addFinishedRun(store, store::RunState::Running);
  const Ended done = thin({std::to_string(run), "--yes", "--json"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.json().at("runs").at(0).at("refusal").get<std::string>(), Names("running"));
  EXPECT_EQ(points(run), 1000u);
}

TEST_F(Thinning, SaysWhatIsWrongWithWhatItIsAskedFor) {
  {
    store::RunStore store(database);
    addFinishedRun(store);
  }
  const auto expect = [&](std::vector<std::string> words, int code, const char* item) {
    const Ended ended = thin(std::move(words));
    EXPECT_EQ(ended.code, code) << ended.err;
    EXPECT_THAT(ended.err, Names(item));
  };
  expect({}, 2, "--older-than DAYS");
  expect({"1", "--older-than", "3"}, 2, "not both");
  expect({"one"}, 2, "one");
  expect({"1", "--bucket", "3"}, 2, "use 8 or more");
  expect({"7", "--yes"}, 3, "run 7");
}

TEST(Pruning, CountsCheckpointsAndThenRemovesAllButTheBest) {
  Scratch scratch;
  const std::string database = scratch.path("x.sqlite");
  fs::path folder;
  {
    store::RunStore store(database);
    const std::int64_t run = addFinishedRun(store);
    const std::string name = store::runFolderName(store.run(run).uuid);
    folder = store::filesFolder(database) / name;
    store::RunStore::Batch batch;
    for (const std::int64_t step : {100, 200, 300}) {
      CheckpointRecord record;
      record.step = step;
      record.folder = name + "/step-" + std::to_string(step);
      record.bytes = 2000;
      record.isBest = step == 200;
      fs::create_directories(store::filesFolder(database) / record.folder);
      batch.checkpoints.push_back(record);
    }
    store.append(run, 1, batch);
  }
  const Ended asked = vitrine({"db", "prune", "1", "--db", database});
  EXPECT_EQ(asked.code, 4) << asked.err;
  EXPECT_THAT(asked.err, HasTexts("2 checkpoints, 4.0 kB, would be removed permanently",
                                  "give --yes to do it"));
  EXPECT_TRUE(fs::exists(folder / "step-100"));
  const Ended done = vitrine({"db", "prune", "1", "--yes", "--json", "--db", database});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.json().at("done"), true);
  EXPECT_EQ(done.json().at("runs").at(0).at("checkpoints"), 2);
  EXPECT_FALSE(fs::exists(folder / "step-100"));
  EXPECT_TRUE(fs::exists(folder / "step-200"));
  EXPECT_FALSE(fs::exists(folder / "step-300"));
  const Ended all = vitrine({"db", "prune", "1", "--keep", "none", "--yes", "--db", database});
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.err, ::testing::HasSubstr("1 checkpoint, 2.0 kB, removed"));
  EXPECT_FALSE(fs::exists(folder / "step-200"));
  EXPECT_EQ(vitrine({"db", "prune", "--db", database}).code, 2);
}

TEST(Probe, SaysWhatADatabaseIsAndLeavesNothingBesideIt) {
  Scratch scratch;
  const std::string file = scratch.path("x.sqlite"), copy = scratch.path("copy.sqlite");
  {
    store::RunStore store(file);
    addFinishedRun(store);
  }
  ASSERT_EQ(vitrine({"db", "backup", copy, "--db", file}).code, 0);
  const Ended probed = vitrine({"db", "probe", copy, "--json"});
  ASSERT_EQ(probed.code, 0) << probed.err;
  const Json facts = probed.json();
  EXPECT_EQ(facts.at("kind"), "database");
  EXPECT_EQ(facts.at("usable"), true);
  EXPECT_EQ(facts.at("refusal"), "");
  EXPECT_EQ(facts.at("runs"), 1);
  EXPECT_THAT(vitrine({"db", "probe", copy}).out,
              HasTexts("copy.sqlite: database, version ", "1 runs"));
  for (const auto& entry : fs::directory_iterator(fs::path(copy).parent_path()))
    EXPECT_THAT(entry.path().filename().string(), Not(::testing::StartsWith("copy.sqlite-")));
}

TEST(Probe, TellsOtherFilesByTheirNames) {
  Scratch scratch;
  const auto kind = [&](const char* name) {
    const std::string file = scratch.path(name);
    writeText(file, "anything");
    const Ended probed = vitrine({"db", "probe", file, "--json"});
    EXPECT_EQ(probed.code, 0) << probed.err;
    EXPECT_EQ(probed.json().at("usable"), false);
    return probed.json().at("kind").get<std::string>();
  };
  EXPECT_EQ(kind("a.toml"), "experiment");
  EXPECT_EQ(kind("a.safetensors"), "weights");
  EXPECT_EQ(kind("a.pt"), "foreign");
  EXPECT_EQ(kind("events.out.tfevents.1"), "tensorboard");
  EXPECT_EQ(kind("a.txt"), "unknown");
}

TEST(Probe, RefusesWhatOnlyLooksLikeADatabaseInOneSentence) {
  Scratch scratch;
  const std::string text = scratch.path("text.sqlite"), cut = scratch.path("cut.vitrine");
  writeText(text, std::string(5000, 'x'));
  {
    store::RunStore store(scratch.path("x.sqlite"));
    addFinishedRun(store);
  }
  ASSERT_EQ(
      vitrine({"export", "1", scratch.path("x.vitrine"), "--db", scratch.path("x.sqlite")}).code,
      0);
  fs::copy_file(scratch.path("x.vitrine"), cut);
  fs::resize_file(cut, 3000);
  for (const std::string& file : {text, cut}) {
    const Ended probed = vitrine({"db", "probe", file, "--json"});
    EXPECT_EQ(probed.code, 0) << probed.err;
    EXPECT_EQ(probed.json().at("usable"), false);
    const auto refusal = probed.json().at("refusal").get<std::string>();
    EXPECT_THAT(refusal, Names(fs::path(file).filename().string()));
    EXPECT_EQ(refusal.find('\n'), std::string::npos) << refusal;
  }
  EXPECT_EQ(vitrine({"db", "probe", scratch.path("x.vitrine"), "--json"}).json().at("kind"),
            "export");
}

TEST(Probe, SaysWhatIsWrongWithWhatItIsAskedFor) {
  const Ended none = vitrine({"db", "probe"});
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.err, "error: vitrine db probe: which FILE? See `vitrine db --help`\n");
  const Ended gone = vitrine({"db", "probe", "/nowhere/x.sqlite"});
  EXPECT_EQ(gone.code, 3);
  EXPECT_THAT(gone.err, Names("/nowhere/x.sqlite"));
  const Ended several = vitrine({"db", "probe", "a.sqlite", "b.sqlite"});
  EXPECT_EQ(several.code, 2);
  EXPECT_EQ(several.err,
            "error: vitrine db probe takes one file, but got 'b.sqlite'; --db names the "
            "database\n");
  EXPECT_EQ(vitrine({"db", "info", "a.sqlite"}).err,
            "error: vitrine db info takes no file, but got 'a.sqlite'; --db names the database\n");
}

}  // namespace
}  // namespace vitrine::test
