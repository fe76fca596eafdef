#include "app/vitrine/run/image_grid.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/files/png.h"

namespace vitrine::app {

namespace {

constexpr int kShownSide = 56, kLine = 1;
constexpr std::uint8_t kGrey = 128;

}  // namespace

std::vector<std::byte> imageGrid(const std::vector<GeneratedImage>& images) {
  std::vector<PngPixels> all;
  for (const GeneratedImage& image : images)
    all.push_back(decodePng(image.png, "image " + std::to_string(all.size() + 1)));
  return imageGrid(all, static_cast<int>(std::ceil(std::sqrt(static_cast<double>(all.size())))));
}

std::vector<std::byte> imageGrid(const std::vector<PngPixels>& all, int columns) {
  if (all.empty()) throw ConfigError("a grid needs at least one image");
  for (const PngPixels& own : all) {
    const PngPixels& first = all.front();
    if (own.width != first.width || own.height != first.height || own.channels != first.channels)
      throw ConfigError("a grid takes images of one size");
  }
  const int width = static_cast<int>(all.front().width);
  const int height = static_cast<int>(all.front().height);
  const int channels = static_cast<int>(all.front().channels);
  const int factor =
      std::max(1, (kShownSide + std::min(width, height) - 1) / std::min(width, height));
  const int count = static_cast<int>(all.size());
  const int rows = (count + columns - 1) / columns;
  const int cellWidth = width * factor + kLine, cellHeight = height * factor + kLine;
  const int gridWidth = columns * cellWidth - kLine, gridHeight = rows * cellHeight - kLine;
  std::vector<std::uint8_t> grid(static_cast<std::size_t>(gridWidth) *
                                     static_cast<std::size_t>(gridHeight) *
                                     static_cast<std::size_t>(channels),
                                 kGrey);
  for (int i = 0; i < count; ++i) {
    const int left = i % columns * cellWidth, top = i / columns * cellHeight;
    const std::uint8_t* from = all[static_cast<std::size_t>(i)].pixels.data();
    for (int y = 0; y < height * factor; ++y) {
      for (int x = 0; x < width * factor; ++x) {
        const std::uint8_t* pixel = from + (y / factor * width + x / factor) * channels;
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
