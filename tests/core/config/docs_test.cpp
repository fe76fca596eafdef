// The pages about experiment files say what the program does.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/base/text.h"
#include "tests/core/config/sample_catalog.h"

namespace vitrine {
namespace {

using testing_support::planText;

std::string page(const std::string& name) {
  std::ifstream in(std::string(VITRINE_SOURCE_DIR) + "/resources/docs/" + name);
  EXPECT_TRUE(in) << name;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The first fenced block of a language, under a heading where one is given.
std::string block(const std::string& text, const std::string& language,
                  const std::string& heading = "") {
  const std::string fence = "```" + language + "\n";
  const std::size_t start = text.find(fence, heading.empty() ? 0 : text.find("\n## " + heading));
  if (start == std::string::npos) return "";
  const std::size_t first = start + fence.size();
  return text.substr(first, text.find("```", first) - first);
}

/// One a line.
std::string namesIn(const Plan& plan) {
  std::string lines;
  for (const std::string& name : testing_support::names(plan)) lines += name + "\n";
  return lines;
}

TEST(ConfigurationPage, ExampleMeansTheRunsItLists) {
  const std::string text = page("configuration.md");
  const Plan plan = planText(block(text, "toml"));
  EXPECT_EQ(namesIn(plan), block(text, "text"));
  ASSERT_EQ(plan.runs.size(), 8u);
  EXPECT_EQ(plan.runs[1].init->plannedRun, 0);
  EXPECT_EQ(plan.runs[7].config["model"]["image_size"], (Json{56, 56}));
  EXPECT_EQ(plan.runs[7].config["model"]["drop_path"], 0.1);
}

TEST(ConfigurationPage, ExampleOfWhatIsLeftOutMeansTheRunsItLists) {
  const std::string text = page("configuration.md");
  const std::string heading = "Runs that are left out";
  const Plan plan = testing_support::planMore(block(text, "toml", heading));
  EXPECT_EQ(namesIn(plan), block(text, "text", heading));
}

TEST(ConfigurationPage, ExampleOfAChoiceMeansTheRunsItLists) {
  const std::string text = page("configuration.md");
  const std::string heading = "Choosing values on a held-out part";
  const Plan plan = testing_support::planMore(block(text, "toml", heading));
  EXPECT_EQ(namesIn(plan), block(text, "text", heading));
}

TEST(VocabularyPage, HasEveryKeyOfCoresOwnSchemas) {
  const std::string text = page("vocabulary.md");
  for (const Schema* schema : {&trainSchema(), &dataSchema(), &observeSchema()}) {
    for (const std::string& key : schema->keys())
      EXPECT_NE(text.find("`" + key + "`"), std::string::npos) << key;
  }
}

TEST(VocabularyPage, HasEveryWordOfTheModelVocabulary) {
  const std::string text = page("vocabulary.md");
  for (const char* key : {"image_size",  "patch_size", "in_channels",   "num_classes", "width",
                          "depth",       "heads",      "mlp_width",     "mlp",         "norm",
                          "norm_eps",    "qkv_bias",   "pos_embed",     "class_token", "pool",
                          "layer_scale", "drop_path",  "rope.mode",     "rope.theta",  "mask.kind",
                          "mask.mode",   "mask.alpha", "mask.schedule", "mask.epochs"}) {
    EXPECT_NE(text.find("| `" + std::string(key) + "` |"), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace vitrine
