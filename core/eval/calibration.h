// Calibration of a classifier: the confidences of its answers and their bins. Confidence is the
// largest softmax probability.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/base/reliability.h"
#include "core/engine_export.h"

namespace vitrine::eval {

enum class Binning {
  EqualWidth,  ///< edges k / bins
  EqualMass,   ///< edges at the quantiles of the confidences, so that bins hold nearly equally many
};

using vitrine::calibrationError;
using vitrine::ReliabilityBin;

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

/// \pre bins > 0
[[nodiscard]] VITRINE_ENGINE_EXPORT std::vector<ReliabilityBin> reliabilityBins(
    const Confidences& samples, std::int64_t bins, Binning binning = Binning::EqualWidth);

}  // namespace vitrine::eval
