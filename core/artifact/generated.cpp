#include "core/artifact/generated.h"

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/files/png.h"

namespace vitrine {

GeneratedImage generatedImage(std::span<const std::uint8_t> pixels, std::int64_t height,
                              std::int64_t width, std::int64_t channels) {
  if (std::ssize(pixels) != height * width * channels || pixels.empty())
    throw ShapeError("an image of " + std::to_string(height) + " x " + std::to_string(width) +
                     " pixels and " + std::to_string(channels) + " channels cannot have " +
                     std::to_string(pixels.size()) + " bytes");
  GeneratedImage image;
  image.width = width;
  image.height = height;
  image.sha256 = sha256OfText({reinterpret_cast<const char*>(pixels.data()), pixels.size()});
  image.png = encodePng(pixels, static_cast<int>(height), static_cast<int>(width),
                        static_cast<int>(channels));
  return image;
}

}  // namespace vitrine
