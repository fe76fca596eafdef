// The use of the machine by a training process: its reader against hostile text, when points get
// values, and which card is that of a device.
#include "core/jobs/machine_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <limits>

namespace vitrine::jobs {
namespace {

using std::chrono::milliseconds, std::chrono::seconds;
using ::testing::DoubleNear, ::testing::ElementsAre, ::testing::IsEmpty, ::testing::Pair;

std::string statLine(const std::string& name, const std::string& user, const std::string& kernel,
                     const std::string& pages) {
  return "17 (" + name + ") R 1 2 3 4 -1 5 6 7 8 9 " + user + " " + kernel +
         " 10 11 20 0 4 0 12345 999999 " + pages + " 18446744073709551615 0 0\n";
}

TEST(ProcessUse, IsTheTicksOfAllThreadsAndThePagesInMemory) {
  const auto use = parseProcessUse(statLine("vitrine", "250", "150", "100"));
  ASSERT_TRUE(use);
  EXPECT_DOUBLE_EQ(use->cpuSeconds, 400.0 / static_cast<double>(::sysconf(_SC_CLK_TCK)));
  EXPECT_EQ(use->residentBytes, 100 * ::sysconf(_SC_PAGESIZE));
}

TEST(ProcessUse, ANameMayHoldBracketsSpacesAndNumbers) {
  for (const char* name :
       {") R 1 2", "a b", "((", "", ") 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"}) {
    const auto use = parseProcessUse(statLine(name, "250", "150", "100"));
    ASSERT_TRUE(use) << name;
    EXPECT_EQ(use->residentBytes, 100 * ::sysconf(_SC_PAGESIZE)) << name;
  }
}

TEST(ProcessUse, WhatIsNotSuchALineIsNothing) {
  const std::string whole = statLine("vitrine", "250", "150", "100");
  EXPECT_FALSE(parseProcessUse(""));
  EXPECT_FALSE(parseProcessUse(")"));
  EXPECT_FALSE(parseProcessUse("17 (vitrine"));
  EXPECT_FALSE(parseProcessUse(std::string(100'000, ' ') + ")" + std::string(100'000, ' ')));
  EXPECT_FALSE(parseProcessUse(std::string("\0)\0 \xff\xfe", 7)));
  // Cut anywhere before the pages.
  for (std::size_t length = 0; length < whole.find(" 100 "); ++length)
    EXPECT_FALSE(parseProcessUse(std::string_view(whole).substr(0, length))) << length;
  for (const char* wrong : {"-1", "x", "1e3", "99999999999999999999999", "0x10", "1.5"}) {
    EXPECT_FALSE(parseProcessUse(statLine("vitrine", wrong, "1", "1"))) << wrong;
    EXPECT_FALSE(parseProcessUse(statLine("vitrine", "1", wrong, "1"))) << wrong;
    EXPECT_FALSE(parseProcessUse(statLine("vitrine", "1", "1", wrong))) << wrong;
  }
  EXPECT_FALSE(parseProcessUse(statLine("vitrine", "1", "1", "9223372036854775807")));
}

TEST(ProcessUse, OfThisProcessGrowsWithItsWork) {
  const auto before = readProcessUse();
  ASSERT_TRUE(before);
  EXPECT_GT(before->residentBytes, 1 << 20);
  auto now = before;
  volatile std::uint64_t work = 0;
  while (now->cpuSeconds <= before->cpuSeconds) {
    for (int i = 0; i < 1'000'000; ++i) work = work + 1;
    now = readProcessUse();
    ASSERT_TRUE(now);
  }
  EXPECT_GT(now->cpuSeconds, before->cpuSeconds);
}

TEST(MachineMeter, GivesTheFirstPointItsValuesAndThenOneEveryTwoSeconds) {
  MachineMeter meter("cpu");
  const auto begin = MachineMeter::Clock::now();
  EXPECT_TRUE(meter.isDue(1, begin));
  const auto first = meter.read(1);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].first, "system/cpu");
  EXPECT_GE(first[0].second, 0);
  EXPECT_LE(first[0].second, 1);
  EXPECT_EQ(first[1].first, "system/resident_memory");
  EXPECT_GT(first[1].second, 1);
  const auto after = MachineMeter::Clock::now();
  EXPECT_FALSE(meter.isDue(2, after + milliseconds(1'000)));
  EXPECT_TRUE(meter.isDue(2, after + milliseconds(2'100)));
  EXPECT_FALSE(meter.isDue(1, after + seconds(100))) << "a step has one value";
  EXPECT_FALSE(MachineMeter("cpu").take(1, after, std::nullopt, {}).size());
}

TEST(MachineMeter, MeasuresALongRunLessOften) {
  MachineMeter meter("cpu");
  const auto late = MachineMeter::Clock::now() + seconds(10'000);
  static_cast<void>(meter.take(1, late, ProcessUse{}, {}));
  EXPECT_FALSE(meter.isDue(2, late + seconds(9)));
  EXPECT_TRUE(meter.isDue(2, late + seconds(11)));
}

TEST(MachineMeter, ShareOfTheCpuIsThatSinceTheValuesBefore) {
  MachineMeter meter("cpu");
  const auto begin = MachineMeter::Clock::now();
  static_cast<void>(meter.take(1, begin, ProcessUse{100, 0}, {}));
  cpu_set_t cores;
  ASSERT_EQ(::sched_getaffinity(0, sizeof cores, &cores), 0);
  const double busy = 10.0 * CPU_COUNT(&cores) / 4;  // a quarter of what there is in ten seconds
  EXPECT_THAT(meter.take(2, begin + seconds(10), ProcessUse{100 + busy, 3 << 20}, {}),
              ElementsAre(Pair("system/cpu", DoubleNear(0.25, 1e-9)),
                          Pair("system/resident_memory", 3.0)));
  // Ticks of the kernel may sum to more than the time there was.
  EXPECT_THAT(meter.take(3, begin + milliseconds(10'001), ProcessUse{1e6, 1 << 20}, {}),
              ElementsAre(Pair("system/cpu", 1.0), Pair("system/resident_memory", 1.0)));
}

std::vector<GpuLoad> twoCards() {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  return {{"GPU-aaaa", "", 0.5, 0, 3 << 20, 80 << 20},
          {"GPU-bbbb", "", unknown, 0, 5 << 20, 80 << 20}};
}

TEST(MachineMeter, FindsTheCardOfADeviceAmongThoseThatTheProcessSees) {
  const auto cards = twoCards();
  EXPECT_EQ(cardOf("cuda", nullptr, cards), 0U);
  EXPECT_EQ(cardOf("cuda:1", nullptr, cards), 1U);
  EXPECT_EQ(cardOf("cuda:0", "1", cards), 1U);
  EXPECT_EQ(cardOf("cuda:1", "1,0", cards), 0U);
  EXPECT_EQ(cardOf("cuda:0", "GPU-bb", cards), 1U);
  for (const char* visible : {"", "7", "-1", "GPU-cc", "1,", "nonsense"})
    EXPECT_EQ(cardOf("cuda:1", visible, cards), std::nullopt) << visible;
  for (const char* device : {"cpu", "cuda:", "cuda:x", "cuda:2", "cuda:-1", ""})
    EXPECT_EQ(cardOf(device, nullptr, cards), std::nullopt) << device;
}

TEST(MachineMeter, OfACardSaysUseAndMemoryAsFarAsTheDriverDoes) {
  if (std::getenv("CUDA_VISIBLE_DEVICES") != nullptr) GTEST_SKIP() << "cards are hidden here";
  const auto now = MachineMeter::Clock::now();
  EXPECT_THAT(MachineMeter("cuda:0").take(1, now, std::nullopt, twoCards()),
              ElementsAre(Pair("system/gpu", 0.5), Pair("system/gpu_memory", 3.0)));
  EXPECT_THAT(MachineMeter("cuda:1").take(1, now, std::nullopt, twoCards()),
              ElementsAre(Pair("system/gpu_memory", 5.0)));
  EXPECT_THAT(MachineMeter("cpu").take(1, now, std::nullopt, twoCards()), IsEmpty());
}

}  // namespace
}  // namespace vitrine::jobs
