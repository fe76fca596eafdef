#include "plugins/transforms/corruption_filters.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace vitrine::transforms {

namespace {

std::vector<double> gaussianWeights(std::int64_t radius, double deviation) {
  std::vector<double> weights;
  for (std::int64_t i = -radius; i <= radius; ++i) {
    const double x = static_cast<double>(i) / deviation;
    weights.push_back(std::exp(-0.5 * x * x));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return weights;
}

enum class Axis { Rows, Columns };

FloatImage smoothed(const FloatImage& image, const std::vector<double>& weights, Axis axis,
                    Border border) {
  FloatImage out(image.channels, image.height, image.width);
  const std::int64_t radius = std::ssize(weights) / 2;
  for (std::int64_t c = 0; c < image.channels; ++c) {
    for (std::int64_t y = 0; y < image.height; ++y) {
      for (std::int64_t x = 0; x < image.width; ++x) {
        double sum = 0;
        for (std::int64_t i = -radius; i <= radius; ++i) {
          const double value = axis == Axis::Rows
                                   ? image.at(c, inside(y + i, image.height, border), x)
                                   : image.at(c, y, inside(x + i, image.width, border));
          sum += weights[static_cast<std::size_t>(i + radius)] * value;
        }
        out.at(c, y, x) = sum;
      }
    }
  }
  return out;
}

/// Between the four pixels around a place; beyond the border it is mirrored.
double linearAt(const FloatImage& image, std::int64_t c, double y, double x) {
  const double top = std::floor(y), left = std::floor(x);
  const double dy = y - top, dx = x - left;
  const auto value = [&](int below, int right) {
    return image.at(c,
                    inside(static_cast<std::int64_t>(top) + below, image.height, Border::Reflect),
                    inside(static_cast<std::int64_t>(left) + right, image.width, Border::Reflect));
  };
  double sum = (1 - dy) * (1 - dx) * value(0, 0);
  if (dx > 0) sum += (1 - dy) * dx * value(0, 1);
  if (dy > 0) sum += dy * (1 - dx) * value(1, 0);
  if (dy > 0 && dx > 0) sum += dy * dx * value(1, 1);
  return sum;
}

}  // namespace

std::int64_t inside(std::int64_t index, std::int64_t size, Border border) noexcept {
  if (index >= 0 && index < size) return index;
  if (border == Border::Nearest || size == 1) return std::clamp<std::int64_t>(index, 0, size - 1);
  const std::int64_t period = border == Border::Reflect ? 2 * size : 2 * size - 2;
  const std::int64_t at = ((index % period) + period) % period;
  return at < size ? at : period - at - (border == Border::Reflect ? 1 : 0);
}

FloatImage gaussian(const FloatImage& image, double deviationY, double deviationX, Border border,
                    double cut) {
  const auto weights = [&](double deviation) {
    return gaussianWeights(static_cast<std::int64_t>(cut * deviation + 0.5), deviation);
  };
  return smoothed(smoothed(image, weights(deviationY), Axis::Rows, border), weights(deviationX),
                  Axis::Columns, border);
}

FloatImage defocused(const FloatImage& image, double radius, double softening) {
  const bool isSmall = radius <= 8;
  const auto half = isSmall ? std::int64_t{8} : static_cast<std::int64_t>(radius);
  FloatImage disk(1, 2 * half + 1, 2 * half + 1);
  double sum = 0;
  for (std::int64_t y = -half; y <= half; ++y) {
    for (std::int64_t x = -half; x <= half; ++x) {
      const bool isIn = static_cast<double>(x * x + y * y) <= radius * radius;
      disk.at(0, y + half, x + half) = isIn ? 1 : 0;
      sum += isIn ? 1 : 0;
    }
  }
  for (double& value : disk.values) value /= sum;
  const std::vector<double> rim = gaussianWeights(isSmall ? 1 : 2, softening);
  disk = smoothed(smoothed(disk, rim, Axis::Rows, Border::Reflect101), rim, Axis::Columns,
                  Border::Reflect101);

  FloatImage out(image.channels, image.height, image.width);
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      for (std::int64_t i = -half; i <= half; ++i) {
        const std::int64_t row = inside(y + i, image.height, Border::Reflect101);
        for (std::int64_t j = -half; j <= half; ++j) {
          const double weight = disk.at(0, i + half, j + half);
          if (weight == 0) continue;
          const std::int64_t column = inside(x + j, image.width, Border::Reflect101);
          for (std::int64_t c = 0; c < image.channels; ++c)
            out.at(c, y, x) += weight * image.at(c, row, column);
        }
      }
    }
  }
  return out;
}

FloatImage movedAlong(const FloatImage& image, std::int64_t radius, double deviation,
                      double angle) {
  const std::int64_t count = 2 * radius + 1;
  std::vector<double> weights;
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = static_cast<double>(i) / deviation;
    weights.push_back(std::exp(-0.5 * x * x));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const double radians = angle * std::numbers::pi / 180;
  FloatImage out(image.channels, image.height, image.width);
  for (std::int64_t i = 0; i < count; ++i) {
    const double way = static_cast<double>(i);
    const auto dy = -static_cast<std::int64_t>(std::ceil(way * std::sin(radians) - 0.5));
    const auto dx = -static_cast<std::int64_t>(std::ceil(way * std::cos(radians) - 0.5));
    if (std::abs(dy) >= image.height || std::abs(dx) >= image.width) break;
    const double weight = weights[static_cast<std::size_t>(i)] / sum;
    for (std::int64_t c = 0; c < image.channels; ++c) {
      for (std::int64_t y = 0; y < image.height; ++y) {
        const std::int64_t row = inside(y - dy, image.height, Border::Nearest);
        for (std::int64_t x = 0; x < image.width; ++x)
          out.at(c, y, x) +=
              weight * image.at(c, row, inside(x - dx, image.width, Border::Nearest));
      }
    }
  }
  return out;
}

FloatImage zoomed(const FloatImage& image, double factor) {
  const auto part = [&](std::int64_t side) {
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(side) / factor));
  };
  const auto enlarged = [&](std::int64_t side) {
    return static_cast<std::int64_t>(std::nearbyint(static_cast<double>(side) * factor));
  };
  const std::int64_t height = part(image.height), width = part(image.width);
  const std::int64_t top = (image.height - height) / 2, left = (image.width - width) / 2;
  FloatImage centre(image.channels, height, width);
  for (std::int64_t c = 0; c < image.channels; ++c) {
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) centre.at(c, y, x) = image.at(c, top + y, left + x);
    }
  }
  FloatImage out(image.channels, enlarged(height), enlarged(width));
  const auto place = [](std::int64_t at, std::int64_t from, std::int64_t to) {
    if (to <= 1) return 0.0;
    const double scaled =
        static_cast<double>(at) * static_cast<double>(from - 1) / static_cast<double>(to - 1);
    return std::min(scaled, static_cast<double>(from - 1));
  };
  for (std::int64_t c = 0; c < out.channels; ++c) {
    for (std::int64_t y = 0; y < out.height; ++y) {
      for (std::int64_t x = 0; x < out.width; ++x)
        out.at(c, y, x) =
            linearAt(centre, c, place(y, height, out.height), place(x, width, out.width));
    }
  }
  return out;
}

FloatImage displaced(const FloatImage& image, const std::vector<double>& dy,
                     const std::vector<double>& dx) {
  FloatImage out(image.channels, image.height, image.width);
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::int64_t x = 0; x < image.width; ++x) {
      const auto at = static_cast<std::size_t>(y * image.width + x);
      for (std::int64_t c = 0; c < image.channels; ++c)
        out.at(c, y, x) =
            linearAt(image, c, static_cast<double>(y) + dy[at], static_cast<double>(x) + dx[at]);
    }
  }
  return out;
}

std::vector<double> plasma(std::int64_t side, double decay,
                           const std::function<double(double, double)>& between) {
  std::vector<double> heights(static_cast<std::size_t>(side * side));
  const auto at = [&](std::int64_t y, std::int64_t x) -> double& {
    return heights[static_cast<std::size_t>(((y + side) % side) * side + (x + side) % side)];
  };
  double roughness = 100;
  /// The mean of four neighbours and a number, on every second point of a grid.
  const auto fill = [&](std::int64_t step, std::int64_t firstY, std::int64_t firstX,
                        const auto& sumAround) {
    for (std::int64_t y = firstY; y < side; y += step) {
      for (std::int64_t x = firstX; x < side; x += step)
        at(y, x) = sumAround(y, x) / 4 + roughness * between(-roughness, roughness);
    }
  };
  for (std::int64_t step = side; step >= 2; step /= 2) {
    const std::int64_t half = step / 2;
    fill(step, half, half, [&](std::int64_t y, std::int64_t x) {
      return at(y - half, x - half) + at(y + half, x - half) + at(y - half, x + half) +
             at(y + half, x + half);
    });
    const auto cross = [&](std::int64_t y, std::int64_t x) {
      return at(y - half, x) + at(y + half, x) + at(y, x - half) + at(y, x + half);
    };
    fill(step, 0, half, cross);
    fill(step, half, 0, cross);
    roughness /= decay;
  }
  const auto [least, most] = std::minmax_element(heights.begin(), heights.end());
  const double low = *least, range = *most - *least;
  for (double& height : heights) height = range > 0 ? (height - low) / range : 0;
  return heights;
}

}  // namespace vitrine::transforms
