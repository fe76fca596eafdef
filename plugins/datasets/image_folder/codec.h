// From the bytes of a PNG, JPEG or WebP file to pixels of one size.
//
// OpenCV decodes, in a module that is loaded at the first call (codec_module.cpp): its limits are
// read from the environment when the library is loaded, so they are set before; and a program that
// reads no images is spared a hundred libraries.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace vitrine::image_folder {

inline constexpr std::uint64_t kLargestFile = std::uint64_t{256} << 20;  // bytes

/// What becomes of an image: the largest centred cut with the proportions of the result, `crop` of
/// its sides, resized (area means when it shrinks, bilinear when it grows).
struct Framing {
  std::int64_t height = 0, width = 0;  ///< of the result, pixels
  std::int64_t channels = 3;           ///< 1 grey, 3 RGB; transparency is dropped
  double crop = 1;                     ///< in (0, 1]
};

/// The module's only function. nullptr when all went well, else a clause that lives until the
/// thread's next call. \param out  [channels, height, width]
using DecodeFunction = const char* (*)(const unsigned char* bytes, std::size_t size,
                                       const Framing& framing, unsigned char* out);

/// Checks the structure and the limits, then decodes. Upright: an orientation in the file is
/// applied. Thread-safe. \param name  for messages \param out   [channels, height, width] \throws
/// FileError  the file cannot be used: one sentence that begins with `name` \throws Error      this
/// build has no decoders
void decodeImage(std::span<const std::byte> bytes, const std::string& name, const Framing& framing,
                 std::span<std::uint8_t> out);

}  // namespace vitrine::image_folder
