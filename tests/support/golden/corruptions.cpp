// Corruptions of images against reference cases, and what they cost.
#include "plugins/transforms/corruptions.h"

#include <ATen/ATen.h>

#include <numeric>
#include <span>
#include <vector>

#include "tests/support/golden/augment.h"

namespace vitrine::testing {

namespace {

/// The stored numbers of one corruption, one after another.
class Given {
 public:
  explicit Given(const at::Tensor& tensor)
      : values_(tensor.to(at::kDouble).flatten().contiguous()) {}
  double next() {
    if (at_ >= values_.numel()) throw Unmapped("the case gives fewer numbers than are used");
    return values_.const_data_ptr<double>()[at_++];
  }

 private:
  at::Tensor values_;
  std::int64_t at_ = 0;
};

at::Tensor corrupted(const GoldenCase& golden, const std::string& kind, int severity) {
  const auto input = [&](const std::string& name) { return golden.io.at("input/" + name); };
  const std::string level = std::to_string(severity);
  const auto angles = [&](const char* name) {
    return golden.settings().at(name).at(static_cast<std::size_t>(severity - 1)).get<double>();
  };
  std::vector<at::Tensor> used;
  if (kind == "gaussian_noise" || kind == "speckle_noise") used = {input("normal")};
  if (kind == "shot_noise") used = {input("shot_counts_" + level)};
  if (kind == "impulse_noise") used = {input("impulse_flip"), input("impulse_salt")};
  if (kind == "glass_blur") used = {input("glass_shifts_" + level)};
  if (kind == "snow") used = {input("snow_normal")};
  if (kind == "fog") used = {input("fog_uniform")};
  if (kind == "elastic_transform") used = {input("elastic_uniform")};
  for (at::Tensor& each : used) each = each.to(at::kDouble).flatten();
  Given given(used.empty() ? at::zeros({0}) : at::cat(used));
  std::int64_t reach = 0;  // of glass: the stored shifts are relative, ours begin at 0
  if (kind == "glass_blur") reach = -used[0].min().item<std::int64_t>();
  const transforms::CorruptionNumbers numbers{
      [&] { return given.next(); },
      [&](double low, double high) {
        if (kind == "motion_blur") return angles("motion_angle_degrees");
        if (kind == "snow") return angles("snow_angle_degrees");
        return low + (high - low) * given.next();
      },
      [&](std::int64_t) { return static_cast<std::int64_t>(given.next()) + reach; },
      [&](double) { return given.next(); }};
  at::Tensor image = input("image").clone(at::MemoryFormat::Contiguous);
  transforms::corrupt(
      {image.mutable_data_ptr<std::uint8_t>(), image.size(0), image.size(1), image.size(2)}, kind,
      severity, numbers);
  return image;
}

/// Top-1 errors in [0, 1] of one corruption, by severity (Hendrycks and Dietterich 2019,
/// arXiv:1903.12261, section 4).
using SeverityErrors = std::vector<double>;

double sumOf(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Sum of the model's errors over the sum of the baseline's, for each corruption, with the clean
/// error of each subtracted first.
std::vector<double> relativeCorruptionErrors(std::span<const SeverityErrors> model,
                                             double cleanModel,
                                             std::span<const SeverityErrors> baseline,
                                             double cleanBaseline) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < model.size(); ++i) {
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
  std::vector<double> ratios;
  for (std::size_t i = 0; i < model.size(); ++i)
    ratios.push_back(sumOf(model[i]) / static_cast<double>(model[i].size()) / meanErrors[i]);
  return ratios;
}

double meanCorruptionError(std::span<const double> errors) {
  return sumOf(errors) / static_cast<double>(errors.size());
}

std::vector<SeverityErrors> rowsOf(const at::Tensor& errors) {
  const at::Tensor values = errors.to(at::kDouble).contiguous();
  const auto* data = values.const_data_ptr<double>();
  std::vector<SeverityErrors> rows;
  for (std::int64_t i = 0; i < values.size(0); ++i)
    rows.emplace_back(data + i * values.size(1), data + (i + 1) * values.size(1));
  return rows;
}

at::Tensor number(double value) { return at::full({}, value, at::kDouble); }

Tensors costs(const GoldenCase& golden) {
  const auto model = rowsOf(golden.io.at("input/model_error"));
  const auto baseline = rowsOf(golden.io.at("input/baseline_error"));
  const Json& settings = golden.settings();
  const auto published = settings.at("alexnet_mean_error").get<std::vector<double>>();
  Tensors pass;
  const auto errors = corruptionErrors(model, baseline);
  pass["output/ce"] = at::tensor(errors, at::kDouble);
  pass["output/mce"] = number(meanCorruptionError(errors));
  pass["output/mce_of_baseline"] =
      number(meanCorruptionError(corruptionErrors(baseline, baseline)));
  const auto relative =
      relativeCorruptionErrors(model, settings.at("clean_error").at("model"), baseline,
                               settings.at("clean_error").at("baseline"));
  pass["output/relative_ce"] = at::tensor(relative, at::kDouble);
  pass["output/relative_mce"] = number(meanCorruptionError(relative));
  const auto over = corruptionErrorsOver(model, published);
  pass["output/ce_alexnet"] = at::tensor(over, at::kDouble);
  pass["output/mce_alexnet"] = number(meanCorruptionError(over));
  std::vector<double> means;
  for (const auto& row : model) means.push_back(meanCorruptionError(row));
  pass["output/mean_error"] = number(meanCorruptionError(means));
  pass["output/mean_accuracy"] = number(1 - meanCorruptionError(means));
  std::vector<double> groups;
  const std::span<const double> all(errors);
  for (const auto& [first, count] : {std::pair{0, 3}, {3, 4}, {7, 4}, {11, 4}}) {
    groups.push_back(meanCorruptionError(
        all.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count))));
  }
  pass["output/group_ce"] = at::tensor(groups, at::kDouble);
  const auto counted = rowsOf(golden.io.at("input/wrong_counts").to(at::kDouble) /
                              settings.at("images_for_counts").get<double>());
  pass["output/mce_from_counts"] = number(meanCorruptionError(corruptionErrors(counted, baseline)));
  return pass;
}

}  // namespace

bool isCorruptionCase(const GoldenCase& golden) {
  return golden.settings().contains("motion_angle_degrees") ||
         (golden.io.contains("input/baseline_error") && golden.io.contains("input/model_error"));
}

std::vector<Tensors> runCorruptionCase(const GoldenCase& golden) {
  if (golden.io.contains("input/baseline_error")) return {costs(golden)};
  Tensors pass;
  for (const std::string& kind : transforms::corruptionKinds()) {
    for (int severity = 1; severity <= 5; ++severity) {
      const std::string name = "output/" + kind + "_" + std::to_string(severity);
      if (golden.io.contains(name)) pass[name] = corrupted(golden, kind, severity);
    }
  }
  return {pass};
}

}  // namespace vitrine::testing
