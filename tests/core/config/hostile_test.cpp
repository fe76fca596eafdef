// Hostile texts: each ends in a sentence, soon.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "core/base/random.h"
#include "core/base/text.h"
#include "core/config/papers/claims.h"
#include "tests/core/config/sample_catalog.h"
#include "tests/support/source_search.h"

namespace vitrine {
namespace {

using testing_support::codes, testing_support::kGoodFile, testing_support::planMore;
using testing_support::planText, testing_support::sentences;

std::string repeated(const std::string& text, int times) {
  std::string all;
  all.reserve(text.size() * static_cast<std::size_t>(times));
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

/// Seconds the planner takes; ten times what was seen is the guard against a hang.
double seconds(const std::string& text, std::string* said = nullptr) {
  const auto start = std::chrono::steady_clock::now();
  const Plan plan = planText(text);
  if (said) *said = codes(plan);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Hostile, DeepDottedKeysAreRefused) {
  EXPECT_EQ(codes(planText("a" + repeated(".a", 1000000) + " = 1\n")), "too_large");
  EXPECT_EQ(codes(planText("[a" + repeated(".a", 1000000) + "]\n")), "too_large");
}

TEST(Hostile, DeepListsAndTablesAreRefused) {
  EXPECT_EQ(codes(planText("a = " + repeated("[", 100000))), "too_large");
  EXPECT_EQ(codes(planText("a = " + repeated("{a=", 100000))), "too_large");
}

TEST(Hostile, DepthThatIsSpreadOverHeadersAndKeysIsRefused) {
  const std::string deep =
      "[model" + repeated(".a", 40) + "]\n" + "b" + repeated(".b", 40) + " = 1\n";
  EXPECT_EQ(codes(planText(deep)), "too_large");
}

TEST(Hostile, DotsInTextsAndCommentsAreNoDepth) {
  const std::string dots = repeated(".a", 200);
  EXPECT_EQ(sentences(planMore("# " + dots + repeated("[", 200) + "\n[[variant]]\nname = \"" +
                               dots + "[[\\\"[\"\n" + "[[variant]]\nname = '''" + dots + "'''\n" +
                               "[[variant]]\nname = \"\"\"" + dots + "\n\\\"\"\"\"\n")),
            "");
}

// The parser ends a text of several lines at the last three of up to five quotes.
TEST(Hostile, QuotesBeforeTheEndOfATextHideNothingBehindIt) {
  const std::string deep = "a" + repeated(".a", 1000000) + " = 1";
  for (const std::string& quote : {std::string("\""), std::string("'")}) {
    const std::string fence = quote + quote + quote;
    for (const std::string& more : {std::string(), quote, quote + quote}) {
      const std::string text = fence + "y" + more + fence;
      EXPECT_EQ(codes(planText("x = {k = " + text + ", " + deep + ", l = " + text + "}\n")),
                "too_large")
          << text;
      EXPECT_EQ(codes(planMore("", {"model.taps={k = " + text + ", " + deep + "}"})),
                "model.taps too_large")
          << text;
      std::vector<Problem> problems;
      static_cast<void>(readClaims("x = {k = " + text + ", " + deep + "}\n", "c.toml", problems));
      ASSERT_EQ(problems.size(), 1u) << text;
      EXPECT_EQ(codes(problems), "too_large") << text;
    }
  }
  EXPECT_EQ(
      sentences(planMore("[[variant]]\nname = \"\"\"a\"\"\"\"\n[[variant]]\nname = '''b'''''\n")),
      "");
}

// Quotes, escapes and comments in any order before a key that is deep: where the scan and the
// parser do not agree about what is a text, the parser follows the key down.
TEST(Hostile, NoMixtureOfQuotesHidesADeepKey) {
  const std::vector<std::string> pieces{"\"",   "\"\"", "\"\"\"", "'", "''", "'''",  "\\",
                                        "\\\"", "#",    "\n",     " ", "x",  "\r\n", ", k = "};
  const std::string deep = ", a" + repeated(".a", 300000) + " = 1}\n";
  const RandomStream stream(2, "quotes");
  for (std::uint64_t i = 0; i < 300; ++i) {
    std::string text = "x = {k = ";
    for (std::uint64_t k = 0; k < 2 + stream.below(10, 0, i); ++k)
      text += pieces[stream.below(pieces.size(), 1, i, k)];
    ASSERT_FALSE(planText(text + deep).problems.empty()) << text;
  }
}

TEST(Hostile, QuotedKeysOfManyPartsAreRefused) {
  const std::string deep = "\"model" + repeated(".a", 1000000) + "\"";
  for (const std::string& text : {deep + " = 1\n", "[[variant]]\nset = {" + deep + " = 1}\n",
                                  "[sweep]\n" + deep + " = [1]\n", "[model]\n" + deep + " = 1\n"}) {
    EXPECT_EQ(codes(planText(text)), "too_large");
  }
}

TEST(Toml, IsParsedInOnePlaceOfTheProgram) {
  EXPECT_EQ(testing_support::filesThatSay({"toml::parse"}), "core/config/toml/parse_toml.cpp ");
}

TEST(Hostile, DeepOverridesAreRefused) {
  EXPECT_THAT(codes(planMore("", {"model" + repeated(".a", 100000) + "=1"})),
              testing::EndsWith(" too_large"));
  EXPECT_EQ(codes(planMore("", {"model.taps=" + repeated("[", 100000)})), "model.taps too_large");
  EXPECT_EQ(codes(planMore("", {"model.taps={a" + repeated(".a", 100000) + "=1}"})),
            "model.taps too_large");
}

TEST(Hostile, LargeTextsAreRefused) {
  EXPECT_EQ(codes(planText(kGoodFile + ("#" + std::string(std::size_t{8} << 20, 'x')))),
            "too_large");
  EXPECT_EQ(sentences(planText(kGoodFile + ("#" + std::string(std::size_t{8} << 19, 'x')))), "");
}

TEST(Hostile, TooManyRunsAreRefused) {
  std::string list;
  for (int i = 1; i <= 317; ++i) list.append(std::to_string(i)).append(i < 317 ? "," : "");
  const std::string more =
      "[sweep]\n'model.depth' = [" + list + "]\n'train.seed' = [" + list + "]\n";
  const Plan plan = planMore(more);
  EXPECT_EQ(codes(plan), "sweep too_large");
  EXPECT_TRUE(plan.runs.empty());
  std::string many = "[sweep]\n";
  for (const char* key :
       {"model.depth", "train.seed", "train.epochs", "train.steps", "train.batch_size",
        "train.accumulate", "train.record_every", "train.threads"}) {
    many.append(key).append(" = [").append(list).append("]\n");
  }
  EXPECT_EQ(codes(planMore(many)), "sweep too_large");  // 317^8 does not fit 64 bits
}

TEST(Hostile, ManySeedsOfFinalRunsEndSoon) {
  std::string text = kGoodFile;
  text += "[select]\ngrid = { 'train.optimizer.learning_rate' = [1e-3] }\nrefit_seeds = [";
  for (int i = 0; i < 150000; ++i) text.append(std::to_string(i)).append(",");
  std::string said;
  EXPECT_LT(seconds(text + "]\n", &said), 30);
  EXPECT_EQ(said, "sweep too_large");
}

TEST(Hostile, ManyUnknownKeysEndSoon) {
  std::string text = kGoodFile;
  text += "[train]\n";
  for (int i = 0; i < 300000; ++i) text.append("k").append(std::to_string(i)).append("=1\n");
  std::string said;
  EXPECT_LT(seconds(text, &said), 30);
  EXPECT_EQ(said, "too_large");
}

TEST(Hostile, ManyLargeTablesEndSoonAndProblemsAreCounted) {
  std::string text = kGoodFile;
  for (int table = 0; table < 300; ++table) {
    text.append("[train.t").append(std::to_string(table)).append("]\n");
    for (int i = 0; i < 1000; ++i) text.append("k").append(std::to_string(i)).append("=1\n");
  }
  for (int i = 0; i < 1001; ++i)
    text.append("[[variant]]\nset={model.q=").append(std::to_string(i)).append("}\n");
  std::string said;
  EXPECT_LT(seconds(text, &said), 30);
  EXPECT_THAT(said, testing::EndsWith("; too_many"));
}

TEST(Hostile, ManyVariantsWithProblemsEndSoon) {
  std::string text = kGoodFile;
  for (int i = 0; i < 20000; ++i) {
    const std::string number = std::to_string(i);
    text.append("[[variant]]\nname='v")
        .append(number)
        .append("'\nset={'model.widht'=")
        .append(number)
        .append("}\n");
  }
  EXPECT_LT(seconds(text), 30);
}

TEST(Hostile, InvalidUtf8NeverReachesAMessage) {
  const Plan plan = planText("title = \"\xC0\xAF\"\n");
  ASSERT_FALSE(plan.problems.empty());
  for (const Problem& problem : plan.problems) EXPECT_NO_THROW((void)toJson(problem).dump());
  const Plan overridden = planMore("", {"model.\xFF=1", "model.pool=\xFF", "\xFE=1"});
  EXPECT_EQ(overridden.problems.size(), 3u);
  for (const Problem& problem : overridden.problems) EXPECT_NO_THROW((void)toJson(problem).dump());
  const Plan named = planExperiment("x = 1", "\xFF.toml", testing_support::sampleCatalog());
  for (const Problem& problem : named.problems) EXPECT_NO_THROW((void)toJson(problem).dump());
}

// Cuts, flips and splices of a rich file: no crash, no exception, and problems whenever the text is
// no longer TOML.
TEST(Hostile, MutatedFilesNeverThrow) {
  const std::string rich =
      std::string(kGoodFile) +
      "[train]\noptimizer = { name = 'sgd', learning_rate = 1e-3 }\n[observe]\ncalibration = true\n"
      "[sweep]\n'train.seed' = [0, 1]\nmodel.depth = [2, 3]\n[[variant]]\nname = 'a'\n"
      "[[variant]]\nname = 'b'\nset = { 'model.mask' = { kind = 'soft', epochs = 2 } }\n"
      "[[stage]]\nname = 's'\n[[stage]]\nname = 't'\ninit = 'previous'\nskip = ['head.*']\n";
  ASSERT_EQ(sentences(planText(rich)), "");
  const RandomStream stream(1, "fuzz");
  const std::string pieces = "[]{}=.,'\"#\n\\ 0a\xFF";
  for (std::uint64_t i = 0; i < 3000; ++i) {
    std::string text = rich;
    for (std::uint32_t k = 0; k <= stream.below(3, 0, i); ++k) {
      const std::size_t at = stream.below(text.size(), 1, i, k);
      switch (stream.below(4, 2, i, k)) {
        case 0:
          text.resize(std::max<std::size_t>(at, 1));
          break;
        case 1:
          text[at] = pieces[stream.below(pieces.size(), 3, i, k)];
          break;
        case 2:
          text.insert(at, 1, pieces[stream.below(pieces.size(), 3, i, k)]);
          break;
        default:
          text.insert(at, rich.substr(stream.below(rich.size(), 3, i, k), 12));
          break;
      }
    }
    ASSERT_NO_THROW({
      const Plan plan = planText(text);
      (void)problemsJson(plan.problems).dump();
    }) << text;
  }
}

// The form plans at every edit.
TEST(Speed, APlanOfOneRunTakesNoTime) {
  const Catalog catalog = testing_support::sampleCatalog();
  const std::string text = kGoodFile;
  constexpr int kPlans = 20;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kPlans; ++i) ASSERT_EQ(planExperiment(text, "", catalog).runs.size(), 1u);
  const double each =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / kPlans;
  RecordProperty("milliseconds", std::to_string(each * 1e3));
  EXPECT_LT(each, 0.05);  // ten times the limit of the form
}

}  // namespace
}  // namespace vitrine
