// Corruptions against imagecorruptions with given random numbers (tests/golden/robustness), and
// what the transform draws itself.
#include "plugins/transforms/corruptions.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "tests/plugins/transforms/patterns.h"
#include "tests/support/golden/augment.h"
#include "tests/support/refusal.h"

namespace vitrine::transforms {
namespace {

using test::dataValues, test::Names, test::Patterns, test::pipelineOf;

void expectCorrupted(const std::string& name, int compared) {
  const testing::GoldenCase golden =
      testing::readGoldenCase(VITRINE_SOURCE_DIR "/tests/golden/robustness/" + name);
  int found = 0;
  for (const testing::Compared& line :
       testing::compareCase(golden, testing::runCorruptionCase(golden))) {
    EXPECT_TRUE(line.isMapped) << line.tensor << " was not compared";
    EXPECT_FALSE(line.isMiss()) << line.tensor << ": error " << line.error << ", allowed "
                                << line.allowed << " " << line.problem;
    ++found;
  }
  EXPECT_EQ(found, compared);
}

TEST(CorruptionGolden, AllSeventeenKindsAreTheSources) { expectCorrupted("corruptions", 17); }
TEST(CorruptionGolden, TheirCostFollowsItsDefinition) { expectCorrupted("mce", 11); }

std::shared_ptr<const Pipeline> corrupted(std::int64_t channels, const std::string& kind,
                                          int severity, std::uint64_t seed = 0) {
  Json data = dataValues();
  const Json list = {{{"name", "corrupt"}, {"kind", kind}, {"severity", severity}},
                     {{"name", "normalize"}, {"by", "none"}}};
  data["pipeline"] = {{"train", list}, {"evaluate", list}};
  return pipelineOf(std::make_shared<Patterns>(channels, 12, 10, 5), data, seed);
}

at::Tensor imagesOf(const Pipeline& pipeline) {
  return pipeline.read(Split::Test, std::vector<std::int64_t>{0, 1, 2}).at("image").clone();
}

TEST(Corrupt, GivesEverySampleItsDamageAgainAndEverySeedItsOwn) {
  for (const std::string& kind : corruptionKinds()) {
    SCOPED_TRACE(kind);
    const at::Tensor first = imagesOf(*corrupted(3, kind, 2));
    EXPECT_TRUE(first.equal(imagesOf(*corrupted(3, kind, 2))));
    const bool isRandom = kind.find("noise") != std::string::npos || kind == "glass_blur" ||
                          kind == "snow" || kind == "fog";
    if (isRandom) {
      EXPECT_FALSE(first.equal(imagesOf(*corrupted(3, kind, 2, 1))));
    }
  }
}

TEST(Corrupt, ChangesGreyImagesOfAnySizeAndKeepsThemImages) {
  for (const std::string& kind : corruptionKinds()) {
    SCOPED_TRACE(kind);
    for (const int severity : {1, 5}) {
      const at::Tensor image = imagesOf(*corrupted(1, kind, severity));
      EXPECT_EQ(image.sizes(), (at::IntArrayRef{3, 1, 12, 10}));
      EXPECT_GE(image.min().item<float>(), 0);
      EXPECT_LE(image.max().item<float>(), 1);
    }
  }
}

TEST(Corrupt, RefusesUnknownKindsSeveritiesAndFloats) {
  std::vector<std::uint8_t> bytes(27);
  const auto sentence = [&](const char* kind, int severity) {
    return test::refusal<ConfigError>([&] {
      corrupt({bytes.data(), 3, 3, 3}, kind, severity, {});
    });
  };
  EXPECT_THAT(sentence("frost", 1), Names("'frost'", "gaussian_noise", "jpeg_compression"));
  EXPECT_THAT(sentence("fog", 6), Names("1 to 5"));
  Json data = dataValues();
  const Json list = {{{"name", "normalize"}, {"by", "none"}}, {{"name", "corrupt"}}};
  data["pipeline"] = {{"train", list}, {"evaluate", list}};
  EXPECT_THROW((void)pipelineOf(std::make_shared<Patterns>(3, 12, 10, 5), data), ConfigError);
}

}  // namespace
}  // namespace vitrine::transforms
