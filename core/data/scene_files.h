// Writes scenes with masks and boxes in the layouts that other programs read.
#pragma once

#include <filesystem>

#include "core/data/dataset.h"

namespace vitrine {

struct WrittenScenes {
  std::int64_t images = 0, objects = 0;
};

/// FOLDER/<split>.json and FOLDER/<split>/000000.png, ...: fields `image`, `boxes`, `box_classes`,
/// and `box_crowds` where it is there. Masks of the objects: `masks` [objects, height, width], or
/// `instances` with number + 1 of the object in front.
/// \param limit  samples at most, the first ones; 0: all
/// \throws ConfigError  the data set lacks a field or the split has no samples
/// \throws FileError    a file is there already, or cannot be written
VITRINE_ENGINE_EXPORT WrittenScenes writeCocoScenes(const Dataset& dataset, Split split,
                                                    std::int64_t limit,
                                                    const std::filesystem::path& folder);

/// FOLDER/images/<split>/000000.png, FOLDER/annotations/<split>/000000.png with class + 1 of each
/// pixel, and FOLDER/classes.txt, as ADE20K's folders are: `training` stands for train. Fields
/// `image` and `mask`. Errors as above.
VITRINE_ENGINE_EXPORT WrittenScenes writeAde20kScenes(const Dataset& dataset, Split split,
                                                      std::int64_t limit,
                                                      const std::filesystem::path& folder);

/// The name of a split in ADE20K's folders.
[[nodiscard]] VITRINE_ENGINE_EXPORT std::string ade20kFolder(Split split);

}  // namespace vitrine
