#include "core/config/edit/toml_patch.h"

#include <gtest/gtest.h>

#include <random>

#include "core/config/edit/toml_outline.h"
#include "tests/support/has_texts.h"

namespace vitrine {
namespace {

const char* const kCommented = R"(# The roadmap, at the size of a laptop.
title = "Roadmap"   # as in the list

[model]                    # what is trained
architecture = "picture"
# wide enough for four heads
width = 64                 # channels
mask = { kind = "soft", epochs = 2 }   # closed after two epochs

[task]
name = "sorting"

[data]
dataset = "squares"

[train]
optimizer.learning_rate = 1e-3   # found by hand
epochs = 3

# three seeds are enough
[sweep]
"train.seed" = [0, 1, 2]   # seeds

# the baseline comes first
[[variant]]
name = "baseline"

[[variant]]
name = "+ wide"            # twice
set = { "model.width" = 128 }

[[stage]]
name = "pretrain"   # first
[[stage]]
name = "finetune"
set = { "model.image_size" = 56 }

[[claim]]
name = "wide wins"
)";

Document read(const std::string& text) {
  Problem problem;
  const std::optional<Document> document = parseDocument(text, problem);
  EXPECT_TRUE(document.has_value()) << problem.message << "\n" << text;
  return document.value_or(Document());
}

/// Every comment of the text above.
int comments(const std::string& text) {
  int found = 0;
  for (const char* one : {"# The roadmap", "# as in the list", "# what is trained", "# wide enough",
                          "# channels", "# closed after", "# found by hand", "# three seeds",
                          "# seeds", "# the baseline", "# twice", "# first"})
    found += text.find(one) != std::string::npos ? 1 : 0;
  return found;
}
constexpr int kAllComments = 12;

/// One edit of the document, written into the text.
template <class Edit>
std::string edited(const Edit& edit, const std::string& text = kCommented) {
  Document document = read(text);
  edit(document);
  const std::string patched = patchToml(text, document);
  EXPECT_TRUE(meansTheSame(read(patched), document)) << patched;
  return patched;
}

TEST(TomlPatch, ChangesNothingWhereNothingChanged) {
  EXPECT_EQ(edited([](Document&) {}), kCommented);
}

TEST(TomlPatch, ReplacesOneValueAndKeepsTheRestByteForByte) {
  std::string expected = kCommented;
  expected.replace(expected.find("width = 64"), 10, "width = 96");
  EXPECT_EQ(edited([](Document& document) { document.set("model.width", 96); }), expected);
}

TEST(TomlPatch, EditsInsideAnInlineTable) {
  const std::string text =
      edited([](Document& document) { document.set("model.mask.kind", "causal"); });
  EXPECT_NE(text.find("mask = { kind = \"causal\", epochs = 2 }   # closed"), std::string::npos)
      << text;
  const std::string less = edited([](Document& document) { document.erase("model.mask.epochs"); });
  EXPECT_NE(less.find("mask = { kind = \"soft\" }   # closed"), std::string::npos) << less;
  const std::string more =
      edited([](Document& document) { document.set("model.mask.alpha", 0.5); });
  EXPECT_NE(more.find("epochs = 2, alpha = 0.5 }"), std::string::npos) << more;
}

TEST(TomlPatch, PutsANewKeyBesideItsTable) {
  const std::string text =
      edited([](Document& document) { document.set("train.optimizer.weight_decay", 0.1); });
  EXPECT_LT(text.find("optimizer.weight_decay = 0.1"), text.find("epochs = 3"));
  EXPECT_GT(text.find("optimizer.weight_decay = 0.1"), text.find("# found by hand"));
  EXPECT_EQ(comments(text), kAllComments);
}

TEST(TomlPatch, PutsANewSectionWhereItBelongs) {
  const std::string text =
      edited([](Document& document) { document.set("observe.calibration.every_epochs", 1); });
  EXPECT_GT(text.find("[observe]"), text.find("[train]"));
  EXPECT_LT(text.find("[observe]"), text.find("# three seeds"));
  EXPECT_EQ(comments(text), kAllComments);
}

TEST(TomlPatch, TakesALineAwayWithItsRemarkAlone) {
  const std::string text = edited([](Document& document) { document.erase("model.width"); });
  EXPECT_EQ(text.find("width = 64"), std::string::npos);
  EXPECT_EQ(comments(text), kAllComments - 1);  // "# channels" went with it
}

TEST(TomlPatch, ChangesAxesInPlace) {
  const std::string text = edited([](Document& document) {
    document.sweep = {{"train.batch_size", {64, 128}}, {"train.seed", {0, 1}}};
  });
  EXPECT_NE(text.find("\"train.seed\" = [0, 1]   # seeds"), std::string::npos) << text;
  EXPECT_EQ(comments(text), kAllComments);
  const std::string none = edited([](Document& document) { document.sweep.clear(); });
  EXPECT_EQ(none.find("[sweep]"), std::string::npos);
}

TEST(TomlOutline, TellsWhichVariantALineBelongsTo) {
  const std::string text =
      "title = \"x\"\n[model]\nwidth = 1\n[[variant]]\nname = \"a\"\n\n[[variant]]\n"
      "name = \"b\"\n[variant.set]\nmodel.width = 2\n[sweep]\n\"train.seed\" = [0]";
  const std::vector<int> expected{-1, -1, -1, 0, 0, 0, 1, 1, 1, 1, -1, -1};
  for (int line = 1; line <= 12; ++line)
    EXPECT_EQ(variantAt(text, line), expected[static_cast<std::size_t>(line) - 1]) << line;
  EXPECT_EQ(variantAt(text, 0), -1);
  EXPECT_EQ(variantAt("", 3), -1);
}

TEST(TomlPatch, AddsRenamesAndRemovesVariants) {
  const std::string added = edited([](Document& document) {
    document.variants.push_back({"+ deep", {{"model.depth", 8}}});
  });
  EXPECT_EQ(comments(added), kAllComments);
  EXPECT_LT(added.find("+ deep"), added.find("[[stage]]"));
  const std::string renamed =
      edited([](Document& document) { document.variants[1].name = "+ twice as wide"; });
  EXPECT_NE(renamed.find("name = \"+ twice as wide\"            # twice"), std::string::npos)
      << renamed;
  const std::string changed = edited([](Document& document) {
    document.variants[1].set = {{"model.width", 256}, {"model.depth", 2}};
  });
  EXPECT_NE(changed.find("set = { \"model.width\" = 256, \"model.depth\" = 2 }"), std::string::npos)
      << changed;
  EXPECT_EQ(comments(changed), kAllComments);
  const std::string removed =
      edited([](Document& document) { document.variants.erase(document.variants.begin() + 1); });
  EXPECT_EQ(removed.find("+ wide"), std::string::npos);
  EXPECT_EQ(comments(removed), kAllComments - 1);
  const std::string none = edited([](Document& document) { document.variants.clear(); });
  EXPECT_EQ(none.find("[[variant]]"), std::string::npos);
  EXPECT_NE(none.find("[[stage]]"), std::string::npos);
}

TEST(TomlPatch, KeepsStagesAndWhatTheFormDoesNotKnow) {
  const std::string text = edited([](Document& document) {
    document.set("model.width", 32);
    document.title = "Another";
    document.set("init.run", "previous");
  });
  EXPECT_THAT(text,
              test::HasTexts("name = \"pretrain\"   # first", "[[claim]]\nname = \"wide wins\""));
  EXPECT_EQ(read(text).rest, read(kCommented).rest);
}

TEST(TomlPatch, KeepsTheLineBreaksOfTheFile) {
  const std::string text = edited(
      [](Document& document) {
        document.set("model.width", 32);
        document.set("train.epochs", 2);
      },
      "# first\r\n[model]\r\narchitecture = \"a\"\r\n");
  EXPECT_EQ(text,
            "# first\r\n[model]\r\narchitecture = \"a\"\r\nwidth = 32\r\n\r\n[train]\r\n"
            "epochs = 2\r\n");
}

TEST(TomlPatch, ReadsStringsBracketsAndCommentsThatLookLikeSomethingElse) {
  const std::string tricky =
      "[model]\nnote = \"a # b = [ \\\" ]\" # c\nrates = [ 1.0, # one\n  2.0 ]\nlong = \"\"\"\n"
      "[train]\nwidth = 1\n\"\"\"\n'width' = 7\n";
  const std::string text =
      edited([](Document& document) { document.set("model.width", 8); }, tricky);
  std::string expected = tricky;
  expected.replace(expected.find("'width' = 7"), 11, "'width' = 8");
  EXPECT_EQ(text, expected);
}

TEST(TomlPatch, KeepsTheMeaningOfAVariantThatIsSetUnderAHeader) {
  const std::string text = edited([](Document& document) { document.variants[0].name = "b"; },
                                  "[[variant]]\nname = \"a\"\n[variant.set]\nmodel.width = 2\n");
  EXPECT_EQ(text, "[[variant]]\nname = \"b\"\nset = { \"model.width\" = 2 }\n");
}

TEST(TomlPatch, PutsASectionInThePlaceOfNoneAndOfAMistake) {
  const std::string text = edited(
      [](Document& document) {
        document.title = "t";
        document.set("init.run", "previous");
        document.variants.push_back({"a", {}});
      },
      "title = 3\ninit = \"none\"\nvariant = 4\n");
  EXPECT_EQ(text, "title = \"t\"\n\n[init]\nrun = \"previous\"\n\n[[variant]]\nname = \"a\"\n");
}

TEST(TomlPatch, ReadsAFileThatBeginsWithAByteOrderMark) {
  const std::string text = edited(
      [](Document& document) {
        document.title = "b";
        document.sweep.push_back({"train.seed", {0, 1}});
      },
      "\xEF\xBB\xBFtitle = \"a\"   # kept\n[model]\nwidth = 1\n");
  EXPECT_EQ(text,
            "\xEF\xBB\xBFtitle = \"b\"   # kept\n[model]\nwidth = 1\n\n[sweep]\n"
            "\"train.seed\" = [0, 1]\n");
}

TEST(TomlPatch, KeepsCommentsBesideValuesThatAreNotANumber) {
  const std::string text =
      "[model]\nwidth = 64   # channels\nlimit = nan   # none yet\n\n[sweep]\n"
      "\"model.depth\" = [1, nan]   # depths\n\n[[variant]]\nname = \"a\"\n"
      "set = { model.limit = nan }   # as above\n\n[[exclude]]\n\"model.depth\" = nan   # slow\n";
  std::string expected = text;
  expected.replace(expected.find("64"), 2, "32");
  Document document = read(text);
  document.set("model.width", 32);
  EXPECT_EQ(patchToml(text, document), expected);
  document.set("model.width", 64);
  EXPECT_TRUE(meansTheSame(read(text), document));
}

TEST(TomlPatch, WritesTheDocumentAgainWhereTheTextHasNoRoomForIt) {
  Document document = read("[model]\nwidth = 1\n");
  document.set("model.width", 2);
  EXPECT_EQ(patchToml("[model\n", document), toText(document));
}

TEST(TomlPatch, HoldsForAnyRowOfEdits) {
  std::mt19937 random(7);
  const std::vector<std::string> keys{"model.width",          "model.depth",
                                      "model.mask.kind",      "model.mask.epochs",
                                      "train.epochs",         "train.optimizer.learning_rate",
                                      "train.optimizer.name", "observe.calibration.every_steps",
                                      "data.augment.flip",    "init.run"};
  const auto pick = [&](std::size_t n) { return random() % n; };
  std::string text = kCommented;
  int rewritten = 0;
  for (int i = 0; i < 400; ++i) {
    Document document = read(text);
    switch (pick(8)) {
      case 0:
        document.erase(keys[pick(keys.size())]);
        break;
      case 1:
        document.title = "Title " + std::to_string(pick(9));
        break;
      case 2:
        document.sweep.clear();
        for (std::size_t k = pick(3); k > 0; --k) {
          const std::string& key = keys[pick(keys.size())];
          if (document.axis(key) == nullptr) document.sweep.push_back({key, {Json(1), Json(k)}});
        }
        break;
      case 3:
        document.variants.push_back({"v" + std::to_string(i), {{keys[pick(keys.size())], i}}});
        break;
      case 4:
        if (!document.variants.empty())
          document.variants.erase(document.variants.begin() +
                                  static_cast<std::ptrdiff_t>(pick(document.variants.size())));
        break;
      case 5:
        if (!document.variants.empty())
          document.variants[pick(document.variants.size())].set = {{"model.width", i}};
        break;
      default:
        document.set(keys[pick(keys.size())], static_cast<int>(pick(1000)));
        break;
    }
    const std::string next = patchToml(text, document);
    ASSERT_TRUE(meansTheSame(read(next), document)) << next;
    rewritten += next.find("# The roadmap") == std::string::npos ? 1 : 0;
    text = next;
  }
  EXPECT_EQ(rewritten, 0) << text;  // the comment at the head never went
}

}  // namespace
}  // namespace vitrine
