// resources/python/vitrine.py in a Python, as a training script uses it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <utility>

#include "core/base/program.h"
#include "core/files/read_png.h"
#include "core/store/run_card.h"
#include "core/store/run_store.h"
#include "tests/app/program.h"
#include "tests/support/child.h"
#include "tests/support/wait_until.h"

namespace vitrine::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

bool works(const std::vector<std::string>& command) { return runProgram(command).isSuccess(); }

/// A Python that has PyTorch: $VITRINE_PYTHON, else that of the LibTorch of this build; or "".
std::string torchPython() {
  const char* named = std::getenv("VITRINE_PYTHON");
  for (const std::string& python :
       {std::string(named != nullptr ? named : ""), std::string(VITRINE_TORCH_PYTHON)}) {
    // Found, not imported, which takes seconds.
    const std::string find = "import importlib.util as u, sys; sys.exit(not u.find_spec('torch'))";
    if (!python.empty() && std::filesystem::exists(python) && works({python, "-c", find}))
      return python;
  }
  return {};
}

class PythonLog : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!works({"python3", "-c", "import sys; sys.exit(sys.version_info < (3, 8))"}))
      GTEST_SKIP() << "there is no Python 3.8 to run the module";
  }

  [[nodiscard]] std::string database() const { return scratch_.path("log.sqlite"); }
  [[nodiscard]] store::RunStore store() const { return store::RunStore(database()); }
  [[nodiscard]] std::vector<std::string> command(const std::string& part,
                                                 const std::string& python = "python3") const {
    return {"env",
            "VITRINE_PROGRAM=" VITRINE_PROGRAM,
            "XDG_DATA_HOME=" + scratch_.path("data"),
            "XDG_CONFIG_HOME=" + scratch_.path("config"),
            "XDG_CACHE_HOME=" + scratch_.path("cache"),
            "OMP_NUM_THREADS=1",
            python,
            VITRINE_SOURCE_DIR "/tests/app/log_client.py",
            VITRINE_SOURCE_DIR "/resources/python",
            database(),
            part};
  }
  [[nodiscard]] ProgramEnd run(const std::string& part) const { return runProgram(command(part)); }
  /// The script is gone, and so is `vitrine log` soon; waits for it.
  [[nodiscard]] bool becomes(std::int64_t id, store::RunState state) const {
    return waitUntil([&] { return store().run(id).state == state; });
  }

  Scratch scratch_;
};

/// A client that is read from while it runs.
class Client {
 public:
  explicit Client(const std::vector<std::string>& command) {
    std::array<int, 2> out{};
    if (::pipe2(out.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    pid_ = startProgram({.arguments = command, .out = out[1], .isOwnSession = true}).pid;
    ::close(out[1]);
    out_ = out[0];
  }
  ~Client() {
    ::close(out_);
    if (pid_ > 0) kill();
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  [[nodiscard]] std::string line() const {
    std::string text;
    for (char c = 0; ::read(out_, &c, 1) == 1 && c != '\n';) text += c;
    return text;
  }
  /// All that it still says.
  [[nodiscard]] std::string rest() const {
    std::string text;
    std::array<char, 4096> block{};
    for (ssize_t got = 0; (got = ::read(out_, block.data(), block.size())) > 0;)
      text.append(block.data(), static_cast<std::size_t>(got));
    return text;
  }
  void kill() {
    signalProcess(pid_, SIGKILL);
    static_cast<void>(wait());
  }
  int wait() { return exitCodeOf(std::exchange(pid_, -1)); }

 private:
  int pid_ = -1, out_ = -1;
};

TEST_F(PythonLog, ALoopIsStoredWithConfigurationAndSurroundings) {
  const ProgramEnd ended = run("loop");
  ASSERT_TRUE(ended.isSuccess()) << ended.err;
  store::RunStore stored = store();
  const store::RunRow row = stored.run(1);
  EXPECT_EQ(row.state, store::RunState::Done);
  EXPECT_EQ(row.name, "loop, seed 7");
  EXPECT_EQ(row.step, 101);
  EXPECT_EQ(row.totalSteps, 100);
  EXPECT_EQ(row.device, "cpu");
  EXPECT_EQ(stored.points(1, "train/loss").size(), 100u);
  EXPECT_EQ(stored.points(1, "train/loss")[3].value, 0.25);
  EXPECT_EQ(stored.points(1, "train/loss")[3].epoch, 0.4);
  EXPECT_EQ(stored.points(1, "train/err")[99].value, 0.5);
  EXPECT_EQ(stored.points(1, "ok")[0].value, 1);
  EXPECT_EQ(stored.points(1, "odd")[0].step, 101);
  EXPECT_TRUE(std::isinf(stored.points(1, "odd")[0].value));
  EXPECT_TRUE(stored.points(1, "late").empty());
  const Json config = stored.config(1);
  EXPECT_EQ(config.at("nested").at("path"), "data");
  EXPECT_EQ(config.at("nested").at("list"), Json({1, 2}));
  EXPECT_EQ(config.at("colour"), "Colour.RED");
  EXPECT_EQ(config.at("nan"), "nan");
  EXPECT_EQ(config.at("big"), "1180591620717411303424");
  EXPECT_THAT(stored.tags(1), ElementsAre("first"));
  EXPECT_EQ(stored.note(1), "a note");
  EXPECT_EQ(store::kindOf(store::metricKinds(stored), "train/err").unit, "fraction");
  const Json environment = stored.environment(1);
  EXPECT_THAT(environment.at("script").get<std::string>(), HasSubstr("log_client.py"));
  EXPECT_TRUE(environment.at("versions").contains("python"));
}

TEST_F(PythonLog, PicturesTablesAndTextsAreStoredAndWrongOnesNamedAtTheCall) {
  const ProgramEnd ended = run("objects");
  ASSERT_TRUE(ended.isSuccess()) << ended.err;
  store::RunStore stored = store();
  EXPECT_EQ(stored.run(1).state, store::RunState::Done);
  EXPECT_EQ(stored.config(1).at("width"), 64);
  EXPECT_THAT(stored.tags(1), ElementsAre("one tag"));
  ASSERT_EQ(stored.points(1, "big").size(), 1u);
  EXPECT_EQ(stored.points(1, "big")[0].value, 1e30);
  std::map<std::string, store::ArtifactRow> artifacts;
  for (const store::ArtifactRow& each : stored.artifacts(1)) artifacts[each.name] = each;
  ASSERT_EQ(artifacts.size(), 6u);
  const PngPixels bytes = decodePng(stored.artifactData(artifacts["bytes"].id), "bytes");
  EXPECT_EQ(bytes.height, 2);
  EXPECT_THAT(bytes.pixels, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  const PngPixels list = decodePng(stored.artifactData(artifacts["list"].id), "list");
  EXPECT_THAT(list.pixels, ElementsAre(0, 255, 128, 255));
  EXPECT_EQ(artifacts["list"].meta.at("title"), "7");
  EXPECT_EQ(artifacts["several"].kind, "image_grid");
  EXPECT_EQ(artifacts["several"].meta.at("titles"), Json({"a", "b"}));
  EXPECT_EQ(artifacts["png"].meta.at("shape"), Json({1, 1, 4}));
  EXPECT_EQ(artifacts["worst"].kind, "table");
  EXPECT_EQ(artifacts["confusion"].kind, "matrix");
  EXPECT_EQ(stored.generatedImages(1).at(0).recipe.at("prompt"), "a cat");
  EXPECT_EQ(stored.generatedTexts(1).at(0).prompt, "Once");
  EXPECT_EQ(stored.points(1, "still").size(), 1u);
}

TEST_F(PythonLog, ThreadsMayLogAtOnce) {
  ASSERT_TRUE(run("threads").isSuccess());
  store::RunStore stored = store();
  for (const char* name : {"thread0", "thread1", "thread2", "thread3"})
    EXPECT_EQ(stored.points(1, name).size(), 2000u) << name;
}

TEST_F(PythonLog, AKilledScriptLosesNothingThatACallHasLogged) {
  Client client(command("killed"));
  ASSERT_EQ(client.line(), "1");
  int step = 0;
  while (step < 500) step = std::stoi(client.line());
  client.kill();
  const std::string rest = client.rest();
  // What is said last may be cut; each whole line is a step whose call had returned.
  const std::size_t end = rest.rfind('\n');
  if (end != std::string::npos) {
    const std::size_t begin = end == 0 ? 0 : rest.rfind('\n', end - 1) + 1;
    if (end > begin) step = std::max(step, std::stoi(rest.substr(begin, end - begin)));
  }
  ASSERT_TRUE(becomes(1, store::RunState::Interrupted));
  store::RunStore stored = store();
  const auto points = stored.points(1, "train/loss");
  ASSERT_GE(points.size(), static_cast<std::size_t>(step));
  for (std::size_t i = 0; i < points.size(); ++i)
    ASSERT_EQ(points[i].step, static_cast<std::int64_t>(i + 1));
  EXPECT_NE(stored.run(1).reason, "");
}

TEST_F(PythonLog, AChildOfTheScriptDoesNotKeepItsRunAlive) {
  Client client(command("forked"));
  const std::string said = client.line();
  const int child = std::stoi(said.substr(said.find(' ') + 1));
  EXPECT_EQ(client.wait(), 128 + SIGKILL);
  EXPECT_TRUE(becomes(1, store::RunState::Interrupted));
  EXPECT_TRUE(std::filesystem::exists("/proc/" + std::to_string(child)))
      << "the child was to outlive the run";
  EXPECT_EQ(store().points(1, "a").size(), 1u);
  signalProcess(child, SIGKILL);
}

TEST_F(PythonLog, TheRunEndsAsItsScriptDoes) {
  struct Ending {
    const char* part;
    store::RunState state;
    const char* reason;
  };
  constexpr Ending kEndings[] = {
      {"fails", store::RunState::Failed, "ValueError: the batch is empty"},
      {"interrupted", store::RunState::Interrupted, "KeyboardInterrupt"},
      {"silent", store::RunState::Interrupted, "it did not call finish()"},
      {"crashes", store::RunState::Failed, "RuntimeError: no context manager"},
      {"breaks", store::RunState::Interrupted, "KeyboardInterrupt"},
  };
  std::int64_t id = 0;
  for (const Ending& ending : kEndings) {
    static_cast<void>(run(ending.part));
    EXPECT_TRUE(becomes(++id, ending.state)) << ending.part;
    EXPECT_THAT(store().run(id).reason, HasSubstr(ending.reason)) << ending.part;
  }
}

TEST_F(PythonLog, AStopFromElsewhereEndsTheLoop) {
  Client client(command("stopped"));
  ASSERT_EQ(client.line(), "1");
  const Ended stopped = vitrine({"stop", "1", "--db", database()});
  EXPECT_EQ(stopped.code, 0) << stopped.err;
  EXPECT_EQ(client.wait(), 0);
  EXPECT_EQ(store().run(1).state, store::RunState::Stopped);
}

TEST_F(PythonLog, AScriptOutlivesItsLogAndContinuesTheRun) {
  const ProgramEnd ended = run("lost");
  ASSERT_TRUE(ended.isSuccess()) << ended.err;
  store::RunStore stored = store();
  EXPECT_EQ(stored.run(1).state, store::RunState::Done);
  EXPECT_EQ(stored.segments(1).size(), 2u);
  EXPECT_EQ(stored.points(1, "a").size(), 2u);
}

TEST_F(PythonLog, ALogThatIsStuckHoldsTheLoopForABoundedTime) {
  const ProgramEnd ended = run("slow");
  ASSERT_TRUE(ended.isSuccess()) << ended.err;
  EXPECT_EQ(store().points(1, "a").size(), static_cast<std::size_t>(std::stoi(ended.out)));
}

TEST_F(PythonLog, ALogThatEndsWhileACallWaitsIsNotCalledSlow) {
  const ProgramEnd ended = run("waits");
  EXPECT_TRUE(ended.isSuccess()) << ended.err;
}

TEST_F(PythonLog, ALogThatIsStuckAtTheEndGetsNothingInAFileOfTheScript) {
  const ProgramEnd ended = run("stuck");
  EXPECT_TRUE(ended.isSuccess()) << ended.err;
  EXPECT_TRUE(becomes(1, store::RunState::Interrupted));
}

TEST_F(PythonLog, WhatCannotBeStartedIsSaid) {
  const ProgramEnd ended = run("missing");
  EXPECT_TRUE(ended.isSuccess()) << ended.err;
}

TEST_F(PythonLog, APyTorchLoopIsStored) {
  const std::string python = torchPython();
  if (python.empty()) GTEST_SKIP() << "there is no Python with PyTorch; set VITRINE_PYTHON";
  const ProgramEnd ended = runProgram(command("pytorch", python));
  ASSERT_TRUE(ended.isSuccess()) << ended.err;
  store::RunStore stored = store();
  EXPECT_EQ(stored.run(1).state, store::RunState::Done);
  const auto losses = stored.points(1, "train/loss");
  ASSERT_EQ(losses.size(), 40u);
  EXPECT_LT(losses.back().value, losses.front().value);
  EXPECT_EQ(stored.points(1, "test/top1").size(), 5u);
  EXPECT_EQ(stored.points(1, "gradient").size(), 40u);
  EXPECT_EQ(stored.config(1).at("shape"), Json({256, 3, 8, 8}));
  EXPECT_EQ(stored.config(1).at("dtype"), "torch.float32");
  EXPECT_TRUE(stored.environment(1).at("versions").contains("torch"));
  std::map<std::string, store::ArtifactRow> artifacts;
  for (const store::ArtifactRow& each : stored.artifacts(1)) artifacts[each.name] = each;
  EXPECT_EQ(artifacts["inputs"].meta.at("shape"), Json({4, 8, 8, 3}));
  EXPECT_EQ(artifacts["first"].meta.at("shape"), Json({8, 8, 3}));
  EXPECT_EQ(artifacts["grey"].meta.at("shape"), Json({8, 8, 1}));
  EXPECT_EQ(stored.artifactData(artifacts["first"].id),
            stored.artifactData(artifacts["double"].id));
  EXPECT_EQ(artifacts["mask"].kind, "image");
}

}  // namespace
}  // namespace vitrine::test
