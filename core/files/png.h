// PNG bytes of an image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/foundation_export.h"

namespace vitrine {

/// Whether it begins as a PNG file does.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT bool isPng(std::span<const std::byte> bytes) noexcept;

/// Channels by the colour type in its header: 1 grey, 2 grey + alpha, 3 RGB or a palette, 4 RGBA.
/// \param png  the first 26 bytes of one, or more
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::int64_t pngChannels(
    std::span<const std::byte> png) noexcept;

/// \param pixels    [height, width, channels] uint8, channels 1 (grey), 3 (RGB) or 4 (RGBA)
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<std::byte> encodePng(
    std::span<const std::uint8_t> pixels, int height, int width, int channels);

}  // namespace vitrine
