// CSV, JSON Lines and TensorBoard: what leaves the database for other programs, and comes from
// them.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>

#include "core/base/text.h"
#include "core/files/event_file.h"
#include "core/store/exchange/exchange.h"
#include "core/store/maintenance/maintenance.h"
#include "core/store/sqlite/writer_lock.h"
#include "tests/core/store/full_database.h"
#include "tests/core/store/kill_at_commit.h"
#include "tests/support/child.h"
#include "tests/support/wait_until.h"

namespace vitrine::store {
namespace {

namespace fs = std::filesystem;
using test::Fails;
using test::Names;
using ::testing::ElementsAre;
using ::testing::StartsWith;

const fs::path kFixture = fs::path(VITRINE_SOURCE_DIR) / "tests/core/files/event_file_fixture";

std::string textOf(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> linesOf(const std::string& text, const std::string& end) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stop = text.find(end, at);
    lines.push_back(text.substr(at, stop - at));
    at = stop == std::string::npos ? text.size() : stop + end.size();
  }
  return lines;
}

class Forms : public testing::FullDatabase {
 protected:
  [[nodiscard]] fs::path out(const std::string& name) const { return folder_ / name; }
  ExportReport exportTo(const std::string& name, const std::vector<std::int64_t>& runs) const {
    return exportRuns(file(), runs, out(name), exportFormatOf(name), ExportedCheckpoints::None);
  }
  /// Runs Python with TensorBoard; "" where there is none.
  static std::string tensorboardPython() {
    const char* python = std::getenv("VITRINE_TENSORBOARD_PYTHON");
    return python != nullptr ? python : "";
  }
};

TEST_F(Forms, CsvHasALineForEveryPointThatCountsWithAllDigits) {
  fill();
  const ExportReport report = exportTo("points.csv", {1, 3});
  const auto lines = linesOf(textOf(out("points.csv")), "\r\n");
  ASSERT_EQ(lines.size(), 1u + 2 * 2300 + 2 * 5);
  EXPECT_EQ(report.points, 2 * 2300 + 2 * 5);
  EXPECT_EQ(lines[0], "run_id,uuid,experiment,run,segment,metric,step,epoch,time,value");
  RunStore store(file());
  const std::string start =
      "1," + store.run(1).uuid + ",\"first, \"\"quoted\"\"\",\"pre-train, seed 1\",";
  EXPECT_THAT(lines[1], StartsWith(start + "1,test/top1,1,"));
  EXPECT_THAT(lines[1], ::testing::EndsWith(",0.3333333333333333"));
  // Values 2, 3, 4, 5, 0 and 1 of the odd ones, at steps 2, 3, 4, 5, 7 and 8.
  const std::size_t loss = 1 + 2300;
  for (const auto& [step, value] : std::vector<std::pair<std::size_t, std::string>>{
           {2, "inf"}, {3, "-inf"}, {4, "5e-324"}, {5, "1e308"}, {7, "nan"}, {8, "-0"}}) {
    EXPECT_THAT(lines[loss + step - 1], ::testing::EndsWith("," + value)) << step;
  }
  // The steps that were done again stand once, from the second segment.
  EXPECT_THAT(lines[1 + 1149], StartsWith(start + "1,test/top1,1150,"));
  EXPECT_THAT(lines[1 + 1150], StartsWith(start + "2,test/top1,1151,"));
}

TEST_F(Forms, OfTextThatTheDiskRefusesNameTheFileThatWasAskedFor) {
  fill();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{64 << 10, before.rlim_max};
  ::signal(SIGXFSZ, SIG_IGN);
  for (const char* name : {"a.csv", "a.jsonl", "board"}) {
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const std::string message = test::refusal<FileError>([&] { exportTo(name, {1}); });
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_THAT(message, Names(out(name).string(), "cannot be written"));
    EXPECT_EQ(message.find(".tmp-"), std::string::npos) << message;
  }
  ::signal(SIGXFSZ, SIG_DFL);
}

TEST_F(Forms, JsonLinesHoldRunsPointsEventsArtifactsAndImages) {
  fill();
  exportTo("all.jsonl", {1, 2});
  std::map<std::string, std::vector<Json>> byType;
  for (const std::string& line : linesOf(textOf(out("all.jsonl")), "\n")) {
    const Json object = Json::parse(line);
    byType[object.at("type")].push_back(object);
  }
  ASSERT_EQ(byType["run"].size(), 2u);
  const Json& run = byType["run"][0];
  EXPECT_EQ(run.at("seed").get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(run.at("config").at("model").at("width"), 64);
  EXPECT_EQ(run.at("note"), "a note: ä, \"b\"\nsecond line");
  EXPECT_EQ(run.at("tags").dump(), R"(["keep","paper"])");
  EXPECT_EQ(run.at("curve_notes").at(1).dump(),
            R"({"metric":"train/loss","step":300,"text":"warm-up ends"})");
  EXPECT_EQ(run.at("image_tags").at(0).dump(), R"({"step":2300,"sha256":"ab","tag":"*"})");
  EXPECT_EQ(run.at("marks").dump(), R"({"baseline":"yes","colour":"3"})");
  EXPECT_EQ(byType["run"][1].at("depends_on"), run.at("run"));
  EXPECT_EQ(byType["segment"].size(), 4u);
  EXPECT_EQ(byType["metric"].size(), 2u * (2300 + 40));
  int nan = 0;
  for (const Json& point : byType["metric"]) nan += point.at("value") == "nan" ? 1 : 0;
  EXPECT_EQ(nan, 2300 / 7 + 40 / 7);
  EXPECT_FALSE(byType["event"].empty());
  ASSERT_FALSE(byType["artifact"].empty());
  EXPECT_THAT(byType["artifact"][0].at("base64").get<std::string>(),
              StartsWith("iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAAAAADRk0sL"));
  ASSERT_EQ(byType["image"].size(), 1u);
  EXPECT_EQ(byType["image"][0].at("base64"), "AP8=");
  ASSERT_EQ(byType["text"].size(), 1u);
  EXPECT_EQ(byType["text"][0].at("prompt"), "a cat");
  EXPECT_EQ(byType["text"][0].at("text"), "sat");
  EXPECT_EQ(byType["text"][0].at("recipe").at("steps"), 4);
  ASSERT_EQ(byType["run"][1].at("needs").size(), 1u);
  EXPECT_EQ(byType["run"][1].at("needs")[0].at("run"), run.at("run"));
  EXPECT_EQ(run.at("needs"), Json::array());
}

TEST_F(Forms, TensorBoardFilesHoldScalarsAndImagesWithTheirTimes) {
  fill();
  const ExportReport report = exportTo("board", {1, 3});
  EXPECT_EQ(report.points, 2 * 2300 + 2 * 5);
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(out("board"))) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  ASSERT_EQ(files.size(), 2u);
  std::sort(files.begin(), files.end());
  EXPECT_THAT(files[0].filename().string(), StartsWith("events.out.tfevents."));
  EXPECT_EQ(files[0].parent_path().filename(), "1-pre-train__seed_1");
  EventFileReader reader(files[0]);
  std::map<std::string, std::vector<SummaryEvent>> byTag;
  while (auto event = reader.next()) byTag[event->values.at(0).tag].push_back(*event);
  RunStore store(file());
  for (const std::string& name : store.metricNames(1)) {
    const auto points = store.points(1, name);
    ASSERT_EQ(byTag[name].size(), points.size()) << name;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const float expected = static_cast<float>(points[i].value);
      const float actual = static_cast<float>(byTag[name][i].values[0].scalar);
      ASSERT_EQ(std::memcmp(&actual, &expected, 4), 0) << name << " " << points[i].step;
      ASSERT_EQ(byTag[name][i].step, points[i].step);
      if (i > 0 && points[i].segment == points[i - 1].segment) {
        ASSERT_NEAR(byTag[name][i].wallTime - byTag[name][i - 1].wallTime,
                    points[i].time - points[i - 1].time, 1e-5);
      }
    }
  }
  ASSERT_EQ(byTag["attention_rank/image"].size(), 1u);  // the other one was superseded
  EXPECT_EQ(byTag["attention_rank/image"][0].values[0].image->encoded, testing::smallPng());
  EXPECT_EQ(byTag["attention_rank/image"][0].values[0].image->width, 2);
}

TEST_F(Forms, ComesBackFromTensorBoardAsMetricsAndImages) {
  fill();
  exportTo("board", {1, 3});
  const ImportReport report =
      importRuns(out("copy.sqlite"), out("board"), Duplicates::Skip, "boards");
  ASSERT_EQ(report.runs.size(), 2u);
  EXPECT_EQ(report.runs[0].name, "1-pre-train__seed_1");
  RunStore store(out("copy.sqlite")), original(file());
  EXPECT_EQ(store.run(1).experiment, "boards");
  EXPECT_EQ(store.run(1).state, RunState::Done);
  EXPECT_EQ(store.run(1).step, 2300);
  const auto before = original.points(1, "test/top1"), after = store.points(1, "test/top1");
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    ASSERT_EQ(after[i].step, before[i].step);
    ASSERT_EQ(after[i].value, static_cast<double>(static_cast<float>(before[i].value)));
  }
  EXPECT_EQ(store.artifacts(1).size(), 1u);
  EXPECT_EQ(store.artifactData(store.artifacts(1)[0].id), testing::smallPng());
  EXPECT_THAT(store.check(), ElementsAre());
  EXPECT_THAT(checkContents(out("copy.sqlite"), CheckpointFiles::Present), ElementsAre());
}

TEST_F(Forms, ReadsAFolderOfFilesThatOthersWrote) {
  fs::create_directories(out("logs/a"));
  fs::create_directories(out("logs/b/c"));
  fs::copy_file(kFixture / "torch.tfevents", out("logs/a/events.out.tfevents.1"));
  fs::copy_file(kFixture / "tensorboard.tfevents", out("logs/b/c/events.out.tfevents.2"));
  std::ofstream(out("logs/notes.txt")) << "not an event file";
  const ImportReport report = importRuns(file(), out("logs"), Duplicates::Skip, "");
  ASSERT_EQ(report.runs.size(), 2u);
  EXPECT_EQ(report.runs[0].name, "a");
  EXPECT_EQ(report.runs[1].name, "b/c");
  EXPECT_THAT(report.notes,
              ::testing::Contains("'a': left out 1 x 'text' summary, 1 x histogram"));
  RunStore store(file());
  EXPECT_EQ(store.run(1).experiment, "logs");
  EXPECT_EQ(store.run(1).startedAt, "2023-11-14T22:13:20.250Z");
  EXPECT_THAT(store.metricNames(1), ElementsAre("odd", "train/loss"));
  EXPECT_EQ(store.points(1, "train/loss").size(), 5u);
  EXPECT_EQ(store.points(1, "train/loss")[4].time, 4);
  EXPECT_TRUE(std::isnan(store.points(1, "odd").at(0).value));
  EXPECT_THAT(store.metricNames(2), ElementsAre("accuracy"));
  EXPECT_EQ(store.events(1).at(0).kind, "imported");
  EXPECT_THAT(checkContents(file(), CheckpointFiles::Present), ElementsAre());
  // Once more: known by their beginning, even when one has grown.
  std::ofstream(out("logs/a/events.out.tfevents.1"), std::ios::app) << "more";
  const ImportReport again = importRuns(file(), out("logs"), Duplicates::Skip, "");
  EXPECT_FALSE(again.runs.at(0).isNew);
  EXPECT_FALSE(again.runs.at(1).isNew);
  EXPECT_EQ(store.runs().size(), 2u);
}

TEST_F(Forms, KeepsTheMillisecondsOfTensorBoard) {
  {
    EventFileWriter events(folder_ / "events.out.tfevents.1", 1700000000);
    events.write({1700000000.123, 1, {{"a", 0.5, {}}}});
    events.write({1700000001.001, 2, {{"a", 0.5, {}}}});
    events.close();
  }
  importRuns(file(), folder_ / "events.out.tfevents.1", Duplicates::Skip, "");
  const RunRow run = RunStore(file()).run(1);
  EXPECT_EQ(run.experiment, folder_.filename().string()) << "as if it was the folder";
  EXPECT_EQ(run.startedAt, "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(run.finishedAt, "2023-11-14T22:13:21.001Z");
}

TEST_F(Forms, OfTensorBoardAreReadWhileOthersWriteAndAppearWholeOrNotAtAll) {
  fill();
  exportRuns(file(), std::array<std::int64_t, 1>{1}, folder_ / "events", ExportFormat::TensorBoard,
             ExportedCheckpoints::None);
  const fs::path database = folder_ / "there.sqlite";
  { RunStore store(database); }
  const auto empty = fs::file_size(database);
  const auto stagingFiles = [&] {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().filename().string().find(".staging-") != std::string::npos)
        files.push_back(entry.path());
    }
    return files;
  };
  {
    // Another process writes all the time: reading does not wait for them, nor they for it.
    WriterLock lock(database);
    ASSERT_TRUE(lock.lock(std::chrono::seconds(5)));
    const pid_t child = forkChild();
    if (child == 0) {
      try {
        importRuns(database, folder_ / "events", Duplicates::Skip, "");
      } catch (const std::exception&) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    const auto isRead = [&] {
      const auto files = stagingFiles();
      // The points are in it, committed: what is not yet is in memory.
      return !files.empty() && fs::file_size(files[0]) > empty + 16'384;
    };
    EXPECT_TRUE(waitUntil(isRead)) << "it waits at the writer lock before it has read anything";
    signalProcess(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    lock.unlock();
  }
  EXPECT_EQ(RunStore(database).runs().size(), 0u);
  EXPECT_EQ(stagingFiles().size(), 1u);
  importRuns(database, folder_ / "events", Duplicates::Skip, "");
  EXPECT_EQ(RunStore(database).runs().size(), 1u);
  EXPECT_EQ(stagingFiles().size(), 0u) << "the next import cleans up";
  EXPECT_THAT(checkContents(database, CheckpointFiles::Present), ::testing::IsEmpty());
}

/// A run of `steps` points of two metrics, as event files.
void writeLongEvents(const fs::path& folder, int steps) {
  const fs::path source = folder / "long.sqlite";
  {
    RunStore store(source);
    const std::int64_t id = store.addRuns(store.experiment("long", ""), {{.name = "long"}}).front();
    const std::int64_t segment = store.openSegment(id, 0, thisWorker(), Json::object());
    RunStore::Batch batch;
    for (int step = 1; step <= steps; ++step)
      batch.metrics.push_back({step, 0, 0.01 * step, {{"a", 1.0 / step}, {"b", 1.0 * step}}});
    store.append(id, segment, batch);
    store.setState(id, RunState::Done);
  }
  exportRuns(source, std::array<std::int64_t, 1>{1}, folder / "long", ExportFormat::TensorBoard,
             ExportedCheckpoints::None);
}

/// How often a process has written: others may do so between two of them.
std::uint64_t transactionsOf(const fs::path& database) {
  std::uint64_t count = 0;
  std::ifstream(database.string() + ".gate", std::ios::binary)
      .read(reinterpret_cast<char*>(&count), sizeof count);
  return count;
}

std::int64_t countOf(const fs::path& database, const std::string& sql) {
  return RunStore(database, OpenMode::ReadOnly).query(sql).rows.at(0).at(0).get<std::int64_t>();
}

constexpr const char* kOrphans =
    "SELECT (SELECT count(*) FROM metric_chunk WHERE run_id NOT IN (SELECT id FROM run)) + (SELECT "
    "count(*) FROM clock_chunk WHERE run_id NOT IN (SELECT id FROM run))";

TEST_F(Forms, OfALargeRunOfTensorBoardAreStoredInManyTransactions) {
  constexpr int kSteps = 300'000;
  writeLongEvents(folder_, kSteps);
  const fs::path database = folder_ / "there.sqlite";
  { RunStore store(database); }
  const std::uint64_t before = transactionsOf(database);
  const ImportReport report = importRuns(database, folder_ / "long", Duplicates::Skip, "");
  ASSERT_EQ(report.runs.size(), 1u);
  // 600 chunks of 8,000 bytes, at most about 1 MiB of them at once, and 300 clocks.
  EXPECT_GE(transactionsOf(database) - before, 6u);
  RunStore store(database);
  EXPECT_EQ(store.points(report.runs[0].id, "b").size(), static_cast<std::size_t>(kSteps));
  EXPECT_THAT(store.check(), ::testing::IsEmpty());
  EXPECT_THAT(checkContents(database, CheckpointFiles::Present), ::testing::IsEmpty());
  EXPECT_EQ(countOf(database, "SELECT count(*) FROM meta WHERE key LIKE 'unfinished%'"), 0);
  // Its id was taken before its row was there: the next run gets another one.
  NewRun next{.name = "next"};
  EXPECT_EQ(store.addRuns(store.experiment("e", ""), {next}).front(), report.runs[0].id + 1);
}

TEST_F(Forms, OfALargeRunWhoseImportIsKilledAreNotSeenAndGoWithTheNextOne) {
  writeLongEvents(folder_, 300'000);
  const fs::path database = folder_ / "there.sqlite";
  { RunStore store(database); }
  const pid_t child = forkChild();
  if (child == 0) {
    testing::killAtCommit(database, 4);
    try {
      importRuns(database, folder_ / "long", Duplicates::Skip, "");
    } catch (const std::exception&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status)) << "it ended before its fourth transaction";
  ASSERT_GT(countOf(database, kOrphans), 0) << "no part of it was stored";
  {
    RunStore store(database);
    EXPECT_EQ(store.runs().size(), 0u);
    EXPECT_THAT(store.check(), ::testing::IsEmpty()) << "what is being imported is not damage";
    EXPECT_THAT(checkContents(database, CheckpointFiles::Present), ::testing::IsEmpty());
    // A run that is made meanwhile does not find them among its own.
    const std::int64_t id = store.addRuns(store.experiment("e", ""), {{.name = "other"}}).front();
    EXPECT_EQ(
        countOf(database, "SELECT count(*) FROM metric_chunk WHERE run_id = " + std::to_string(id)),
        0);
  }
  const ImportReport report = importRuns(database, folder_ / "long", Duplicates::Skip, "");
  ASSERT_EQ(report.runs.size(), 1u);
  EXPECT_EQ(RunStore(database).points(report.runs[0].id, "a").size(), 300'000u);
  EXPECT_EQ(countOf(database, kOrphans), 0) << "the next import cleans up";
  EXPECT_EQ(countOf(database, "SELECT count(*) FROM meta WHERE key LIKE 'unfinished%'"), 0);
  EXPECT_THAT(RunStore(database).check(), ::testing::IsEmpty());
}

TEST_F(Forms, SaysWhereAnEventFileIsCutOrDamaged) {
  const std::string whole = textOf(kFixture / "torch.tfevents");
  std::string bytes = whole.substr(0, whole.size() - 3);
  const std::size_t second = 16 + static_cast<unsigned char>(bytes[0]);
  bytes[second + 20] ^= 1;
  std::ofstream(out("x.tfevents"), std::ios::binary) << bytes;
  const ImportReport report = importRuns(file(), out("x.tfevents"), Duplicates::Skip, "");
  ASSERT_EQ(report.runs.size(), 1u);
  EXPECT_THAT(report.notes, ::testing::Contains(Names(second)));
  EXPECT_THAT(report.notes, ::testing::Contains(::testing::HasSubstr("is cut at offset")));
  EXPECT_EQ(RunStore(file()).points(1, "train/loss").size(), 4u);
}

TEST_F(Forms, RefusesWhatIsNeitherOfThem) {
  std::ofstream(out("text.txt")) << "just some words that are long enough";
  EXPECT_THAT([&] { importRuns(file(), out("text.txt"), Duplicates::Skip, ""); },
              Fails<FileError>("text.txt"));
  std::ofstream(out("x.vitrine")) << "just some words";
  EXPECT_THAT([&] { importRuns(file(), out("x.vitrine"), Duplicates::Skip, ""); },
              Fails<StoreError>("x.vitrine"));
  fs::create_directory(out("empty"));
  EXPECT_THAT([&] { importRuns(file(), out("empty"), Duplicates::Skip, ""); },
              Fails<NotFoundError>("empty"));
  std::ofstream(out("nothing.tfevents")) << "";
  EXPECT_THAT([&] { importRuns(file(), out("nothing.tfevents"), Duplicates::Skip, ""); },
              Fails<FileError>("nothing.tfevents", "no scalars and no images"));
  EXPECT_TRUE(RunStore(file()).runs().empty());
}

TEST_F(Forms, LeavesOutARunOfAFolderThatHasNoValues) {
  for (const char* run : {"a", "b"}) fs::create_directories(out("runs") / run);
  fs::copy_file(kFixture / "torch.tfevents", out("runs") / "a" / "x.tfevents");
  std::ofstream(out("runs") / "b" / "x.tfevents") << "";
  const ImportReport report = importRuns(file(), out("runs"), Duplicates::Skip, "");
  EXPECT_EQ(report.runs.size(), 1u);
  EXPECT_THAT(report.notes,
              ::testing::Contains("'b' is left out: it has no scalars and no images"));
  EXPECT_EQ(RunStore(file()).runs().size(), 1u);
}

class FormsElsewhere : public Forms {};

TEST_F(FormsElsewhere, AreReadByTensorBoardItself) {
  if (tensorboardPython().empty())
    GTEST_SKIP() << "set VITRINE_TENSORBOARD_PYTHON to a Python that has the package tensorboard";
  fill();
  exportTo("board", {1});
  std::ofstream(out("read.py")) << R"(
import json, math, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
board = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0, "images": 0, "tensors": 0})
board.Reload()
result = {"scalars": {}, "images": []}
for tag in board.Tags()["scalars"]:
    result["scalars"][tag] = [[e.step, str(e.value), e.wall_time] for e in board.Scalars(tag)]
for tag in board.Tags()["images"]:
    for e in board.Images(tag):
        result["images"].append([tag, e.step, e.width, e.height, e.encoded_image_string.hex()])
json.dump(result, sys.stdout)
)";
  fs::path folder;
  for (const auto& entry : fs::directory_iterator(out("board"))) folder = entry.path();
  const std::string command = "'" + tensorboardPython() + "' '" + out("read.py").string() + "' '" +
                              folder.string() + "' > '" + out("read.json").string() + "' 2> '" +
                              out("read.err").string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0) << textOf(out("read.err"));
  const Json result = Json::parse(textOf(out("read.json")));
  RunStore store(file());
  for (const std::string& name : store.metricNames(1)) {
    const auto points = store.points(1, name);
    const Json& read = result.at("scalars").at(name);
    ASSERT_EQ(read.size(), points.size()) << name;
    for (std::size_t i = 0; i < points.size(); ++i) {
      ASSERT_EQ(read[i][0], points[i].step);
      const auto value = static_cast<float>(points[i].value);
      const float got = std::strtof(read[i][1].get<std::string>().c_str(), nullptr);
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(got)) << name << " " << i;
      } else {
        ASSERT_EQ(got, value) << name << " " << i;
      }
    }
  }
  ASSERT_EQ(result.at("images").size(), 1u);
  EXPECT_EQ(result.at("images")[0][0], "attention_rank/image");
  EXPECT_EQ(result.at("images")[0][2], 2);
}

}  // namespace
}  // namespace vitrine::store
