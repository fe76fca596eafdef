// Images and texts that a sampler made, each with everything that is needed to make it again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/foundation_export.h"

namespace vitrine {

/// The recipe names run, checkpoint and its hash, weights, sampler and all its settings, seed,
/// condition, and the hashes of the auxiliary networks that took part. On one machine equal recipes
/// give equal bytes.
struct GeneratedImage {
  std::int64_t step = 0;  ///< optimizer steps that the weights had seen
  Json recipe = Json::object();
  std::uint64_t seed = 0;
  std::int64_t width = 0, height = 0;  ///< pixels
  std::string sha256;                  ///< of the pixels: bytes [height, width, channels]
  std::vector<std::byte> png;
};

struct GeneratedText {
  std::int64_t step = 0;
  Json recipe = Json::object();
  std::uint64_t seed = 0;
  std::string prompt, text;
};

/// \param pixels    [height, width, channels], channels 1 (grey), 3 (RGB) or 4 (RGBA)
/// \throws ShapeError  they are not as many as that
[[nodiscard]] VITRINE_FOUNDATION_EXPORT GeneratedImage
generatedImage(std::span<const std::uint8_t> pixels, std::int64_t height, std::int64_t width,
               std::int64_t channels);

}  // namespace vitrine
