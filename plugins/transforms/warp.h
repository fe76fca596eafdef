// Affine maps of an image with its masks and boxes, as Pillow makes them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/data/spatial.h"
#include "plugins/transforms/color_ops.h"

namespace vitrine::transforms {

/// Input place of an output place: x = a[0] x' + a[1] y' + a[2], y = a[3] x' + a[4] y' + a[5].
/// In pixels, the centre of the first one at 0.5.
using Affine = std::array<double, 6>;
/// Counter-clockwise around the middle.
[[nodiscard]] Affine rotation(SpatialFields::Size size, double degrees);
[[nodiscard]] inline Affine shearX(double factor) { return {1, factor, 0, 0, 1, 0}; }
[[nodiscard]] inline Affine shearY(double factor) { return {1, 0, 0, factor, 1, 0}; }
[[nodiscard]] inline Affine translation(double x, double y) { return {1, 0, x, 0, 1, y}; }

enum class WarpFilter { Nearest, Bilinear, Bicubic };

/// One image. What comes from outside of it is `fill`, a value for each channel; a shorter one
/// repeats its last. \param out  of the same size
void warpPixels(const Pixels& image, const Affine& map, WarpFilter filter,
                const std::vector<std::uint8_t>& fill, const Pixels& out);

/// The smallest box around the four corners of a box after the map, cut to the image.
/// \param box  left, top, right, bottom
void warpBox(const Affine& map, SpatialFields::Size size, float* box);

/// Everything of a sample that lies on its image: masks by the nearest pixel, 0 from outside.
void warpSample(SpatialFields& spatial, Sample& sample, const Affine& map, WarpFilter filter,
                const std::vector<std::uint8_t>& fill);

}  // namespace vitrine::transforms
