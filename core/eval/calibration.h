// Calibration of a classifier: reliability bins and the expected calibration error.
//
// Rules of Guo et al. 2017, "On calibration of modern neural networks" (arXiv:1706.04599), as in
// the code of Beyond-INet. Confidence is the largest softmax probability, bins are (low, high], and
//
//     ECE = sum_b n_b / n |accuracy_b - confidence_b|
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/engine_export.h"

namespace vitrine::eval {

enum class Binning {
  EqualWidth,  ///< edges k / bins
  EqualMass,   ///< edges at the quantiles of the confidences, so that bins hold nearly equally many
};

struct VITRINE_ENGINE_EXPORT ReliabilityBin {
  double lower = 0, upper = 0;  ///< (lower, upper]
  std::int64_t count = 0;
  double confidence = 0;  ///< mean; 0 in an empty bin
  double accuracy = 0;    ///< 0 in an empty bin
  /// The gap in published diagrams: |middle of the bin - accuracy|, also of an empty bin.
  [[nodiscard]] double gapMidpoint() const noexcept;
};

/// Confidences and correctness of samples, on the CPU.
struct VITRINE_ENGINE_EXPORT Confidences {
  std::vector<double> confidence;  ///< largest softmax probability, computed in float64
  std::vector<std::uint8_t> isCorrect;
  void append(const Confidences& other);
};

/// \param logits  [samples, classes], any floating dtype and device
/// \param labels  [samples] int64
/// \param temperature  logits are divided by it, > 0
/// \throws ShapeError  the two do not have these shapes
[[nodiscard]] VITRINE_ENGINE_EXPORT Confidences confidencesOf(const at::Tensor& logits,
                                                              const at::Tensor& labels,
                                                              double temperature = 1);

/// A confidence of exactly 0, or NaN, falls in no bin but counts in the total of
/// `calibrationError`. \pre bins > 0
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<ReliabilityBin> reliabilityBins(
    const Confidences& samples, std::int64_t bins, Binning binning = Binning::EqualWidth);

/// ECE of `bins`; 0 when there are no samples.
/// \param samples  all samples, those in no bin too
[[nodiscard]] VITRINE_ENGINE_EXPORT double calibrationError(std::span<const ReliabilityBin> bins,
                                                            std::int64_t samples);

}  // namespace vitrine::eval
