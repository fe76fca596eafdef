#include "core/eval/corruption_error.h"

#include <numeric>
#include <string>

#include "core/base/error.h"

namespace vitrine::eval {

namespace {

double sumOf(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

void requireSame(std::size_t one, std::size_t other, const std::string& what) {
  if (one == other && one > 0) return;
  throw ShapeError("errors of " + std::to_string(one) + " and " + std::to_string(other) + " " +
                   what + " cannot be compared; measure both models alike");
}

}  // namespace

std::vector<double> relativeCorruptionErrors(std::span<const SeverityErrors> model,
                                             double cleanModel,
                                             std::span<const SeverityErrors> baseline,
                                             double cleanBaseline) {
  requireSame(model.size(), baseline.size(), "corruptions");
  std::vector<double> ratios;
  for (std::size_t i = 0; i < model.size(); ++i) {
    requireSame(model[i].size(), baseline[i].size(), "severities");
    const double count = static_cast<double>(model[i].size());
    ratios.push_back((sumOf(model[i]) - count * cleanModel) /
                     (sumOf(baseline[i]) - count * cleanBaseline));
  }
  return ratios;
}

std::vector<double> corruptionErrors(std::span<const SeverityErrors> model,
                                     std::span<const SeverityErrors> baseline) {
  return relativeCorruptionErrors(model, 0, baseline, 0);
}

std::vector<double> corruptionErrorsOver(std::span<const SeverityErrors> model,
                                         std::span<const double> meanErrors) {
  requireSame(model.size(), meanErrors.size(), "corruptions");
  std::vector<double> ratios;
  for (std::size_t i = 0; i < model.size(); ++i)
    ratios.push_back(sumOf(model[i]) / static_cast<double>(model[i].size()) / meanErrors[i]);
  return ratios;
}

double meanCorruptionError(std::span<const double> errors) {
  return sumOf(errors) / static_cast<double>(errors.size());
}

}  // namespace vitrine::eval
