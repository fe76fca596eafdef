#include "core/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace vitrine {
namespace {

using Words4 = std::array<std::uint32_t, 4>;

// Known answers of the Random123 distribution (kat_vectors, philox4x32 with 10 rounds).
TEST(Philox, EqualsThePublishedAnswerForZeros) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words4{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}
TEST(Philox, EqualsThePublishedAnswerForOnes) {
  EXPECT_EQ(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Words4{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}
TEST(Philox, EqualsThePublishedAnswerForDigitsOfPi) {
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words4{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(NameHash, IsFnv1a) {
  EXPECT_EQ(nameHash(""), 0xcbf29ce484222325u);
  EXPECT_EQ(nameHash("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(nameHash("foobar"), 0x85944171f73967e8u);
}

TEST(RandomStream, DependsOnSeedNameAndAddress) {
  const RandomStream stream(7, "order");
  EXPECT_EQ(stream.bits(1, 2), RandomStream(7, "order").bits(1, 2));
  EXPECT_NE(stream.bits(1, 2), RandomStream(8, "order").bits(1, 2));
  EXPECT_NE(stream.bits(1, 2), RandomStream(7, "augment").bits(1, 2));
  EXPECT_NE(stream.bits(1, 2), stream.bits(2, 1));
  EXPECT_NE(stream.bits(1, 2, 0), stream.bits(1, 2, 1));
  EXPECT_NE(stream.bits(1, 2), stream.bits(1, 2 + (std::uint64_t{1} << 32)));
}

// The streams of stored runs must never change: a resume would draw other numbers.
TEST(RandomStream, KeepsItsValuesForEver) {
  const RandomStream stream(42, "order");
  EXPECT_EQ(stream.bits(0, 0), (Words4{0xca02c3bb, 0xd4c9e920, 0x2a8a7208, 0x688c103b}));
  EXPECT_EQ(stream.below(60000, 3, 5), 2476u);
}

TEST(RandomStream, IsUniformBetweenZeroAndOne) {
  const RandomStream stream(1, "test");
  double sum = 0, squares = 0, low = 1, high = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double value = stream.uniform(0, static_cast<std::uint64_t>(i));
    sum += value;
    squares += value * value;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  EXPECT_GE(low, 0);
  EXPECT_LT(high, 1);
  // Five standard errors of mean and second moment.
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(1.0 / 12 / kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / kDraws));
}

TEST(RandomStream, IsNormalWithUnitVariance) {
  const RandomStream stream(1, "test");
  double sum = 0, squares = 0, fourth = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double value = stream.normal(0, static_cast<std::uint64_t>(i));
    sum += value;
    squares += value * value;
    fourth += value * value * value * value;
  }
  EXPECT_NEAR(sum / kDraws, 0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1, 5 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(fourth / kDraws, 3, 5 * std::sqrt(96.0 / kDraws));
}

TEST(RandomStream, DrawsEveryIntegerBelowABoundEquallyOften) {
  const RandomStream stream(1, "test");
  std::array<int, 7> counts{};
  constexpr int kDraws = 70000;
  for (int i = 0; i < kDraws; ++i) ++counts[stream.below(7, 1, static_cast<std::uint64_t>(i))];
  double chiSquared = 0;
  for (const int count : counts) chiSquared += (count - 10000.0) * (count - 10000.0) / 10000.0;
  EXPECT_LT(chiSquared, 30);  // six degrees of freedom: beyond the 99.99th percentile
  EXPECT_EQ(stream.below(1, 0, 0), 0u);
}

TEST(RandomStream, StaysBelowBoundsThatRejectHalfOfTheDraws) {
  const RandomStream stream(1, "test");
  const std::uint64_t bound = (std::uint64_t{1} << 63) + 1;
  for (std::uint64_t i = 0; i < 200; ++i) EXPECT_LT(stream.below(bound, 0, i), bound);
}

TEST(Permutation, HoldsEveryIndexOnce) {
  const std::vector<std::int64_t> order = permutation(RandomStream(0, "order"), 3, 1000);
  std::vector<std::int64_t> sorted = order, expected(1000);
  std::sort(sorted.begin(), sorted.end());
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(sorted, expected);
  EXPECT_NE(order, expected);
}

TEST(Permutation, ChangesWithEpochAndSeedOnly) {
  const RandomStream stream(0, "order");
  EXPECT_EQ(permutation(stream, 1, 100), permutation(RandomStream(0, "order"), 1, 100));
  EXPECT_NE(permutation(stream, 1, 100), permutation(stream, 2, 100));
  EXPECT_NE(permutation(stream, 1, 100), permutation(RandomStream(1, "order"), 1, 100));
}

TEST(Permutation, OfNothingIsEmpty) {
  EXPECT_TRUE(permutation(RandomStream(0, "order"), 0, 0).empty());
  EXPECT_EQ(permutation(RandomStream(0, "order"), 0, 1), std::vector<std::int64_t>{0});
}

TEST(Permutation, PutsEachIndexFirstEquallyOften) {
  std::array<int, 5> counts{};
  const RandomStream stream(3, "order");
  for (std::uint64_t epoch = 0; epoch < 20000; ++epoch)
    ++counts[static_cast<std::size_t>(permutation(stream, epoch, 5)[0])];
  for (const int count : counts) EXPECT_NEAR(count, 4000, 5 * std::sqrt(20000 * 0.2 * 0.8));
}

}  // namespace
}  // namespace vitrine
