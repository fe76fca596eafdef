// Frames survive the way, and bytes that are not a frame are refused.
#include "core/live/frame.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/random.h"
#include "tests/core/live/frames.h"

namespace vitrine::live {
namespace {

using Bytes = std::vector<std::byte>;

TEST(NearestPlace, IsTheClassTokenOrThePatchThatIsMeant) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Place> places{{-1, -1}, {0, 0}, {0, 1}, {1, 0}, {1, 1}};
  EXPECT_EQ(nearestPlace(places, {2, 2}, {-1, -1}).first, 0U);
  EXPECT_EQ(nearestPlace(places, {2, 2}, {0.9, 0.1}).first, 3U);
  EXPECT_NEAR(nearestPlace(places, {2, 2}, {0.9, 0.1}).second, std::hypot(0.3, 0.3), 1e-9);
  const std::vector<Place> patches{{0, 0}, {0, 1}, {0, 2}};
  EXPECT_EQ(nearestPlace(patches, {1, 3}, {-1, -1}).first, 1U) << "no class token: the middle";
  EXPECT_EQ(nearestPlace(std::vector<Place>{{kNone, kNone}, {1, 1}}, {2, 2}, {0, 0}).first, 1U);
}

TEST(Frame, ComesOutAsItWentIn) {
  const Frame sent = fullFrame();
  const auto got = decode(encode(sent));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->step, sent.step);
  EXPECT_EQ(got->loss, sent.loss);
  ASSERT_EQ(got->steps.size(), 2U);
  EXPECT_EQ(got->steps[1].observe, 0.5F);
  EXPECT_NEAR(got->steps[0].total(), 0.034, 1e-6);
  EXPECT_EQ(got->scheduled, sent.scheduled);
  EXPECT_EQ(got->pixels.bytes, sent.pixels.bytes);
  ASSERT_EQ(got->attention.size(), 2U);
  EXPECT_EQ(got->attention[1].layer, 1);
  EXPECT_EQ(got->attention[0].weights, sent.attention[0].weights);
  EXPECT_EQ(got->attention[0].row(1, 2)[0], static_cast<float>(1 * 25 + 2 * 5) / 50.0F);
  EXPECT_TRUE(got->attention[0].isWhole);
  EXPECT_EQ(got->matrices->effective, sent.matrices->effective);
  EXPECT_EQ(got->gap->finished, 0.947);
  EXPECT_EQ(got->film->times.size(), 3U);
  EXPECT_EQ(got->film->labels, sent.film->labels);
  EXPECT_EQ(got->film->captions, sent.film->captions);
  EXPECT_EQ(encode(*got), encode(sent));
}

TEST(Frame, WithoutAnyPartComesOutWithoutAny) {
  const auto got = decode(encode(Frame{}));
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->attention.empty());
  EXPECT_FALSE(got->matrices || got->gap || got->film);
}

TEST(Frame, CutAnywhereIsNone) {
  const Bytes whole = encode(fullFrame());
  for (std::size_t size = 0; size < whole.size(); ++size)
    ASSERT_FALSE(decode(std::span(whole).first(size))) << size;
}

TEST(Frame, WithBytesBehindItIsNone) {
  Bytes bytes = encode(fullFrame());
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode(bytes));
}

TEST(Frame, WhoseSizesContradictEachOtherIsNone) {
  Frame heads = fullFrame();
  heads.attention[0].heads = 3;
  EXPECT_FALSE(decode(encode(heads)));
  Frame huge = fullFrame();
  huge.matrices->queries = 1 << 30;
  EXPECT_FALSE(decode(encode(huge)));
  Frame pixels = fullFrame();
  pixels.pixels.width = 5;
  EXPECT_FALSE(decode(encode(pixels)));
  Frame image = fullFrame();
  image.image = 8;
  EXPECT_FALSE(decode(encode(image)));
  Frame film = fullFrame();
  film.film->channels = 2;
  EXPECT_FALSE(decode(encode(film)));
  Frame captions = fullFrame();
  captions.film->captions.pop_back();
  EXPECT_FALSE(decode(encode(captions)));
}

TEST(Frame, WithAnyByteChangedIsReadWithoutHarm) {
  const Bytes whole = encode(fullFrame());
  const RandomStream random(1, "frames");
  for (std::uint64_t i = 0; i < 20000; ++i) {
    Bytes bytes = whole;
    const auto words = random.bits(i, 0);
    bytes[words[0] % bytes.size()] = static_cast<std::byte>(words[1]);
    const auto got = decode(bytes);
    if (!got) continue;
    for (const AttentionLayer& layer : got->attention) {
      const auto heads = layer.heads;
      EXPECT_EQ(layer.row(heads - 1, static_cast<std::int32_t>(layer.queries.size()) - 1).size(),
                layer.keys.size());
      EXPECT_EQ(layer.meanRow(heads - 1).size(), layer.keys.size());
    }
  }
}

}  // namespace
}  // namespace vitrine::live
