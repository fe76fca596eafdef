// Measures of predictions, attention and averaged weights against reference cases.
#include <ATen/ATen.h>

#include "core/eval/accuracy.h"
#include "core/eval/calibration.h"
#include "core/eval/matrix_rank.h"
#include "core/train/update/ema.h"
#include "tests/support/golden/losses.h"
#include "tests/support/golden/rules.h"

namespace vitrine::testing {

namespace {

Tensors calibration(const GoldenCase& golden) {
  const at::Tensor &logits = golden.io.at("input/logits"), &labels = golden.io.at("input/labels");
  const eval::Confidences samples = eval::confidencesOf(logits, labels);
  const double count = static_cast<double>(labels.size(0));
  const at::Tensor wide = logits.to(at::kDouble),
                   oneHot = smoothedTargets(labels, logits.size(1), 0).to(at::kDouble);
  Tensors pass{{"output/nll", softCrossEntropy(wide, oneHot)}};
  if (const auto fitted = golden.io.find("output/temperature"); fitted != golden.io.end()) {
    // The fit itself is the window's; here is what follows from its result.
    const double temperature = fitted->second.item<double>();
    pass["output/nll_at_temperature"] = softCrossEntropy(wide / temperature, oneHot);
    const eval::Confidences softened = eval::confidencesOf(logits, labels, temperature);
    pass["output/ece_15_at_temperature"] =
        at::full({}, eval::calibrationError(eval::reliabilityBins(softened, 15), labels.size(0)),
                 at::kDouble);
  }
  pass["output/confidence"] = at::tensor(samples.confidence, at::kDouble);
  pass["output/top1"] =
      at::full({}, static_cast<double>(eval::topKCorrect(logits, labels, 1)) / count);
  pass["output/top5"] =
      at::full({}, static_cast<double>(eval::topKCorrect(logits, labels, 5)) / count);
  for (const Json& number : golden.settings().at("bins")) {
    const std::int64_t bins = number;
    const auto found = eval::reliabilityBins(samples, bins);
    std::vector<double> counts, accuracies, confidences, gaps;
    for (const eval::ReliabilityBin& bin : found) {
      counts.push_back(static_cast<double>(bin.count));
      accuracies.push_back(bin.accuracy);
      confidences.push_back(bin.confidence);
      gaps.push_back(bin.gapMidpoint());
    }
    const std::string suffix = "_" + std::to_string(bins);
    pass["output/bin_count" + suffix] = at::tensor(counts, at::kDouble);
    pass["output/bin_accuracy" + suffix] = at::tensor(accuracies, at::kDouble);
    pass["output/bin_confidence" + suffix] = at::tensor(confidences, at::kDouble);
    pass["output/gap_midpoint" + suffix] = at::tensor(gaps, at::kDouble);
    pass["output/ece" + suffix] =
        at::full({}, eval::calibrationError(found, labels.size(0)), at::kDouble);
  }
  return pass;
}

/// Ranks of every "input/attention_<kind>".
Tensors attentionRanks(const GoldenCase& golden) {
  const double threshold = golden.settings().at("threshold");
  Tensors pass;
  for (const auto& [name, matrices] : golden.io) {
    if (!name.starts_with("input/attention_")) continue;
    const std::string kind = name.substr(16);
    const eval::Spectrum spectrum = eval::spectrumOf(matrices);
    const at::Tensor ranks = eval::rankAt(spectrum.cumulative, threshold),
                     mean = spectrum.cumulative.mean(0);
    pass["output/singular_values_" + kind] = spectrum.values;
    pass["output/cumulative_" + kind] = spectrum.cumulative;
    pass["output/cumulative_mean_" + kind] = mean;
    pass["output/rank80_" + kind] = ranks;
    pass["output/rank80_of_mean_" + kind] = eval::rankAt(mean, threshold);
    pass["output/mean_of_rank80_" + kind] = ranks.to(at::kDouble).mean(0);
  }
  return pass;
}

/// Rows of "input/<name>" are a parameter at the start and after every step.
Tensors averagedRows(const GoldenCase& golden) {
  Tensors pass;
  for (const auto& [name, expected] : golden.io) {
    if (!name.starts_with("output/ema_")) continue;
    const std::size_t slash = name.rfind('/');
    const std::string rule = name.substr(11, slash - 11);
    const bool isWarming = rule.ends_with("_warmup");
    if (!isWarming && rule.find('_') != std::string::npos) continue;
    const at::Tensor& rows = golden.io.at("input/" + name.substr(slash + 1));
    const at::Tensor parameter = rows[0].clone();
    train::Ema ema({parameter}, std::stod(rule),
                   isWarming ? train::Ema::WarmUp::ByUpdates : train::Ema::WarmUp::None);
    std::vector<at::Tensor> averages{ema.average()[0].clone()};
    for (std::int64_t step = 1; step < rows.size(0); ++step) {
      parameter.copy_(rows[step]);
      ema.update(at::zeros({}), at::full({}, static_cast<double>(step)));
      averages.push_back(ema.average()[0].clone());
    }
    pass[name] = at::stack(averages);
  }
  return pass;
}

}  // namespace

std::optional<Tensors> runMeasureCase(const GoldenCase& golden) {
  const auto has = [&](const std::string& prefix) {
    const auto found = golden.io.lower_bound(prefix);
    return found != golden.io.end() && found->first.starts_with(prefix);
  };
  if (has("output/bin_count_")) return calibration(golden);
  if (has("output/rank80_of_mean_")) return attentionRanks(golden);
  if (has("output/ema_0") && has("output/running_mean/")) return averagedRows(golden);
  return std::nullopt;
}

}  // namespace vitrine::testing
