// Headers of PNG, JPEG and WebP files, checked before a decoder reads them. No decoder is linked
// here.
//
// A decoder allocates memory for the size in a header: a PNG of 2.6 MB can ask for 2.6 GB. Decoders
// are also lenient: a JPEG that is cut comes out grey at the bottom without an error. The structure
// is therefore checked to the last byte. A PNG is checked by chunks with their CRC-32, a JPEG by
// markers up to the end marker, a WebP by its RIFF size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/foundation_export.h"

namespace vitrine {

enum class ImageFormat { Png, Jpeg, Webp };

struct ImageHeader {
  ImageFormat format = ImageFormat::Png;
  std::int64_t width = 0, height = 0;  ///< pixels, as stored: before an orientation is applied
};

struct ImageLimits {
  std::int64_t pixels = 50'000'000;  ///< width x height
  std::int64_t side = 32'768;        ///< width and height each
  int scans = 100;                   ///< of a JPEG: each makes a decoder go over the whole image
};

/// Looks at a whole file in memory; the content decides, not the name.
/// \throws FileError  one sentence that begins with `name`: no such format, above a limit, cut,
/// damaged, an animation
[[nodiscard]] VITRINE_FOUNDATION_EXPORT ImageHeader inspectImage(std::span<const std::byte> bytes,
                                                                 const std::string& name,
                                                                 const ImageLimits& limits = {});

}  // namespace vitrine
