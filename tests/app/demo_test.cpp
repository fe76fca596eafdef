// The demo trains what is missing, and only that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/program.h"
#include "tests/support/refusal.h"

namespace vitrine::test {
namespace {


TEST(Demo, OfTwoStagesTrainsWhatIsMissingFromWhatIsThere) {
  Scratch scratch;
  const std::string database = scratch.path("x.sqlite");
  writeText(scratch.path("stages.toml"), readText(sharedSingle()) + R"(
[[stage]]
name = "first"
[[stage]]
name = "second"
set = { "train.steps" = 4 }
init = "previous"
)");
  const auto demo = [&](std::vector<std::string> more = {}) {
    std::vector<std::string> words{
        "demo", "--file", scratch.path("stages.toml"), "--no-window", "--json", "--db", database};
    words.insert(words.end(), more.begin(), more.end());
    return vitrine(words);
  };
  const auto runs = [&] { return vitrine({"runs", "--json", "--db", database}).json().size(); };
  ASSERT_EQ(demo().code, 0);
  EXPECT_EQ(runs(), 2u);
  const Ended again = demo();
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.err, Names("run 1, first", "run 2, second"));
  EXPECT_EQ(runs(), 2u);

  ASSERT_EQ(vitrine({"delete", "2", "--for-good", "--db", database}).code, 0);
  const Ended second = demo();
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(second.err.find("run 2, second, is trained already"), std::string::npos) << second.err;
  ASSERT_EQ(runs(), 2u);
  const Json first = vitrine({"show", "1", "--json", "--db", database}).json();
  const Json last = vitrine({"show", "3", "--json", "--db", database}).json();
  EXPECT_EQ(last.at("stage"), "second");
  EXPECT_EQ(last.at("init").at("run"), first.at("uuid")) << "it starts from the run that was there";
}

TEST(Demo, StoresNothingWhenTheModelCannotBeBuiltAndSaysWhatCheckSays) {
  Scratch scratch;
  writeText(scratch.path("cells.toml"), undividedCells());
  const Ended ended = vitrine({"demo", "--file", scratch.path("cells.toml"), "--no-window", "--db",
                               scratch.path("x.sqlite")});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err, vitrine({"check", scratch.path("cells.toml")}).err);
  EXPECT_THAT(ended.err, Names("gsa_reduction", "14 x 14", 4));
  EXPECT_FALSE(std::filesystem::exists(scratch.path("x.sqlite")));
}

TEST(Demo, ItsTourTakesNoOtherFile) {
  const Ended ended = vitrine({"demo", "--tour", "--file", sharedSingle()});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, Names("--tour"));
}

}  // namespace
}  // namespace vitrine::test
