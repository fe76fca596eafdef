#include "plugins/datasets/shapes/raster.h"

#include <algorithm>
#include <cmath>

namespace vitrine::shapes {

Coverage::Coverage(std::int64_t height, std::int64_t width)
    : height_(height),
      width_(width),
      values_(static_cast<std::size_t>(height * width)),
      sums_(static_cast<std::size_t>(height * (width + 2))) {}

/// Adds to a row what lies right of one piece of an edge: its signed area, pixel by pixel. A sum
/// from the left then gives the covered share of each pixel.
void Coverage::addPiece(float* row, double x, double next, double signedHeight) const {
  const auto width = static_cast<double>(width_);
  const double x0 = std::clamp(std::min(x, next), 0.0, width);
  const double x1 = std::clamp(std::max(x, next), 0.0, width);
  const double firstEdge = std::floor(x0), lastEdge = std::ceil(x1);
  const auto first = static_cast<std::int64_t>(firstEdge),
             last = static_cast<std::int64_t>(lastEdge);
  const auto add = [&](std::int64_t column, double value) {
    row[column] += static_cast<float>(signedHeight * value);
  };
  if (last <= first + 1) {
    const double middle = 0.5 * (x0 + x1) - firstEdge;
    add(first, 1 - middle);
    add(first + 1, middle);
    return;
  }
  const double slope = 1 / (x1 - x0);
  const double firstShare = 0.5 * slope * (1 - (x0 - firstEdge)) * (1 - (x0 - firstEdge));
  const double lastWidth = x1 - lastEdge + 1;
  const double lastShare = 0.5 * slope * lastWidth * lastWidth;
  add(first, firstShare);
  if (last == first + 2) {
    add(first + 1, 1 - firstShare - lastShare);
  } else {
    const double second = slope * (1.5 - (x0 - firstEdge));
    add(first + 1, second - firstShare);
    for (std::int64_t column = first + 2; column < last - 1; ++column) add(column, slope);
    const double before = second + static_cast<double>(last - first - 3) * slope;
    add(last - 1, 1 - before - lastShare);
  }
  add(last, lastShare);
}

void Coverage::addEdge(Point from, Point to) {
  if (from.y == to.y) return;
  const double direction = from.y < to.y ? 1 : -1;
  if (from.y > to.y) std::swap(from, to);
  const double step = (to.x - from.x) / (to.y - from.y);
  const double start = std::max(from.y, 0.0), end = std::min(to.y, static_cast<double>(height_));
  for (auto y = static_cast<std::int64_t>(start); static_cast<double>(y) < end; ++y) {
    const double above = std::max(static_cast<double>(y), start);
    const double below = std::min(static_cast<double>(y + 1), end);
    if (below <= above) continue;
    addPiece(sums_.data() + y * (width_ + 2), from.x + (above - from.y) * step,
             from.x + (below - from.y) * step, direction * (below - above));
  }
}

void Coverage::fill(std::span<const Point> outline) {
  for (std::int64_t y = top; y < bottom; ++y)
    std::fill_n(values_.data() + y * width_ + left, right - left, 0.0F);
  double low = 1e9, high = -1e9, leftmost = 1e9, rightmost = -1e9;
  for (const Point& point : outline) {
    low = std::min(low, point.y);
    high = std::max(high, point.y);
    leftmost = std::min(leftmost, point.x);
    rightmost = std::max(rightmost, point.x);
  }
  const auto inside = [](double value, std::int64_t most) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(value), 0, most);
  };
  top = inside(std::floor(low), height_);
  bottom = inside(std::ceil(high), height_);
  left = inside(std::floor(leftmost), width_);
  right = inside(std::ceil(rightmost), width_);
  for (std::int64_t y = top; y < bottom; ++y)
    std::fill_n(sums_.data() + y * (width_ + 2), width_ + 2, 0.0F);
  for (std::size_t i = 0; i < outline.size(); ++i)
    addEdge(outline[i], outline[(i + 1) % outline.size()]);
  for (std::int64_t y = top; y < bottom; ++y) {
    const float* sums = sums_.data() + y * (width_ + 2);
    float sum = 0;
    for (std::int64_t x = 0; x < right; ++x) {
      sum += sums[x];
      if (x >= left)
        values_[static_cast<std::size_t>(y * width_ + x)] = std::min(std::abs(sum), 1.0F);
    }
  }
}

Canvas::Canvas(std::int64_t channelCount, std::int64_t rows, std::int64_t columns)
    : channels(channelCount),
      height(rows),
      width(columns),
      values_(static_cast<std::size_t>(channelCount * rows * columns)) {}

void Canvas::clear(const Color& color) {
  const std::int64_t plane = height * width;
  for (std::int64_t c = 0; c < channels; ++c)
    std::fill_n(values_.data() + c * plane, plane, color[static_cast<std::size_t>(c)]);
}

void Canvas::blend(std::int64_t y, std::int64_t x, const Color& color, float share) {
  for (std::int64_t c = 0; c < channels; ++c) {
    float& value = values_[static_cast<std::size_t>((c * height + y) * width + x)];
    value += share * (color[static_cast<std::size_t>(c)] - value);
  }
}

void Canvas::toBytes(std::span<std::uint8_t> bytes) const {
  std::transform(values_.begin(), values_.end(), bytes.begin(), [](float value) {
    return static_cast<std::uint8_t>(std::clamp(value, 0.0F, 1.0F) * 255 + 0.5F);
  });
}

}  // namespace vitrine::shapes
