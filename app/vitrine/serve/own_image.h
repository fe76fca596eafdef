// An image that is in no data set, as evaluations of a run would see it.
#pragma once

#include <cstdint>
#include <vector>

#include "app/vitrine/run/trained_model.h"
#include "core/data/batch.h"

namespace vitrine::app {

/// Red, green and blue bytes of each pixel, row by row.
struct OwnImage {
  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> pixels;
};

/// One sample with the id and the label -1, after the transforms of the run's evaluations: its
/// resizing, cropping and normalising. Grey where the run's images have one channel.
/// \param config  of the run, resolved
/// \throws RefusedError  the run reads no images of one or three channels
/// \throws ConfigError   its transforms cannot take an image of this size
[[nodiscard]] Batch batchOf(const OwnImage& image, const Registry& registry, const Json& config,
                            const TaskSession& session);

}  // namespace vitrine::app
