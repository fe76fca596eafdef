#include "core/eval/calibration.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/base/error.h"
#include "core/base/statistics.h"

namespace vitrine::eval {

double ReliabilityBin::gapMidpoint() const noexcept {
  return std::abs((lower + upper) / 2 - accuracy);
}

void Confidences::append(const Confidences& other) {
  confidence.insert(confidence.end(), other.confidence.begin(), other.confidence.end());
  isCorrect.insert(isCorrect.end(), other.isCorrect.begin(), other.isCorrect.end());
}

Confidences confidencesOf(const at::Tensor& logits, const at::Tensor& labels, double temperature) {
  if (logits.dim() != 2 || labels.dim() != 1 || logits.size(0) != labels.size(0)) {
    std::ostringstream text;
    text << "confidences take logits [samples, classes] and labels [samples], got "
         << logits.sizes() << " and " << labels.sizes();
    throw ShapeError(text.str());
  }
  if (!(temperature > 0)) {
    throw ConfigError("a temperature must be above 0, not " + std::to_string(temperature));
  }
  // Boundaries and confidences in the same precision: an edge case decided in float32 falls in the
  // wrong bin.
  const at::Tensor scaled = logits.detach().to(at::kCPU, at::kDouble) / temperature;
  const auto [confidence, prediction] = at::softmax(scaled, 1).max(1);
  const at::Tensor correct = prediction.eq(labels.to(at::kCPU)).to(at::kByte).contiguous();
  const at::Tensor sure = confidence.contiguous();
  const auto* sureValues = sure.const_data_ptr<double>();
  const auto* correctValues = correct.const_data_ptr<std::uint8_t>();
  Confidences out;
  out.confidence.assign(sureValues, sureValues + sure.numel());
  out.isCorrect.assign(correctValues, correctValues + correct.numel());
  return out;
}

std::vector<ReliabilityBin> reliabilityBins(const Confidences& samples, std::int64_t bins,
                                            Binning binning) {
  const auto count = static_cast<std::size_t>(bins);
  const std::vector<double> edges =
      binEdges(count, binning == Binning::EqualMass ? samples.confidence : std::vector<double>());
  std::vector<ReliabilityBin> out(count);
  for (std::size_t k = 0; k < count; ++k) {
    out[k].lower = edges[k];
    out[k].upper = edges[k + 1];
  }
  for (std::size_t i = 0; i < samples.confidence.size(); ++i) {
    const double value = samples.confidence[i];
    if (!(value > 0)) continue;
    // First edge not below the confidence closes its bin: (lower, upper].
    const auto upper = std::lower_bound(edges.begin() + 1, edges.end(), value);
    if (upper == edges.end()) continue;
    ReliabilityBin& bin = out[static_cast<std::size_t>(upper - edges.begin() - 1)];
    ++bin.count;
    bin.confidence += value;
    bin.accuracy += samples.isCorrect[i];
  }
  for (ReliabilityBin& bin : out) {
    if (bin.count == 0) continue;
    bin.confidence /= static_cast<double>(bin.count);
    bin.accuracy /= static_cast<double>(bin.count);
  }
  return out;
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

}  // namespace vitrine::eval
