// Two images as numbers: how far they differ, and the difference as a picture.
#pragma once

#include <QImage>
#include <QSize>

namespace vitrine::ui {

struct ImageDifference {
  bool isThere = false;     ///< false where the two have other sizes
  double meanAbsolute = 0;  ///< of all pixels and channels, 0 to 1
  double largest = 0;       ///< the same, of one channel of one pixel
  double psnr = 0;          ///< dB; infinite for equal images
  double range = 0;         ///< ends of the colour scale: the largest mean of a pixel's channels
  QImage picture;           ///< a - b, mean of the channels: blue where b is brighter
};
[[nodiscard]] ImageDifference differenceOf(const QImage& a, const QImage& b);

/// Whole times that an image fits into a place, at least 1. Or one of how many parts of it: -2 is a
/// half, -3 a third.
[[nodiscard]] int wholeScale(const QSize& image, const QSize& place);
/// The size of the image at such a scale.
[[nodiscard]] QSize scaledBy(const QSize& image, int scale);

}  // namespace vitrine::ui
