#include "plugins/datasets/shapes/raster.h"

#include <gmock/gmock.h>

#include <cmath>

#include "plugins/datasets/shapes/figures.h"

namespace vitrine::shapes {
namespace {

double areaOf(const Outline& outline) {
  double twice = 0;
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const Point &a = outline[i], &b = outline[(i + 1) % outline.size()];
    twice += a.x * b.y - b.x * a.y;
  }
  return std::abs(twice) / 2;
}

double sumOf(const Coverage& coverage, std::int64_t height, std::int64_t width) {
  double sum = 0;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) sum += coverage.at(y, x);
  }
  return sum;
}

TEST(Raster, APixelIsCoveredByItsSharedArea) {
  Coverage coverage(4, 4);
  coverage.fill(Outline{{0.5, 1.25}, {2.5, 1.25}, {2.5, 3}, {0.5, 3}});
  EXPECT_FLOAT_EQ(coverage.at(1, 0), 0.5F * 0.75F);
  EXPECT_FLOAT_EQ(coverage.at(1, 1), 0.75F);
  EXPECT_FLOAT_EQ(coverage.at(2, 1), 1);
  EXPECT_FLOAT_EQ(coverage.at(2, 2), 0.5F);
  EXPECT_FLOAT_EQ(coverage.at(0, 1), 0);
  EXPECT_FLOAT_EQ(coverage.at(3, 1), 0);
  // The triangle below the diagonal.
  coverage.fill(Outline{{0, 0}, {4, 4}, {0, 4}});
  for (std::int64_t y = 0; y < 4; ++y) {
    for (std::int64_t x = 0; x < 4; ++x)
      EXPECT_NEAR(coverage.at(y, x), x < y ? 1 : x == y ? 0.5 : 0, 1e-6) << y << " " << x;
  }
}

TEST(Raster, EveryFigureCoversItsAreaWhereverItLiesAndTurns) {
  Coverage coverage(40, 40);
  Outline outline;
  for (std::int64_t shape = 0; shape < kShapes; ++shape) {
    for (const double angle : {0.0, 0.7, 2.9}) {
      place(shapeOutline(shape), {19.3, 20.6, 15.5, angle, 1}, outline);
      coverage.fill(outline);
      EXPECT_NEAR(sumOf(coverage, 40, 40), areaOf(outline), 1e-3) << shapeName(shape);
      for (const Point& point : shapeOutline(shape))
        EXPECT_LE(std::hypot(point.x, point.y), 1.02) << shapeName(shape);
    }
  }
}

TEST(Raster, WhatLiesOutsideIsLeftOutAndTheLastPolygonIsForgotten) {
  Coverage coverage(8, 8);
  coverage.fill(Outline{{-5, -5}, {3, -5}, {3, 20}, {-5, 20}});
  EXPECT_NEAR(sumOf(coverage, 8, 8), 24, 1e-5);
  coverage.fill(Outline{{6.5, -1}, {30, -1}, {30, 1}, {6.5, 1}});
  EXPECT_NEAR(sumOf(coverage, 8, 8), 1.5, 1e-5);
  coverage.fill(Outline{{20, 20}, {30, 20}, {30, 30}});
  EXPECT_EQ(sumOf(coverage, 8, 8), 0);
}

TEST(Canvas, BlendsByCoverageAndRoundsToBytes) {
  Canvas canvas(3, 1, 2);
  canvas.clear({0, 0.5F, 1});
  Coverage coverage(1, 2);
  coverage.fill(Outline{{0, 0}, {1, 0}, {1, 0.5}, {0, 0.5}});
  canvas.paint(coverage, [](std::int64_t, std::int64_t) { return Color{1, 1, 0}; });
  std::vector<std::uint8_t> bytes(6);
  canvas.toBytes(bytes);
  EXPECT_THAT(bytes, ::testing::ElementsAre(128, 0, 191, 128, 128, 255));
}

TEST(Texture, FamiliesDifferAndStayInRange) {
  for (std::int64_t family = 0; family < kTextures; ++family) {
    Texture texture{.family = family, .period = 7, .angle = 0.4, .seed = 5};
    double least = 1, most = 0;
    for (int y = 0; y < 40; ++y) {
      for (int x = 0; x < 40; ++x) {
        const double value = texture.value(x, y);
        ASSERT_GE(value, 0) << textureName(family);
        ASSERT_LE(value, 1) << textureName(family);
        least = std::min(least, value);
        most = std::max(most, value);
      }
    }
    EXPECT_GT(most - least, 0.4) << textureName(family) << " is not flat";
  }
}

}  // namespace
}  // namespace vitrine::shapes
