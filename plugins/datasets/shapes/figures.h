// Outlines, textures and colours that the generated sets draw with.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/random.h"
#include "plugins/datasets/shapes/raster.h"

namespace vitrine::shapes {

/// Of the set, its version, seed and split.
using Numbers = SampleNumbers;

inline constexpr std::int64_t kShapes = 16;
/// square, circle, heart, triangle, star, cross, hexagon, arrow, crescent, half disk, L, T, bolt,
/// house, hourglass, drop
[[nodiscard]] const std::string& shapeName(std::int64_t shape);
/// Within a circle of radius 1.02 around 0.
[[nodiscard]] const Outline& shapeOutline(std::int64_t shape);
struct Placement {
  double x = 0, y = 0;  ///< centre, pixels
  double radius = 1;    ///< pixels
  double angle = 0;     ///< clockwise, radians
  double stretch = 1;   ///< of the outline's own height
};
void place(const Outline& outline, const Placement& placement, Outline& out);

inline constexpr std::int64_t kColors = 8;
/// grey, red, blue, green, brown, purple, cyan, yellow
[[nodiscard]] const std::string& colorName(std::int64_t color);
[[nodiscard]] const Color& colorOf(std::int64_t color);

inline constexpr std::int64_t kTextures = 16;
/// stripes, checker, dots, bricks, hatch, waves, hexagons, rings, plaid, zigzag, scales, cells,
/// wood, marble, clouds, grain
[[nodiscard]] const std::string& textureName(std::int64_t family);
struct Texture {
  std::int64_t family = 0;
  double period = 8;              ///< pixels
  double angle = 0;               ///< radians
  double shiftX = 0, shiftY = 0;  ///< pixels
  std::uint32_t seed = 0;         ///< of the irregular ones
  Color dark{0, 0, 0}, light{1, 1, 1};

  /// In [0, 1], at a place in pixels.
  [[nodiscard]] double value(double x, double y) const;
  [[nodiscard]] Color at(std::int64_t y, std::int64_t x) const;
};
/// A texture of this family with period, angle and place of its own; dark and light are drawn, too.
[[nodiscard]] Texture drawTexture(Numbers& numbers, std::int64_t family, double leastPeriod,
                                  double mostPeriod);

}  // namespace vitrine::shapes
