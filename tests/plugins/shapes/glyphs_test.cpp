// Glyphs, solids and mazes.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "plugins/datasets/shapes/glyph_strokes.h"
#include "tests/plugins/shapes/made_sets.h"
#include "tests/support/has_texts.h"

namespace vitrine::shapes {
namespace {

using test::open, test::sampleOf;
using ::testing::AnyOf, ::testing::StartsWith;

std::vector<float> painted(std::int64_t glyph, const GlyphStyle& style) {
  Coverage coverage(32, 32);
  std::vector<float> image(32 * 32);
  Outline placed;
  for (const Outline& outline : glyphOutlines(glyph, style)) {
    place(outline, {16, 14, 2, 0, 1}, placed);
    coverage.fill(placed);
    for (std::int64_t i = 0; i < 32 * 32; ++i)
      image[static_cast<std::size_t>(i)] =
          std::max(image[static_cast<std::size_t>(i)], coverage.at(i / 32, i % 32));
  }
  return image;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum;
}

TEST(Glyphs, DifferFromOneAnotherInEveryFont) {
  for (std::int64_t font = 0; font < kFonts; ++font) {
    std::vector<std::vector<float>> images;
    for (std::int64_t glyph = 0; glyph < kGlyphs; ++glyph)
      images.push_back(painted(glyph, {font, false, false}));
    for (std::size_t a = 0; a < images.size(); ++a) {
      double ink = 0;
      for (const float value : images[a]) ink += value;
      EXPECT_GT(ink, 15) << glyphName(static_cast<std::int64_t>(a));
      for (std::size_t b = 0; b < a; ++b)
        EXPECT_GT(distance(images[a], images[b]), 6)
            << glyphName(static_cast<std::int64_t>(a)) << " is too much like "
            << glyphName(static_cast<std::int64_t>(b)) << " in font " << font;
    }
  }
}

TEST(Glyphs, WeightSlantAndFontChangeTheImage) {
  for (std::int64_t glyph = 0; glyph < kGlyphs; ++glyph) {
    const std::vector<float> plain = painted(glyph, {8, false, false});
    EXPECT_GT(distance(plain, painted(glyph, {8, true, false})), 8) << glyphName(glyph);
    EXPECT_GT(distance(plain, painted(glyph, {8, false, true})), 5) << glyphName(glyph);
    EXPECT_GT(distance(plain, painted(glyph, {15, false, false})), 5) << glyphName(glyph);
  }
}

TEST(Glyphs, CaptionsTellTheFactors) {
  const auto set = open("glyphs");
  for (std::int64_t id = 0; id < 200; ++id) {
    const Sample sample = sampleOf(*set, Split::Train, id);
    const auto factors = sample.at("factors").get<std::int64_t>();
    const auto captions = sample.at("captions").texts();
    ASSERT_EQ(captions.size(), 2u);
    for (const std::string& caption : captions)
      EXPECT_THAT(caption, AnyOf(StartsWith("a "), StartsWith("an ")));
    EXPECT_THAT(captions[0],
                vitrine::test::HasTexts(
                    std::string(factors[0] < 52 ? " letter " : " digit ") + glyphName(factors[0]),
                    fontFamily(factors[1])));
    EXPECT_EQ(captions[0].find("bold") != std::string::npos, factors[2] == 1);
    EXPECT_EQ(captions[0].find("italic") != std::string::npos, factors[3] == 1);
    EXPECT_EQ(captions[0].find("rotated") != std::string::npos, factors[5] != 0);
    EXPECT_EQ(factors[0], sample.at("label").get<std::int64_t>()[0]);
  }
  EXPECT_EQ(set->info().classes.size(), 62u);
  const auto upright = open("glyphs", {{"rotations", "upright"}, {"label", "color"}});
  EXPECT_EQ(upright->info().classes.size(), 12u);
  const std::string caption = sampleOf(*upright, Split::Train, 0).at("captions").texts()[0];
  EXPECT_EQ(caption.find("rotated"), std::string::npos) << caption;
}

TEST(Glyphs, HeldOutPairsAreInTheTestAlone) {
  const auto set = open("glyphs", {{"held_out", "pairs"}});
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  for (std::int64_t id = 0; id < 2000; ++id) {
    const auto factors = sampleOf(*set, Split::Train, id).at("factors");
    const auto values = factors.get<std::int64_t>();
    seen.emplace(values[0], values[4]);
    EXPECT_NE((values[0] + 7 * values[4]) % 10, 0);
    EXPECT_NE((values[1] + 3 * values[5]) % 10, 0);
  }
  int fresh = 0;
  for (std::int64_t id = 0; id < 200; ++id) {
    const auto factors = sampleOf(*set, Split::Test, id).at("factors");
    const auto values = factors.get<std::int64_t>();
    const bool isPair = (values[0] + 7 * values[4]) % 10 == 0;
    EXPECT_TRUE(isPair || (values[1] + 3 * values[5]) % 10 == 0);
    fresh += isPair && !seen.contains({values[0], values[4]});
  }
  EXPECT_GT(fresh, 50);
}

TEST(Solids, EveryViewIsInEachSplitOnceOfInstancesOfItsOwn) {
  const auto set = open("solids", {{"size", 16}});
  EXPECT_EQ(set->size(Split::Train), 24'300) << "as many as in the small NORB set";
  std::set<std::vector<std::int64_t>> seen;
  std::set<std::pair<std::int64_t, std::int64_t>> instances;
  for (const Split split : {Split::Train, Split::Test}) {
    for (std::int64_t id = 0; id < 3000; ++id) {
      const auto factors = sampleOf(*set, split, id).at("factors");
      const auto values = factors.get<std::int64_t>();
      EXPECT_TRUE(seen.emplace(values.begin(), values.end()).second);
      if (split == Split::Train) {
        instances.emplace(values[0], values[4]);
      } else {
        EXPECT_FALSE(instances.contains({values[0], values[4]}));
      }
    }
  }
}

TEST(Solids, LookDifferentFromEveryAzimuthAndElevation) {
  const auto set = open("solids", {{"label", "azimuth"}});
  EXPECT_EQ(set->info().classes.size(), 18u);
  // Images of one instance under one light, by view.
  std::map<std::int64_t, std::map<std::pair<std::int64_t, std::int64_t>, Sample>> views;
  for (std::int64_t id = 0; id < 24'300; ++id) {
    const std::int64_t index = id * 7919 % 24'300;
    const std::int64_t light = index / (5 * 18 * 9) % 6, instance = index / (5 * 18 * 9 * 6);
    if (light != 0 || instance != 0 || index / 90 % 9 > 1) continue;
    Sample sample = sampleOf(*set, Split::Train, id);
    const auto values = sample.at("factors").get<std::int64_t>();
    ASSERT_EQ(values[3] + values[4], 0);
    const std::int64_t category = values[0], azimuth = values[1], elevation = values[2];
    views[category].emplace(std::pair{azimuth, elevation}, std::move(sample));
  }
  ASSERT_EQ(views.size(), 5u);
  for (const auto& [category, samples] : views) {
    ASSERT_EQ(samples.size(), 36u);
    for (auto a = samples.begin(); a != samples.end(); ++a) {
      for (auto b = std::next(a); b != samples.end(); ++b) {
        const auto one = a->second.at("image").get<std::uint8_t>();
        const auto other = b->second.at("image").get<std::uint8_t>();
        double difference = 0;
        for (std::size_t i = 0; i < one.size(); ++i) difference += std::abs(one[i] - other[i]);
        EXPECT_GT(difference / static_cast<double>(one.size()), 0.3)
            << category << ": " << a->first.first << "/" << a->first.second << " and "
            << b->first.first << "/" << b->first.second;
      }
    }
  }
}

TEST(Mazes, AreConnectedOrNotWithTheSameOpenCells) {
  const auto set = open("mazes");
  std::array<double, 2> area{};
  for (std::int64_t id = 0; id < 300; ++id) {
    const Sample sample = sampleOf(*set, Split::Train, id);
    const std::int64_t label = sample.at("label").get<std::int64_t>()[0];
    EXPECT_EQ(label, id % 2);
    EXPECT_EQ(sample.at("length").get<std::int64_t>()[0] >= 0, label == 1);
    const auto image = sample.at("image").get<std::uint8_t>();
    std::array<int, 3> planes{};
    for (std::size_t i = 0; i < image.size(); ++i) planes[i / (34 * 34)] += image[i] == 255;
    EXPECT_EQ(planes[0], planes[2]) << "one room of each colour";
    EXPECT_EQ(planes[0] - planes[1], 4) << "a cell is 2 x 2 pixels";
    area[static_cast<std::size_t>(label)] += planes[0];
  }
  EXPECT_EQ(area[0], area[1]);
}

TEST(Mazes, LabelsAreStepsOfTheShortestWay) {
  const auto steps = test::open("mazes", {{"label", "step"}, {"size", 17}});
  const auto lengths = test::open("mazes", {{"label", "length"}, {"size", 17}});
  std::set<std::int64_t> seen;
  for (std::int64_t id = 0; id < 100; ++id) {
    const Sample sample = sampleOf(*steps, Split::Train, id);
    const auto image = sample.at("image").get<std::uint8_t>();
    // The start is red alone.
    std::int64_t start = 0;
    while (image[static_cast<std::size_t>(start)] != 255 ||
           image[static_cast<std::size_t>(start + 17 * 17)] != 0)
      ++start;
    const std::array<std::int64_t, 4> sides = {-17, 1, 17, -1};
    const std::int64_t next =
        start + sides.at(static_cast<std::size_t>(sample.at("label").get<std::int64_t>()[0]));
    EXPECT_TRUE(image[static_cast<std::size_t>(next)] == 255 ||
                image[static_cast<std::size_t>(next + 2 * 17 * 17)] == 255)
        << "the first step leads through a wall";
    EXPECT_GT(sample.at("length").get<std::int64_t>()[0], 0);
    seen.insert(sampleOf(*lengths, Split::Train, id).at("label").get<std::int64_t>()[0]);
  }
  EXPECT_GT(seen.size(), 3u);
  EXPECT_THROW((void)test::open("mazes", {{"rooms", 32}}), ConfigError);
}

}  // namespace
}  // namespace vitrine::shapes
