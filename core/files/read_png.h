// The pixels of a PNG file from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/foundation_export.h"

namespace vitrine {

struct PngPixels {
  std::int64_t height = 0, width = 0, channels = 0;  ///< 1 grey, 2 with alpha, 3 RGB, 4 with alpha
  std::vector<std::uint8_t> pixels;                  ///< [height, width, channels]
};

/// Files of 8 bits a channel, without a palette and without interlacing, of at most 64 million
/// pixels.
/// \param name  for messages
/// \throws FileError  it is not such a PNG: says what of it is another
[[nodiscard]] VITRINE_FOUNDATION_EXPORT PngPixels decodePng(std::span<const std::byte> bytes,
                                                            const std::string& name);

}  // namespace vitrine
