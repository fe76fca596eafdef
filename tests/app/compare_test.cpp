// Comparisons, claims and tables over trained runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/store/metrics/metric_format.h"
#include "core/store/run_store.h"
#include "tests/app/program.h"
#include "tests/support/has_texts.h"
#include "tests/support/refusal.h"
#include "tests/support/two_tasks.h"

namespace vitrine::test {
namespace {

using ::testing::ContainsRegex;

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
  EXPECT_THAT(onShared({"compare", "1"}).out, HasTexts("±", "model.width = 32"));
}

TEST(Compare, SaysWhichMetricNoRunHas) {
  const Ended ended =
      onShared({"compare", "Tiny", "--metric", "test/top", "--metric", "test/l*", "--json"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_TRUE(ended.json()[0].at("metrics").contains("test/loss"));
  EXPECT_THAT(ended.err, Names("test/top", "test/top1"));
  EXPECT_EQ(ended.err.find("test/l*"), std::string::npos) << ended.err;
  EXPECT_EQ(onShared({"compare", "Tiny", "--json"}).err.find("warning"), std::string::npos);
}

TEST(Compare, WritesFractionsInPercentForPeopleAndRawForPrograms) {
  const Json groups = onShared({"compare", "1", "--json", "--metric", "test/top1"}).json();
  const double mean = groups[0].at("metrics").at("test/top1").at("mean").get<double>();
  ASSERT_LE(mean, 1);
  const std::string text = onShared({"compare", "1", "--metric", "test/top1"}).out;
  EXPECT_THAT(text, ::testing::HasSubstr("test/top1 (%)"));
  bool isThere = false;  // with as many digits as its interval supports
  for (int decimals = 0; decimals < 4; ++decimals) {
    isThere = isThere || text.find("done  " + store::metricNumber({}, 100 * mean, decimals)) !=
                             std::string::npos;
  }
  EXPECT_TRUE(isThere) << text;
  EXPECT_THAT(onShared({"compare", "1", "--csv", "--metric", "test/top1"}).out,
              HasLine("variant,runs,test/top1,"));
}

TEST(Compare, ItsExampleAndThatOfReportNameAnExperimentByItsWholeTitle) {
  for (const char* verb : {"compare", "report"}) {
    const std::string help = vitrine({verb, "--help"}).out;
    const std::string start = std::string("vitrine ") + verb + " \"";
    const std::size_t first = help.find(start, help.find("Examples:"));
    ASSERT_NE(first, std::string::npos) << help;
    const std::size_t begin = first + start.size();
    const std::string title = help.substr(begin, help.find('"', begin) - begin);
    EXPECT_THAT(readText(VITRINE_SOURCE_DIR "/experiments/illama/roadmap.toml"),
                HasLine("title = \"" + title + "\"\n"));
  }
}

TEST(Compare, WritesClaimsAboutFractionsInPercent) {
  Scratch scratch;
  writeText(scratch.path("tiny.toml"), readText(sharedExperiment()));
  writeText(scratch.path("claims.toml"),
            "[[claim]]\nname = \"c\"\nsource = \"here\"\nexperiment = \"tiny.toml\"\n"
            "metric = \"test/top1\"\nbetter = \"wide\"\nabove = 0.005\nseeds = 2\n");
  const std::string file = scratch.path("claims.toml");
  const std::string text = onShared({"compare", "--claims", file}).out;
  EXPECT_THAT(text, HasTexts("wide >= 0.5 %", "] %"));
  const std::string csv = onShared({"compare", "--claims", file, "--csv"}).out;
  EXPECT_THAT(csv, Names("wide >= 0.005"));
  EXPECT_EQ(csv.find("%\""), std::string::npos) << csv;
  EXPECT_EQ(onShared({"compare", "--claims", file, "--json"}).json().at(0).at("relation"),
            "wide >= 0.005");
  // A claim names its metric.
  const Ended both = onShared({"compare", "--claims", file, "--metric", "test/loss"});
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasTexts("--metric", "--claims"));
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
    const std::int64_t experiment = store.run(1).experimentId;
    for (const store::RunState state : {store::RunState::Done, store::RunState::Failed}) {
      const std::int64_t id = store.addRuns(experiment, {run}).front();
      store.append(id, store.openSegment(id, 0, store::thisWorker(), Json::object()),
                   {.metrics = {{24, 1, 1, {{"test/top1", 0.5}}}}});
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
  EXPECT_THAT(table.out, Names("3 done, 1 failed"));
  EXPECT_EQ(table.err,
            "not counted: 1 failed, 1 repeated with the same seed (the newest counts)\n");
  const Ended rows = copy.run({"compare", "Tiny", "--metric", "test/top1", "--csv"});
  EXPECT_THAT(rows.out, HasLine("variant,runs,test/top1,test/top1 sd,test/top1 n,"));
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
    store.addRuns(store.run(1).experimentId, {run});
  }
  const Ended table = copy.run({"compare", "Tiny", "--metric", "test/top1"});
  ASSERT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasTexts("difference to the first", "another model"));
  EXPECT_THAT(table.out, ContainsRegex(", and [0-9]+ more"));
  EXPECT_EQ(table.out.find(std::string(41, 'w')), std::string::npos) << table.out;
  EXPECT_THAT(copy.run({"compare", "Tiny", "--csv"}).out, HasTexts(std::string(400, 'w')));
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
  EXPECT_THAT(copy.run({"runs", "--csv"}).out, HasTexts(",total,loss,top1,fid,device,created\r\n"));
  EXPECT_THAT(copy.run({"runs", "--experiment", "All of", "--csv"}).out,
              HasTexts(",total,loss,fid,device,created\r\n"));
}

TEST(TasksOfRuns, SayWhatTheirThroughputCounts) {
  const ForeignTask copy;
  EXPECT_EQ(copy.run({"show", std::to_string(copy.id), "--json"}).json().at("tokens_per_second"),
            5120);
  EXPECT_TRUE(copy.run({"show", "1", "--json"}).json().contains("images_per_second"));
  EXPECT_THAT(copy.run({"show", std::to_string(copy.id)}).out, Names("test/fid"));
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
  EXPECT_THAT(other.at("left_out").get<std::string>(), Names("train.batch_size", 77));
  const Ended wrong = claim("metrics = \"test/top1\"\nbetter = \"wide\"\nabove = 0\n");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, Names("claims.toml:5:1", "metric"));
}

}  // namespace
}  // namespace vitrine::test
