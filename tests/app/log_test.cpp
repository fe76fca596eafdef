// What a script of another program writes into the database with `vitrine log`.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include "core/base/program.h"
#include "core/base/read_json.h"
#include "core/store/run_card.h"
#include "core/store/run_store.h"
#include "tests/app/program.h"
#include "tests/core/store/temp_database.h"
#include "tests/support/child.h"
#include "tests/support/has_texts.h"
#include "tests/support/refusal.h"
#include "tests/support/wait_until.h"

namespace vitrine::test {
namespace {

using ::testing::ElementsAre;

constexpr const char* kRun =
    R"({"type":"run","experiment":"Mine","variant":"small","seed":3,"steps":20,)"
    R"("config":{"lr":0.1,"model":"resnet18","layers":[2,2]},)"
    R"("environment":{"device":"cuda:0","script":"python3 train.py --lr 0.1"}})"
    "\n";
constexpr const char* kDone = "{\"type\":\"finish\",\"state\":\"done\"}\n";

std::string metrics(int step, double loss) {
  return Json{{"type", "metrics"},
              {"step", step},
              {"epoch", step / 10.0},
              {"time", step * 2.0},
              {"values", {{"train/loss", loss}, {"test/top1", 0.25}}}}
             .dump() +
         "\n";
}

/// A database of its own that `vitrine log` makes.
class Logged : public ::testing::Test {
 protected:
  [[nodiscard]] std::string database() const { return scratch_.path("log.sqlite"); }
  [[nodiscard]] Ended log(const std::string& input) const {
    return vitrine({"log", "--db", database()}, input);
  }
  [[nodiscard]] Json show(int run) const {
    return vitrine({"show", std::to_string(run), "--json", "--db", database()}).json();
  }
  [[nodiscard]] store::RunStore store() const { return store::RunStore(database()); }

  Scratch scratch_;
};

/// `vitrine log` that is talked to, through pipes.
class Talk {
 public:
  explicit Talk(const std::string& database) {
    std::array<int, 2> in{}, out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0)
      throw std::runtime_error("pipe");
    program_ = startProgram({.arguments = {VITRINE_PROGRAM, "log", "--db", database},
                             .in = in[0],
                             .out = out[1],
                             .isOwnSession = true})
                   .pid;
    ::close(in[0]);
    ::close(out[1]);
    in_ = in[1];
    out_ = out[0];
  }
  ~Talk() {
    close();
    ::close(out_);
    if (program_ > 0) {
      signalProcess(program_, SIGKILL);
      ::waitpid(program_, nullptr, 0);
    }
  }
  Talk(const Talk&) = delete;
  Talk& operator=(const Talk&) = delete;

  void say(const std::string& text) const {
    ASSERT_EQ(::write(in_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void close() {
    if (in_ >= 0) ::close(in_);
    in_ = -1;
  }
  /// The next answer; waits for it.
  [[nodiscard]] Json answer() {
    std::string line;
    for (char c = 0; ::read(out_, &c, 1) == 1 && c != '\n';) line += c;
    return readJson(line);
  }
  [[nodiscard]] bool hasAnswer() const {
    pollfd out{out_, POLLIN, 0};
    return ::poll(&out, 1, 0) > 0;
  }
  [[nodiscard]] int pid() const { return program_; }
  int wait() { return exitCodeOf(std::exchange(program_, -1)); }

 private:
  int program_ = -1, in_ = -1, out_ = -1;
};

TEST_F(Logged, ARunIsStoredAsANativeOneIs) {
  std::string input = kRun;
  for (int step = 1; step <= 20; ++step) input += metrics(step, 1.0 / step);
  const Ended ended = log(input + kDone);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasTexts("{\"type\":\"run\",\"id\":1,",
                                  "{\"type\":\"finished\",\"id\":1,\"state\":\"done\""));

  const Json run = show(1);
  EXPECT_EQ(run.at("experiment"), "Mine");
  EXPECT_EQ(run.at("variant"), "small");
  EXPECT_EQ(run.at("seed"), 3);
  EXPECT_EQ(run.at("name"), "small, seed 3");
  EXPECT_EQ(run.at("state"), "done");
  EXPECT_EQ(run.at("step"), 20);
  EXPECT_EQ(run.at("total_steps"), 20);
  EXPECT_EQ(run.at("epoch"), 2.0);
  EXPECT_EQ(run.at("device"), "cuda:0");
  EXPECT_EQ(run.at("config").at("model"), "resnet18");
  EXPECT_EQ(run.at("environment").at("script"), "python3 train.py --lr 0.1");

  store::RunStore stored = store();
  const auto points = stored.points(1, "train/loss");
  ASSERT_EQ(points.size(), 20u);
  EXPECT_EQ(points[4].step, 5);
  EXPECT_EQ(points[4].value, 0.2);
  EXPECT_EQ(points[4].epoch, 0.5);
  EXPECT_EQ(points[4].time, 10.0);
  const Json parameters = vitrine({"query", "SELECT key, value FROM parameters ORDER BY key",
                                   "--json", "--db", database()})
                              .json();
  ASSERT_EQ(parameters.size(), 4u) << parameters.dump();
  EXPECT_EQ(parameters[3].at("key"), "seed");
  EXPECT_EQ(parameters[1].at("value"), 0.1);
}

TEST_F(Logged, ValuesThatAreNotFiniteArriveAsSuch) {
  ASSERT_EQ(log(std::string(kRun) +
                R"({"type":"metrics","step":0,"values":{"a":"nan","b":"inf","c":"-inf","d":null}})"
                "\n" +
                kDone)
                .code,
            0);
  store::RunStore stored = store();
  EXPECT_TRUE(std::isnan(stored.points(1, "a").at(0).value));
  EXPECT_EQ(stored.points(1, "b").at(0).value, std::numeric_limits<double>::infinity());
  EXPECT_EQ(stored.points(1, "c").at(0).value, -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(stored.points(1, "d").at(0).value));
  EXPECT_EQ(stored.points(1, "d").at(0).step, 0);
}

TEST_F(Logged, StepsMayComeInAnyOrder) {
  std::string input = kRun;
  for (const int step : {50, 7, 7, 400, 3}) input += metrics(step, step);
  ASSERT_EQ(log(input + kDone).code, 0);
  std::vector<std::int64_t> steps;
  for (const store::MetricPoint& point : store().points(1, "train/loss"))
    steps.push_back(point.step);
  EXPECT_THAT(steps, ElementsAre(3, 7, 7, 50, 400));
  EXPECT_EQ(show(1).at("step"), 400);
}

TEST_F(Logged, PicturesTablesMatricesAndTextsBecomeArtifacts) {
  // 2 x 1 RGB: red, blue.
  const std::string input =
      std::string(kRun) +
      R"({"type":"image","name":"inputs","step":4,"pixels":"/wAAAAD/","shape":[2,1,3],"title":"Inputs"})"
      "\n"
      R"({"type":"image","name":"grid","step":4,"pixels":"AP//AA==","shape":[2,1,2,1],"titles":["a","b"]})"
      "\n"
      R"({"type":"table","name":"worst","step":4,"columns":["file","loss"],"rows":[["a.png",2.5],["b.png",null]]})"
      "\n"
      R"({"type":"matrix","name":"confusion","step":4,"values":[[9,1],[2,8]],"row_labels":["cat","dog"],"column_labels":["cat","dog"]})"
      "\n"
      R"({"type":"sample","step":4,"seed":5,"pixels":"/wAAAAD/","shape":[2,1,3],"recipe":{"prompt":"a cat"}})"
      "\n"
      R"({"type":"text","step":4,"prompt":"Once","text":"Once upon a time","recipe":{"temperature":0.7}})"
      "\n"
      R"({"type":"event","step":4,"text":"learning rate lowered","data":{"lr":0.01}})"
      "\n"
      R"({"type":"print","text":"a line of the script"})"
      "\n"
      R"({"type":"metric","name":"test/score","better":"higher","unit":"fraction","title":"Score"})"
      "\n";
  const Ended ended = log(input + kDone);
  ASSERT_EQ(ended.code, 0) << ended.err;
  store::RunStore stored = store();
  std::map<std::string, store::ArtifactRow> artifacts;
  for (const store::ArtifactRow& each : stored.artifacts(1)) artifacts[each.name] = each;
  ASSERT_EQ(artifacts.size(), 4u);
  EXPECT_EQ(artifacts["inputs"].kind, "image");
  EXPECT_EQ(artifacts["inputs"].meta.at("shape"), Json({2, 1, 3}));
  EXPECT_EQ(artifacts["inputs"].meta.at("title"), "Inputs");
  EXPECT_EQ(artifacts["grid"].kind, "image_grid");
  EXPECT_EQ(stored.artifactData(artifacts["grid"].id).size(), 4u);
  EXPECT_EQ(artifacts["worst"].kind, "table");
  EXPECT_EQ(artifacts["confusion"].kind, "matrix");
  EXPECT_EQ(artifacts["confusion"].meta.at("column_labels"), Json({"cat", "dog"}));
  const auto images = stored.generatedImages(1);
  ASSERT_EQ(images.size(), 1u);
  EXPECT_EQ(images[0].seed, 5u);
  EXPECT_EQ(images[0].recipe.at("prompt"), "a cat");
  EXPECT_EQ(images[0].width, 1);
  ASSERT_EQ(stored.generatedTexts(1).size(), 1u);
  EXPECT_EQ(stored.generatedTexts(1)[0].text, "Once upon a time");
  bool hasEvent = false;
  for (const store::EventRow& event : stored.events(1))
    hasEvent = hasEvent || (event.kind == "script" && event.data.at("lr") == 0.01);
  EXPECT_TRUE(hasEvent);
  EXPECT_EQ(store::kindOf(store::metricKinds(stored), "test/score").title, "Score");
  EXPECT_THAT(readText(scratch_.path("log.files/") + stored.run(1).logFile),
              ::testing::HasSubstr("a line of the script"));
}

TEST_F(Logged, AnExperimentThatIsThereKeepsItsFile) {
  {
    store::RunStore stored = store();
    static_cast<void>(stored.experiment("Mine", "title = \"Mine\""));
  }
  ASSERT_EQ(log(std::string(kRun) + kDone).code, 0);
  store::RunStore stored = store();
  EXPECT_EQ(stored.experimentSource(stored.run(1).experimentId), "title = \"Mine\"");
}

struct Bad {
  const char* line;
  const char* words;  ///< that the sentence has to hold
};

TEST_F(Logged, ABadLineIsNamedByItsNumberAndWhatCameBeforeIsKept) {
  constexpr Bad kBad[] = {
      {"{\"type\":", "not JSON"},
      {"[1]", "JSON object"},
      {"{}", "'type' is missing"},
      {R"({"type":"metrix"})", "'metrix'"},
      {R"({"type":"run","experiment":"again"})", "'run'"},
      {R"({"type":"metrics","values":{"a":1}})", "'step' is missing"},
      {R"({"type":"metrics","step":-1,"values":{"a":1}})", "'step' is -1"},
      {R"({"type":"metrics","step":1.5,"values":{"a":1}})", "'step' is 1.5"},
      {R"({"type":"metrics","step":1,"values":{}})", "'values'"},
      {R"({"type":"metrics","step":1,"values":{"a":"high"}})", "'a' is \"high\""},
      {R"({"type":"metrics","step":1,"values":{"":1}})", "0 bytes"},
      {R"({"type":"metrics","step":1,"epoch":-2,"values":{"a":1}})", "'epoch' is -2"},
      {R"({"type":"metric","name":"a","better":"bigger"})", "'bigger'"},
      {R"({"type":"image","name":"a","png":"AAAA"})", "'png'"},
      {R"({"type":"image","name":"a","png":"A*"})", "base64"},
      {R"({"type":"image","name":"a","pixels":"AAAA","shape":[2,2]})", "3 bytes"},
      {R"({"type":"image","name":"a","pixels":"AAAA","shape":[65536,65536,65536,4]})", "3 bytes"},
      {R"({"type":"image","name":"a","pixels":"AAAA","shape":[1,1,2]})", "channels"},
      {R"({"type":"image","name":"a","pixels":"AAAA","shape":[3]})", "'shape' is [3]"},
      {R"({"type":"table","name":"a","columns":["x"],"rows":[[1],[1,2]]})", "row 2 has 2 cells"},
      {R"({"type":"matrix","name":"a","values":[[1,2],[3]]})", "row 2 has 1 cell"},
      {R"({"type":"matrix","name":"a","values":[[1]],"row_labels":["x","y"]})", "'row_labels'"},
      {R"({"type":"text","text":7})", "'text' is 7"},
      {R"({"type":"finish","state":"won"})", "'won'"},
  };
  int id = 0;
  for (const Bad& bad : kBad) {
    const Ended ended = log(std::string(kRun) + metrics(1, 2.0) + bad.line + "\n" + kDone);
    ++id;
    EXPECT_EQ(ended.code, 2) << bad.line;
    EXPECT_THAT(ended.err, HasTexts("line 3", bad.words)) << bad.line;
    EXPECT_THAT(ended.out, HasLine("{\"type\":\"error\",\"line\":3,")) << bad.line;
    store::RunStore stored = store();
    EXPECT_EQ(stored.run(id).state, store::RunState::Failed) << bad.line;
    EXPECT_THAT(stored.run(id).reason, HasTexts(bad.words)) << bad.line;
    EXPECT_EQ(stored.points(id, "train/loss").size(), 1u) << bad.line;
  }
}

TEST_F(Logged, AWrongFirstLineStoresNothing) {
  for (const char* line :
       {R"({"type":"metrics","step":1,"values":{"a":1}})", R"({"type":"run"})",
        R"({"type":"run","experiment":""})", R"({"type":"run","experiment":"x","seed":-1})",
        R"({"type":"run","experiment":"x","config":[1]})", R"({"type":"run","resume":1.5})"}) {
    const Ended ended = log(std::string(line) + "\n");
    EXPECT_EQ(ended.code, 2) << line;
    EXPECT_THAT(ended.err, Names("line 1")) << line;
  }
  EXPECT_EQ(log("{\"type\":\"run\",\"resume\":7}\n").code, 3);
  EXPECT_TRUE(store().runs().empty());
}

TEST_F(Logged, AStreamWithoutALineLeavesNoDatabase) {
  for (const char* input : {"", " \n\r\n"}) {
    const Ended none = log(input);
    EXPECT_EQ(none.code, 2);
    EXPECT_EQ(none.err, "error: standard input ended before its first line; nothing was stored\n");
    EXPECT_FALSE(std::filesystem::exists(database()));
  }
}

TEST_F(Logged, AScriptThatIsGoneLeavesAnInterruptedRunWithAllItWrote) {
  const Ended ended = log(std::string(kRun) + metrics(1, 2.0) + metrics(2, 1.0) +
                          R"({"type":"metrics","step":3,"val)");
  EXPECT_EQ(ended.code, 75);
  store::RunStore stored = store();
  EXPECT_EQ(stored.run(1).state, store::RunState::Interrupted);
  EXPECT_EQ(stored.run(1).reason,
            "its script ended in the middle of a line: killed, perhaps out of memory");
  EXPECT_EQ(stored.points(1, "train/loss").size(), 2u);
  EXPECT_EQ(log(kRun).code, 75);
  EXPECT_EQ(store().run(2).reason,
            "its script ended without a report: killed, perhaps out of memory, or it did not call "
            "finish()");
}

TEST_F(Logged, AFlushIsAnsweredWhenAllIsStored) {
  Talk talk(database());
  talk.say(kRun);
  EXPECT_EQ(talk.answer().at("type"), "run");
  talk.say(metrics(1, 2.0) + "{\"type\":\"flush\",\"id\":9}\n");
  const Json flushed = talk.answer();
  EXPECT_EQ(flushed.at("type"), "flushed");
  EXPECT_EQ(flushed.at("id"), 9);
  EXPECT_EQ(store().points(1, "train/loss").size(), 1u);
  EXPECT_EQ(store().run(1).state, store::RunState::Running);
}

TEST_F(Logged, AFlushWaitsForADatabaseThatTakesNothing) {
  Talk talk(database());
  talk.say(kRun);
  EXPECT_EQ(talk.answer().at("type"), "run");
  const std::string logFile = scratch_.path("log.files/") + store().run(1).logFile;
  testing::RawDatabase raw(database());
  raw.run("ALTER TABLE metric_tail RENAME TO elsewhere");
  talk.say(metrics(1, 2.0) + "{\"type\":\"flush\",\"id\":9}\n" +
           "{\"type\":\"print\",\"text\":\"behind the flush\"}\n");
  EXPECT_TRUE(
      waitUntil([&] { return readText(logFile).find("behind the flush") != std::string::npos; }));
  EXPECT_FALSE(talk.hasAnswer());
  raw.run("ALTER TABLE elsewhere RENAME TO metric_tail");
  const Json flushed = talk.answer();
  EXPECT_EQ(flushed.at("type"), "flushed");
  EXPECT_EQ(flushed.at("id"), 9);
  // Not through the store: SQLite has written the name of the table in quotes, which it refuses.
  EXPECT_EQ(raw.integer("SELECT count(*) FROM metrics WHERE name = 'train/loss'"), 1);
}

TEST_F(Logged, AKilledLogLeavesARunThatIsReapedAsALostOne) {
  Talk talk(database());
  talk.say(kRun);
  EXPECT_EQ(talk.answer().at("type"), "run");
  talk.say(metrics(1, 2.0) + "{\"type\":\"flush\"}\n");
  EXPECT_EQ(talk.answer().at("type"), "flushed");
  const int process = talk.pid();
  signalProcess(process, SIGKILL);
  EXPECT_EQ(talk.wait(), 128 + SIGKILL);
  store::RunStore stored = store();
  EXPECT_THAT(stored.reapLostRuns(), ElementsAre(1));
  EXPECT_EQ(stored.run(1).state, store::RunState::Interrupted);
  EXPECT_THAT(stored.run(1).reason, Names(process));
  EXPECT_EQ(stored.points(1, "train/loss").size(), 1u);
}

TEST_F(Logged, AStopReachesTheScriptAndEndsTheRunAsStopped) {
  Talk talk(database());
  talk.say(kRun);
  EXPECT_EQ(talk.answer().at("type"), "run");
  const Ended stopped = vitrine({"stop", "1", "--db", database()});
  ASSERT_EQ(stopped.code, 0) << stopped.err;
  const Json request = talk.answer();
  EXPECT_EQ(request.at("type"), "request");
  EXPECT_EQ(request.at("request"), "stop");
  EXPECT_EQ(store().run(1).state, store::RunState::Stopping);
  talk.say(metrics(2, 1.0) + "{\"type\":\"finish\",\"state\":\"stopped\"}\n");
  EXPECT_EQ(talk.answer().at("state"), "stopped");
  talk.close();
  EXPECT_EQ(talk.wait(), 75);
  EXPECT_EQ(store().run(1).state, store::RunState::Stopped);
  EXPECT_EQ(store().points(1, "train/loss").size(), 1u);
}

TEST_F(Logged, ASignalAsksTheScriptToEndAndStoresWhatStillComes) {
  Talk talk(database());
  talk.say(kRun);
  EXPECT_EQ(talk.answer().at("type"), "run");
  signalProcess(talk.pid(), SIGTERM);
  EXPECT_EQ(talk.answer().at("request"), "interrupt");
  talk.say(metrics(2, 1.0));
  talk.close();
  EXPECT_EQ(talk.answer().at("state"), "interrupted");
  EXPECT_EQ(talk.wait(), 75);
  EXPECT_EQ(store().points(1, "train/loss").size(), 1u);
}

TEST_F(Logged, AScriptContinuesItsRunBehindAStep) {
  ASSERT_EQ(log(std::string(kRun) + metrics(1, 5) + metrics(2, 4) + metrics(3, 3)).code, 75);
  const Ended ended = log(std::string(R"({"type":"run","resume":1,"step":2})") + "\n" +
                          metrics(3, 30) + metrics(4, 40) + kDone);
  ASSERT_EQ(ended.code, 0) << ended.err;
  store::RunStore stored = store();
  std::vector<double> values;
  for (const store::MetricPoint& point : stored.points(1, "train/loss"))
    values.push_back(point.value);
  EXPECT_THAT(values, ElementsAre(5, 4, 30, 40));
  EXPECT_EQ(stored.run(1).totalSteps, 20);
  EXPECT_EQ(stored.segments(1).size(), 2u);
  EXPECT_EQ(stored.run(1).state, store::RunState::Done);
  EXPECT_EQ(log("{\"type\":\"run\",\"resume\":1}\n").code, 4) << "it is done";
}

TEST_F(Logged, AFieldThatIsNullIsAbsent) {
  ASSERT_EQ(log(std::string(kRun) + metrics(1, 5)).code, 75);
  const Ended ended =
      log(std::string(R"({"type":"run","resume":1,"step":null})") + "\n" + metrics(2, 4) +
          R"({"type":"image","name":"a","step":2,"png":null,"pixels":"AP8=","shape":[1,2]})" +
          "\n" + kDone);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(store().points(1, "train/loss").size(), 2u);
  EXPECT_EQ(store().artifacts(1).size(), 1u);
}

TEST_F(Logged, WhatVitrineCannotDoWithSuchARunIsRefusedWithTheScript) {
  ASSERT_EQ(log(std::string(kRun) + metrics(1, 5)).code, 75);
  for (const char* verb : {"retry", "resume"}) {
    const Ended ended = vitrine({verb, "1", "--db", database()});
    EXPECT_EQ(ended.code, 4) << verb;
    EXPECT_THAT(ended.err, Names("python3 train.py --lr 0.1")) << verb;
  }
  EXPECT_EQ(vitrine({"run", "--id", "1", "--db", database()}).code, 4);
  EXPECT_EQ(store().run(1).state, store::RunState::Interrupted);
  EXPECT_EQ(vitrine({"evaluate", "1", "--db", database()}).code, 3);

  Talk talk(database());
  talk.say(kRun);
  EXPECT_EQ(talk.answer().at("id"), 2);
  const Ended paused = vitrine({"pause", "2", "--db", database()});
  EXPECT_EQ(paused.code, 4);
  EXPECT_EQ(paused.err,
            "error: run 2 is logged by a script, which Vitrine cannot pause; stop it instead\n");
}

TEST_F(Logged, ListsComparisonExportAndReportTakeSuchRuns) {
  for (const char* seed : {"1", "2"}) {
    std::string run = kRun;
    run.replace(run.find("\"seed\":3"), 8, std::string("\"seed\":") + seed);
    ASSERT_EQ(log(run + metrics(1, 5) + metrics(2, 4) + kDone).code, 0);
  }
  const Json runs = vitrine({"runs", "--json", "--db", database()}).json();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].at("loss"), 4);
  EXPECT_EQ(runs[0].at("top1"), 0.25);
  const Ended compared = vitrine({"compare", "Mine", "--db", database()});
  EXPECT_EQ(compared.code, 0) << compared.err;
  EXPECT_THAT(compared.out, HasLine("small    2 done")) << "both seeds are one variant";
  EXPECT_EQ(vitrine({"show", "1", "--db", database()}).code, 0);
  EXPECT_EQ(vitrine({"db", "check", "--db", database()}).code, 0);
  const std::string file = scratch_.path("runs.vitrine");
  const Ended exported = vitrine({"export", "1", "2", file, "--db", database()});
  EXPECT_EQ(exported.code, 0) << exported.err;
  const std::string page = scratch_.path("report.html");
  const Ended reported = vitrine({"report", "Mine", page, "--no-charts", "--db", database()});
  EXPECT_EQ(reported.code, 0) << reported.err;
  EXPECT_EQ(vitrine({"search", "resnet18", "--db", database()}).code, 0);
}

}  // namespace
}  // namespace vitrine::test
