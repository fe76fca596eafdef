// Histograms of the weights of a model and of their gradients, on one scale for all parameters, and
// tables that summarise them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace vitrine::analyses {

/// Numbers that sum up a tensor. All but the counts are of its finite values.
struct ValueSummary {
  std::int64_t values = 0, zeros = 0, nonFinite = 0;  ///< counts
  double lowest = 0, highest = 0;  ///< NaN without a finite value, as the next two
  double mean = 0;
  double deviation = 0;  ///< root of the mean squared distance from the mean
  double norm = 0;       ///< Euclidean
};
[[nodiscard]] ValueSummary summaryOf(const at::Tensor& tensor);

/// Bins by sign and magnitude: `bounds` ascend in steps 1, 2, 5 through five decades. A bin holds
/// the values from its bound to the next one. The bin in the middle holds those that are closer to
/// zero than the first bound.
struct SignedBins {
  static constexpr std::int64_t kBounds = 15, kCount = 2 * kBounds + 1;
  /// \param largest  >= 0, of all values that are to be sorted
  explicit SignedBins(double largest);
  /// [kCount] counts, from the largest negative values to the largest positive ones. What is not
  /// finite is in no bin.
  [[nodiscard]] std::vector<std::int64_t> countsOf(const at::Tensor& tensor) const;
  std::vector<double> bounds;
};

}  // namespace vitrine::analyses
