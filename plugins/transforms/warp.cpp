#include "plugins/transforms/warp.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace vitrine::transforms {

namespace {

std::uint8_t rounded(double value) {
  return static_cast<std::uint8_t>(std::clamp(value + 0.5, 0.0, 255.0));
}

/// Reads one plane at places between pixels. Places are taken to lie inside the plane.
class Plane {
 public:
  Plane(const std::uint8_t* values, std::int64_t height, std::int64_t width)
      : values_(values), height_(height), width_(width) {}

  [[nodiscard]] std::uint8_t nearest(double x, double y) const {
    return at(static_cast<std::int64_t>(x), static_cast<std::int64_t>(y));
  }
  [[nodiscard]] std::uint8_t bilinear(double x, double y) const {
    const Between column(x), row(y);
    const auto line = [&](std::int64_t i) {
      const double a = at(column.first, i), b = at(column.first + 1, i);
      return a + (b - a) * column.part;
    };
    const double a = line(row.first), b = line(row.first + 1);
    return rounded(a + (b - a) * row.part);
  }
  /// Keys 1981, a = -1: as Pillow's transforms, unlike its resizing.
  [[nodiscard]] std::uint8_t bicubic(double x, double y) const {
    const Between column(x), row(y);
    const auto line = [&](std::int64_t i) {
      return cubic(at(column.first - 1, i), at(column.first, i), at(column.first + 1, i),
                   at(column.first + 2, i), column.part);
    };
    return rounded(cubic(line(row.first - 1), line(row.first), line(row.first + 1),
                         line(row.first + 2), row.part));
  }

 private:
  struct Between {
    explicit Between(double place)
        : first(static_cast<std::int64_t>(std::floor(place - 0.5))),
          part(place - 0.5 - static_cast<double>(first)) {}
    std::int64_t first;
    double part;
  };
  static double cubic(double a, double b, double c, double d, double t) {
    return b + t * (c - a + t * (2 * (a - b) + c - d + t * (b - a + d - c)));
  }
  [[nodiscard]] std::uint8_t at(std::int64_t x, std::int64_t y) const {
    return values_[std::clamp<std::int64_t>(y, 0, height_ - 1) * width_ +
                   std::clamp<std::int64_t>(x, 0, width_ - 1)];
  }
  const std::uint8_t* values_;
  std::int64_t height_, width_;
};

}  // namespace

Affine rotation(SpatialFields::Size size, double degrees) {
  const double angle = -degrees * std::numbers::pi / 180;
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const double x = static_cast<double>(size.width) / 2, y = static_cast<double>(size.height) / 2;
  return {cosine, sine, x - cosine * x - sine * y, -sine, cosine, y + sine * x - cosine * y};
}

void warpPixels(const Pixels& image, const Affine& map, WarpFilter filter,
                const std::vector<std::uint8_t>& fill, const Pixels& out) {
  const auto height = static_cast<double>(image.height), width = static_cast<double>(image.width);
  for (std::int64_t c = 0; c < image.channels; ++c) {
    const Plane plane(image.values + c * image.plane(), image.height, image.width);
    std::uint8_t* to = out.values + c * image.plane();
    const std::uint8_t outside =
        fill.empty() ? 0 : fill[std::min(fill.size() - 1, static_cast<std::size_t>(c))];
    for (std::int64_t row = 0; row < image.height; ++row) {
      for (std::int64_t column = 0; column < image.width; ++column, ++to) {
        const double px = static_cast<double>(column) + 0.5, py = static_cast<double>(row) + 0.5;
        const double x = map[0] * px + map[1] * py + map[2];
        const double y = map[3] * px + map[4] * py + map[5];
        if (x < 0 || y < 0 || x >= width || y >= height) {
          *to = outside;
        } else if (filter == WarpFilter::Bicubic) {
          *to = plane.bicubic(x, y);
        } else {
          *to = filter == WarpFilter::Bilinear ? plane.bilinear(x, y) : plane.nearest(x, y);
        }
      }
    }
  }
}

void warpBox(const Affine& map, SpatialFields::Size size, float* box) {
  if (box[2] <= box[0] || box[3] <= box[1]) {
    std::fill_n(box, 4, 0.0F);
    return;
  }
  const double determinant = map[0] * map[4] - map[1] * map[3];
  std::array<double, 4> around = {1e30, 1e30, -1e30, -1e30};
  for (const float cornerX : {box[0], box[2]}) {
    for (const float cornerY : {box[1], box[3]}) {
      const double x = cornerX - map[2], y = cornerY - map[5];
      const double outX = (map[4] * x - map[1] * y) / determinant;
      const double outY = (map[0] * y - map[3] * x) / determinant;
      around = {std::min(around[0], outX), std::min(around[1], outY), std::max(around[2], outX),
                std::max(around[3], outY)};
    }
  }
  for (std::size_t i = 0; i < 4; ++i) {
    const auto side = static_cast<double>(i % 2 == 0 ? size.width : size.height);
    box[i] = static_cast<float>(std::clamp(around[i], 0.0, side));
  }
}

void warpSample(SpatialFields& spatial, Sample& sample, const Affine& map, WarpFilter filter,
                const std::vector<std::uint8_t>& fill) {
  const SpatialFields::Size size = spatial.sizeOf(sample);
  spatial.redraw(
      sample, size,
      [&](const BytePlanes& from, bool isMask, std::uint8_t* to) {
        const Pixels image{const_cast<std::uint8_t*>(from.values), from.count, from.height,
                           from.width};  // only read
        const Pixels out{to, from.count, from.height, from.width};
        if (isMask) {
          warpPixels(image, map, WarpFilter::Nearest, {0}, out);
        } else {
          warpPixels(image, map, filter, fill, out);
        }
      },
      [&](float* box) { warpBox(map, size, box); });
}

}  // namespace vitrine::transforms
