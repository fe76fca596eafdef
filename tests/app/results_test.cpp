// What trained runs look like from the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/store/metrics/metric_format.h"
#include "core/store/run_store.h"
#include "tests/app/program.h"
#include "tests/support/two_tasks.h"

namespace vitrine::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

Ended onShared(std::vector<std::string> words) {
  words.insert(words.end(), {"--db", sharedDatabase()});
  return vitrine(words);
}

TEST(Train, PrintsItsResultOnStdoutAndItsProgressOnStderr) {
  const Json result = Json::parse(readText(sharedFolder() / "train.json"));
  ASSERT_EQ(result.size(), 4u);
  for (const Json& run : result) {
    EXPECT_EQ(run.at("state"), "done");
    EXPECT_EQ(run.at("step"), 24);
    EXPECT_TRUE(run.at("scores").at("test/top1").is_number()) << run.dump();
  }
  const std::string log = readText(sharedFolder() / "train.log");
  EXPECT_THAT(log, AllOf(HasSubstr("step 24/24 100.0 % | loss "), HasSubstr(" images/s | mem "),
                         HasSubstr("run 4 of 4")));
  EXPECT_THAT(log, Not(HasSubstr("\033"))) << "escape sequences belong on a terminal";
  EXPECT_THAT(log, Not(HasSubstr("| loss 0 |"))) << "no loss was known yet";
  std::size_t last = 0;
  for (std::size_t at = log.find("step 24/24"); at != std::string::npos;
       at = log.find("step 24/24", at + 1))
    ++last;
  EXPECT_EQ(last, 4u) << "one last line for each run\n" << log;
}

TEST(Train, StoresTheRunsInTheOrderOfTheFile) {
  const Json runs = onShared({"runs", "--json"}).json();
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_THAT(runs[0].at("name").get<std::string>(), AllOf(HasSubstr("narrow"), HasSubstr("0")));
  EXPECT_THAT(runs[3].at("name").get<std::string>(), AllOf(HasSubstr("wide"), HasSubstr("1")));
  EXPECT_EQ(runs[2].at("experiment"), "Tiny");
  EXPECT_EQ(onShared({"runs", "--state", "failed", "--json"}).json().size(), 0u);
  EXPECT_THAT(onShared({"runs", "--csv"}).out, HasSubstr("id,experiment,name,state"));
}

TEST(Train, KeepsConfigurationEnvironmentAndLogWithTheRun) {
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
  EXPECT_THAT(log, HasSubstr("step 24/24"));
  EXPECT_THAT(onShared({"show", "3"}).out, AllOf(HasSubstr("model.width"), HasSubstr("test/top1")));
}

TEST(Train, StoresWhatTheProcessUsesOfTheMachineAmongItsPoints) {
  Scratch scratch;
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

TEST(Train, EndsWithOneWhenALossIsNotFinite) {
  Scratch scratch;
  const Ended ended =
      vitrine({"train", sharedSingle(), "train.optimizer.learning_rate=1e30",
               "train.schedule.name=constant", "--db", scratch.path("x.sqlite"), "--json"});
  EXPECT_EQ(ended.code, 1) << ended.err;
  const Json run = ended.json().at(0);
  EXPECT_EQ(run.at("state"), "failed");
  EXPECT_THAT(run.at("reason").get<std::string>(), HasSubstr("the loss of step"));
}

TEST(Train, StoresNothingWhenTheConfigurationIsWrong) {
  Scratch scratch;
  const Ended ended =
      vitrine({"train", sharedSingle(), "train.bath_size=3", "--db", scratch.path("x.sqlite")});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("command line"), HasSubstr("batch_size")));
  EXPECT_FALSE(fs::exists(scratch.path("x.sqlite")));
}

TEST(Train, ASecondStageContinuesTheFirstOneAtAHigherResolution) {
  Scratch scratch;
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
  EXPECT_THAT(ended.err, HasSubstr("starts from"));
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
  EXPECT_THAT(ended.err, HasSubstr("is done"));
  EXPECT_EQ(onShared({"run", "--id", "1"}).code, 4);
  EXPECT_EQ(onShared({"retry", "1"}).code, 4);
  EXPECT_EQ(onShared({"stop", "1"}).code, 4);
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

TEST(Compare, GivesMeanAndDeviationOverSeedsAndWhatDiffers) {
  const Json groups = onShared({"compare", "Tiny", "--json", "--metric", "test/*"}).json();
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].at("name"), "narrow");
  EXPECT_TRUE(groups[0].at("differs").empty());
  ASSERT_EQ(groups[1].at("differs").size(), 1u) << groups[1].at("differs").dump();
  EXPECT_EQ(groups[1].at("differs")[0].at("key"), "model.width");
  EXPECT_EQ(groups[1].at("differs")[0].at("to"), 32);
  // Against the values of the two seeds themselves.
  const auto last = [](int id) {
    return onShared({"query",
                     "SELECT last FROM metric_summaries WHERE name = 'test/loss' AND run_id = " +
                         std::to_string(id),
                     "--json"})
        .json()
        .at(0)
        .at("last")
        .get<double>();
  };
  const double a = last(1), b = last(2);
  EXPECT_NE(a, b);
  const Json& loss = groups[0].at("metrics").at("test/loss");
  EXPECT_DOUBLE_EQ(loss.at("mean").get<double>(), (a + b) / 2);
  EXPECT_NEAR(loss.at("deviation").get<double>(), std::abs(a - b) / std::sqrt(2.0), 1e-12);
  EXPECT_EQ(loss.at("n"), 2);
  EXPECT_THAT(onShared({"compare", "1"}).out, AllOf(HasSubstr("±"), HasSubstr("model.width = 32")));
}

TEST(Compare, WritesFractionsInPercentForPeopleAndRawForPrograms) {
  const Json groups = onShared({"compare", "1", "--json", "--metric", "test/top1"}).json();
  const double mean = groups[0].at("metrics").at("test/top1").at("mean").get<double>();
  ASSERT_LE(mean, 1);
  const std::string text = onShared({"compare", "1", "--metric", "test/top1"}).out;
  EXPECT_THAT(text, HasSubstr("test/top1 (%)"));
  bool isThere = false;  // with as many digits as its interval supports
  for (int decimals = 0; decimals < 4; ++decimals) {
    isThere = isThere || text.find("done  " + store::metricNumber({}, 100 * mean, decimals)) !=
                             std::string::npos;
  }
  EXPECT_TRUE(isThere) << text;
  EXPECT_THAT(onShared({"compare", "1", "--csv", "--metric", "test/top1"}).out,
              HasSubstr("variant,runs,test/top1,"));
}

TEST(Compare, WritesClaimsAboutFractionsInPercent) {
  Scratch scratch;
  writeText(scratch.path("tiny.toml"), readText(sharedExperiment()));
  writeText(scratch.path("claims.toml"),
            "[[claim]]\nname = \"c\"\nsource = \"here\"\nexperiment = \"tiny.toml\"\n"
            "metric = \"test/top1\"\nbetter = \"wide\"\nabove = 0.005\nseeds = 2\n");
  const std::string file = scratch.path("claims.toml");
  const std::string text = onShared({"compare", "--claims", file}).out;
  EXPECT_THAT(text, HasSubstr("wide >= 0.5 %"));
  EXPECT_THAT(text, HasSubstr("] %"));
  EXPECT_THAT(onShared({"compare", "--claims", file, "--csv"}).out,
              AllOf(HasSubstr("wide >= 0.005"), Not(HasSubstr("%\""))));
  EXPECT_EQ(onShared({"compare", "--claims", file, "--json"}).json().at(0).at("relation"),
            "wide >= 0.005");
}

TEST(Compare, SaysOfHowManySeedsEachIntervalIsAndWhatIsLeftOut) {
  const Copy copy;
  {
    // The first variant's first seed once more, as it was and as a run that failed.
    store::RunStore store(copy.database());
    const Json first = store.config(1);
    store::NewRun run;
    run.name = store.run(1).name;
    run.variant = store.run(1).variant;
    run.config = first;
    run.origins = Json::object();
    const std::int64_t experiment = store.run(1).experimentId;
    for (const store::RunState state : {store::RunState::Done, store::RunState::Failed}) {
      const std::int64_t id = store.addRuns(experiment, {run}).front();
      store::RunStore::Batch batch;
      batch.metrics.push_back({24, 1, 1, {{"test/top1", 0.5}}});
      store.append(id, store.openSegment(id, 0, store::thisWorker(), Json::object()), batch);
      store.setState(id, state, "because");
    }
  }
  const Json groups = copy.run({"compare", "Tiny", "--json", "--metric", "test/top1"}).json();
  EXPECT_EQ(groups[0].at("runs").size(), 4u);
  EXPECT_FALSE(groups[0].contains("n")) << "a number of runs beside an interval over seeds";
  EXPECT_EQ(groups[0].at("metrics").at("test/top1").at("n"), 2);
  EXPECT_EQ(groups[0].at("metrics").at("test/top1").at("seeds"), Json::parse("[0, 1]"));
  ASSERT_EQ(groups[0].at("left_out").size(), 2u);
  EXPECT_EQ(groups[0].at("left_out")[0].at("reason"), "run 5 has the same seed");
  EXPECT_EQ(groups[0].at("left_out")[1].at("reason"), "failed");
  EXPECT_TRUE(groups[1].at("left_out").empty());
  const Ended table = copy.run({"compare", "Tiny", "--metric", "test/top1"});
  EXPECT_THAT(table.out, HasSubstr("3 done, 1 failed"));
  EXPECT_EQ(table.err,
            "not counted: 1 failed, 1 repeated with the same seed (the newest counts)\n");
  const Ended rows = copy.run({"compare", "Tiny", "--metric", "test/top1", "--csv"});
  EXPECT_THAT(rows.out, HasSubstr("variant,runs,test/top1,test/top1 sd,test/top1 n,"));
}

TEST(Compare, CutsTheSettingsOfAnotherModelShortAndDropsDifferencesThatNoVariantHas) {
  const Copy copy;
  {
    store::RunStore store(copy.database());
    store::NewRun run;
    run.name = "another model";
    run.variant = "another model";
    run.config = Json::parse(R"({"a": 1, "b": 2, "c": 3, "train": {"seed": 0, "steps": 4}})");
    run.config["words"] = std::string(400, 'w');
    run.origins = Json::object();
    store.addRuns(store.run(1).experimentId, {run});
  }
  const Ended table = copy.run({"compare", "Tiny", "--metric", "test/top1"});
  ASSERT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("difference to the first"));
  EXPECT_THAT(table.out, HasSubstr("another model"));
  EXPECT_THAT(table.out, ContainsRegex(", and [0-9]+ more"));
  EXPECT_THAT(table.out, Not(HasSubstr(std::string(41, 'w'))));
  EXPECT_THAT(copy.run({"compare", "Tiny", "--csv"}).out, HasSubstr(std::string(400, 'w')));
}

/// A run of a task that no plugin here brings.
class ForeignTask : public Copy {
 public:
  ForeignTask() {
    store::RunStore store(database());
    id = testing::addDrawing(store, "drawing", 12.5);
  }
  std::int64_t id = 0;
};

TEST(TasksOfRuns, EachHasAColumnOfItsOwnInTheList) {
  const ForeignTask copy;
  const Json runs = copy.run({"runs", "--json"}).json();
  ASSERT_EQ(runs.size(), 5u);
  EXPECT_TRUE(runs[0].at("top1").is_number()) << runs[0].dump();
  EXPECT_TRUE(runs[0].at("fid").is_null());
  EXPECT_EQ(runs[4].at("fid"), 12.5);
  EXPECT_TRUE(runs[4].at("top1").is_null());
  EXPECT_THAT(copy.run({"runs", "--csv"}).out, HasSubstr("total,loss,top1,fid,device,created"));
  EXPECT_THAT(copy.run({"runs", "--experiment", "All of", "--csv"}).out,
              HasSubstr("total,loss,fid,device,created"));
}

TEST(TasksOfRuns, SayWhatTheirThroughputCounts) {
  const ForeignTask copy;
  EXPECT_EQ(copy.run({"show", std::to_string(copy.id), "--json"}).json().at("tokens_per_second"),
            5120);
  EXPECT_TRUE(copy.run({"show", "1", "--json"}).json().contains("images_per_second"));
  EXPECT_THAT(copy.run({"show", std::to_string(copy.id)}).out, HasSubstr("test/fid"));
}

TEST(TasksOfRuns, AreComparedByWhatTheyAreJudgedBy) {
  const ForeignTask copy;
  const auto metrics = [&](const std::string& experiment) {
    std::vector<std::string> names;
    const Json compared = copy.run({"compare", experiment, "--json"}).json();
    for (const auto& [name, value] : compared.at(0).at("metrics").items()) names.push_back(name);
    return names;
  };
  EXPECT_THAT(metrics("All of drawing"), ::testing::ElementsAre("test/fid", "test/loss"));
  EXPECT_THAT(metrics("Tiny"),
              ::testing::ElementsAre("test/top1", "test/ece", "test/top5", "test/loss"))
      << "the most important first";
}

TEST(Compare, JudgesTheClaimsOfAFileWithNAndReason) {
  Scratch scratch;
  writeText(scratch.path("tiny.toml"), readText(sharedExperiment()));
  const auto claim = [&](const std::string& rest) {
    writeText(scratch.path("claims.toml"),
              "[[claim]]\nname = \"c\"\nsource = \"here\"\nexperiment = \"tiny.toml\"\n" + rest);
    return onShared({"compare", "--claims", scratch.path("claims.toml"), "--json"});
  };
  // The schedule does not depend on the width: a difference of exactly 0, an interval of no width.
  const std::string same =
      "metric = \"optimizer/learning_rate\"\nbetter = \"wide\"\nworse = \"narrow\"\n";
  const Json reached = claim(same + "margin = -0.1\nseeds = 2\n").json().at(0);
  EXPECT_EQ(reached.at("verdict"), "reproduced") << reached.dump();
  EXPECT_EQ(reached.at("n"), 2);
  EXPECT_EQ(reached.at("left_out"), "");
  const Json mean = claim(same + "measure = \"mean\"\nmargin = -0.1\nseeds = 2\n").json().at(0);
  EXPECT_EQ(mean.at("verdict"), "reproduced") << mean.dump();
  EXPECT_EQ(mean.at("measure"), "mean");
  EXPECT_NEAR(mean.at("mean").get<double>(), 0, 1e-12);
  const Json equal = claim(same + "margin = 0\nseeds = 2\n").json().at(0);
  EXPECT_EQ(equal.at("verdict"), "undecided") << "neither side is better";
  EXPECT_EQ(equal.at("relation"), "wide - narrow > 0");
  EXPECT_EQ(claim(same + "margin = 0.1\nseeds = 2\n").json().at(0).at("verdict"), "contradicted");
  const Json few = claim(same + "margin = -0.1\nseeds = 3\n").json().at(0);
  EXPECT_EQ(few.at("verdict"), "undecided");
  EXPECT_EQ(few.at("why"), "2 of 3 common seeds are done");
  const Json none = claim("metric = \"test/top1\"\nbetter = \"broad\"\nabove = 0\n").json().at(0);
  EXPECT_EQ(none.at("why"), "the experiment has no variant or stage 'broad'");
  // Runs of that title that were made with other values are not those of the claim.
  std::string edited = readText(sharedExperiment());
  const auto at = edited.find("batch_size = ");
  ASSERT_NE(at, std::string::npos) << edited;
  edited.replace(at, edited.find('\n', at) - at, "batch_size = 77");
  writeText(scratch.path("tiny.toml"), edited);
  const Json other = claim(same + "margin = -0.1\nseeds = 2\n").json().at(0);
  EXPECT_EQ(other.at("verdict"), "undecided");
  EXPECT_THAT(other.at("left_out").get<std::string>(),
              AllOf(HasSubstr("4 with train.batch_size = "), HasSubstr(", not 77 as in the file")));
  const Ended wrong = claim("metrics = \"test/top1\"\nbetter = \"wide\"\nabove = 0\n");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("claims.toml:5:1"), HasSubstr("did you mean 'metric'?")));
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
  EXPECT_THAT(none.err, HasSubstr("no validation split; take one of train, test"));
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
  EXPECT_THAT(vitrine({"evaluate", "1", "--db", database}).err, HasSubstr("precision bf16"));
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
  EXPECT_THAT(wrong.err,
              HasSubstr("except data.pipeline, of [task.samples] and [task.drawings], and "
                        "another model.image_size, not 'data.pipeline.evaluate'"));
  // Other drawings are allowed, but this task has none.
  const Ended foreign = evaluated("task.drawings.guidance=3");
  EXPECT_EQ(foreign.code, 2);
  EXPECT_THAT(foreign.err, HasSubstr("task.drawings"));
  EXPECT_THAT(foreign.err, Not(HasSubstr("a trained run takes")));
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
  EXPECT_EQ(copy.run({"analyse", "1", "attention_rank", "imges=2"}).code, 2);
  EXPECT_EQ(copy.run({"analyse", "1", "attention_bank"}).code, 3);
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

TEST(Notes, StayWithTheRun) {
  const Copy copy;
  EXPECT_EQ(copy.run({"note", "2", "too wide; drop"}).code, 0);
  EXPECT_EQ(copy.run({"tag", "2", "paper", "baseline"}).code, 0);
  const Json run = copy.run({"show", "2", "--json"}).json();
  EXPECT_EQ(run.at("note"), "too wide; drop");
  EXPECT_EQ(run.at("tags").size(), 2u);
  EXPECT_THAT(copy.run({"show", "2"}).out, AllOf(HasSubstr("too wide; drop"), HasSubstr("paper")));
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
              AllOf(ContainsRegex("archived +true"), Not(HasSubstr("colour "))));
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
  EXPECT_THAT(copy.run({"runs"}).out, HasSubstr("all archived: `vitrine runs --archived`"));
}

TEST(Delete, MovesRowsAndFilesOfAllOrNoneToTheTrash) {
  const Copy copy;
  const std::string uuid = copy.run({"show", "2", "--json"}).json().at("uuid");
  const fs::path folder = fs::path(copy.path("runs.files")) / ("run-" + uuid);
  ASSERT_TRUE(fs::exists(folder));
  EXPECT_EQ(copy.run({"delete", "2", "99"}).code, 3);
  EXPECT_EQ(copy.run({"runs", "--json"}).json().size(), 4u);
  EXPECT_EQ(copy.run({"delete", "2"}).code, 0);
  EXPECT_EQ(copy.run({"runs", "--json"}).json().size(), 3u);
  EXPECT_FALSE(fs::exists(folder));
}

TEST(Trash, ListsARunThatWasDeletedAndBringsItBack) {
  const Copy copy;
  const Json before = copy.run({"show", "2", "--json"}).json();
  const Ended deleted = copy.run({"delete", "2"});
  EXPECT_THAT(deleted.err, ::testing::HasSubstr("`vitrine trash restore 2` brings it back"));
  const Json listed = copy.run({"trash", "--json"}).json();
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed.at(0).at("id"), 2);
  EXPECT_EQ(listed.at(0).at("name"), before.at("name"));
  EXPECT_EQ(copy.run({"trash", "restore", "2"}).code, 0);
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
