#include "app/vitrine/run/image_grid.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/files/png.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wshadow"
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace vitrine::app {

namespace {

constexpr int kShownSide = 56, kLine = 1;
constexpr std::uint8_t kGrey = 128;

struct Pixels {
  std::unique_ptr<stbi_uc, void (*)(void*)> bytes{nullptr, stbi_image_free};
  int width = 0, height = 0, channels = 0;
};

/// Of a PNG that this program encoded.
Pixels pixelsOf(const GeneratedImage& image) {
  Pixels p;
  p.bytes.reset(stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(image.png.data()),
                                      static_cast<int>(image.png.size()), &p.width, &p.height,
                                      &p.channels, 0));
  if (!p.bytes) throw Error("an image just made cannot be read back");
  return p;
}

}  // namespace

std::vector<std::byte> imageGrid(const std::vector<GeneratedImage>& images) {
  if (images.empty()) throw ConfigError("a grid needs at least one image");
  std::vector<Pixels> all;
  for (const GeneratedImage& image : images) {
    all.push_back(pixelsOf(image));
    const Pixels &first = all.front(), &own = all.back();
    if (own.width != first.width || own.height != first.height || own.channels != first.channels)
      throw ConfigError("a grid takes images of one size");
  }
  const int width = all.front().width, height = all.front().height, channels = all.front().channels;
  const int factor =
      std::max(1, (kShownSide + std::min(width, height) - 1) / std::min(width, height));
  const int count = static_cast<int>(all.size());
  const int columns = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(count))));
  const int rows = (count + columns - 1) / columns;
  const int cellWidth = width * factor + kLine, cellHeight = height * factor + kLine;
  const int gridWidth = columns * cellWidth - kLine, gridHeight = rows * cellHeight - kLine;
  std::vector<std::uint8_t> grid(static_cast<std::size_t>(gridWidth) *
                                     static_cast<std::size_t>(gridHeight) *
                                     static_cast<std::size_t>(channels),
                                 kGrey);
  for (int i = 0; i < count; ++i) {
    const int left = i % columns * cellWidth, top = i / columns * cellHeight;
    const stbi_uc* from = all[static_cast<std::size_t>(i)].bytes.get();
    for (int y = 0; y < height * factor; ++y) {
      for (int x = 0; x < width * factor; ++x) {
        const stbi_uc* pixel = from + (y / factor * width + x / factor) * channels;
        const std::size_t place =
            (static_cast<std::size_t>(top + y) * static_cast<std::size_t>(gridWidth) +
             static_cast<std::size_t>(left + x)) *
            static_cast<std::size_t>(channels);
        std::copy_n(pixel, channels, grid.data() + place);
      }
    }
  }
  return encodePng(grid, gridHeight, gridWidth, channels);
}

}  // namespace vitrine::app
