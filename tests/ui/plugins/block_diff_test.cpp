// Two models block by block, and the experiment made of their differences.
#include "ui/plugins/block_diff.h"

#include <gtest/gtest.h>

#include "core/config/experiment.h"
#include "tests/ui/support/catalog.h"

namespace vitrine::ui {
namespace {

ModelBlock block(const char* name, const char* kind, const char* what, std::int64_t parameters = 10,
                 double flops = 100) {
  return {.name = QString::fromLatin1(name),
          .kind = QString::fromLatin1(kind),
          .what = QString::fromLatin1(what),
          .parameters = parameters,
          .flops = flops};
}

/// An encoder of `depth` layers; `isNew` has another norm and a mask.
std::vector<ModelBlock> encoder(int depth, bool isNew) {
  std::vector<ModelBlock> blocks{block("patch_embed", "patch_embed", "7 x 7")};
  for (int i = 0; i < depth; ++i) {
    const std::string prefix = "blocks." + std::to_string(i) + ".";
    const auto add = [&](const char* name, const char* kind, const char* what, std::int64_t n) {
      blocks.push_back(block((prefix + name).c_str(), kind, what, n));
    };
    add("norm1", "norm", isNew ? "RMSNorm" : "LayerNorm", isNew ? 64 : 128);
    if (isNew) add("attn.mask", "mask", "causal", 0);
    add("attn", "attention", "4 heads", 1000);
  }
  blocks.push_back(block("head", "head", "10 classes"));
  return blocks;
}

std::string listed(const std::vector<BlockPair>& pairs) {
  std::string text;
  for (const BlockPair& pair : pairs) {
    text += (pair.a ? pair.a->name.toStdString() : "-") + "|" +
            (pair.b ? pair.b->name.toStdString() : "-") + (pair.isChanged() ? " *" : "") + "\n";
  }
  return text;
}

TEST(BlockDiff, LaysAPieceThatOnlyOneHasBesideNothing) {
  EXPECT_EQ(listed(alignBlocks(encoder(1, false), encoder(1, true))),
            "patch_embed|patch_embed\n"
            "blocks.0.norm1|blocks.0.norm1 *\n"
            "-|blocks.0.attn.mask *\n"
            "blocks.0.attn|blocks.0.attn\n"
            "head|head\n");
}

TEST(BlockDiff, AModelBesideItselfHasNoChange) {
  const auto pairs = alignBlocks(encoder(6, true), encoder(6, true));
  ASSERT_FALSE(pairs.empty());
  for (const BlockPair& pair : pairs) {
    EXPECT_FALSE(pair.isChanged());
    EXPECT_EQ(pair.parameterDelta(), 0);
  }
}

TEST(BlockDiff, JoinsLayersThatAreAlike) {
  const auto groups = groupBlocks(alignBlocks(encoder(12, false), encoder(12, true)));
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[1].name.toStdString(), "blocks 0\u201311");
  EXPECT_EQ(groups[1].layers, 12);
  EXPECT_TRUE(groups[1].isChanged());
  EXPECT_EQ(groups[1].pairs[0].parameterDelta(), -64);
  EXPECT_FALSE(groups[2].isChanged());
}

TEST(BlockDiff, KeepsEveryPieceWhenDepthsDiffer) {
  const auto a = encoder(6, false), b = encoder(4, true);
  std::size_t ofA = 0, ofB = 0;
  std::int64_t delta = 0, expected = 0;
  for (const BlockPair& pair : alignBlocks(a, b)) {
    ofA += pair.a ? 1 : 0;
    ofB += pair.b ? 1 : 0;
    delta += pair.parameterDelta();
  }
  for (const ModelBlock& one : b) expected += one.parameters;
  for (const ModelBlock& one : a) expected -= one.parameters;
  EXPECT_EQ(ofA, a.size());
  EXPECT_EQ(ofB, b.size());
  EXPECT_EQ(delta, expected);
}

TEST(BlockDiff, ReadsTheReportOfCheckAndNothingElse) {
  const Json report = Json::parse(
      R"({"blocks": [{"name": "blocks.3.attn", "kind": "attention", "operator": "4 heads",
          "parameters": 5, "flops": 2.5, "activation_bytes": 4}, 7]})");
  const auto blocks = blocksFromJson(report);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].layer(), 3);
  EXPECT_EQ(blocks[0].place().toStdString(), "attn");
  EXPECT_EQ(blocks[0].what.toStdString(), "4 heads");
  EXPECT_TRUE(blocksFromJson(Json(3)).empty());
}

/// The resolved model of an experiment's first run.
Json modelOf(const std::string& text) {
  const Plan plan = planExperiment(text, "", testCatalog());
  EXPECT_TRUE(plan.problems.empty()) << (plan.problems.empty() ? "" : plan.problems[0].sentence());
  return plan.runs.at(0).config.at("model");
}

const char* const kHead = "[task]\nname = \"sorting\"\n[data]\ndataset = \"squares\"\n[model]\n";

TEST(Ablation, TriesOneDifferenceAtATimeAndAllTogether) {
  const std::string a = std::string(kHead) + "architecture = \"picture\"\nwidth = 64\n",
                    b = std::string(kHead) +
                        "architecture = \"picture\"\nwidth = 96\nmask = { kind = \"causal\" }\n";
  Problem problem;
  const auto base = parseDocument(a, problem);
  ASSERT_TRUE(base);
  const Ablation ablation = ablationOf(*base, QStringLiteral("small"), modelOf(a),
                                       QStringLiteral("wide"), modelOf(b), testCatalog());
  EXPECT_EQ(ablation.variants,
            (QStringList{QStringLiteral("small"), QStringLiteral("+ width = 96"),
                         QStringLiteral("+ mask.kind = causal"), QStringLiteral("wide")}));
  const Plan plan = planExperiment(ablation.text, "", testCatalog());
  ASSERT_TRUE(plan.problems.empty()) << plan.problems[0].sentence() << "\n" << ablation.text;
  ASSERT_EQ(plan.runs.size(), 4U);
  EXPECT_EQ(plan.runs[0].config["model"], modelOf(a));
  EXPECT_EQ(plan.runs[1].config["model"]["width"], 96);
  EXPECT_EQ(plan.runs[1].config["model"]["mask"]["kind"], "none");
  EXPECT_EQ(plan.runs[3].config["model"], modelOf(b));
}

TEST(Ablation, ADifferenceThatDoesNotHoldAloneComesWithTheWhole) {
  // Neither side of an input nor of a patch fits without the other.
  const std::string a = std::string(kHead) + "architecture = \"picture\"\n",
                    b = std::string(kHead) +
                        "architecture = \"picture\"\nimage_size = 30\npatch_size = 5\n";
  Problem problem;
  const Ablation ablation = ablationOf(*parseDocument(a, problem), QStringLiteral("A"), modelOf(a),
                                       QStringLiteral("B"), modelOf(b), testCatalog());
  EXPECT_EQ(ablation.variants, (QStringList{QStringLiteral("A"), QStringLiteral("B")}));
  const Plan plan = planExperiment(ablation.text, "", testCatalog());
  ASSERT_TRUE(plan.problems.empty()) << plan.problems[0].sentence();
  EXPECT_EQ(plan.runs.at(1).config["model"], modelOf(b));
}

TEST(Ablation, AnotherArchitectureIsOneVariant) {
  const std::string a = std::string(kHead) + "architecture = \"picture\"\n",
                    b = std::string(kHead) + "architecture = \"blind\"\n";
  Problem problem;
  const Ablation ablation = ablationOf(*parseDocument(a, problem), QStringLiteral("A"), modelOf(a),
                                       QStringLiteral("B"), modelOf(b), testCatalog());
  const Plan plan = planExperiment(ablation.text, "", testCatalog());
  ASSERT_TRUE(plan.problems.empty()) << plan.problems[0].sentence();
  ASSERT_EQ(plan.runs.size(), 2U);
  EXPECT_EQ(plan.runs[1].config["model"]["architecture"], "blind");
}

TEST(Ablation, ALongNameIsNotCutInsideALetter) {
  const std::string a = std::string(kHead) + "architecture = \"picture\"\n",
                    b = std::string(kHead) + "architecture = \"blind\"\n";
  Problem problem;
  const QString name(40, QChar(0x8a66));  // 120 bytes: 80 would end inside a letter
  const Ablation ablation = ablationOf(*parseDocument(a, problem), name, modelOf(a),
                                       QStringLiteral("B"), modelOf(b), testCatalog());
  EXPECT_EQ(ablation.variants.front().toStdString(), name.left(26).toStdString());
  const Plan plan = planExperiment(ablation.text, "", testCatalog());
  EXPECT_TRUE(plan.problems.empty()) << plan.problems[0].sentence();
}

}  // namespace
}  // namespace vitrine::ui
