#include "core/base/curve_band.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace vitrine {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty;

TEST(RunCurve, KeepsTheLaterOfTwoValuesAtOnePlaceAndNothingThatGoesBack) {
  RunCurve curve;
  curve.add(1, 10);
  curve.add(std::nan(""), 11);
  curve.add(3, 12);
  curve.add(3, 13);
  curve.add(2, 14);
  EXPECT_THAT(curve.x, ElementsAre(1, 3));
  EXPECT_THAT(curve.y, ElementsAre(10, 13));
}

TEST(CommonPlaces, AreThoseWhereAllCurvesHaveAValue) {
  const RunCurve a{{0, 10, 20, 30}, {0, 1, 2, 3}}, b{{10, 20, 30, 40}, {5, 6, 7, 8}};
  EXPECT_THAT(commonPlaces({&a, &b}), ElementsAre(10, 20, 30));
  const RunCurve between{{5, 15}, {0, 10}};
  EXPECT_THAT(commonPlaces({&a, &between}), ElementsAre(5, 10, 15));
  EXPECT_THAT(valuesAt(between, {5, 10, 15}), ElementsAre(0, 5, 10));
  EXPECT_EQ(commonPlaces({&a, &b, &between}).size(), 2u);
  const RunCurve later{{50}, {1}};
  EXPECT_THAT(commonPlaces({&a, &later}), IsEmpty());
}

TEST(CommonPlaces, KeepTheirOwnValuesAndInventNoneOutside) {
  const RunCurve broken{{0, 10, 20}, {1, std::nan(""), 3}};
  const std::vector<double> values = valuesAt(broken, {-1, 0, 5, 10, 15, 20, 21});
  EXPECT_EQ(values[1], 1);
  EXPECT_EQ(values[5], 3);
  for (const std::size_t i : {0u, 2u, 3u, 4u, 6u}) EXPECT_TRUE(std::isnan(values[i])) << i;
}

TEST(CurveBand, IsTheMeanBetweenTheLeastAndTheGreatest) {
  const std::vector<RunCurve> curves{{{0, 10}, {1, 4}}, {{0, 10, 20}, {3, 8, 9}}};
  const CurveBand band = bandOver(curves, Centre::Mean, Spread::Range);
  EXPECT_THAT(band.x, ElementsAre(0, 10));
  EXPECT_THAT(band.centre, ElementsAre(2, 6));
  EXPECT_THAT(band.lower, ElementsAre(1, 4));
  EXPECT_THAT(band.upper, ElementsAre(3, 8));
}

TEST(CurveBand, OfOneCurveIsTheCurve) {
  const CurveBand band = bandOver({{{0, 10}, {1, 4}}}, Centre::Mean, Spread::Range);
  EXPECT_THAT(band.centre, ElementsAre(1, 4));
  EXPECT_THAT(band.lower, IsEmpty());
  EXPECT_THAT(bandOver({}, Centre::Mean, Spread::Range).x, IsEmpty());
}

TEST(MeanOver, IsTheAreaBelowTheCurveDividedByItsLength) {
  const RunCurve curve{{0, 10, 30}, {0, 1, 1}};
  EXPECT_DOUBLE_EQ(meanOver(curve, curve.x), 25.0 / 30);
  EXPECT_DOUBLE_EQ(meanOver(curve, lastShare(curve.x, 0.5)), 1);
  EXPECT_DOUBLE_EQ(meanOver(curve, lastShare(curve.x, 1)), 25.0 / 30);
  EXPECT_DOUBLE_EQ(meanOver(curve, {10}), 1);
  EXPECT_TRUE(std::isnan(meanOver(curve, {})));
  EXPECT_TRUE(std::isnan(meanOver({{0, 10, 20}, {1, std::nan(""), 1}}, {0, 20, 30})));
}

TEST(MeanOver, OfTwoCurvesDiffersByTheAreaBetweenThem) {
  const RunCurve a{{0, 10, 20, 30}, {0, 1, 2, 3}}, b{{10, 30}, {0, 2}};
  const std::vector<double> common = commonPlaces({&a, &b});
  EXPECT_DOUBLE_EQ(meanOver(a, common) - meanOver(b, common), 1) << "one above it everywhere";
}

TEST(LastShare, BeginsBetweenTwoPlacesWhereItMust) {
  EXPECT_THAT(lastShare({0, 10, 20}, 0.25), ElementsAre(15, 20));
  EXPECT_THAT(lastShare({0, 10, 20}, 0.5), ElementsAre(10, 20));
  EXPECT_THAT(lastShare({7}, 0.5), ElementsAre(7));
  EXPECT_THAT(lastShare({}, 0.5), IsEmpty());
}

TEST(PlaceReaching, IsOnTheLineBetweenTwoPoints) {
  const RunCurve rising{{10, 20, 30}, {0.2, 0.6, 0.9}};
  EXPECT_NEAR(placeReaching(rising, 0.5, Direction::Higher).value_or(0), 17.5, 1e-9);
  EXPECT_EQ(placeReaching(rising, 0.6, Direction::Higher), 20);
  EXPECT_EQ(placeReaching(rising, 0.1, Direction::Higher), 10) << "the first point";
  EXPECT_EQ(placeReaching(rising, 0.91, Direction::Higher), std::nullopt);
  const RunCurve falling{{0, 4, 8}, {3, std::nan(""), 1}};
  EXPECT_EQ(placeReaching(falling, 2, Direction::Lower), 8) << "not on a line beside NaN";
  EXPECT_EQ(placeReaching({}, 2, Direction::Lower), std::nullopt);
}

}  // namespace
}  // namespace vitrine
