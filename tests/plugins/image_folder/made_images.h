// A folder of small images for one test.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
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

/// As long as it lives, what is kept for the next run is kept here.
class CacheFolder : public TemporaryFolder {
 public:
  CacheFolder() {
    const char* before = std::getenv(kVariable);
    if (before != nullptr) before_ = before;
    ::setenv(kVariable, path().c_str(), 1);
  }
  ~CacheFolder() {
    before_ ? ::setenv(kVariable, before_->c_str(), 1) : ::unsetenv(kVariable);
  }

 private:
  static constexpr const char* kVariable = "XDG_CACHE_HOME";
  std::optional<std::string> before_;
};

inline void putImage(const std::filesystem::path& file, const std::string& bytes) {
  std::filesystem::create_directories(file.parent_path());
  putFile(file, bytes);
}

}  // namespace vitrine::image_folder
