// Fields that models of images have in common: one name, range, unit and title for each. A caller
// gives the default, and the line that says what it means there.
#pragma once

#include <cstdint>
#include <string>

#include "core/config/schema.h"
#include "core/foundation_export.h"

namespace vitrine {

/// image_size, 1 to 16384 pixels a side.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Field
imageSizeField(std::string doc = "height and width of the images", Json value = Json{224, 224});
/// Height and width of a patch under the name that the family gives it, 1 to 4096.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Field patchSizeField(
    Json value, std::string doc = "height and width of one patch", std::string name = "patch_size");
/// in_channels, 1 to 4096.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Field
inChannelsField(std::int64_t value = 3, std::string doc = "channels of the images");
/// num_classes, 1 to a million.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Field
classesField(std::string doc = "outputs of the classifier");
/// Channels of the residual stream, 1 to 65536.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Field
widthField(std::int64_t value, std::string doc = "channels of the residual stream",
           std::string name = "width");
/// depth, 1 to 1024 blocks.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Field depthField(std::int64_t value,
                                                         std::string doc = "transformer blocks");
/// heads, 1 to 1024.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Field
headsField(std::int64_t value, std::string doc = "attention heads per block");
/// mlp_width; none: as the kind of the MLP has it.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Field mlpWidthField();

}  // namespace vitrine
