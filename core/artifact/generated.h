// Images and texts that a sampler made, each with everything that is needed to make it again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/foundation_export.h"

namespace vitrine {

/// The recipe names run, checkpoint and its hash, weights, sampler and all its settings, seed and
/// condition. It also names the hashes of the auxiliary networks that took part. On one machine
/// equal recipes give equal bytes.
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

/// A recipe, read to make its image again: the whole batch with it.
struct ImageAgain {
  std::string sampler, weights, device;
  std::string precision;  ///< "": as the run was trained
  std::int64_t step = 0;
  std::uint64_t seed = 0;               ///< of the image
  std::optional<std::int64_t> threads;  ///< that took part
  Json settings = Json::object();       ///< of the sampler; `seed` and `count` are of the batch
};
/// \param image  its name in messages: "image 17"
/// \throws RefusedError  the recipe lacks a key, or has no value of its kind there: names it
[[nodiscard]] VITRINE_FOUNDATION_EXPORT ImageAgain imageAgain(const Json& recipe,
                                                              const std::string& image);

}  // namespace vitrine
