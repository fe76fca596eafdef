// The rooms that serve every paper name none, and the reader sees a name that is there.
#include "tests/structure/papers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vitrine::structure {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty;

std::vector<std::string> namesIn(std::string_view text) {
  std::vector<std::string> names;
  for (const FoundWord& one : paperNames("core/a.cpp", text)) names.push_back(one.word);
  return names;
}

TEST(PaperNames, AreFoundAsWordsOfSentencesAndOfIdentifiers) {
  EXPECT_THAT(namesIn("a ViT; iLLaMA, VisionLLaMA-B"), ElementsAre("ViT", "iLLaMA", "VisionLLaMA"));
  EXPECT_THAT(namesIn("class IllamaPage; kVisionLlama; \"vision_lstm\""),
              ElementsAre("Illama", "VisionLlama", "visionlstm"));
  EXPECT_THAT(namesIn("makeVitPage(), sit_llama, DiTBlock, LLAMAFUSION"),
              ElementsAre("Vit", "sit", "DiT", "LLAMAFUSION"));
  EXPECT_EQ(paperNames("core/a.cpp", "a\nViT\n").front().line, 2);
}

TEST(PaperNames, AreNotFoundInsideOtherWords) {
  EXPECT_THAT(namesIn("activity edit sites visit invite Vitrine vitrine::ui evil SITE; they sit"),
              IsEmpty());
}

TEST(PaperNames, StayWhereATableSaysSoAndOnlyAsLong) {
  const std::vector<AllowedWord> allowed{{"core/kernels/", "mlstm", "a test"}};
  EXPECT_THAT(paperViolations({{"core/kernels/mlstm.h", 3, "mLSTM"}}, allowed), IsEmpty());
  EXPECT_THAT(
      paperViolations({{"core/nn/norm.h", 3, "mLSTM"}}, allowed),
      ElementsAre("core/nn/norm.h:3: 'mLSTM': a paper's name; what serves all of them names "
                  "none.",
                  "'mlstm' is not in core/kernels/ any more: remove it from "
                  "tests/structure/papers.cpp."));
}

TEST(Tree, CoreAndWindowNameNoPaper) {
  std::string sentences;
  for (const std::string& one :
       paperViolations(paperNamesBelow(VITRINE_SOURCE_DIR, {"core", "ui"}), namedPapers()))
    sentences += one + "\n";
  EXPECT_EQ(sentences, "");
}

}  // namespace
}  // namespace vitrine::structure
