#include "core/eval/calibration.h"

#include <ATen/ATen.h>

#include <sstream>

#include "core/base/error.h"
#include "core/base/statistics.h"

namespace vitrine::eval {

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
  if (!(temperature > 0))
    throw ConfigError("a temperature must be above 0, not " + std::to_string(temperature));
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
  return vitrine::reliabilityBins(
      samples.confidence, samples.isCorrect,
      binEdges(static_cast<std::size_t>(bins),
               binning == Binning::EqualMass ? samples.confidence : std::vector<double>()));
}

}  // namespace vitrine::eval
