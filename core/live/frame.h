// One look into a model that trains, as it goes from the trainer to a window that watches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/foundation_export.h"

namespace vitrine::live {

/// Seconds of one optimizer step, by what they were spent on. On a GPU they are those of the host.
struct StepTime {
  std::int64_t step = 0;  ///< optimizer steps completed with this one
  float data = 0, forward = 0, backward = 0, optimizer = 0;
  float observe = 0;  ///< evaluations and probes after the step
  float store = 0;    ///< records, checkpoints and the rest between two steps
  float watch = 0;    ///< frames of a run that is watched
  [[nodiscard]] float total() const noexcept {
    return data + forward + backward + optimizer + observe + store + watch;
  }
};

/// Row and column in patches; -1 of a class token, NaN where tokens have no place.
struct Place {
  float row = 0, column = 0;
  [[nodiscard]] bool isPatch() const noexcept { return row >= 0 && column >= 0; }
};
/// The place that is meant, and how far it is from there in patches.
/// \param extent  rows and columns of the image
/// \param wanted  row and column as shares of them; negative: the class token, or where there is
///                none the patch in the middle
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::pair<std::size_t, double> nearestPlace(
    std::span<const Place> places, std::array<double, 2> extent, std::array<double, 2> wanted);

struct Pixels {
  std::int32_t height = 0, width = 0, channels = 0;  ///< 1 or 3 channels
  std::vector<std::uint8_t> bytes;                   ///< [height, width, channels]
};

/// Attention of one layer on one image: what multiplies the values, after a mask.
struct VITRINE_FOUNDATION_EXPORT AttentionLayer {
  std::int32_t layer = 0, heads = 0;
  std::int32_t window = -1;  ///< of windowed attention; -1: the whole grid
  bool isWhole = false;      ///< every query is here, not only the one wished for
  std::vector<Place> queries, keys;
  std::vector<float> weights;  ///< [heads, queries, keys]
  std::vector<float> mean;     ///< [heads, keys] over all queries of the layer
  /// Of one head and one of the queries here: [keys].
  [[nodiscard]] std::span<const float> row(std::int32_t head, std::int32_t query) const;
  [[nodiscard]] std::span<const float> meanRow(std::int32_t head) const;
};

/// One layer and head in full, before and after the mask: [queries, keys].
struct Matrices {
  std::int32_t layer = 0, head = 0, queries = 0, keys = 0;
  std::vector<float> softmax, effective;
};

/// Loss of probe samples with the schedule where it is, and with the schedule at its end.
struct ScheduleGap {
  double now = 0, finished = 0;
  std::int32_t samples = 0;
};

/// Clean images that a denoiser in training predicts from a few noises, step by step.
struct Film {
  std::int64_t step = 0;  ///< of the weights
  std::int32_t images = 0, height = 0, width = 0, channels = 0;
  std::vector<float> times;         ///< one for each picture of the way, in the order drawn
  /// What each image is drawn from; empty where that is not known, or it is the other one.
  std::vector<std::int64_t> labels;   ///< classes
  std::vector<std::string> captions;
  std::vector<std::uint8_t> bytes;  ///< [times, images, height, width, channels]
};

struct Frame {
  std::int64_t step = 0, totalSteps = 0, stepsPerEpoch = 0;
  double time = 0;              ///< seconds of running time over all segments
  double loss = 0;              ///< the newest that was read back
  double imagesPerSecond = 0;   ///< the unit of throughput of the task
  std::vector<StepTime> steps;  ///< completed since the frame before
  std::vector<std::pair<std::string, double>> scheduled;  ///< {"model/mask_alpha", 0.4}
  double watchShare = 0;    ///< of the running time since watching began, spent on frames
  double frameSeconds = 0;  ///< what the frame before this one took
  bool isHostTime = false;  ///< the device computes apart from the host
  std::string error;        ///< "" or why a part is missing, one sentence

  std::int32_t image = -1,
               images = 0;  ///< which of the probe images this is; -1: none was looked at
  std::int64_t sample = -1, label = -1;
  std::string split;
  Pixels pixels;  ///< no bytes where the samples have no image
  std::vector<AttentionLayer> attention;
  std::optional<Matrices> matrices;
  std::optional<ScheduleGap> gap;
  std::optional<Film> film;
};

[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<std::byte> encode(const Frame& frame);
/// Trusts nothing: sizes are checked against each other and against the bytes that are there.
/// \returns  nothing where the bytes are not a frame
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::optional<Frame> decode(
    std::span<const std::byte> bytes);

}  // namespace vitrine::live
