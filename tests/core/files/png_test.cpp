#include "core/files/png.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>

#include "core/base/error.h"
#include "core/files/read_png.h"
#include "tests/support/refusal.h"

namespace vitrine {
namespace {

std::uint32_t big(const std::byte* at) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = (value << 8) | std::to_integer<std::uint32_t>(at[i]);
  return value;
}

/// A reader of what our encoder writes: 8 bits a channel, no interlacing. [height, width, channels]
std::vector<std::uint8_t> decode(const std::vector<std::byte>& png, int channels, int& height,
                                 int& width) {
  std::vector<std::uint8_t> packed;
  EXPECT_EQ(std::memcmp(png.data(), "\x89PNG\r\n\x1a\n", 8), 0);
  for (std::size_t at = 8; at + 12 <= png.size();) {
    const std::uint32_t length = big(&png[at]);
    const auto* body = reinterpret_cast<const std::uint8_t*>(&png[at + 8]);
    EXPECT_EQ(crc32(crc32(0, nullptr, 0), body - 4, length + 4), big(&png[at + 8 + length]));
    if (std::memcmp(body - 4, "IHDR", 4) == 0) {
      width = static_cast<int>(big(&png[at + 8]));
      height = static_cast<int>(big(&png[at + 12]));
      EXPECT_EQ(body[8], 8);
      EXPECT_EQ(body[9], channels == 1 ? 0 : channels == 3 ? 2 : 6);
    } else if (std::memcmp(body - 4, "IDAT", 4) == 0) {
      packed.insert(packed.end(), body, body + length);
    }
    at += 12 + length;
  }
  const std::size_t row = static_cast<std::size_t>(width) * static_cast<std::size_t>(channels);
  std::vector<std::uint8_t> raw(static_cast<std::size_t>(height) * (row + 1));
  uLongf size = raw.size();
  EXPECT_EQ(uncompress(raw.data(), &size, packed.data(), packed.size()), Z_OK);
  EXPECT_EQ(size, raw.size());
  std::vector<std::uint8_t> out(static_cast<std::size_t>(height) * row);
  const auto step = static_cast<std::size_t>(channels);
  for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y) {
    const int filter = raw[y * (row + 1)];
    for (std::size_t x = 0; x < row; ++x) {
      const int left = x >= step ? out[y * row + x - step] : 0;
      const int up = y > 0 ? out[(y - 1) * row + x] : 0;
      const int corner = x >= step && y > 0 ? out[(y - 1) * row + x - step] : 0;
      const int estimate = left + up - corner;
      const int a = std::abs(estimate - left), b = std::abs(estimate - up),
                c = std::abs(estimate - corner);
      const int paeth = a <= b && a <= c ? left : b <= c ? up : corner;
      const int guess[] = {0, left, up, (left + up) / 2, paeth};
      out[y * row + x] = static_cast<std::uint8_t>(raw[y * (row + 1) + 1 + x] + guess[filter]);
    }
  }
  return out;
}

TEST(Png, DecodesToThePixelsThatWereEncoded) {
  for (const int channels : {1, 3, 4}) {
    std::vector<std::uint8_t> pixels;
    for (int i = 0; i < 7 * 11 * channels; ++i)
      pixels.push_back(static_cast<std::uint8_t>(i * i + 31 * i));
    int height = 0, width = 0;
    EXPECT_EQ(decode(encodePng(pixels, 7, 11, channels), channels, height, width), pixels)
        << channels;
    EXPECT_EQ(height, 7);
    EXPECT_EQ(width, 11);
  }
}

TEST(Png, RefusesPixelsThatAreNotTheImage) {
  const std::vector<std::uint8_t> pixels(12);
  EXPECT_THROW((void)encodePng(pixels, 2, 2, 4), ShapeError);
  EXPECT_THROW((void)encodePng(pixels, 2, 3, 2), ShapeError);
  EXPECT_THROW((void)encodePng({}, 0, 3, 3), ShapeError);
}

TEST(ReadPng, GivesBackThePixelsOfEveryFilter) {
  // The encoder chooses among all five filters row by row.
  for (const int channels : {1, 3, 4}) {
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(40 * 23 * channels));
    for (std::size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<std::uint8_t>(i < 900 ? i / 7 : (i * i * 31 + i / 5) % 251);
    const PngPixels read = decodePng(encodePng(pixels, 40, 23, channels), "image.png");
    EXPECT_EQ(read.height, 40);
    EXPECT_EQ(read.width, 23);
    EXPECT_EQ(read.channels, channels);
    EXPECT_EQ(read.pixels, pixels);
  }
}

TEST(ReadPng, RefusesOtherAndDamagedFiles) {
  const auto refusal = [](const std::vector<std::byte>& bytes) {
    return test::refusal<FileError>([&] { (void)decodePng(bytes, "image.png"); });
  };
  const std::vector<std::byte> good = encodePng(std::vector<std::uint8_t>(100, 7), 10, 10, 1);
  EXPECT_EQ(refusal(good), "");
  const auto changed = [&](std::size_t at, int value) {
    std::vector<std::byte> bytes = good;
    bytes.at(at) = static_cast<std::byte>(value);
    return bytes;
  };
  EXPECT_NE(refusal(changed(0, 0)).find("is not a PNG"), std::string::npos);
  const std::pair<std::size_t, int> changes[]{{24, 16}, {25, 3}, {16, 0x7F}, {23, 11}, {33, 0x10}};
  for (const auto& [at, value] : changes)
    EXPECT_THAT(refusal(changed(at, value)), test::Names("image.png")) << at;
  EXPECT_THAT(refusal({good.begin(), good.begin() + 20}), test::Names("image.png"));
}

}  // namespace
}  // namespace vitrine
