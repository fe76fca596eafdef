#include "plugins/transforms/color_ops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace vitrine::transforms {

namespace {

std::uint8_t clipped(float value) noexcept {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F));
}

/// other + factor * (own - other), truncated.
std::uint8_t blended(std::uint8_t own, std::uint8_t other, float factor) noexcept {
  return clipped(static_cast<float>(other) +
                 factor * static_cast<float>(static_cast<int>(own) - static_cast<int>(other)));
}

using Table = std::array<std::uint8_t, 256>;

void lookUp(std::uint8_t* values, std::int64_t count, const Table& table) {
  for (std::int64_t i = 0; i < count; ++i) values[i] = table[values[i]];
}

/// \param valueOf  of 0 to 255; cut to that range
template <class ValueOf>
Table tableOf(const ValueOf& valueOf) {
  Table table{};
  for (int v = 0; v < 256; ++v)
    table[static_cast<std::size_t>(v)] =
        static_cast<std::uint8_t>(std::clamp<int>(valueOf(v), 0, 255));
  return table;
}

std::array<std::int64_t, 256> histogramOf(const std::uint8_t* values, std::int64_t count) {
  std::array<std::int64_t, 256> counts{};
  for (std::int64_t i = 0; i < count; ++i) ++counts[values[i]];
  return counts;
}

/// Calls `change(red, green, blue)` for each pixel of a colour image.
template <class Change>
void eachColor(const Pixels& image, const Change& change) {
  if (image.channels != 3) return;
  std::uint8_t* red = image.values;
  std::uint8_t* green = red + image.plane();
  std::uint8_t* blue = green + image.plane();
  for (std::int64_t i = 0; i < image.plane(); ++i) change(red[i], green[i], blue[i]);
}

/// Hue as a share of the circle, 0 of a grey. Rounded to floats where Pillow is.
float hueOf(int red, int green, int blue) noexcept {
  const auto [least, most] = std::minmax({red, green, blue});
  if (least == most) return 0;
  const auto range = static_cast<float>(most - least);
  const auto below = [&](int value) -> double { return static_cast<float>(most - value) / range; };
  const auto sixths = static_cast<float>(red == most     ? below(blue) - below(green)
                                         : green == most ? 2 + below(red) - below(blue)
                                                         : 4 + below(green) - below(red));
  return static_cast<float>(std::fmod(sixths / 6.0 + 1.0, 1.0));
}

/// The colour of a hue in sixths, a saturation in [0, 1] and a value, before rounding.
std::array<float, 3> colorOf(float hue, float saturation, float value) noexcept {
  const float whole = std::floor(hue), part = hue - whole;
  const float p = value * (1 - saturation), q = value * (1 - saturation * part);
  const float t = value * (1 - saturation * (1 - part));
  switch (static_cast<int>(whole) % 6) {
    case 0:
      return {value, t, p};
    case 1:
      return {q, value, p};
    case 2:
      return {p, value, t};
    case 3:
      return {p, q, value};
    case 4:
      return {t, p, value};
    default:
      return {value, p, q};
  }
}

void write(const std::array<float, 3>& color, std::uint8_t& red, std::uint8_t& green,
           std::uint8_t& blue) noexcept {
  red = clipped(std::round(color[0]));
  green = clipped(std::round(color[1]));
  blue = clipped(std::round(color[2]));
}

/// One pass along lines of `count` values that lie `step` apart: the mean over 2 radius + 1 values,
/// the outermost of them in part.
class BoxPass {
 public:
  explicit BoxPass(float radius) : radius_(static_cast<std::int64_t>(radius)) {
    whole_ = static_cast<std::uint32_t>(static_cast<float>(1 << 24) / (radius * 2 + 1));
    part_ = ((1U << 24) - static_cast<std::uint32_t>(2 * radius_ + 1) * whole_) / 2;
  }
  void apply(std::uint8_t* line, std::int64_t count, std::int64_t step) {
    from_.resize(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) from_[static_cast<std::size_t>(i)] = line[i * step];
    const auto at = [&](std::int64_t i) -> std::uint32_t {
      return from_[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, count - 1))];
    };
    std::uint32_t sum = 0;
    for (std::int64_t i = -radius_; i <= radius_; ++i) sum += at(i);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint32_t total =
          sum * whole_ + (at(i - radius_ - 1) + at(i + radius_ + 1)) * part_ + (1U << 23);
      line[i * step] = static_cast<std::uint8_t>(total >> 24);
      sum += at(i + radius_ + 1) - at(i - radius_);
    }
  }

 private:
  std::int64_t radius_;
  std::uint32_t whole_, part_;
  std::vector<std::uint8_t> from_;
};

/// Radius of the box whose third power has this standard deviation (Gwosdek et al. 2011,
/// "Theoretical foundations of Gaussian convolution by extended box filtering").
float boxRadius(float deviation) {
  constexpr float kPasses = 3;
  const float variance = deviation * deviation / kPasses;
  const float length = std::sqrt(12.0F * variance + 1.0F);
  const float whole = std::floor((length - 1.0F) / 2.0F);
  const float above = (2 * whole + 1) * (whole * (whole + 1) - 3 * variance);
  return whole + above / (6 * (variance - (whole + 1) * (whole + 1)));
}

/// As Pillow weighs red, green and blue, rounded.
std::uint8_t greyOf(std::uint8_t red, std::uint8_t green, std::uint8_t blue) noexcept {
  return static_cast<std::uint8_t>((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16);
}

}  // namespace

void brighten(const Pixels& image, double factor) {
  const auto share = static_cast<float>(factor);
  lookUp(image.values, image.size(),
         tableOf([&](int v) { return blended(static_cast<std::uint8_t>(v), 0, share); }));
}

void contrast(const Pixels& image, double factor) {
  std::int64_t sum = 0;
  if (image.channels == 3) {
    eachColor(image, [&](std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
      sum += greyOf(red, green, blue);
    });
  } else {
    for (std::int64_t i = 0; i < image.size(); ++i) sum += image.values[i];
  }
  const double pixels = static_cast<double>(
      image.channels == 3 ? image.plane() : std::max<std::int64_t>(1, image.size()));
  const auto mean = static_cast<std::uint8_t>(static_cast<double>(sum) / pixels + 0.5);
  const auto share = static_cast<float>(factor);
  lookUp(image.values, image.size(),
         tableOf([&](int v) { return blended(static_cast<std::uint8_t>(v), mean, share); }));
}

void saturate(const Pixels& image, double factor) {
  const auto share = static_cast<float>(factor);
  eachColor(image, [&](std::uint8_t& red, std::uint8_t& green, std::uint8_t& blue) {
    const std::uint8_t grey = greyOf(red, green, blue);
    red = blended(red, grey, share);
    green = blended(green, grey, share);
    blue = blended(blue, grey, share);
  });
}

void sharpen(const Pixels& image, double factor) {
  const auto share = static_cast<float>(factor);
  const std::int64_t height = image.height, width = image.width;
  std::vector<std::uint8_t> before(static_cast<std::size_t>(image.plane()));
  for (std::int64_t c = 0; c < image.channels; ++c) {
    std::uint8_t* plane = image.values + c * image.plane();
    std::copy_n(plane, image.plane(), before.begin());
    const std::uint8_t* from = before.data();
    for (std::int64_t y = 1; y + 1 < height; ++y) {
      for (std::int64_t x = 1; x + 1 < width; ++x) {
        const std::uint8_t* at = from + y * width + x;
        int sum = 4 * *at;  // the centre counts five times
        for (std::int64_t row = -width; row <= width; row += width)
          sum += at[row - 1] + at[row] + at[row + 1];
        const std::uint8_t smooth = clipped(static_cast<float>(sum) / 13.0F + 0.5F);
        plane[y * width + x] = blended(*at, smooth, share);
      }
    }
  }
}

void shiftHue(const Pixels& image, double share) {
  const int shift = static_cast<std::uint8_t>(static_cast<int>(share * 255));
  eachColor(image, [&](std::uint8_t& red, std::uint8_t& green, std::uint8_t& blue) {
    const auto [least, most] = std::minmax({red, green, blue});
    const float saturation =
        most == 0 ? 0 : static_cast<float>(most - least) / static_cast<float>(most);
    const int hue = static_cast<int>(hueOf(red, green, blue) * 255.0);
    const auto level = static_cast<float>(static_cast<int>(saturation * 255.0));
    const auto turned = static_cast<float>((hue + shift) % 256);
    const auto value = static_cast<float>(most);
    write(colorOf(turned * 6 / 255, level / 255, value), red, green, blue);
  });
}

void grayscale(const Pixels& image) {
  eachColor(image, [](std::uint8_t& red, std::uint8_t& green, std::uint8_t& blue) {
    red = green = blue = greyOf(red, green, blue);
  });
}

void autoContrast(const Pixels& image) {
  for (std::int64_t c = 0; c < image.channels; ++c) {
    std::uint8_t* plane = image.values + c * image.plane();
    const auto [least, most] = std::minmax_element(plane, plane + image.plane());
    if (*most <= *least) continue;
    const double scale = 255.0 / (*most - *least), offset = -*least * scale;
    lookUp(plane, image.plane(),
           tableOf([&](int v) { return static_cast<int>(v * scale + offset); }));
  }
}

void equalize(const Pixels& image) {
  for (std::int64_t c = 0; c < image.channels; ++c) {
    std::uint8_t* plane = image.values + c * image.plane();
    const auto counts = histogramOf(plane, image.plane());
    const auto last = std::find_if(counts.rbegin(), counts.rend(), [](auto n) { return n > 0; });
    if (last == counts.rend()) continue;
    const std::int64_t step = (image.plane() - *last) / 255;
    if (step == 0) continue;
    std::int64_t below = step / 2;
    lookUp(plane, image.plane(), tableOf([&](int v) {
             const std::int64_t value = below / step;
             below += counts[static_cast<std::size_t>(v)];
             return static_cast<int>(value);
           }));
  }
}

void invert(const Pixels& image) {
  lookUp(image.values, image.size(), tableOf([](int v) { return 255 - v; }));
}

void posterize(const Pixels& image, int bits) {
  if (bits >= 8) return;
  const int mask = ~((1 << (8 - bits)) - 1) & 255;
  lookUp(image.values, image.size(), tableOf([&](int v) { return v & mask; }));
}

void solarize(const Pixels& image, int threshold) {
  lookUp(image.values, image.size(), tableOf([&](int v) { return v < threshold ? v : 255 - v; }));
}

void solarizeAdd(const Pixels& image, int add, int threshold) {
  lookUp(image.values, image.size(), tableOf([&](int v) { return v < threshold ? v + add : v; }));
}

void blur(const Pixels& image, double radius) {
  if (!(radius > 0)) return;
  BoxPass pass(boxRadius(static_cast<float>(radius)));
  constexpr int kPasses = 3;
  for (std::int64_t c = 0; c < image.channels; ++c) {
    std::uint8_t* plane = image.values + c * image.plane();
    for (std::int64_t y = 0; y < image.height; ++y) {
      for (int i = 0; i < kPasses; ++i) pass.apply(plane + y * image.width, image.width, 1);
    }
    for (std::int64_t x = 0; x < image.width; ++x) {
      for (int i = 0; i < kPasses; ++i) pass.apply(plane + x, image.height, image.width);
    }
  }
}

void scaleLevels(const Pixels& image, double factor, double offset) {
  const auto scale = static_cast<float>(factor), shift = static_cast<float>(offset);
  lookUp(image.values, image.size(),
         tableOf([&](int v) { return clipped(static_cast<float>(v) * scale + shift); }));
}

namespace {

/// value * scale / divisor as OpenCV rounds it: the quotient first, in 4096ths. 0 for a divisor 0.
int timesReciprocal(int value, double scale, int divisor) {
  if (divisor == 0) return 0;
  const auto factor = static_cast<int>(std::lround(scale * 4096 / divisor));
  return (value * factor + 2048) >> 12;
}

/// Hue in sixths of the circle times the range of the values; below 0 next to red.
int sectorsOf(int red, int green, int blue) {
  const auto [least, most] = std::minmax({red, green, blue});
  const int range = most - least;
  if (most == red) return green - blue;
  return most == green ? blue - red + 2 * range : red - green + 4 * range;
}

/// Hue, saturation and value as 8-bit numbers, hues of 2 degrees, changed by `change` and back.
template <class Change>
void throughHsv(const Pixels& image, const Change& change) {
  eachColor(image, [&](std::uint8_t& red, std::uint8_t& green, std::uint8_t& blue) {
    const auto [least, most] = std::minmax({red, green, blue});
    const int range = most - least;
    int saturation = timesReciprocal(range, 255.0, most);
    int hue = timesReciprocal(sectorsOf(red, green, blue), 30.0, range);
    if (hue < 0) hue += 180;
    change(hue, saturation);
    // Back in floats of [0, 1], truncated.
    const auto color = colorOf(static_cast<float>(hue) * (6.0F / 180),
                               static_cast<float>(saturation) * (1.0F / 255),
                               static_cast<float>(most) * (1.0F / 255));
    red = clipped(color[0] * 255);
    green = clipped(color[1] * 255);
    blue = clipped(color[2] * 255);
  });
}

}  // namespace

void scaleSaturation(const Pixels& image, double factor) {
  const auto scale = static_cast<float>(factor);
  throughHsv(image, [&](int&, int& saturation) {
    saturation = clipped(static_cast<float>(saturation) * scale);
  });
}

void turnHue(const Pixels& image, int steps) {
  throughHsv(image, [&](int& hue, int&) { hue = ((hue + steps) % 180 + 180) % 180; });
}

}  // namespace vitrine::transforms
