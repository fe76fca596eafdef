#include "ui/gallery/image_pair.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "ui/figures/painting.h"

namespace vitrine::ui {

namespace {

std::array<int, 3> channelsOf(QRgb pixel) { return {qRed(pixel), qGreen(pixel), qBlue(pixel)}; }

}  // namespace

ImageDifference differenceOf(const QImage& a, const QImage& b) {
  ImageDifference difference;
  if (a.isNull() || b.isNull() || a.size() != b.size()) return difference;
  difference.isThere = true;
  const QImage left = a.convertToFormat(QImage::Format_ARGB32);
  const QImage right = b.convertToFormat(QImage::Format_ARGB32);
  const int width = a.width(), height = a.height();
  std::vector<double> means(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  double absolute = 0, squares = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const auto one = channelsOf(left.pixel(x, y)), other = channelsOf(right.pixel(x, y));
      double mean = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        const double by = (one[c] - other[c]) / 255.0;
        mean += by / 3;
        absolute += std::abs(by);
        squares += by * by;
        difference.largest = std::max(difference.largest, std::abs(by));
      }
      means[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
            static_cast<std::size_t>(x)] = mean;
      difference.range = std::max(difference.range, std::abs(mean));
    }
  }
  const double numbers = 3.0 * width * height;
  difference.meanAbsolute = absolute / numbers;
  difference.psnr =
      squares > 0 ? -10 * std::log10(squares / numbers) : std::numeric_limits<double>::infinity();
  difference.picture = QImage(width, height, QImage::Format_RGB32);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const double mean = means[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                                static_cast<std::size_t>(x)];
      const double t = difference.range > 0 ? mean / difference.range : 0;
      difference.picture.setPixelColor(x, y, diverging(t));
    }
  }
  return difference;
}

int wholeScale(const QSize& image, const QSize& place) {
  if (image.isEmpty() || place.isEmpty()) return 1;
  const int times = std::min(place.width() / image.width(), place.height() / image.height());
  if (times >= 1) return times;
  const auto parts = [](int of, int in) { return (of + in - 1) / in; };
  return -std::max(parts(image.width(), place.width()), parts(image.height(), place.height()));
}

QSize scaledBy(const QSize& image, int scale) {
  if (scale >= 1) return image * scale;
  return {std::max(1, image.width() / -scale), std::max(1, image.height() / -scale)};
}

}  // namespace vitrine::ui
