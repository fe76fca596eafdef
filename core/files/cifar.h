// The binary version of CIFAR-10 and CIFAR-100 (Krizhevsky 2009): records of label bytes and 3 x 32
// x 32 pixels.
//
//     CIFAR-10    u8 label                     | 1024 red | 1024 green | 1024 blue
//     CIFAR-100   u8 coarse label | u8 fine    | 1024 red | 1024 green | 1024 blue
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/foundation_export.h"

namespace vitrine {

inline constexpr std::int64_t kCifarSide = 32;
inline constexpr std::int64_t kCifarPixels = 3 * kCifarSide * kCifarSide;  ///< bytes of an image

struct CifarBatch {
  std::vector<std::uint8_t> labels;  ///< [records, labels]
  std::vector<std::uint8_t> pixels;  ///< [records, 3, 32, 32]
};

/// Reads one file of exactly `records` records.
/// \param labels  bytes before the pixels: 1 (CIFAR-10) or 2 (CIFAR-100: coarse, fine)
/// \throws FileError  names the file and the broken rule; the Python version and archives are told
/// by content
[[nodiscard]] VITRINE_FOUNDATION_EXPORT CifarBatch readCifar(const std::filesystem::path& file,
                                                             std::int64_t records,
                                                             std::int64_t labels);

/// Reads `batches.meta.txt`, `fine_label_names.txt` or `coarse_label_names.txt`: one name a line.
/// \throws FileError  another number of names, a name twice, a name that is empty, above 128 bytes
/// or not UTF-8
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<std::string> readCifarNames(
    const std::filesystem::path& file, std::size_t count);

}  // namespace vitrine
