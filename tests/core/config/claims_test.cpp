// claims.toml is read with the same care as an experiment, and a verdict is never a bare pass.
#include "core/config/papers/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/base/error.h"
#include "tests/core/config/sample_catalog.h"

namespace vitrine {
namespace {

using testing_support::codes;
using Values = std::map<std::uint64_t, double>;

constexpr const char* kText = R"([[claim]]
name = "positions help"
source = "Table 8"
experiment = "positions.toml"
metric = "test/top1"
better = "learned"
worse = "none"
margin = 0.015
seeds = 3
)";

Claim sample() {
  std::vector<Problem> problems;
  return readClaims(kText, "claims.toml", problems).at(0);
}

std::vector<Problem> problemsOf(const std::string& text) {
  std::vector<Problem> problems;
  (void)readClaims(text, "claims.toml", problems);
  return problems;
}

TEST(Claims, AreReadFromToml) {
  const Claim claim = sample();
  EXPECT_EQ(claim.better, "learned");
  EXPECT_EQ(claim.worse, "none");
  EXPECT_EQ(claim.margin, 0.015);
  EXPECT_EQ(claim.seeds, 3);
  EXPECT_FALSE(claim.above.has_value());
}

TEST(Claims, NameTheLineTheKeyAndTheNearestKeyOfAMistake) {
  const std::vector<Problem> misspelt = problemsOf(std::string(kText) + "betters = \"x\"\n");
  EXPECT_EQ(codes(misspelt), "claim.betters unknown_key -> better");
  EXPECT_EQ(misspelt.at(0).line, 10);
  EXPECT_EQ(codes(problemsOf(std::string(kText) + "above = 0.5\n")), "claim conflict");
  EXPECT_EQ(codes(problemsOf("[[claim]]\nname = \"x\"\n")),
            "claim.source missing; claim.experiment missing; claim.metric missing; claim.better "
            "missing; claim conflict");
  EXPECT_EQ(codes(problemsOf("[[claims]]\n")), "claims unknown_key -> claim");
  EXPECT_EQ(codes(problemsOf("[claim]\n")), "claim wrong_type");
}

TEST(Claims, SayWhatOfACurveIsCompared) {
  const auto measured = [](const std::string& more) {
    std::vector<Problem> problems;
    const Claim claim = readClaims(kText + more, "claims.toml", problems).at(0);
    EXPECT_EQ(codes(problems), "") << more;
    return measureText(claim);
  };
  EXPECT_EQ(measured(""), "test/top1");
  EXPECT_EQ(measured("measure = \"last\"\n"), "test/top1");
  EXPECT_EQ(measured("measure = \"mean\"\n"), "mean of test/top1");
  EXPECT_EQ(measured("measure = \"mean\"\nwindow = 0.1\n"),
            "mean of test/top1 over the last 10 % of the steps");
  EXPECT_EQ(measured("measure = \"steps_to\"\ntarget = 0.8\n"),
            "steps until test/top1 reaches 0.8");
  EXPECT_EQ(measured("measure = \"time_to\"\ntarget = 0.8\n"),
            "seconds until test/top1 reaches 0.8");
}

TEST(Claims, RefuseAMeasureThatIsNotWhole) {
  const auto codesOf = [](const std::string& more) { return codes(problemsOf(kText + more)); };
  EXPECT_EQ(codesOf("measure = \"means\"\n"), "claim.measure unknown_name -> mean");
  EXPECT_EQ(codesOf("measure = \"steps_to\"\n"), "claim.target missing");
  EXPECT_EQ(codesOf("target = 0.8\n"), "claim.target conflict");
  EXPECT_EQ(codesOf("window = 0.5\n"), "claim.window conflict");
  EXPECT_EQ(codesOf("measure = \"mean\"\nwindow = 0\n"), "claim.window out_of_range");
}

TEST(Claims, AreReproducedWhereTheWholeIntervalReachesTheMargin) {
  const Judgement judged = judge(sample(), Values{{0, 0.84}, {1, 0.85}, {2, 0.84}},
                                 Values{{0, 0.80}, {1, 0.81}, {2, 0.80}});
  EXPECT_EQ(judged.verdict, Verdict::Reproduced);
  EXPECT_EQ(judged.statistics.count, 3u);
  EXPECT_NEAR(judged.statistics.mean, 0.04, 1e-12);
}

TEST(Claims, AreContradictedWhereTheWholeIntervalStaysBelow) {
  EXPECT_EQ(judge(sample(), Values{{0, 0.80}, {1, 0.81}, {2, 0.80}},
                  Values{{0, 0.80}, {1, 0.809}, {2, 0.80}})
                .verdict,
            Verdict::Contradicted);
}

TEST(Claims, StayUndecidedWithinTheIntervalOrWithTooFewCommonSeeds) {
  EXPECT_EQ(judge(sample(), Values{{0, 0.80}, {1, 0.86}, {2, 0.83}},
                  Values{{0, 0.81}, {1, 0.81}, {2, 0.81}})
                .verdict,
            Verdict::Undecided);
  const Judgement few = judge(sample(), Values{{0, 0.84}, {1, 0.85}, {2, 0.84}},
                              Values{{0, 0.80}, {1, 0.81}, {3, 0.80}});
  EXPECT_EQ(few.verdict, Verdict::Undecided);
  EXPECT_EQ(few.reason, "2 of 3 common seeds are done");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(judge(sample(), Values{{0, nan}, {1, 0.85}, {2, 0.84}},
                  Values{{0, 0.80}, {1, 0.81}, {2, 0.80}})
                .verdict,
            Verdict::Undecided);
}

TEST(Claims, OfOneSeedStayUndecidedSinceThereIsNoInterval) {
  Claim claim = sample();
  claim.worse.clear();
  claim.above = 0.6;
  claim.seeds = 1;
  const Judgement judged = judge(claim, Values{{0, 0.99}}, {});
  EXPECT_EQ(judged.verdict, Verdict::Undecided);
  EXPECT_EQ(judged.reason, "one seed has no interval; run another");
  EXPECT_EQ(judge(claim, Values{{0, 0.59}}, {}).verdict, Verdict::Undecided);
  EXPECT_EQ(judge(claim, {}, {}).verdict, Verdict::Undecided);
  EXPECT_EQ(judge(claim, Values{{0, 0.99}, {1, 0.98}}, {}).verdict, Verdict::Reproduced);
}

TEST(Claims, WithAMarginOfNothingAreNotReproducedByTwoEqualSides) {
  Claim claim = sample();
  claim.margin = 0;
  const Values equal{{0, 0.5}, {1, 0.6}, {2, 0.7}};
  EXPECT_EQ(judge(claim, equal, equal).verdict, Verdict::Undecided);
  EXPECT_EQ(judge(claim, Values{{0, 0.52}, {1, 0.62}, {2, 0.72}}, equal).verdict,
            Verdict::Reproduced);
  EXPECT_EQ(judge(claim, equal, Values{{0, 0.52}, {1, 0.62}, {2, 0.72}}).verdict,
            Verdict::Contradicted);
}

constexpr const char* kExperiment = R"(title = "Positions"
[model]
architecture = "vit"
image_size = 28
mask = { kind = "causal", mode = "additive" }
[data]
dataset = "fashion_mnist"
test_samples = 2000
[train]
epochs = 6
threads = 2
optimizer = { learning_rate = 2e-3 }
[sweep]
"train.seed" = [0, 1]
"train.batch_size" = [64, 128]
[[variant]]
name = "learned"
[[variant]]
name = "none"
set = { "model.pos_embed" = "none", "model.mask" = { kind = "soft" } }
[[stage]]
name = "fine"
set = { train.epochs = 1 }
)";

Json configOf(const char* text) { return Json::parse(text); }

TEST(ClaimedExperiment, TellsWhereARunIsNotAsTheFileSays) {
  const ClaimedExperiment file(kExperiment, "p.toml");
  EXPECT_EQ(file.title(), "Positions");
  EXPECT_TRUE(file.has("none") && file.has("fine"));
  EXPECT_FALSE(file.has("nothing"));
  Json config = configOf(R"({"model": {"architecture": "vit", "image_size": [28, 28], "width": 64,
      "mask": {"kind": "causal", "mode": "additive"}, "pos_embed": "learned"},
      "data": {"dataset": "fashion_mnist", "test_samples": 2000},
      "train": {"epochs": 6, "threads": 1, "batch_size": 64, "seed": 7,
                "optimizer": {"name": "adamw", "learning_rate": 0.002}}})");
  EXPECT_EQ(file.deviation(config, "learned", ""), "");
  EXPECT_EQ(file.deviation(config, "learned", "fine"), "train.epochs = 6, not 1");
  EXPECT_EQ(file.deviation(config, "none", ""), "model.mask.kind = causal, not soft");
  config["model"]["mask"] = {{"kind", "soft"}, {"mode", "multiplicative"}};
  config["model"]["pos_embed"] = "none";
  EXPECT_EQ(file.deviation(config, "none", ""), "") << "the inline table replaces mode, too";
  config["data"]["test_samples"] = nullptr;
  EXPECT_EQ(file.deviation(config, "none", ""), "data.test_samples = none, not 2000");
}

TEST(ClaimedExperiment, KnowsTheTransformsOfAFileWithTheirOtherKeys) {
  const ClaimedExperiment file(R"(title = "Lists"
[data.pipeline]
train = [{ name = "flip" }, { name = "crop", size = 28 }]
)",
                               "p.toml");
  const auto configWith = [](const char* list) {
    return Json{{"data", {{"pipeline", {{"train", Json::parse(list)}}}}}};
  };
  EXPECT_EQ(file.deviation(configWith(R"([{"name": "flip", "probability": 0.5},
                                          {"name": "crop", "size": [28, 28]}])"),
                           "", ""),
            "");
  EXPECT_NE(file.deviation(configWith(R"([{"name": "flip"}, {"name": "crop", "size": [32, 32]}])"),
                           "", ""),
            "");
  EXPECT_NE(file.deviation(configWith(R"([{"name": "flip"}])"), "", ""), "");
}

TEST(ClaimedExperiment, ComparesRunsUnderEqualConditions) {
  const ClaimedExperiment file(kExperiment, "p.toml");
  const Claim claim = sample();
  const auto conditions = [&](const char* text) {
    return file.conditions(configOf(text), claim).dump();
  };
  const std::string plain = conditions(
      R"({"model": {"width": 8, "pos_embed": "learned", "mask": null}, "train": {"seed": 1}})");
  EXPECT_EQ(conditions(R"({"model": {"width": 8, "pos_embed": "none", "mask": {"kind": "soft"}},
                           "train": {"seed": 2, "threads": 4, "checkpoint": {"keep": 3}},
                           "observe": {"calibration": {"bins": 3}}})"),
            plain);
  EXPECT_NE(conditions(R"({"model": {"width": 9, "pos_embed": "none"}})"), plain);
  EXPECT_NE(conditions(R"({"model": {"width": 8}, "train": {"precision": "bf16"}})"), plain);
}

TEST(Claims, FindTheirRunsByTheTitleOfTheExperiment) {
  EXPECT_EQ(titleOf("title = \"Positions\"\n[model]\nwidth = 3\n", "p.toml"), "Positions");
  EXPECT_THROW((void)titleOf("[model]\n", "p.toml"), ConfigError);
}

}  // namespace
}  // namespace vitrine
