// Means, deviations and intervals against values of published tables.
#include "core/base/statistics.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace vitrine {
namespace {

TEST(Statistics, KnowStudentsQuantiles) {
  // Two-sided 95 %, from the printed tables of the t distribution.
  EXPECT_NEAR(studentQuantile(1), 12.706, 5e-4);
  EXPECT_NEAR(studentQuantile(2), 4.303, 5e-4);
  EXPECT_NEAR(studentQuantile(9), 2.262, 5e-4);
  EXPECT_NEAR(studentQuantile(10), 2.228, 5e-4);
  EXPECT_NEAR(studentQuantile(15), 2.131, 5e-4);
  EXPECT_NEAR(studentQuantile(30), 2.042, 5e-4);
  EXPECT_NEAR(studentQuantile(120), 1.980, 5e-4);
}

TEST(Statistics, GiveTheMeanWithItsInterval) {
  const std::array<double, 3> values = {0.80, 0.82, 0.84};
  const SampleStatistics s = statisticsOf(values);
  EXPECT_EQ(s.count, 3u);
  EXPECT_NEAR(s.mean, 0.82, 1e-12);
  EXPECT_NEAR(s.deviation, 0.02, 1e-12);
  EXPECT_NEAR(s.interval.lower, 0.82 - 4.3027 * 0.02 / std::sqrt(3.0), 1e-12);
  EXPECT_NEAR(s.interval.upper, 0.82 + 4.3027 * 0.02 / std::sqrt(3.0), 1e-12);
}

TEST(Statistics, OfEqualValuesAreThatValueWithoutADeviation) {
  for (std::size_t count = 2; count <= 30; ++count) {
    const std::vector<double> values(count, 0.8312);
    const SampleStatistics s = statisticsOf(values);
    EXPECT_EQ(s.mean, 0.8312) << count;
    EXPECT_EQ(s.deviation, 0) << count;
    EXPECT_EQ(decimalsFor(halfWidth(s)), -1) << "rounding counts as uncertainty, " << count;
  }
}

TEST(Statistics, OfOneValueHaveNoInterval) {
  const std::array<double, 1> one = {0.5};
  const SampleStatistics s = statisticsOf(one);
  EXPECT_EQ(s.mean, 0.5);
  EXPECT_EQ(s.deviation, 0);
  EXPECT_TRUE(std::isinf(s.interval.lower) && std::isinf(s.interval.upper));
  EXPECT_TRUE(std::isnan(statisticsOf(std::vector<double>()).mean));
}

// The expected values below are of a Python program that shares nothing with ours: the standard
// library's statistics module, and Student's t by bisection of the incomplete beta function
// (continued fraction, to 1e-14).
struct SeedSample {
  std::vector<double> ours, baseline;
  double mean, deviation, half;                 ///< of the baseline
  double difference, differs, differenceHalf;   ///< of ours - baseline
  double median, lowerQuartile, upperQuartile;  ///< of the baseline
};
const std::vector<SeedSample>& seedSamples() {
  static const std::vector<SeedSample> all = {{{0.8447, 0.8522},
                                               {0.8574, 0.8651},
                                               0.86125,
                                               0.005444722215136366,
                                               0.04891888823427198,
                                               -0.0128,
                                               0.00014142135623729392,
                                               0.0012706204736173258,
                                               0.86125,
                                               0.859325,
                                               0.863175},
                                              {{0.84, 0.849, 0.8598},
                                               {0.8507, 0.8579, 0.8711},
                                               0.8599,
                                               0.010346013725102037,
                                               0.02570092286081244,
                                               -0.0103,
                                               0.0012489995996796666,
                                               0.0031026870075253205,
                                               0.8579,
                                               0.8543,
                                               0.8645},
                                              {{0.8534, 0.8448, 0.8261, 0.8539, 0.8517},
                                               {0.8639, 0.8619, 0.8433, 0.8686, 0.8651},
                                               0.86056,
                                               0.009951281324533021,
                                               0.012356147756670108,
                                               -0.01458,
                                               0.0027958898404622915,
                                               0.0034715557578456897,
                                               0.8639,
                                               0.8619,
                                               0.8651},
                                              {{0.8501, 0.8472, 0.8551, 0.8423, 0.8498, 0.849,
                                                0.8398, 0.8689, 0.8512, 0.8607, 0.8431, 0.8361},
                                               {0.8631, 0.8595, 0.8652, 0.8536, 0.8631, 0.8639,
                                                0.8534, 0.8772, 0.8656, 0.872, 0.8538, 0.8526},
                                               0.8619166666666667,
                                               0.007784347153490803,
                                               0.004945938216986607,
                                               -0.012475,
                                               0.0022768099693131504,
                                               0.0014466160383137796,
                                               0.8631,
                                               0.85375,
                                               0.8653}};
  return all;
}
std::map<std::uint64_t, double> bySeed(const std::vector<double>& values) {
  std::map<std::uint64_t, double> out;
  for (std::size_t i = 0; i < values.size(); ++i) out[i] = values[i];
  return out;
}

TEST(Statistics, AgreeWithAnotherProgramOnTwoToTwelveSeeds) {
  for (const SeedSample& sample : seedSamples()) {
    const SampleStatistics s = statisticsOf(sample.baseline);
    EXPECT_NEAR(s.mean, sample.mean, 1e-12);
    EXPECT_NEAR(s.deviation, sample.deviation, 1e-12);
    EXPECT_NEAR(halfWidth(s), sample.half, 2e-5 * sample.half) << "t to four digits";
    EXPECT_NEAR(quantileOf(sample.baseline, 0.5), sample.median, 1e-12);
    EXPECT_NEAR(quantileOf(sample.baseline, 0.25), sample.lowerQuartile, 1e-12);
    EXPECT_NEAR(quantileOf(sample.baseline, 0.75), sample.upperQuartile, 1e-12);
    const PairedSample paired = pairedDifferences(bySeed(sample.ours), bySeed(sample.baseline));
    EXPECT_EQ(paired.keys.size(), sample.ours.size());
    EXPECT_NEAR(paired.statistics.mean, sample.difference, 1e-12);
    EXPECT_NEAR(paired.statistics.deviation, sample.differs, 1e-12);
    EXPECT_NEAR(halfWidth(paired.statistics), sample.differenceHalf, 2e-5 * sample.differenceHalf);
  }
}

TEST(UpperMedian, IsOneOfTheValues) {
  EXPECT_EQ(upperMedian(std::vector<double>{5}), 5);
  EXPECT_EQ(upperMedian(std::vector<double>{9, 1, 4}), 4);
  EXPECT_EQ(upperMedian(std::vector<int>{9, 1, 4, 2}), 4);
}

TEST(PairedDifferences, TakeOnlySeedsThatBothHave) {
  const PairedSample paired =
      pairedDifferences({{0, 1.0}, {1, 2.0}, {5, 9.0}}, {{1, 1.5}, {2, 7.0}, {5, 10.0}});
  EXPECT_EQ(paired.keys, (std::vector<std::uint64_t>{1, 5}));
  EXPECT_EQ(paired.differences, (std::vector<double>{0.5, -1.0}));
  EXPECT_EQ(paired.statistics.count, 2u);
  EXPECT_EQ(pairedDifferences({{0, 1.0}}, {{1, 1.0}}).statistics.count, 0u);
}

TEST(PairedDifferences, DoNotSeeWhatASeedDoesToBoth) {
  // However much a seed moves both, the difference and its interval stay.
  const SeedSample& sample = seedSamples()[2];
  auto ours = bySeed(sample.ours), baseline = bySeed(sample.baseline);
  for (auto& [seed, value] : ours) value += 100.0 * static_cast<double>(seed);
  for (auto& [seed, value] : baseline) value += 100.0 * static_cast<double>(seed);
  const PairedSample moved = pairedDifferences(ours, baseline);
  EXPECT_NEAR(moved.statistics.mean, sample.difference, 1e-10);
  EXPECT_NEAR(halfWidth(moved.statistics), sample.differenceHalf, 1e-6);
  // The means themselves are lost in it.
  EXPECT_GT(halfWidth(statisticsOf(std::vector<double>{0, 100, 200, 300, 400})), 100);
}

TEST(PairedDifferences, ChangeSignWhenTheSidesAreSwapped) {
  const SeedSample& sample = seedSamples()[3];
  const auto forth = pairedDifferences(bySeed(sample.ours), bySeed(sample.baseline)).statistics;
  const auto back = pairedDifferences(bySeed(sample.baseline), bySeed(sample.ours)).statistics;
  EXPECT_DOUBLE_EQ(forth.mean, -back.mean);
  EXPECT_DOUBLE_EQ(forth.interval.lower, -back.interval.upper);
}

TEST(Outcome, NeedsTwoPairsAndAnIntervalWithoutZero) {
  const auto of = [](const std::vector<double>& differences, Direction direction) {
    return toString(outcomeOf(statisticsOf(differences), direction));
  };
  EXPECT_EQ(of({}, Direction::Higher), "");
  EXPECT_EQ(of({0.5}, Direction::Higher), "") << "one seed has no interval";
  EXPECT_EQ(of({0.1, 0.1001}, Direction::Higher), "better");
  EXPECT_EQ(of({0.1, 0.1001}, Direction::Lower), "worse");
  EXPECT_EQ(of({0.1, 0.1001}, Direction::None), "higher");
  EXPECT_EQ(of({-0.1, -0.1001}, Direction::None), "lower");
  EXPECT_EQ(of({-0.1, 0.2, 0.1}, Direction::Higher), "no clear difference");
  EXPECT_EQ(of({0, 0, 0}, Direction::Higher), "no clear difference") << "equal values";
  EXPECT_EQ(of({0.1, std::nan("")}, Direction::Higher), "") << "a seed that diverged";
  EXPECT_EQ(of({0.1, INFINITY}, Direction::Higher), "");
}

TEST(Statistics, LeaveNoValueOut) {
  const SampleStatistics s = statisticsOf(std::vector<double>{0.8, std::nan(""), 0.82});
  EXPECT_EQ(s.count, 3u);
  EXPECT_TRUE(std::isnan(s.mean));
}

TEST(BinEdges, AreOfEqualWidthOrBetweenEqualNumbersOfValues) {
  EXPECT_EQ(binEdges(4), (std::vector<double>{0, 0.25, 0.5, 0.75, 1}));
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(binEdges(2, {0.9, 0.1, none, 0.2, 0.3}), (std::vector<double>{0, 0.2, 1}));
  EXPECT_EQ(binEdges(4, {0.5, 0.5, 0.5, 0.5}), (std::vector<double>{0, 0.5, 0.5, 0.5, 1}));
  EXPECT_EQ(binEdges(2, {none}), (std::vector<double>{0, 0.5, 1}));
}

TEST(Band, IsWhatItsNameSays) {
  const SeedSample& sample = seedSamples()[2];
  const auto half = [&](Spread spread) {
    const Band band = bandOf(sample.baseline, Centre::Mean, spread);
    EXPECT_NEAR(band.centre, sample.mean, 1e-12);
    return band.upper - band.centre;
  };
  EXPECT_NEAR(half(Spread::Deviation), sample.deviation, 1e-12);
  EXPECT_NEAR(half(Spread::StandardError), sample.deviation / std::sqrt(5.0), 1e-12);
  EXPECT_NEAR(half(Spread::Interval), sample.half, 1e-6);
  EXPECT_NEAR(half(Spread::Range), 0.8686 - sample.mean, 1e-12);
  const Band middle = bandOf(sample.baseline, Centre::Median, Spread::Quartiles);
  EXPECT_NEAR(middle.centre, sample.median, 1e-12);
  EXPECT_NEAR(middle.lower, sample.lowerQuartile, 1e-12);
  EXPECT_TRUE(std::isnan(bandOf(sample.baseline, Centre::Mean, Spread::None).upper));
}

TEST(Band, OfOneValueOrOfNoneIsNotThere) {
  const std::vector<double> one = {0.5};
  EXPECT_EQ(bandOf(one, Centre::Mean, Spread::Interval).centre, 0.5);
  EXPECT_TRUE(std::isnan(bandOf(one, Centre::Mean, Spread::Interval).upper));
  EXPECT_TRUE(std::isnan(bandOf(one, Centre::Mean, Spread::Deviation).upper));
  EXPECT_EQ(bandOf(one, Centre::Mean, Spread::Range).upper, 0.5);
  EXPECT_TRUE(std::isnan(bandOf({}, Centre::Median, Spread::Range).centre));
  const std::vector<double> broken = {0.5, std::nan("")};
  EXPECT_TRUE(std::isnan(bandOf(broken, Centre::Median, Spread::Range).centre));
}

TEST(Decimals, KeepTwoDigitsOfTheUncertainty) {
  EXPECT_EQ(decimalsFor(0.0031), 4);
  EXPECT_EQ(decimalsFor(0.031), 3);
  EXPECT_EQ(decimalsFor(0.0996), 2) << "0.10, not 0.100";
  EXPECT_EQ(decimalsFor(0.0994), 3);
  EXPECT_EQ(decimalsFor(1.3), 1);
  EXPECT_EQ(decimalsFor(57), 0);
  EXPECT_EQ(decimalsFor(5700), 0);
  EXPECT_EQ(decimalsFor(0), -1);
  EXPECT_EQ(decimalsFor(INFINITY), -1);
  EXPECT_EQ(decimalsFor(std::nan("")), -1);
}

}  // namespace
}  // namespace vitrine
