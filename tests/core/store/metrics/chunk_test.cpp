#include "core/store/metrics/chunk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "core/base/error.h"

namespace vitrine::store::chunk {
namespace {

std::vector<Moment> regularMoments(std::int64_t count) {
  std::vector<Moment> moments;
  for (std::int64_t i = 0; i < count; ++i) moments.push_back({i + 1, 10 * i, 31 * i, 2133 * i});
  return moments;
}

TEST(Clock, GivesBackTheMomentsItWasMadeOf) {
  std::mt19937_64 random(7);
  for (const std::size_t count : {1u, 2u, 3u, 255u, 999u, 1000u}) {
    std::vector<Moment> moments;
    Moment now;
    for (std::size_t i = 0; i < count; ++i) {
      now.sequence += 1 + static_cast<std::int64_t>(random() % 3);
      now.step += static_cast<std::int64_t>(random() % 5);
      now.time += static_cast<std::int64_t>(random() % 100'000);
      now.epoch += static_cast<std::int64_t>(random() % 2000) - 500;  // may go back
      moments.push_back(now);
    }
    const Clock clock = packClock(moments);
    ASSERT_EQ(clock.count, count);
    EXPECT_EQ(unpackClock(clock), moments) << count;
  }
}

TEST(Clock, TakesNoBytesPerMomentForARegularLane) {
  const Clock clock = packClock(regularMoments(1000));
  EXPECT_TRUE(clock.sequence.rest.empty());
  EXPECT_TRUE(clock.step.rest.empty());
  EXPECT_TRUE(clock.time.rest.empty());
  EXPECT_TRUE(clock.epoch.rest.empty());
}

TEST(Clock, TakesFewerMomentsWhereADifferenceNeedsMoreThanFourBytes) {
  std::vector<Moment> moments = regularMoments(8);
  moments[6].time += std::int64_t{1} << 40;
  const Clock clock = packClock(moments);
  EXPECT_LT(clock.count, 8u);
  EXPECT_GE(clock.count, 1u);
  EXPECT_EQ(unpackClock(clock),
            std::vector(moments.begin(), moments.begin() + static_cast<long>(clock.count)));
}

TEST(Clock, PacksASingleMomentHoweverFarOut) {
  const std::vector<Moment> moments{{std::numeric_limits<std::int64_t>::max(), 1, -5, 0}};
  EXPECT_EQ(unpackClock(packClock(moments)), moments);
}

TEST(Clock, RefusesALaneOfTheWrongLength) {
  Clock clock = packClock(regularMoments(10));
  clock.time.rest.resize(13);
  EXPECT_THROW(static_cast<void>(unpackClock(clock)), StoreError);
  clock.time.rest.resize(80);  // eight bytes each: no lane is that wide
  EXPECT_THROW(static_cast<void>(unpackClock(clock)), StoreError);
}

TEST(Values, KeepEveryBit) {
  std::mt19937_64 random(3);
  std::vector<double> values{0.0,
                             -0.0,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::denorm_min(),
                             std::numeric_limits<double>::max()};
  for (int i = 0; i < 1000; ++i) values.push_back(std::bit_cast<double>(random()));
  const auto bytes = packValues(values);
  ASSERT_EQ(bytes.size(), 8 * values.size());
  const auto again = unpackValues(bytes);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint64_t>(again[i]), std::bit_cast<std::uint64_t>(values[i])) << i;
}

TEST(Values, AreBigEndian) {
  const auto bytes = packValues(std::vector{1.0});
  EXPECT_EQ(bytes[0], std::byte{0x3f});
  EXPECT_EQ(bytes[1], std::byte{0xf0});
  EXPECT_EQ(bytes[7], std::byte{0});
}

TEST(Moment, KeepsMillisecondsAndMillionthsOfAnEpoch) {
  EXPECT_EQ(storedTime(1.2345), 1235);  // 1234.5 rounds away from zero
  EXPECT_EQ(storedEpoch(2.0 / 3.0), 666667);
  EXPECT_EQ(storedTime(std::nan("")), 0);
  EXPECT_EQ(storedEpoch(std::numeric_limits<double>::infinity()), 0);
}

}  // namespace
}  // namespace vitrine::store::chunk
