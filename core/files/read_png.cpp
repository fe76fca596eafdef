#include "core/files/read_png.h"

#include <zlib.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace vitrine {

namespace {

constexpr std::string_view kSignature("\x89PNG\r\n\x1a\n", 8);
constexpr std::int64_t kMostPixels = 64'000'000;

std::uint32_t bigEndian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = (value << 8U) | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

/// Undoes the filter of one row in place. \param above  the row before, zeros for the first
void unfilter(int filter, std::uint8_t* row, const std::uint8_t* above, std::size_t size,
              std::size_t step) {
  for (std::size_t i = 0; i < size; ++i) {
    const int left = i >= step ? row[i - step] : 0, up = above[i],
              corner = i >= step ? above[i - step] : 0;
    int guess = 0;
    if (filter == 1) guess = left;
    if (filter == 2) guess = up;
    if (filter == 3) guess = (left + up) / 2;
    if (filter == 4) {
      const int sum = left + up - corner;
      const int toLeft = std::abs(sum - left), toUp = std::abs(sum - up),
                toCorner = std::abs(sum - corner);
      guess = toLeft <= toUp && toLeft <= toCorner ? left : toUp <= toCorner ? up : corner;
    }
    row[i] = static_cast<std::uint8_t>(row[i] + guess);
  }
}

}  // namespace

PngPixels decodePng(std::span<const std::byte> content, const std::string& name) {
  const auto refuse = [&](const std::string& what) { return FileError(name + ": " + what); };
  const std::string_view bytes(reinterpret_cast<const char*>(content.data()), content.size());
  constexpr std::size_t kHeader = 8 + 8 + 13 + 4;
  if (!bytes.starts_with(kSignature) || bytes.size() < kHeader || bytes.substr(12, 4) != "IHDR")
    throw refuse("it is not a PNG file");
  PngPixels image;
  image.width = bigEndian(bytes, 16);
  image.height = bigEndian(bytes, 20);
  const int depth = bytes[24], color = bytes[25], interlace = bytes[28];
  image.channels = color == 0 ? 1 : color == 4 ? 2 : color == 2 ? 3 : color == 6 ? 4 : 0;
  if (depth != 8 || image.channels == 0 || interlace != 0) {
    throw refuse(
        "it has a palette, interlaced rows or another depth than 8 bits; save it as plain 8-bit "
        "PNG");
  }
  if (image.width < 1 || image.height < 1 || image.width > kMostPixels / image.height) {
    throw refuse("it has " + std::to_string(image.width) + " x " + std::to_string(image.height) +
                 " pixels; images have at most 64 million");
  }
  std::string packed;
  for (std::size_t at = 8; at + 12 <= bytes.size();) {
    const std::size_t size = bigEndian(bytes, at);
    if (size > bytes.size() - at - 12) throw refuse("it is cut off");
    const std::string_view kind = bytes.substr(at + 4, 4);
    if (kind == "IDAT") packed += bytes.substr(at + 8, size);
    if (kind == "IEND") break;
    at += size + 12;
  }
  const auto step = static_cast<std::size_t>(image.channels);
  const std::size_t row = static_cast<std::size_t>(image.width) * step;
  std::vector<std::uint8_t> lines((row + 1) * static_cast<std::size_t>(image.height));
  uLongf length = lines.size();
  const int status = uncompress(lines.data(), &length,
                                reinterpret_cast<const Bytef*>(packed.data()), packed.size());
  if (status != Z_OK || length != lines.size()) throw refuse("its pixels are damaged");
  std::vector<std::uint8_t> zeros(row, 0);
  const std::uint8_t* above = zeros.data();
  for (std::int64_t y = 0; y < image.height; ++y) {
    std::uint8_t* line = lines.data() + static_cast<std::size_t>(y) * (row + 1);
    if (line[0] > 4) throw refuse("row " + std::to_string(y) + " has an unknown filter");
    unfilter(line[0], line + 1, above, row, step);
    above = line + 1;
    image.pixels.insert(image.pixels.end(), above, above + row);
  }
  return image;
}

}  // namespace vitrine
