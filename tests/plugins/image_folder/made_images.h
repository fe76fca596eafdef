// A folder of small images for one test.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/png.h"
#include "tests/core/files/made_files.h"

namespace vitrine::image_folder {

/// One colour all over.
inline std::string pngOf(std::uint8_t red, std::uint8_t green, std::uint8_t blue, int width = 16,
                         int height = 12) {
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < width * height; ++i) pixels.insert(pixels.end(), {red, green, blue});
  const std::vector<std::byte> png = encodePng(pixels, height, width, 3);
  return {reinterpret_cast<const char*>(png.data()), png.size()};
}

/// Left half red, right half blue, becoming cyan to the bottom; 16 x 12.
inline std::string seedImage(const std::string& name) {
  return getFile(std::string(VITRINE_SOURCE_DIR) + "/tests/fuzz/seeds/image/" + name);
}

inline void putImage(const std::filesystem::path& file, const std::string& bytes) {
  std::filesystem::create_directories(file.parent_path());
  putFile(file, bytes);
}

}  // namespace vitrine::image_folder
