// Crops for detection and segmentation: large-scale jitter, and windows that show several classes.
#pragma once

#include <functional>
#include <span>

#include "plugins/transforms/transforms.h"

namespace vitrine::transforms {

/// Place of an image: scaled, a window of it cut out, the rest of a square left empty.
struct JitterPlan {
  Size scaled, crop;
  std::int64_t top = 0, left = 0;  ///< of the window in the scaled image
};
/// \param ratio    of the square that the scaled image fits into, to `target`
/// \param uniform  two numbers in [0, 1), only drawn from when the window is smaller
[[nodiscard]] JitterPlan planJitter(Size image, std::int64_t target, double ratio, double top,
                                    double left);
/// Planes scaled without antialiasing as OpenCV does it, cut, and padded to target x target.
/// \param isMask  the nearest pixel instead of a mean of four
/// \param to      [count, target, target]
void jitterPlanes(const BytePlanes& from, const JitterPlan& plan, std::int64_t target, bool isMask,
                  std::uint8_t padding, std::uint8_t* to);
/// Scales, moves and clips one box. \returns  whether a part of it lies in the window
bool jitterBox(Size image, const JitterPlan& plan, float* box);
/// The box around the pixels for which `isInside(y, x)`, right and bottom exclusive; zeros of none.
void boxAround(Size size, const std::function<bool(std::int64_t, std::int64_t)>& isInside,
               float* box);
/// A box stays with both sides above a hundredth of a pixel.
[[nodiscard]] bool isKeptBox(bool isInside, const float* box) noexcept;

struct ClassShareRules {
  double mostShare = 0.75;   ///< of one class among the pixels that count
  std::uint8_t ignored = 0;  ///< a class that does not count
};
/// Share of the most frequent class in a window, -1 where no pixel counts.
/// \param classes  how many different ones there are
[[nodiscard]] double largestShare(std::span<const std::uint8_t> labels, Size image,
                                  const Window& window, std::uint8_t ignored, int& classes);
/// The first of ten windows with two classes or more and none above its share, else the eleventh.
/// \param windowOf  of an attempt, 0 to 10
/// \returns  the attempt
[[nodiscard]] int chooseWindow(std::span<const std::uint8_t> labels, Size image,
                               const ClassShareRules& rules,
                               const std::function<Window(int)>& windowOf);

}  // namespace vitrine::transforms
