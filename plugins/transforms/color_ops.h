// Operations on the pixels of one 8-bit image, each a function of given numbers: what the random
// transforms of colours are made of. In place; channels 1 or 3.
#pragma once

#include <cstdint>

namespace vitrine::transforms {

/// An image in memory, [channels, height, width].
struct Pixels {
  std::uint8_t* values = nullptr;
  std::int64_t channels = 0, height = 0, width = 0;
  [[nodiscard]] std::int64_t plane() const noexcept { return height * width; }
  [[nodiscard]] std::int64_t size() const noexcept { return channels * plane(); }
};

// factor * image + (1 - factor) * another one, truncated: Pillow's ImageEnhance.
void brighten(const Pixels& image, double factor);  ///< another: black
void contrast(const Pixels& image, double factor);  ///< the mean of the grey image
void saturate(const Pixels& image, double factor);  ///< the grey image; a grey one stays
void sharpen(const Pixels& image,
             double factor);  ///< smoothed by 3 x 3 pixels, borders as they are

/// \param share  of the whole circle of hues, -0.5 to 0.5. Through Pillow's 8-bit HSV.
void shiftHue(const Pixels& image, double share);
void grayscale(const Pixels& image);
/// Per channel: the darkest value becomes 0, the brightest 255.
void autoContrast(const Pixels& image);
/// Per channel: values evenly spread.
void equalize(const Pixels& image);
void invert(const Pixels& image);
/// Keeps the upper bits. \param bits  0 to 8
void posterize(const Pixels& image, int bits);
/// Inverts values from `threshold` on.
void solarize(const Pixels& image, int threshold);
/// Adds to values below `threshold`.
void solarizeAdd(const Pixels& image, int add, int threshold = 128);
/// Three passes of a box blur whose width is a fraction, edges repeated: Pillow's GaussianBlur.
/// \param radius  the standard deviation, pixels
void blur(const Pixels& image, double radius);

// As OpenCV counts: hues 0 to 179, values truncated.
void scaleLevels(const Pixels& image, double factor, double offset);  ///< v * factor + offset
void scaleSaturation(const Pixels& image, double factor);
void turnHue(const Pixels& image, int steps);  ///< of 2 degrees

}  // namespace vitrine::transforms
