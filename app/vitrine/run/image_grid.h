// Several generated images as one picture.
#pragma once

#include <cstddef>
#include <vector>

#include "core/artifact/generated.h"
#include "core/files/read_png.h"

namespace vitrine::app {

/// A PNG of the images in rows of ceil(sqrt(count)), with grey lines between. Each image is
/// enlarged by a whole factor until its shorter side has 56 pixels.
/// \param images  as generatedImage() made them, all of one size and number of channels
/// \throws ConfigError  there is none, or they are not of one size
[[nodiscard]] std::vector<std::byte> imageGrid(const std::vector<GeneratedImage>& images);
/// The same in rows of `columns`.
[[nodiscard]] std::vector<std::byte> imageGrid(const std::vector<PngPixels>& images, int columns);

}  // namespace vitrine::app
