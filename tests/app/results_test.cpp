// What trained runs look like from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <map>
#include <utility>

#include "tests/app/program.h"
#include "tests/support/has_texts.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct Train : ::testing::Test {
  Scratch scratch;
};

TEST_F(Train, PrintsItsResultOnStdoutAndItsProgressOnStderr) {
  const Json result = Json::parse(readText(sharedFolder() / "train.json"));
  ASSERT_EQ(result.size(), 4u);
  for (const Json& run : result) {
    EXPECT_EQ(run.at("state"), "done");
    EXPECT_EQ(run.at("step"), 24);
    EXPECT_TRUE(run.at("scores").at("test/top1").is_number()) << run.dump();
  }
  const std::string log = readText(sharedFolder() / "train.log");
  EXPECT_THAT(log, HasTexts("step 24/24 100.0 % | loss ", " images/s | mem ", "run 4 of 4"));
  EXPECT_EQ(log.find('\033'), std::string::npos) << "escape sequences belong on a terminal";
  EXPECT_EQ(log.find("| loss 0 |"), std::string::npos) << "no loss was known yet";
  std::size_t last = 0;
  for (std::size_t at = log.find("step 24/24"); at != std::string::npos;
       at = log.find("step 24/24", at + 1))
    ++last;
  EXPECT_EQ(last, 4u) << "one last line for each run\n" << log;
}

TEST_F(Train, StoresTheRunsInTheOrderOfTheFile) {
  const Json runs = onShared({"runs", "--json"}).json();
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_THAT(runs[0].at("name").get<std::string>(), HasTexts("narrow", "0"));
  EXPECT_THAT(runs[3].at("name").get<std::string>(), HasTexts("wide", "1"));
  EXPECT_EQ(runs[2].at("experiment"), "Tiny");
  EXPECT_EQ(onShared({"runs", "--state", "failed", "--json"}).json().size(), 0u);
  EXPECT_THAT(onShared({"runs", "--csv"}).out, HasLine("id,experiment,name,state,"));
}

TEST_F(Train, KeepsConfigurationEnvironmentAndLogWithTheRun) {
  const Json run = onShared({"show", "3", "--json"}).json();
  EXPECT_EQ(run.at("config").at("model").at("width"), 32);
  EXPECT_EQ(run.at("seed"), 0);
  const Json& environment = run.at("environment");
  for (const char* part :
       {"commit", "dirty", "device", "threads", "cpu_path", "versions", "seeds", "plugins"}) {
    EXPECT_TRUE(environment.contains(part)) << part;
  }
  EXPECT_EQ(environment.at("threads"), 1);
  // 32 images of 5 tokens are too few rows for a block as one operation.
  const bool isReference = environment.at("cpu_path") == "reference";
  EXPECT_EQ(environment.at("cpu_taken"),
            Json({{"block", "layers"}, {"attention", isReference ? "library" : "short"}}));
  EXPECT_EQ(environment.at("plugins").at(0).at("sha256").get<std::string>().size(), 64u);
  const std::string log =
      readText(sharedFolder() / "runs.files" / fs::path(run.at("log").get<std::string>()));
  EXPECT_THAT(log, Names("step 24/24"));
  EXPECT_THAT(onShared({"show", "3"}).out, HasTexts("model.width", "test/top1"));
}

/// Counts how often files of a folder are opened, or the one with that name.
class Openings {
 public:
  explicit Openings(const fs::path& folder, std::string name = "")
      : queue_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)), name_(std::move(name)) {
    EXPECT_GE(::inotify_add_watch(queue_, folder.c_str(), IN_OPEN), 0);
  }
  ~Openings() { ::close(queue_); }
  Openings(const Openings&) = delete;
  Openings& operator=(const Openings&) = delete;

  /// Since the last call.
  [[nodiscard]] int take() const {
    int count = 0;
    alignas(inotify_event) char events[8192];
    for (ssize_t got; (got = ::read(queue_, events, sizeof events)) > 0;) {
      for (const char* at = events; at < events + got;) {
        const auto* event = reinterpret_cast<const inotify_event*>(at);
        const bool isMeant = name_.empty() || (event->len > 0 && name_ == event->name);
        if (isMeant && (event->mask & IN_ISDIR) == 0) ++count;
        at += sizeof(inotify_event) + event->len;
      }
    }
    return count;
  }

 private:
  int queue_;
  std::string name_;
};

TEST_F(Train, OpensTheDataOnceForTheCheckAndAllItsRuns) {
  const std::string images = scratch.path("images");
  fs::copy(sharedFolder() / "images", images);
  const Openings openings(images);
  const std::string folder = "data.folder=" + images;
  ASSERT_EQ(vitrine({"check", sharedExperiment(), folder}).code, 0);
  const int once = openings.take();
  EXPECT_GT(once, 0);
  const Ended ended = vitrine(
      {"train", sharedExperiment(), folder, "train.steps=2", "--db", scratch.path("x.sqlite")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(openings.take(), once);
}

TEST_F(Train, VerifiesTheCheckpointThatItsFirstRunStartsFromOnce) {
  const Copy copy;
  const auto uuid = copy.run({"show", "1", "--json"}).json().at("uuid").get<std::string>();
  // Only a check of the whole checkpoint reads the optimizer's state.
  const Openings openings(fs::path(copy.path("runs.files")) / ("run-" + uuid) / "step-000000024",
                          "optimizer.safetensors");
  const Ended ended =
      copy.run({"train", sharedSingle(), "train.steps=2", "init={ run = \"" + uuid + "\" }"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(openings.take(), 1);
}

TEST_F(Train, StoresWhatTheProcessUsesOfTheMachineAmongItsPoints) {
  const std::string database = scratch.path("x.sqlite");
  const Ended ended = vitrine({"train", sharedSingle(), "--db", database, "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto rowsOf = [&](const std::string& sql) {
    return vitrine({"query", sql, "--json", "--db", database}).json();
  };
  const auto valuesOf = [&](const std::string& name) {
    return rowsOf("SELECT step, value FROM metrics WHERE name = '" + name + "' ORDER BY step");
  };
  const Json cpu = valuesOf("system/cpu"), memory = valuesOf("system/resident_memory");
  const Json loss = valuesOf("train/loss");
  ASSERT_FALSE(cpu.empty());
  ASSERT_FALSE(loss.empty());
  EXPECT_LE(cpu.at(0).at("step"), loss.at(0).at("step"))
      << "the first point has it, however short the run is";
  EXPECT_EQ(cpu.size(), memory.size());
  for (const Json& point : cpu) {
    EXPECT_GE(point.at("value").get<double>(), 0);
    EXPECT_LE(point.at("value").get<double>(), 1);
  }
  for (const Json& point : memory) {
    EXPECT_GT(point.at("value").get<double>(), 50) << "LibTorch alone needs more MiB";
    EXPECT_LT(point.at("value").get<double>(), 100'000);
  }
  EXPECT_EQ(rowsOf("SELECT unit FROM metric_kind WHERE pattern = 'system/cpu'").at(0).at("unit"),
            "fraction");
}

TEST_F(Train, ListsTheScoresOfTheTaskAndNotThoseOfEachClass) {
  const std::string database = scratch.path("x.sqlite");
  const Ended ended = vitrine({"train", sharedSingle(), "train.steps=2", "--db", database});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, Names("test/top1"));
  EXPECT_EQ(ended.out.find("class_accuracy"), std::string::npos) << ended.out;
  const Json stored = vitrine({"query",
                               "SELECT count(*) AS n FROM metrics "
                               "WHERE name LIKE 'test/class_accuracy/%'",
                               "--json", "--db", database})
                          .json();
  EXPECT_GT(stored.at(0).at("n"), 0);
}

TEST_F(Train, EndsWithOneWhenALossIsNotFinite) {
  const Ended ended =
      vitrine({"train", sharedSingle(), "train.optimizer.learning_rate=1e30",
               "train.schedule.name=constant", "--db", scratch.path("x.sqlite"), "--json"});
  EXPECT_EQ(ended.code, 1) << ended.err;
  const Json json = ended.json();
  EXPECT_EQ(json.at("error").at("code"), "failed");
  EXPECT_THAT(json.at("error").at("message").get<std::string>(),
              ::testing::StartsWith("run 1: the loss of step "));
  const Json run = json.at("runs").at(0);
  EXPECT_EQ(run.at("state"), "failed");
  EXPECT_TRUE(run.at("reason").get<std::string>().starts_with("the loss of step ")) << run.dump();
}

TEST_F(Train, StoresNothingWhenARunStartsFromWhatIsNotThere) {
  writeText(scratch.path("two.toml"), readText(sharedSingle()) + R"([[variant]]
name = "first"
set = { "train.steps" = 4, "init.run" = "01234567-89ab-4cde-8f01-23456789abcd" }
[[variant]]
name = "second"
set = { "train.steps" = 4 }
)");
  const Ended ended =
      vitrine({"train", scratch.path("two.toml"), "--db", scratch.path("x.sqlite"), "--json"});
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_THAT(ended.err, Names("first", "01234567-89ab-4cde-8f01-23456789abcd"));
  EXPECT_EQ(vitrine({"runs", "--db", scratch.path("x.sqlite"), "--json"}).json().size(), 0u);
}

TEST_F(Train, StoresNothingWhenTheConfigurationIsWrong) {
  const Ended ended =
      vitrine({"train", sharedSingle(), "train.bath_size=3", "--db", scratch.path("x.sqlite")});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, Names("command line", "batch_size"));
  EXPECT_FALSE(fs::exists(scratch.path("x.sqlite")));
}

TEST_F(Train, StoresNothingWhenTheModelCannotBeBuiltAndSaysWhatCheckSays) {
  const std::string cells = undividedCells();
  const Ended ended = vitrine({"train", "-", "--db", scratch.path("x.sqlite")}, cells);
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err, vitrine({"check", "-"}, cells).err);
  EXPECT_THAT(ended.err, Names("gsa_reduction", "14 x 14", 4));
  EXPECT_FALSE(fs::exists(scratch.path("x.sqlite")));
}

TEST_F(Train, StoresNothingOfAnUnknownDeviceOrMissingWeightsAsCheckAndEnqueueDo) {
  for (const auto& [key, value] : std::map<std::string, std::string>{
           {"train.device", "tpu"}, {"init.weights", "/nowhere/w.safetensors"}}) {
    for (const char* verb : {"check", "train", "enqueue"}) {
      const Ended ended =
          vitrine({verb, sharedSingle(), key + "=" + value, "--db", scratch.path("x.sqlite")});
      EXPECT_EQ(ended.code, 2) << verb << ended.err;
      EXPECT_THAT(ended.err, Names(key, value)) << verb;
    }
  }
  EXPECT_FALSE(fs::exists(scratch.path("x.sqlite")));
}

TEST_F(Train, StoresNothingOfAGpuThatIsNotHereOfWhichCheckWarns) {
  const Ended checked = vitrine({"check", sharedSingle(), "train.device=cuda:99", "--json"});
  EXPECT_EQ(checked.code, 0) << checked.err;
  ASSERT_EQ(checked.json().at("warnings").size(), 1u);
  EXPECT_THAT(checked.json().at("warnings").at(0).get<std::string>(),
              Names("train.device", "cuda:99"));
  const Ended ended =
      vitrine({"train", sharedSingle(), "train.device=cuda:99", "--db", scratch.path("x.sqlite")});
  EXPECT_EQ(ended.code, 4) << ended.err;
  EXPECT_THAT(ended.err, Names("train.device", "cuda:99"));
  EXPECT_FALSE(fs::exists(scratch.path("x.sqlite")));
}

TEST_F(Train, ASecondStageContinuesTheFirstOneAtAHigherResolution) {
  writeText(scratch.path("stages.toml"), readText(sharedSingle()) + R"(
[[stage]]
name = "first"
[[stage]]
name = "second"
set = { "train.steps" = 4, "model.image_size" = 16 }
init = "previous"
resize_positions = "linear_corners"
)");
  const Ended ended =
      vitrine({"train", scratch.path("stages.toml"), "--db", scratch.path("x.sqlite"), "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("1 resized"));
  const Json first = vitrine({"show", "1", "--json", "--db", scratch.path("x.sqlite")}).json();
  const Json second = vitrine({"show", "2", "--json", "--db", scratch.path("x.sqlite")}).json();
  EXPECT_EQ(second.at("init").at("run"), first.at("uuid"));
  // Its first loss continues where the first stage ended, not where a new model begins.
  const auto firstLoss = [&](int id) {
    return vitrine(
               {"query",
                "SELECT value FROM metrics WHERE name = 'train/loss' AND step = 1 AND run_id = " +
                    std::to_string(id),
                "--json", "--db", scratch.path("x.sqlite")})
        .json()
        .at(0)
        .at("value")
        .get<double>();
  };
  EXPECT_LT(firstLoss(2), 0.8 * firstLoss(1));
}

TEST(Resume, RefusesARunThatIsDone) {
  const Ended ended = onShared({"resume", "1"});
  EXPECT_EQ(ended.code, 4);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, Names("run 1 is done"));
  EXPECT_EQ(onShared({"run", "--id", "1"}).code, 4);
  EXPECT_EQ(onShared({"retry", "1"}).code, 4);
  EXPECT_EQ(onShared({"stop", "1"}).code, 4);
}

TEST(Evaluate, NamesTheCheckpointThatIsDamaged) {
  const Copy copy;
  const Json checkpoints = copy.run({"show", "1", "--json"}).json().at("checkpoints");
  ASSERT_FALSE(checkpoints.empty());
  const fs::path folder =
      fs::path(copy.path("runs.files")) / checkpoints.back().at("folder").get<std::string>();
  writeText(folder / "manifest.json", "damaged");
  const Ended named = copy.run({"evaluate", "1", "--checkpoint", "24"});
  EXPECT_EQ(named.code, 1);
  EXPECT_THAT(named.err, Names("step 24", "run 1", "manifest"));
}

TEST(Query, ReadsButNeverWrites) {
  const Ended rows = onShared({"query", "SELECT id, state FROM runs ORDER BY id", "--json"});
  ASSERT_EQ(rows.code, 0) << rows.err;
  EXPECT_EQ(rows.json().at(3), Json::parse(R"({"id": 4, "state": "done"})"));
  EXPECT_EQ(onShared({"query", "SELECT id, state FROM runs WHERE id = 1", "--csv"}).out,
            "id,state\r\n1,done\r\n");
  const std::string before = readText(sharedDatabase());
  for (const char* sql : {"DELETE FROM run", "PRAGMA user_version = 7", "CREATE TABLE x (y)",
                          "ATTACH 'x.sqlite' AS x"}) {
    const Ended refused = onShared({"query", sql});
    EXPECT_TRUE(refused.code == 4 || refused.code == 1) << sql << " ended with " << refused.code;
    EXPECT_EQ(refused.out, "") << sql;
  }
  EXPECT_EQ(readText(sharedDatabase()), before);
}

TEST(Query, WritesNoControlCharacterToATable) {
  const std::string sql =
      "SELECT 'a' || char(27) || '[2J' || char(10) || char(7) || char(155) || char(233) AS text";
  EXPECT_EQ(onShared({"query", sql}).out, "text\na\\x1b[2J \\x07\\x9b\u00e9\n");
  EXPECT_EQ(onShared({"query", sql, "--csv"}).out, "text\r\n\"a\x1b[2J\n\x07\u009b\u00e9\"\r\n");
  EXPECT_EQ(onShared({"query", sql, "--json"}).json().at(0).at("text"),
            "a\x1b[2J\n\x07\u009b\u00e9");
}

TEST(Runs, OfADatabaseThatCannotBeWrittenAreShown) {
  const Copy copy;
  fs::create_symlink("nowhere", copy.database() + "-shm");  // keeps even root from writing
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"runs"}, {"show", "1"}, {"compare", "Tiny"}, {"queue"}}) {
    const Ended ended = copy.run(words);
    EXPECT_EQ(ended.code, 0) << words[0] << ended.err;
    EXPECT_THAT(ended.err, HasTexts("cannot be opened for writing")) << words[0];
  }
  EXPECT_NE(copy.run({"note", "1", "x"}).code, 0);
}

TEST(Evaluate, RepeatsTheScoresOfTheLastEvaluation) {
  const Json scores = onShared({"evaluate", "1", "--json"}).json().at("scores");
  const Json trained = Json::parse(readText(sharedFolder() / "train.json")).at(0).at("scores");
  EXPECT_EQ(scores.at("top1"), trained.at("test/top1"));
  EXPECT_EQ(scores.at("loss"), trained.at("test/loss"));
  EXPECT_EQ(onShared({"evaluate", "1", "--checkpoint", "7"}).code, 3);
  EXPECT_EQ(onShared({"evaluate", "1", "--split", "tset"}).code, 2);
  const Ended none = onShared({"evaluate", "1", "--split", "validation"});
  EXPECT_EQ(none.code, 4);
  EXPECT_THAT(none.err, Names("validation", "train", "test"));
}

TEST(Evaluate, ComputesInThePrecisionOfTheRunAndSaysWhich) {
  Scratch scratch;
  const std::string database = scratch.path("x.sqlite");
  const Ended ended = vitrine({"train", sharedSingle(), "train.precision=bf16",
                               "train.ema.decay=0.9", "--db", database, "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json trained = ended.json().at(0).at("scores");
  const auto evaluated = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"evaluate", "1", "--db", database, "--json"});
    return vitrine(words).json();
  };
  const Json model = evaluated({}), ema = evaluated({"--use", "ema"});
  EXPECT_EQ(model.at("precision"), "bf16");
  EXPECT_EQ(model.at("scores").at("loss"), trained.at("test/loss"));
  EXPECT_EQ(ema.at("scores").at("loss"), trained.at("test/loss@ema"));
  EXPECT_NE(trained.at("test/loss"), trained.at("test/loss@ema"));
  const Json exact = evaluated({"--precision", "fp32"});
  EXPECT_EQ(exact.at("precision"), "fp32");
  EXPECT_NE(exact.at("scores").at("loss"), trained.at("test/loss"));
  EXPECT_THAT(vitrine({"evaluate", "1", "--db", database}).err, Names("precision bf16"));
  EXPECT_EQ(vitrine({"evaluate", "1", "--precision", "fp64", "--db", database}).code, 2);
}

TEST(Evaluate, TakesOtherDataOfARunWithAPipeline) {
  Scratch scratch;
  const std::string database = scratch.path("x.sqlite");
  const std::string list = "data.pipeline.evaluate=[{name = \"normalize\"}]";
  const Ended ended = vitrine({"train", sharedSingle(), list, "--db", database, "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto evaluated = [&](const std::string& override) {
    return vitrine({"evaluate", "1", override, "--db", database, "--json"});
  };
  const Json trained = ended.json().at(0).at("scores");
  const Ended same = evaluated("data.augment.flip=0.0");
  ASSERT_EQ(same.code, 0) << same.err;
  EXPECT_EQ(same.json().at("scores").at("loss"), trained.at("test/loss"));
  const Ended wrong = evaluated("data.pipeline.evaluate=[]");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, Names("data.pipeline.evaluate"));
  // Other drawings are allowed, but this task has none.
  const Ended foreign = evaluated("task.drawings.guidance=3");
  EXPECT_EQ(foreign.code, 2);
  EXPECT_THAT(foreign.err, Names("task.drawings"));
  EXPECT_EQ(foreign.err.find("a trained run takes"), std::string::npos) << foreign.err;
}

TEST(Analyse, StoresWhatItFindsWithTheRun) {
  const Copy copy;
  const std::size_t before = copy.run({"show", "1", "--json"}).json().at("artifacts").size();
  const Ended ended = copy.run({"analyse", "1", "attention_rank", "images=2", "--json"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Json found = ended.json();
  EXPECT_EQ(found.at("step"), 24);
  EXPECT_GT(found.at("scores").size(), 0u);
  EXPECT_GT(found.at("artifacts").size(), 0u);
  EXPECT_THAT(copy.run({"show", "1"}).out, HasSubstr("analysis/attention_rank/"));
  EXPECT_EQ(copy.run({"show", "1", "--json"}).json().at("artifacts").size(),
            before + found.at("artifacts").size());
  EXPECT_EQ(
      copy.run({"analyse", "1", "calibration", "--json"}).json().at("artifacts").at(0).at("kind"),
      "reliability");
  std::vector<std::string> names;
  const Json histograms =
      copy.run({"analyse", "1", "weight_histograms", "batch=8", "--json"}).json();
  for (const Json& artifact : histograms.at("artifacts"))
    names.push_back(artifact.at("name").get<std::string>());
  EXPECT_EQ(names, (std::vector<std::string>{"weights", "weight summary", "gradients",
                                             "gradient summary"}));
  EXPECT_EQ(copy.run({"analyse", "1", "attention_rank", "imges=2"}).code, 2);
  EXPECT_EQ(copy.run({"analyse", "1", "attention_bank"}).code, 3);
  const Ended foreign = copy.run({"analyse", "1", "memory_weights"});
  EXPECT_EQ(foreign.code, 4);
  EXPECT_THAT(foreign.err, Names("memory_weights", "signed memory weights",
                                 "attention probabilities", "attention_map"));
  EXPECT_EQ(foreign.err.find("attention_source"), std::string::npos) << foreign.err;
}

TEST(Analyse, GivesTheScoresOfAListenerAsTheRunItselfHasThem) {
  const Copy copy;
  const auto points = [&](const std::string& name) {
    return copy
        .run({"query", "SELECT step, value FROM metrics WHERE run_id = 1 AND name = '" + name + "'",
              "--json"})
        .json();
  };
  const Json before = points("analysis/calibration/ece");
  ASSERT_FALSE(before.empty());
  EXPECT_EQ(before.back().at("step"), 24);
  const Json found = copy.run({"analyse", "1", "calibration", "--json"}).json();
  EXPECT_DOUBLE_EQ(found.at("scores").at("ece").get<double>(),
                   before.back().at("value").get<double>());
  // The run was observed at that step: its own point stays the only one.
  EXPECT_EQ(points("analysis/calibration/ece"), before);
  // Of another split nothing was known.
  const Json train = copy.run({"analyse", "1", "calibration", "--split", "train", "--json"}).json();
  ASSERT_TRUE(train.at("scores").contains("train/ece")) << train.dump();
  const Json added = points("analysis/calibration/train/ece");
  ASSERT_EQ(added.size(), 1u);
  EXPECT_EQ(added[0].at("step"), 24);
  EXPECT_EQ(added[0].at("value"), train.at("scores").at("train/ece"));
}

}  // namespace
}  // namespace vitrine::test
