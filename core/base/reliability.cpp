#include "core/base/reliability.h"

#include <algorithm>

namespace vitrine {

std::vector<ReliabilityBin> reliabilityBins(std::span<const double> confidences,
                                            std::span<const std::uint8_t> isCorrect,
                                            const std::vector<double>& edges,
                                            std::vector<int>* binOf) {
  std::vector<ReliabilityBin> bins(edges.size() - 1);
  for (std::size_t k = 0; k < bins.size(); ++k) {
    bins[k].lower = edges[k];
    bins[k].upper = edges[k + 1];
  }
  if (binOf != nullptr) binOf->assign(confidences.size(), -1);
  for (std::size_t i = 0; i < confidences.size(); ++i) {
    const double value = confidences[i];
    if (!(value > 0)) continue;
    // First edge not below the confidence closes its bin: (lower, upper].
    const auto upper = std::lower_bound(edges.begin() + 1, edges.end(), std::min(value, 1.0));
    if (upper == edges.end()) continue;
    const auto at = static_cast<std::size_t>(upper - edges.begin() - 1);
    ++bins[at].count;
    bins[at].confidence += value;
    bins[at].accuracy += isCorrect[i];
    if (binOf != nullptr) (*binOf)[i] = static_cast<int>(at);
  }
  for (ReliabilityBin& bin : bins) {
    if (bin.count == 0) continue;
    bin.confidence /= static_cast<double>(bin.count);
    bin.accuracy /= static_cast<double>(bin.count);
  }
  return bins;
}

double calibrationError(std::span<const ReliabilityBin> bins, std::int64_t samples) {
  if (samples <= 0) return 0;
  double sum = 0;
  for (const ReliabilityBin& bin : bins) {
    sum += static_cast<double>(bin.count) / static_cast<double>(samples) *
           std::abs(bin.accuracy - bin.confidence);
  }
  return sum;
}

}  // namespace vitrine
