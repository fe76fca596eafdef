// Filters that corruptions of images are made of, on planes of numbers. As SciPy, scikit-image and
// OpenCV compute them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace vitrine::transforms {

/// Numbers of an image in memory, [channels, height, width].
struct FloatImage {
  std::int64_t channels = 0, height = 0, width = 0;
  std::vector<double> values;

  FloatImage() = default;
  FloatImage(std::int64_t c, std::int64_t h, std::int64_t w)
      : channels(c), height(h), width(w), values(static_cast<std::size_t>(c * h * w)) {}
  [[nodiscard]] double& at(std::int64_t c, std::int64_t y, std::int64_t x) {
    return values[static_cast<std::size_t>((c * height + y) * width + x)];
  }
  [[nodiscard]] double at(std::int64_t c, std::int64_t y, std::int64_t x) const {
    return values[static_cast<std::size_t>((c * height + y) * width + x)];
  }
};

/// Values beyond the border.
enum class Border {
  Nearest,     ///< a a a | a b c d
  Reflect,     ///< c b a | a b c d
  Reflect101,  ///< d c b | a b c d
};
/// Index within [0, size) that `index` stands for.
[[nodiscard]] std::int64_t inside(std::int64_t index, std::int64_t size, Border border) noexcept;

/// Gaussian of `deviation` pixels along both axes, cut at `cut` deviations.
/// \param deviation  of rows and of columns
[[nodiscard]] FloatImage gaussian(const FloatImage& image, double deviationY, double deviationX,
                                  Border border, double cut = 4);
/// A disk of `radius` pixels whose rim is softened by a Gaussian of `softening` pixels.
[[nodiscard]] FloatImage defocused(const FloatImage& image, double radius, double softening);
/// Means of the image moved along a line, with weights of half a Gaussian of `deviation` pixels.
/// \param angle  degrees; borders are repeated
[[nodiscard]] FloatImage movedAlong(const FloatImage& image, std::int64_t radius, double deviation,
                                    double angle);
/// The centre, enlarged linearly until it covers about the image again.
[[nodiscard]] FloatImage zoomed(const FloatImage& image, double factor);
/// Each pixel from where `dy`, `dx` (pixels, [height * width]) point, linearly between neighbours.
[[nodiscard]] FloatImage displaced(const FloatImage& image, const std::vector<double>& dy,
                                   const std::vector<double>& dx);
/// Diamond-square heights in [0, 1] on a square whose sides meet: [side * side].
/// \param side    a power of two
/// \param decay   of the roughness from one size of squares to the next
/// \param between a number in a range
[[nodiscard]] std::vector<double> plasma(std::int64_t side, double decay,
                                         const std::function<double(double, double)>& between);

/// Compresses pixels as a JPEG file of this quality and decodes them, in place. Chroma has half the
/// resolution. Transforms in integers, quantisation and smooth enlargement are those of libjpeg.
/// \param pixels  [channels, height, width], 1 or 3 channels
void throughJpeg(std::uint8_t* pixels, std::int64_t channels, std::int64_t height,
                 std::int64_t width, int quality);

}  // namespace vitrine::transforms
