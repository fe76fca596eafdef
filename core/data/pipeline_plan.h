// The transforms that `[data]` asks for, written out as one list for training and one for
// evaluation.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/json.h"
#include "core/config/config.h"
#include "core/data/dataset.h"

namespace vitrine {

/// {"train": [...], "evaluate": [...]}, each element a table {"name": "flip", ...}.
///
/// A list that `[data.pipeline]` gives is taken as it is. Else the short form stands for one, of
/// which a data set without images needs nothing:
/// - `data.image_size`, of a data set whose images differ in size: center_crop to its proportions,
///   keeping `data.crop` of the sides, then resize;
/// - resize to `imageSize`, the model's, where the images have another size;
/// - in training random_crop by `augment.crop_padding` above 0, then flip by `augment.flip` above
/// 0;
/// - normalize by `normalize`.
/// \param imageSize  height and width in pixels; 0: any
[[nodiscard]] VITRINE_ENGINE_EXPORT Json pipelinePlan(const Config& data,
                                                      const DatasetInfo& dataset,
                                                      std::array<std::int64_t, 2> imageSize);

}  // namespace vitrine
