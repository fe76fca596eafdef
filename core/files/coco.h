// Objects in images as COCO's JSON says them: classes, boxes, masks as runs or polygons. Knows no
// decoder and no torch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/foundation_export.h"

namespace vitrine {

struct CocoObject {
  std::int64_t category = 0;   ///< index in CocoFile::classes
  std::array<float, 4> box{};  ///< left, top, right, bottom in pixels
  bool isCrowd = false;
  /// Pixels outside and inside in turn, column by column, outside first; they fill the image.
  std::vector<std::uint32_t> runs;
  std::vector<std::vector<float>> polygons;  ///< x, y, x, y ...; where there are no runs
};
struct CocoImage {
  std::string path;  ///< below the folder of the images, with '/'
  std::int64_t height = 0, width = 0;
  std::vector<CocoObject> objects;
};
struct CocoFile {
  std::vector<std::string> classes;  ///< by ascending id
  std::vector<CocoImage> images;     ///< as the file lists them
};

struct CocoLimits {
  std::uint64_t bytes = std::uint64_t{1} << 30;  ///< of the file
  std::int64_t side = 32'768, pixels = 50'000'000;
  std::size_t objects = 10'000;  ///< of an image
};
/// \throws FileError  not such a file, above a limit, or an id that is not there. Also runs that do
/// not fill the image, or a path that leads out. Names file and element
[[nodiscard]] VITRINE_FOUNDATION_EXPORT CocoFile readCoco(const std::filesystem::path& file,
                                                          const CocoLimits& limits = {});
/// The text of such a file; ids count from 1.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string cocoText(const CocoFile& content);

/// \param mask  [height, width], not 0 inside
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<std::uint32_t> runsOf(
    std::span<const std::uint8_t> mask, std::int64_t height, std::int64_t width);
/// Writes `value` to the pixels of an object; of a polygon those whose centre lies inside.
VITRINE_FOUNDATION_EXPORT void paintObject(const CocoObject& object, std::int64_t height,
                                           std::int64_t width, std::uint8_t value,
                                           std::span<std::uint8_t> mask);

}  // namespace vitrine
