// A small software rasteriser: filled polygons with the exact coverage of each pixel.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace vitrine::shapes {

struct Point {
  double x = 0, y = 0;  ///< pixels, y down; a pixel spans [i, i + 1)
};
using Outline = std::vector<Point>;  ///< a closed polygon
using Color = std::array<float, 3>;  ///< red, green, blue in [0, 1]

/// Share of each pixel that a polygon covers. Keeps its memory from polygon to polygon.
class Coverage {
 public:
  Coverage(std::int64_t height, std::int64_t width);
  /// Parts outside the image are left out.
  void fill(std::span<const Point> outline);

  [[nodiscard]] float at(std::int64_t y, std::int64_t x) const noexcept {
    return values_[static_cast<std::size_t>(y * width_ + x)];
  }
  /// Rows and columns that may be covered: [top, bottom), [left, right).
  std::int64_t top = 0, bottom = 0, left = 0, right = 0;

 private:
  void addEdge(Point from, Point to);
  void addPiece(float* row, double x, double next, double signedHeight) const;
  std::int64_t height_, width_;
  std::vector<float> values_;  // [height, width]; 0 outside of the rows and columns above
  std::vector<float> sums_;    // [height, width + 2]
};

/// An image in work, [channels, height, width] in [0, 1].
class Canvas {
 public:
  Canvas(std::int64_t channels, std::int64_t height, std::int64_t width);
  void clear(const Color& color);
  /// Blends what `colorAt(y, x)` gives over the image where it is covered.
  template <class ColorAt>
  void paint(const Coverage& coverage, const ColorAt& colorAt) {
    for (std::int64_t y = coverage.top; y < coverage.bottom; ++y) {
      for (std::int64_t x = coverage.left; x < coverage.right; ++x) {
        const float share = coverage.at(y, x);
        if (share > 0) blend(y, x, colorAt(y, x), share);
      }
    }
  }
  template <class ColorAt>
  void paintAll(const ColorAt& colorAt) {
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) blend(y, x, colorAt(y, x), 1);
    }
  }
  /// \param bytes  [channels, height, width]
  void toBytes(std::span<std::uint8_t> bytes) const;

  const std::int64_t channels, height, width;

 private:
  void blend(std::int64_t y, std::int64_t x, const Color& color, float share);
  std::vector<float> values_;
};

}  // namespace vitrine::shapes
