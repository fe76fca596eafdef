#include "core/files/png.h"

#include <cstring>
#include <string>

#include "core/base/error.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wshadow"
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

namespace vitrine {

bool isPng(std::span<const std::byte> bytes) noexcept {
  static constexpr unsigned char kStart[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  return bytes.size() >= sizeof kStart && std::memcmp(bytes.data(), kStart, sizeof kStart) == 0;
}

std::int64_t pngChannels(std::span<const std::byte> png) noexcept {
  switch (std::to_integer<int>(png[25])) {
    case 0:
      return 1;
    case 4:
      return 2;
    case 6:
      return 4;
    default:
      return 3;
  }
}

std::vector<std::byte> encodePng(std::span<const std::uint8_t> pixels, int height, int width,
                                 int channels) {
  constexpr int kLongestSide = 1 << 16;
  const bool known = channels == 1 || channels == 3 || channels == 4;
  if (!known || height < 1 || width < 1 || height > kLongestSide || width > kLongestSide ||
      pixels.size() != static_cast<std::size_t>(height) * static_cast<std::size_t>(width) *
                           static_cast<std::size_t>(channels)) {
    throw ShapeError("a PNG needs height x width x channels bytes with 1, 3 or 4 channels, got " +
                     std::to_string(pixels.size()) + " bytes for " + std::to_string(height) +
                     " x " + std::to_string(width) + " x " + std::to_string(channels));
  }
  std::vector<std::byte> out;
  const auto append = [](void* context, void* data, int size) {
    auto& bytes = *static_cast<std::vector<std::byte>*>(context);
    const auto* from = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), from, from + size);
  };
  if (stbi_write_png_to_func(append, &out, width, height, channels, pixels.data(),
                             width * channels) == 0) {
    throw Error("an image of " + std::to_string(height) + " x " + std::to_string(width) +
                " could not be encoded as PNG: out of memory");
  }
  return out;
}

}  // namespace vitrine
