// Reliability of a classifier: bins of its confidences, and the expected calibration error.
//
// Rules of Guo et al. 2017, "On calibration of modern neural networks" (arXiv:1706.04599), as in
// the code of Beyond-INet: bins are (low, high], and
//
//     ECE = sum_b n_b / n |accuracy_b - confidence_b|
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/foundation_export.h"

namespace vitrine {

struct ReliabilityBin {
  double lower = 0, upper = 0;  ///< (lower, upper]
  std::int64_t count = 0;
  double confidence = 0;  ///< mean; 0 in an empty bin
  double accuracy = 0;    ///< 0 in an empty bin
  /// The gap in published diagrams: |middle of the bin - accuracy|, also of an empty bin.
  [[nodiscard]] double gapMidpoint() const noexcept {
    return std::abs((lower + upper) / 2 - accuracy);
  }
};

/// A confidence of exactly 0, or NaN, falls in no bin but counts in the total of
/// `calibrationError`. One that rounding lifts above 1 falls in the last bin.
/// \param isCorrect  of each confidence
/// \param edges  as binEdges() makes them
/// \param binOf  receives the bin of each confidence, -1: none; unless it is nullptr
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<ReliabilityBin> reliabilityBins(
    std::span<const double> confidences, std::span<const std::uint8_t> isCorrect,
    const std::vector<double>& edges, std::vector<int>* binOf = nullptr);

/// ECE of `bins`; 0 when there are no samples.
/// \param samples  all samples, those in no bin too
[[nodiscard]] VITRINE_FOUNDATION_EXPORT double calibrationError(
    std::span<const ReliabilityBin> bins, std::int64_t samples);

}  // namespace vitrine
