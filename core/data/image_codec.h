// From the bytes of a PNG, JPEG or WebP file to pixels.
//
// OpenCV decodes, in a module that is loaded at the first call (image_codec_module.cpp). OpenCV
// reads its limits from the environment when it is loaded, so they are set before. A program
// without images does not load its hundred libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "core/engine_export.h"

namespace vitrine {

class SampleValue;

inline constexpr std::uint64_t kLargestImageFile = std::uint64_t{256} << 20;  // bytes

/// Takes memory for [channels, height, width] bytes; called once, before the pixels are written.
using PixelRoom = unsigned char* (*)(void* context, std::int64_t height, std::int64_t width);

/// The module's only function. nullptr when all went well, else a clause that lives until the
/// thread's next call. \param channels  1 grey, 3 RGB; transparency is dropped
using DecodeImageFunction = const char* (*)(const unsigned char* bytes, std::size_t size,
                                            std::int64_t channels, PixelRoom room, void* context);

/// Checks the structure and the limits, then decodes. Upright: an orientation in the file is
/// applied. Thread-safe.
/// \param name  for messages
/// \param channels  1 grey, 3 RGB; transparency is dropped, 16 bits a channel become 8
/// \param out   becomes [channels, height, width] bytes
/// \throws FileError  the file cannot be used: one sentence that begins with `name`
/// \throws Error  this build has no decoders
VITRINE_ENGINE_EXPORT void decodeImage(std::span<const std::byte> bytes, const std::string& name,
                                       std::int64_t channels, SampleValue& out);
/// The same of a file of at most kLargestImageFile. \throws FileError  it cannot be read, too
VITRINE_ENGINE_EXPORT void decodeImageFile(const std::filesystem::path& file, std::int64_t channels,
                                           SampleValue& out);

}  // namespace vitrine
