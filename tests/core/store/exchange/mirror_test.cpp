// A copy of a database that is filled through frames: equal to the original, and told only what is
// new.
#include "core/store/exchange/mirror.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/jobs/queue.h"
#include "core/store/exchange/mirror_tables.h"
#include "core/store/maintenance/thinning.h"
#include "tests/core/store/temp_database.h"

namespace vitrine::store {
namespace {

using test::Fails, test::Names;
using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::IsSubsetOf;

constexpr const char* kOrigin = "ssh://lab/data/lab.sqlite";

class MirrorCopy : public testing::StoreTest {
 protected:
  [[nodiscard]] std::filesystem::path copy() const { return folder_ / "copy.sqlite"; }

  /// One answer, as it comes out of frames. Returns the number of rows of each table in it.
  std::map<std::string, std::size_t> bring(Mirror& mirror, std::int64_t run) {
    std::map<std::string, std::size_t> sent;
    MirrorSource source(file());
    source.answerBytes = std::size_t{1} << 20;
    source.rowBytes = rowBytes;
    for (bool isAll = false; !isAll; ++answers) {
      std::vector<Json> parts;
      isAll = source.copy(run, Json::from_cbor(Json::to_cbor(mirror.known(run))), [&](Json part) {
        sent[part.at("table").get<std::string>()] += part.at("rows").size();
        const std::vector<std::uint8_t> frame = Json::to_cbor(part);
        largest = std::max(largest, frame.size());
        parts.push_back(Json::from_cbor(frame));
        return true;
      });
      mirror.take(run, parts);
    }
    return sent;
  }
  void bringAll(Mirror& mirror) {
    bring(mirror, kSharedRows);
    for (const RunRow& run : RunStore(file(), OpenMode::ReadOnly).runs()) bring(mirror, run.id);
  }
  /// Every value of a table as text with its type, but those that are the copy's own.
  static std::vector<std::string> rowsOf(const std::filesystem::path& database,
                                         const std::string& table) {
    testing::RawDatabase raw(database);
    std::string columns;
    raw.each("SELECT name FROM pragma_table_xinfo('" + table + "') WHERE hidden = 0",
             [&](sqlite3_stmt* row) {
               const std::string name = reinterpret_cast<const char*>(sqlite3_column_text(row, 0));
               if (table == "run" && (name == "change_sequence" || name == "log_file")) return;
               columns += (columns.empty() ? "" : " || ',' || ") + std::string("typeof(") + name +
                          ") || quote(" + name + ")";
             });
    std::vector<std::string> rows;
    raw.each("SELECT " + columns + " FROM " + table + " ORDER BY 1", [&](sqlite3_stmt* row) {
      rows.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(row, 0)));
    });
    return rows;
  }
  void expectEqual() const {
    for (const MirrorTable& table : mirrorTables())
      EXPECT_EQ(rowsOf(file(), table.name), rowsOf(copy(), table.name)) << table.name;
  }
  /// A run with points packed and not, values that are hard to carry, a second segment and all that
  /// people write.
  static std::int64_t fill(RunStore& store, int points) {
    const std::int64_t run = addRunning(store);
    RunStore::Batch batch;
    for (int i = 1; i <= points; ++i)
      batch.metrics.push_back(record(i, {{"train/loss", 1.0 / i}, {"valid/top1", i * 0.5}}));
    batch.metrics.push_back(record(points + 1, {{"train/loss", std::nan("")}, {"x", -0.0}}));
    batch.metrics.push_back(
        record(points + 2, {{"train/loss", std::numeric_limits<double>::infinity()},
                            {"x", std::numeric_limits<double>::denorm_min()}}));
    batch.events.push_back({points, "note", "an event", Json{{"a", 1}}});
    batch.artifacts.push_back({.analysis = "attention",
                               .name = "a map",
                               .kind = "matrix",
                               .data = std::vector<std::byte>(5000, std::byte{7})});
    store.append(run, 1, batch);
    store.setNote(run, "first\n\xff not UTF-8");
    store.setTags(run, {"a", "b"});
    store.setCurveNotes(run, {{"train/loss", 3, "early"}, {"train/loss", 3, "and"}, {"x", 9, "x"}});
    return run;
  }

  int answers = 0;
  std::size_t rowBytes = MirrorSource::kRowBytes;
  std::size_t largest = 0;  ///< bytes of a part
};

TEST_F(MirrorCopy, HoldsEveryTableOfTheSchemaButTheOnesOfTheFileItself) {
  { RunStore store(file()); }
  std::vector<std::string> copied{"meta", "counter", "numbers", "deleted_run"};
  for (const MirrorTable& table : mirrorTables()) copied.emplace_back(table.name);
  std::vector<std::string> stored;
  testing::RawDatabase(file()).each(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
      [&](sqlite3_stmt* row) {
        stored.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(row, 0)));
      });
  EXPECT_GE(stored.size(), mirrorTables().size());
  EXPECT_THAT(stored, IsSubsetOf(copied));
}

TEST_F(MirrorCopy, HasTheSameRowsBitByBitAfterEveryKindOfChange) {
  RunStore store(file());
  jobs::JobQueue queue(store);
  Mirror mirror(copy(), kOrigin);
  mirror.begin("a uuid", 1);
  const std::int64_t first = fill(store, 2500);
  const std::int64_t waiting = addRun(store, "waits");
  queue.enqueue(std::vector{waiting}, {});
  bringAll(mirror);
  expectEqual();

  // More points than were there, packed meanwhile; a resume that hides some; edits; the queue.
  RunStore::Batch more;
  for (int i = 0; i < 1500; ++i) more.metrics.push_back(record(2600 + i, {{"train/loss", i}}));
  store.append(first, 1, more);
  store.setState(first, RunState::Interrupted, "pulled the plug");
  store.openSegment(first, 3000, thisWorker(), Json{{"device", "cpu"}, {"commit", "abc"}});
  store.append(first, 2, {{record(3001, {{"train/loss", 3}})}, {}, {}, {}, {}, {}, {}});
  store.setNote(first, "second");
  store.setTags(first, {"c"});
  store.setCurveNotes(first, {{"train/loss", 3, "and"}, {"x", 4, "moved"}});
  queue.setMode(QueueMode::Paused);
  queue.remove(waiting);
  bringAll(mirror);
  expectEqual();

  store.setState(first, RunState::Done);
  thinRuns(file(), std::vector{first}, 50);
  bringAll(mirror);
  expectEqual();
  EXPECT_EQ(RunStore(copy(), OpenMode::ReadOnly).points(first, "train/loss").size(),
            store.points(first, "train/loss").size());
}

TEST_F(MirrorCopy, IsToldOnlyWhatIsNew) {
  RunStore store(file());
  Mirror mirror(copy(), kOrigin);
  const std::int64_t run = fill(store, 2500);
  bring(mirror, kSharedRows);
  bring(mirror, run);
  EXPECT_THAT(bring(mirror, run), IsEmpty());
  EXPECT_THAT(bring(mirror, kSharedRows), IsEmpty());
  store.append(run, 1, {{record(2700, {{"train/loss", 1}})}, {}, {}, {}, {}, {}, {}});
  const auto sent = bring(mirror, run);
  EXPECT_EQ(sent.at("metric_tail"), 1u);
  EXPECT_EQ(sent.count("metric_chunk"), 0u);
  EXPECT_EQ(sent.count("artifact"), 0u);
  EXPECT_EQ(sent.count("run_config"), 0u);
}

TEST_F(MirrorCopy, ContinuesWhereALargeAnswerWasCut) {
  RunStore store(file());
  Mirror mirror(copy(), kOrigin);
  const std::int64_t run = addRunning(store);
  RunStore::Batch batch;
  for (int i = 0; i < 5; ++i) {
    Artifact artifact;
    artifact.analysis = artifact.name = artifact.kind = "x";
    artifact.data = std::vector<std::byte>(600'000, std::byte(i));
    batch.artifacts.push_back(artifact);
  }
  store.append(run, 1, batch);
  bring(mirror, kSharedRows);
  answers = 0;
  bring(mirror, run);
  EXPECT_GT(answers, 1);
  expectEqual();
}

TEST_F(MirrorCopy, ShowsReadersARunOnlyOnceAllOfItIsThereAndEveryChangeAsANewerOne) {
  RunStore store(file());
  Mirror mirror(copy(), kOrigin);
  const std::int64_t first = fill(store, 10), second = fill(store, 10);
  bring(mirror, kSharedRows);
  bring(mirror, second);
  RunStore reader(copy(), OpenMode::ReadOnly);
  ASSERT_EQ(reader.runs().size(), 1u);
  const std::int64_t seen = reader.lastChange();
  bring(mirror, first);  // older over there, newer here
  ASSERT_EQ(reader.runs(seen).size(), 1u);
  EXPECT_EQ(reader.runs(seen).front().id, first);
  mirror.remove(std::vector{second});
  EXPECT_THAT(reader.deletedRuns(seen), ElementsAre(second));
  EXPECT_EQ(reader.runs().size(), 1u);
}

TEST_F(MirrorCopy, LeavesOutWhatDoesNotFitIntoAFrameAndSaysSo) {
  RunStore store(file());
  Mirror mirror(copy(), kOrigin);
  const std::int64_t run = addRunning(store);
  RunStore::Batch batch;
  for (const std::size_t bytes : {std::size_t{10}, std::size_t{3'000'000}, std::size_t{20}}) {
    Artifact artifact{
        .analysis = "rank", .name = std::to_string(bytes), .kind = artifact_kind::kMatrix};
    setUint8(artifact, std::vector<std::uint8_t>(bytes, 7), {static_cast<std::int64_t>(bytes), 1},
             {"row", "column"});
    batch.artifacts.push_back(artifact);
  }
  store.append(run, 1, batch);
  testing::RawDatabase(file()).run(
      "INSERT OR REPLACE INTO note(run_id, text, changed_at) SELECT id, printf('%.*c', 2500000, "
      "'x'), '' FROM run");
  rowBytes = std::size_t{2} << 20;
  bringAll(mirror);
  EXPECT_LT(largest, rowBytes + 2 * MirrorSource::kPartBytes);
  EXPECT_LT(answers, 20);
  RunStore here(copy(), OpenMode::ReadOnly);
  auto artifacts = here.artifacts(run);
  ASSERT_EQ(artifacts.size(), 3u);
  std::sort(artifacts.begin(), artifacts.end(),
            [](const ArtifactRow& a, const ArtifactRow& b) { return a.id < b.id; });
  EXPECT_FALSE(artifacts[0].meta.contains("left_out"));
  EXPECT_EQ(here.artifactData(artifacts[0].id).size(), 10u);
  EXPECT_EQ(artifacts[1].meta.at("left_out"), 3'000'000);
  EXPECT_EQ(artifacts[1].meta.at("dtype"), "uint8");
  EXPECT_EQ(here.artifactData(artifacts[1].id).size(), 0u);
  EXPECT_EQ(here.artifactData(artifacts[2].id).size(), 20u) << "what comes behind it is here";
  EXPECT_EQ(here.note(run), R"({"left_out":2500000})");
  EXPECT_EQ(bring(mirror, run).count("artifact"), 0u) << "it is not asked for again and again";
}

TEST_F(MirrorCopy, KeepsItsLogBesideItselfWhateverTheOtherSideCallsIt) {
  RunStore store(file());
  Mirror mirror(copy(), kOrigin);
  const std::int64_t run = addRunning(store);
  store.setLogFile(run, "../../somewhere/else");
  bring(mirror, kSharedRows);
  bring(mirror, run);
  const RunRow row = RunStore(copy(), OpenMode::ReadOnly).run(run);
  EXPECT_EQ(row.logFile, "run-" + row.uuid + "/run.log");
  EXPECT_EQ(mirror.logFile(run), filesFolder(copy()) / row.logFile);
}

TEST_F(MirrorCopy, BeginsAgainForAnotherDatabaseAndForOneThatWasSetBack) {
  RunStore store(file());
  Mirror mirror(copy(), kOrigin);
  EXPECT_TRUE(mirror.begin("first", 10));
  fill(store, 10);
  bringAll(mirror);
  mirror.setChange(8);
  EXPECT_FALSE(mirror.begin("first", 10));
  EXPECT_EQ(mirror.change(), 8);
  EXPECT_TRUE(mirror.begin("first", 7)) << "a backup was restored there";
  EXPECT_EQ(mirror.change(), 0);
  EXPECT_THAT(RunStore(copy(), OpenMode::ReadOnly).runs(), IsEmpty());
  mirror.setChange(5);
  EXPECT_TRUE(mirror.begin("second", 100));
}

TEST_F(MirrorCopy, IsWrittenByItsLinkAlone) {
  { Mirror mirror(copy(), kOrigin); }
  EXPECT_EQ(mirrorOf(copy()), kOrigin);
  EXPECT_THAT([&] { RunStore store(copy(), OpenMode::ReadWrite); }, Fails<Error>(kOrigin));
  EXPECT_THAT([&] { Mirror other(copy(), "ssh://other/x.sqlite"); },
              Fails<Error>(kOrigin, "ssh://other/x.sqlite"));
  { RunStore store(file()); }
  EXPECT_THAT([&] { Mirror other(file(), kOrigin); }, Fails<Error>(file().string(), kOrigin));
}

TEST_F(MirrorCopy, TakesNothingThatBelongsElsewhere) {
  Mirror mirror(copy(), kOrigin);
  const auto take = [&](const char* part) {
    return test::refusal<Error>([&] { mirror.take(1, std::vector{Json::parse(part)}); });
  };
  EXPECT_THAT(take(R"({"table": "meta", "columns": [], "rows": []})"), Names("meta"));
  EXPECT_THAT(take(R"({"table": "experiment", "columns": [], "rows": []})"), Names("experiment"));
  EXPECT_THAT(take(R"({"table": "tag", "columns": ["run_id", "x"], "rows": []})"), Names("tag"));
  EXPECT_EQ(take(R"({"table": "tag", "columns": ["run_id", "tag"], "rows": [[2, "a"]]})"),
            "the other machine sent a row of another run");
  EXPECT_THAT(take(R"({"table": "tag", "columns": ["run_id", "tag"], "rows": [[1]]})"),
              Names("tag"));
  EXPECT_EQ(take(R"({"table": "tag", "columns": ["run_id", "tag"], "rows": [[1, {}]]})"),
            "the other machine sent a value that is none of a database");
  EXPECT_THAT(rowsOf(copy(), "tag"), IsEmpty());
}

}  // namespace
}  // namespace vitrine::store
