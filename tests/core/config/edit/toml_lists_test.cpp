// Named tables and lists of transforms in the text of an experiment.
#include "core/config/edit/toml_lists.h"

#include <gtest/gtest.h>

#include "core/config/edit/toml_patch.h"
#include "tests/support/has_texts.h"

namespace vitrine {
namespace {

Document readDocument(const std::string& text) {
  Problem problem;
  const std::optional<Document> document = parseDocument(text, problem);
  EXPECT_TRUE(document.has_value()) << problem.message << "\n" << text;
  return document.value_or(Document());
}

/// One edit of the document, written into the text.
template <class Edit>
std::string patched(const std::string& text, const Edit& edit) {
  Document document = readDocument(text);
  edit(document);
  std::string result = patchToml(text, document);
  EXPECT_TRUE(meansTheSame(readDocument(result), document)) << result;
  return result;
}

const char* const kLines = R"([data]
dataset = "squares"

[data.pipeline]          # of training alone
train = [
  # as the paper crops
  { name = "crop", size = 24 },   # pixels
  { name = "flip" }, # half of them
  { name = "mix", alpha = 0.8 }
]
)";

Json& transforms(Document& document) { return document.tables["data"]["pipeline"]["train"]; }

TEST(TomlLists, EditOneElementAndKeepTheOthersByteForByte) {
  std::string expected = kLines;
  expected.replace(expected.find("size = 24 }"), 11, "size = 28 }");
  EXPECT_EQ(patched(kLines, [](Document& one) { transforms(one)[0]["size"] = 28; }), expected);
}

TEST(TomlLists, PutANewKeyIntoAnElement) {
  const std::string text =
      patched(kLines, [](Document& one) { transforms(one)[1]["probability"] = 0.3; });
  EXPECT_NE(text.find("  { name = \"flip\", probability = 0.3 }, # half of them\n"),
            std::string::npos)
      << text;
}

TEST(TomlLists, MoveALineWithItsComments) {
  const std::string text =
      patched(kLines, [](Document& one) { std::swap(transforms(one)[0], transforms(one)[1]); });
  EXPECT_EQ(text.substr(text.find("train =")), R"(train = [
  { name = "flip" }, # half of them
  # as the paper crops
  { name = "crop", size = 24 },   # pixels
  { name = "mix", alpha = 0.8 }
]
)");
}

TEST(TomlLists, MoveAnElementWithAValueThatIsNotANumber) {
  const std::string text = patched(
      "[data.pipeline]\ntrain = [\n  { limit = nan },   # none yet\n  { limit = 3 },   # a few\n"
      "]\n",
      [](Document& one) { std::swap(transforms(one)[0], transforms(one)[1]); });
  EXPECT_EQ(text,
            "[data.pipeline]\ntrain = [\n  { limit = 3 },   # a few\n  { limit = nan },   # none "
            "yet\n]\n");
}

TEST(TomlLists, GiveACommaToWhatIsNoLongerLast) {
  const std::string text =
      patched(kLines, [](Document& one) { std::swap(transforms(one)[1], transforms(one)[2]); });
  EXPECT_NE(text.find("alpha = 0.8 },\n  { name = \"flip\" }, # half of them\n]"),
            std::string::npos)
      << text;
}

TEST(TomlLists, AddAndRemoveElements) {
  const std::string more = patched(kLines, [](Document& one) {
    transforms(one).insert(transforms(one).begin() + 2, Json{{"name", "normalize"}});
  });
  EXPECT_NE(more.find("# half of them\n  { name = \"normalize\" },\n  { name = \"mix\""),
            std::string::npos)
      << more;
  const std::string less = patched(kLines, [](Document& one) { transforms(one).erase(0); });
  EXPECT_EQ(less.find("as the paper crops"), std::string::npos) << "it was about that line";
  EXPECT_THAT(less, test::HasTexts("# of training alone", "# half of them"));
}

TEST(TomlLists, EditAListOnOneLineAndInsideATable) {
  const std::string flat =
      "[data]\npipeline = { train = [{ name = \"flip\" }, { name = \"mix\" }] }   # short\n";
  EXPECT_EQ(patched(flat,
                    [](Document& one) {
                      std::swap(transforms(one)[0], transforms(one)[1]);
                      transforms(one)[0]["alpha"] = 0.5;
                    }),
            "[data]\npipeline = { train = [{ name = \"mix\", alpha = 0.5 }, { name = \"flip\" }] }"
            "   # short\n");
}

const char* const kBlocks = R"([data]
dataset = "squares"

# first
[[data.pipeline.train]]
name = "crop"
size = 24   # pixels

# second
[[data.pipeline.train]]
name = "flip"

[train]
epochs = 3   # enough
)";

TEST(TomlLists, EditMoveAndAddBlocks) {
  std::string expected = kBlocks;
  expected.replace(expected.find("size = 24"), 9, "size = 28");
  EXPECT_EQ(patched(kBlocks, [](Document& one) { transforms(one)[0]["size"] = 28; }), expected);
  const std::string moved =
      patched(kBlocks, [](Document& one) { std::swap(transforms(one)[0], transforms(one)[1]); });
  EXPECT_LT(moved.find("# second"), moved.find("# first")) << moved;
  EXPECT_LT(moved.find("# pixels"), moved.find("[train]")) << moved;
  const std::string more = patched(kBlocks, [](Document& one) {
    transforms(one).push_back({{"name", "mix"}, {"alpha", 1.0}});
  });
  EXPECT_NE(more.find("\n\n[[data.pipeline.train]]\nname = \"mix\"\nalpha = 1.0\n\n[train]"),
            std::string::npos)
      << more;
}

TEST(TomlLists, KeepACommentBetweenBlocksThatIsAboveNeither) {
  std::string text = kBlocks;
  text.replace(text.find("# second"), 8, "# --- then ---\n\n# second");
  std::string expected = text;
  expected.replace(expected.find("size = 24"), 9, "size = 28");
  EXPECT_EQ(patched(text, [](Document& one) { transforms(one)[0]["size"] = 28; }), expected);
}

TEST(TomlLists, TakeAwayAListInEverySpelling) {
  const auto drop = [](Document& one) { one.erase("data.pipeline.train"); };
  const std::string lines = patched(kLines, drop);
  EXPECT_EQ(lines.find("crop"), std::string::npos) << lines;
  const std::string blocks = patched(kBlocks, drop);
  EXPECT_EQ(blocks, "[data]\ndataset = \"squares\"\n\n[train]\nepochs = 3   # enough\n");
}

TEST(TomlLists, WriteANewListWithALineForEachElement) {
  const std::string text = patched("[data]\ndataset = \"squares\"\n", [](Document& one) {
    one.set("data.pipeline.train", Json::array({{{"name", "flip"}}, {{"name", "mix"}}}));
  });
  EXPECT_EQ(text,
            "[data]\ndataset = \"squares\"\npipeline.train = [\n  { name = \"flip\" },\n  { name = "
            "\"mix\" },\n]\n");
}

const char* const kNamed = R"([train]
epochs = 3

# a slow head
[train.groups.head]   # by name
match = ["head.*"]
learning_rate_scale = 0.1   # slow

[aux.codec]
run = "0123"   # the good one

[sweep]
"train.groups.head.learning_rate_scale" = [0.1, 0.5]
)";

TEST(NamedTables, AreRenamedWhereTheyStandAndInTheSweep) {
  std::string expected = kNamed;
  for (std::size_t at = expected.find("groups.head"); at != std::string::npos;
       at = expected.find("groups.head", at + 1))
    expected.replace(at, 11, "groups.top");
  EXPECT_EQ(patched(kNamed, [](Document& one) { one.rename("train.groups", "head", "top"); }),
            expected);
}

TEST(NamedTables, AreRenamedInStagesToo) {
  const std::string stages =
      "\n[[stage]]\nname = \"first\"   # long\nset = { train.epochs = 9 }\n"
      "\n[[stage]]\nname = \"second\"\n"
      "set = { \"train.groups.head.freeze\" = true }   # the head rests\n";
  std::string expected = kNamed + stages;
  for (std::size_t at = expected.find("groups.head"); at != std::string::npos;
       at = expected.find("groups.head", at + 1))
    expected.replace(at, 11, "groups.top");
  EXPECT_EQ(patched(kNamed + stages,
                    [](Document& one) { one.rename("train.groups", "head", "top"); }),
            expected);
}

TEST(NamedTables, AreRenamedInEverySpelling) {
  const auto rename = [](Document& one) { one.rename("aux", "codec", "judge"); };
  EXPECT_EQ(patched("[aux]\ncodec.run = \"1\"   # a\ncodec.use = \"ema\"\n", rename),
            "[aux]\njudge.run = \"1\"   # a\njudge.use = \"ema\"\n");
  EXPECT_EQ(patched("[aux]\ncodec = { run = \"1\" }   # b\n", rename),
            "[aux]\njudge = { run = \"1\" }   # b\n");
  EXPECT_EQ(patched("aux = { codec = { run = \"1\" } }   # c\n", rename),
            "aux = { judge = { run = \"1\" } }   # c\n");
  EXPECT_EQ(patched("aux = { codec.run = \"1\", codec.use = \"ema\" }   # d\n", rename),
            "aux = { judge.run = \"1\", judge.use = \"ema\" }   # d\n");
}

TEST(NamedTables, AreAddedBesideTheirSection) {
  const std::string group =
      patched(kNamed, [](Document& one) { one.set("train.groups.stem.freeze", true); });
  EXPECT_NE(group.find("# slow\n\n[train.groups.stem]\nfreeze = true\n\n[aux.codec]"),
            std::string::npos)
      << group;
  const std::string network =
      patched("title = \"a\"\n\n[train]\nepochs = 3\n\n[sweep]\nseed = [1]\n",
              [](Document& one) { one.set("aux.codec.run", "1"); });
  EXPECT_NE(network.find("epochs = 3\n\n[aux.codec]\nrun = \"1\"\n\n[sweep]"), std::string::npos)
      << network;
}

TEST(NamedTables, GoWithTheCommentThatIsAboutThem) {
  const std::string text = patched(kNamed, [](Document& one) { one.erase("train.groups.head"); });
  EXPECT_EQ(text.find("head.*"), std::string::npos) << text;
  EXPECT_EQ(text.find("a slow head"), std::string::npos) << text;
  EXPECT_NE(text.find("# the good one"), std::string::npos);
}

TEST(NamedTables, StayWhenTheirLastKeyGoes) {
  Document document = readDocument("[aux.codec]\nrun = \"1\"\n[select]\nmetric = \"none\"\n");
  document.erase("aux.codec.run");
  document.erase("select.metric");
  ASSERT_NE(document.find("aux.codec"), nullptr);
  EXPECT_NE(document.find("select"), nullptr);
  document.erase("aux.codec");
  EXPECT_EQ(document.find("aux"), nullptr);
}

TEST(NamedTables, AreSectionsInATextThatIsWrittenAgain) {
  const std::string text = toText(readDocument(kNamed));
  EXPECT_THAT(text, test::HasTexts("\n[train.groups.head]\nmatch = [\"head.*\"]\n",
                                   "\n[aux.codec]\nrun = \"0123\"\n"));
  EXPECT_EQ(toText(readDocument(text)), text);
}

}  // namespace
}  // namespace vitrine
