// A JPEG round trip without a file: entropy coding loses nothing.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "plugins/transforms/corruption_filters.h"

namespace vitrine::transforms {

namespace {

using Block = std::array<std::int32_t, 64>;

constexpr int kConstBits = 13, kPassBits = 2;

// Tables K.1 and K.2 of ITU-T T.81.
constexpr Block kLuma{16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
                      14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
                      18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
                      49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};
constexpr Block kChroma{17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99,
                        24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99,
                        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
                        99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99};

Block tableOf(const Block& base, int quality) {
  const int scale = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  Block table;
  std::transform(base.begin(), base.end(), table.begin(), [&](std::int32_t value) {
    return std::clamp((value * scale + 50) / 100, 1, 255);
  });
  return table;
}

std::int64_t rounded(std::int64_t value, int bits) {
  return (value + (std::int64_t{1} << (bits - 1))) >> bits;
}

/// sqrt(2) times cosines and their sums, in 1/8192 (Loeffler, Ligtenberg and Moschytz 1989).
constexpr std::int64_t k0298 = 2446, k0390 = 3196, k0541 = 4433, k0765 = 6270, k0899 = 7373,
                       k1175 = 9633, k1501 = 12299, k1847 = 15137, k1961 = 16069, k2053 = 16819,
                       k2562 = 20995, k3072 = 25172;

/// The four sums of the odd half, which both directions share. \param a  of inputs 7, 5, 3, 1
std::array<std::int64_t, 4> oddSums(std::array<std::int64_t, 4> a) {
  const std::int64_t z5 = (a[0] + a[2] + a[1] + a[3]) * k1175;
  const std::int64_t z1 = -(a[0] + a[3]) * k0899, z2 = -(a[1] + a[2]) * k2562;
  const std::int64_t z3 = z5 - (a[0] + a[2]) * k1961, z4 = z5 - (a[1] + a[3]) * k0390;
  return {a[0] * k0298 + z1 + z3, a[1] * k2053 + z2 + z4, a[2] * k3072 + z2 + z3,
          a[3] * k1501 + z1 + z4};
}

/// One line of the forward transform; the first pass keeps two more bits.
void forwardLine(std::int32_t* line, std::size_t stride, bool isFirst) {
  std::array<std::int64_t, 8> d;
  for (std::size_t i = 0; i < 8; ++i) d[i] = line[i * stride];
  const int bits = isFirst ? kConstBits - kPassBits : kConstBits + kPassBits;
  const auto put = [&](std::size_t i, std::int64_t value) {
    line[i * stride] = static_cast<std::int32_t>(rounded(value, bits));
  };
  const std::int64_t s07 = d[0] + d[7], s16 = d[1] + d[6], s25 = d[2] + d[5], s34 = d[3] + d[4];
  const std::int64_t t10 = s07 + s34, t13 = s07 - s34, t11 = s16 + s25, t12 = s16 - s25;
  const auto even = [&](std::int64_t sum) {
    return static_cast<std::int32_t>(isFirst ? sum * (1 << kPassBits) : rounded(sum, kPassBits));
  };
  line[0] = even(t10 + t11);
  line[4 * stride] = even(t10 - t11);
  const std::int64_t z = (t12 + t13) * k0541;
  put(2, z + t13 * k0765);
  put(6, z - t12 * k1847);
  const auto odd = oddSums({d[3] - d[4], d[2] - d[5], d[1] - d[6], d[0] - d[7]});
  put(7, odd[0]);
  put(5, odd[1]);
  put(3, odd[2]);
  put(1, odd[3]);
}

void inverseLine(std::int32_t* line, std::size_t stride, int bits) {
  std::array<std::int64_t, 8> c;
  for (std::size_t i = 0; i < 8; ++i) c[i] = line[i * stride];
  const std::int64_t z = (c[2] + c[6]) * k0541;
  const std::int64_t t2 = z - c[6] * k1847, t3 = z + c[2] * k0765;
  const std::int64_t t0 = (c[0] + c[4]) * (1 << kConstBits);
  const std::int64_t t1 = (c[0] - c[4]) * (1 << kConstBits);
  const std::array<std::int64_t, 4> even{t0 + t3, t1 + t2, t1 - t2, t0 - t3};
  const auto odd = oddSums({c[7], c[5], c[3], c[1]});
  for (std::size_t i = 0; i < 4; ++i) {
    line[i * stride] = static_cast<std::int32_t>(rounded(even[i] + odd[3 - i], bits));
    line[(7 - i) * stride] = static_cast<std::int32_t>(rounded(even[i] - odd[3 - i], bits));
  }
}

void quantise(Block& block, const Block& table) {
  for (std::size_t i = 0; i < 8; ++i) forwardLine(&block[8 * i], 1, true);
  for (std::size_t i = 0; i < 8; ++i) forwardLine(&block[i], 8, false);
  for (std::size_t i = 0; i < 64; ++i) {
    const std::int32_t step = table[i] * 8;  // the transform is 8 times the orthonormal one
    const std::int32_t size = (std::abs(block[i]) + step / 2) / step;
    block[i] = (block[i] < 0 ? -size : size) * table[i];
  }
  for (std::size_t i = 0; i < 8; ++i) inverseLine(&block[i], 8, kConstBits - kPassBits);
  for (std::size_t i = 0; i < 8; ++i) inverseLine(&block[8 * i], 1, kConstBits + kPassBits + 3);
}

struct Plane {
  std::int64_t height, width;
  std::vector<std::uint8_t> values;
  [[nodiscard]] std::uint8_t near(std::int64_t y, std::int64_t x) const {  // borders repeated
    return values[static_cast<std::size_t>(std::clamp<std::int64_t>(y, 0, height - 1) * width +
                                           std::clamp<std::int64_t>(x, 0, width - 1))];
  }
};

void quantise(Plane& plane, const Block& table) {
  const Plane given = plane;
  for (std::int64_t top = 0; top < plane.height; top += 8) {
    for (std::int64_t left = 0; left < plane.width; left += 8) {
      Block block;
      for (std::int64_t i = 0; i < 64; ++i)
        block[static_cast<std::size_t>(i)] = given.near(top + i / 8, left + i % 8) - 128;
      quantise(block, table);
      for (std::int64_t i = 0; i < 64; ++i) {
        const std::int64_t y = top + i / 8, x = left + i % 8;
        if (y >= plane.height || x >= plane.width) continue;
        plane.values[static_cast<std::size_t>(y * plane.width + x)] =
            static_cast<std::uint8_t>(std::clamp(block[static_cast<std::size_t>(i)] + 128, 0, 255));
      }
    }
  }
}

/// Means of 2 x 2, rounded down and up in turn.
Plane halved(const Plane& plane) {
  Plane out{(plane.height + 1) / 2, (plane.width + 1) / 2, {}};
  for (std::int64_t y = 0; y < out.height; ++y) {
    for (std::int64_t x = 0; x < out.width; ++x) {
      const int sum = plane.near(2 * y, 2 * x) + plane.near(2 * y, 2 * x + 1) +
                      plane.near(2 * y + 1, 2 * x) + plane.near(2 * y + 1, 2 * x + 1);
      out.values.push_back(static_cast<std::uint8_t>((sum + 1 + x % 2) >> 2));
    }
  }
  return out;
}

/// Three quarters of the nearer pixel and one of the farther, along both axes.
Plane doubled(const Plane& plane, std::int64_t height, std::int64_t width) {
  Plane out{height, width, {}};
  for (std::int64_t y = 0; y < height; ++y) {
    const std::int64_t row = y / 2, other = y % 2 == 0 ? row - 1 : row + 1;
    const auto column = [&](std::int64_t x) {
      return 3 * plane.near(row, x) + plane.near(other, x);
    };
    for (std::int64_t x = 0; x < width; ++x) {
      const std::int64_t at = x / 2, beside = x % 2 == 0 ? at - 1 : at + 1;
      out.values.push_back(
          static_cast<std::uint8_t>((3 * column(at) + column(beside) + (x % 2 == 0 ? 8 : 7)) >> 4));
    }
  }
  return out;
}

constexpr std::int32_t fixed(double value) {
  return static_cast<std::int32_t>(value * 65536 + 0.5);
}

}  // namespace

void throughJpeg(std::uint8_t* pixels, std::int64_t channels, std::int64_t height,
                 std::int64_t width, int quality) {
  const std::int64_t size = height * width;
  const Block luma = tableOf(kLuma, quality), chroma = tableOf(kChroma, quality);
  Plane y{height, width, std::vector<std::uint8_t>(static_cast<std::size_t>(size))};
  if (channels != 3) {
    std::copy_n(pixels, size, y.values.begin());
    quantise(y, luma);
    std::copy(y.values.begin(), y.values.end(), pixels);
    return;
  }
  Plane blue = y, red = y;
  constexpr std::int32_t kHalf = 1 << 15, kCentre = 128 << 16;
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int32_t r = pixels[i], g = pixels[size + i], b = pixels[2 * size + i];
    const auto at = static_cast<std::size_t>(i);
    y.values[at] = static_cast<std::uint8_t>(
        (fixed(0.299) * r + fixed(0.587) * g + fixed(0.114) * b + kHalf) >> 16);
    blue.values[at] = static_cast<std::uint8_t>(
        (-fixed(0.168735892) * r - fixed(0.331264108) * g + kHalf * b + kCentre + kHalf - 1) >> 16);
    red.values[at] = static_cast<std::uint8_t>(
        (kHalf * r - fixed(0.418687589) * g - fixed(0.081312411) * b + kCentre + kHalf - 1) >> 16);
  }
  quantise(y, luma);
  for (Plane* plane : {&blue, &red}) {
    *plane = halved(*plane);
    quantise(*plane, chroma);
    *plane = doubled(*plane, height, width);
  }
  for (std::int64_t i = 0; i < size; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int32_t light = y.values[at];
    const std::int32_t cb = blue.values[at] - 128, cr = red.values[at] - 128;
    const auto put = [&](std::int64_t channel, std::int32_t offset) {
      pixels[channel * size + i] = static_cast<std::uint8_t>(std::clamp(light + offset, 0, 255));
    };
    put(0, (fixed(1.402) * cr + kHalf) >> 16);
    put(1, (-fixed(0.344136286) * cb - fixed(0.714136286) * cr + kHalf) >> 16);
    put(2, (fixed(1.772) * cb + kHalf) >> 16);
  }
}

}  // namespace vitrine::transforms
