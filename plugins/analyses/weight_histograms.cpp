#include "plugins/analyses/weight_histograms.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/item_card.h"
#include "core/plugin/loss_mean.h"
#include "core/plugin/task.h"
#include "plugins/analyses/analyses.h"

namespace vitrine::analyses {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// A bound in float32 is a little off its decimal number and belongs to its bin all the same.
constexpr double kRounding = 1 + 1e-6;

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

/// Live parameters of the trained networks.
std::vector<NamedTensor> parametersOf(TaskSession& session) {
  std::vector<NamedTensor> found;
  for (const Network& network : session.networks()) {
    if (network.role != Network::Role::Trained) continue;
    const std::string prefix = network.name.empty() ? "" : network.name + ".";
    for (const auto& item : network.module->named_parameters())
      found.push_back({prefix + item.key(), item.value()});
  }
  return found;
}

/// Copies on the CPU, which the training does not change any more.
std::vector<NamedTensor> copied(const std::vector<NamedTensor>& tensors) {
  std::vector<NamedTensor> copies;
  for (const auto& [name, tensor] : tensors) {
    copies.push_back(
        {name, tensor.detach().to(at::kCPU, tensor.scalar_type(), /*non_blocking=*/false,
                                  /*copy=*/true)});
  }
  return copies;
}

/// Gradients of the mean loss of the batch, without those that it does not depend on. The
/// parameters' own gradients stay as they are.
/// \throws ConfigError  there are none: why
std::vector<NamedTensor> gradientsOf(const std::vector<NamedTensor>& parameters,
                                     ProbeContext& context) {
  std::vector<NamedTensor> trained;
  std::vector<at::Tensor> inputs;
  for (const NamedTensor& each : parameters) {
    if (!each.tensor.requires_grad()) continue;
    trained.push_back(each);
    inputs.push_back(each.tensor);
  }
  if (trained.empty()) throw ConfigError("all parameters are frozen");
  const at::AutoGradMode withGradient(true);
  StepContext step{context.position, context.generator, inputs.front().device()};
  at::Tensor loss;
  for (const LossPart& part : context.session.loss(step, context.batch)) {
    const at::Tensor mean = meanOf(part, context.batch.size()) * part.weight;
    loss = loss.defined() ? loss + mean : mean;
  }
  if (!loss.defined() || !loss.requires_grad())
    throw ConfigError("the task has no loss that depends on the parameters");
  const std::vector<at::Tensor> gradients =
      torch::autograd::grad({loss}, inputs, {}, std::nullopt, false, /*allow_unused=*/true);
  std::vector<NamedTensor> found;
  for (std::size_t i = 0; i < trained.size(); ++i)
    if (gradients[i].defined()) found.push_back({trained[i].name, gradients[i]});
  return found;
}

at::Tensor valuesOf(const at::Tensor& tensor) {
  return tensor.detach().to(at::kCPU, at::kDouble).contiguous();
}

Json finiteOrNull(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

double shareOf(std::int64_t count, std::int64_t values) {
  return values > 0 ? static_cast<double>(count) / static_cast<double>(values) : kNaN;
}

Json summaryRow(const NamedTensor& tensor, const ValueSummary& summary) {
  std::string shape;
  for (const std::int64_t side : tensor.tensor.sizes())
    shape += (shape.empty() ? "" : " x ") + std::to_string(side);
  return {tensor.name,
          shape,
          summary.values,
          finiteOrNull(summary.lowest),
          finiteOrNull(summary.highest),
          finiteOrNull(summary.mean),
          finiteOrNull(summary.deviation),
          finiteOrNull(summary.norm),
          finiteOrNull(shareOf(summary.zeros, summary.values)),
          finiteOrNull(shareOf(summary.nonFinite, summary.values))};
}

/// Labels of columns: of a bin the bound that is closer to zero.
Json labelsOf(const std::vector<double>& bounds) {
  Json labels = Json::array();
  for (auto bound = bounds.rbegin(); bound != bounds.rend(); ++bound)
    labels.push_back("-" + formatReal(*bound, 3));
  labels.push_back("0");
  for (const double bound : bounds) labels.push_back(formatReal(bound, 3));
  return labels;
}

/// Matrix, table and scores of weights or gradients.
/// \param what  "weight" or "gradient"
void describe(const std::vector<NamedTensor>& tensors, const std::string& what, const Json& meta,
              Analysis::Findings& findings) {
  Json names = Json::array(), rows = Json::array();
  std::int64_t values = 0, zeros = 0;
  double largest = 0, norm = 0;
  for (const NamedTensor& each : tensors) {
    const ValueSummary summary = summaryOf(each.tensor);
    values += summary.values;
    zeros += summary.zeros;
    norm = std::max(norm, summary.norm);
    // NaN is never larger.
    for (const double end : {-summary.lowest, summary.highest})
      if (end > largest) largest = end;
    names.push_back(each.name);
    rows.push_back(summaryRow(each, summary));
  }
  const SignedBins bins(largest);
  std::vector<float> shares;
  for (const NamedTensor& each : tensors) {
    for (const std::int64_t count : bins.countsOf(each.tensor))
      shares.push_back(static_cast<float>(count) /
                       static_cast<float>(std::max<std::int64_t>(1, each.tensor.numel())));
  }
  Artifact matrix{.name = what + "s", .kind = artifact_kind::kMatrix};
  matrix.meta = meta;
  setFloat32(matrix, shares, {std::ssize(tensors), SignedBins::kCount}, {"parameter", "bin"});
  matrix.meta["title"] = what == "weight" ? "Weights" : "Gradients";
  matrix.meta["row_labels"] = std::move(names);
  matrix.meta["column_labels"] = labelsOf(bins.bounds);
  matrix.meta["column_title"] = what + ", each bin by its bound next to zero";
  matrix.meta["bounds"] = bins.bounds;
  matrix.meta["unit"] = "share of the parameter's values";
  Artifact table{.name = what + " summary", .kind = artifact_kind::kTable};
  table.meta = meta;
  setJson(table, {{"columns",
                   {"parameter", "shape", "values", "lowest", "highest", "mean", "deviation",
                    "norm", "share of zeros", "share not finite"}},
                  {"rows", std::move(rows)}});
  for (Artifact* artifact : {&matrix, &table}) {
    artifact->analysis = "weight_histograms";
    findings.artifacts.push_back(std::move(*artifact));
  }
  findings.scores.emplace_back("largest_" + what + "_norm", norm);
  if (values > 0) findings.scores.emplace_back(what + "_zeros", shareOf(zeros, values));
}

}  // namespace

ValueSummary summaryOf(const at::Tensor& tensor) {
  const at::Tensor dense = valuesOf(tensor);
  const double* const data = dense.const_data_ptr<double>();
  ValueSummary summary{.values = dense.numel()};
  double scale = 0, sum = 0;  // squares of what is divided by the scale do not overflow
  std::int64_t finite = 0;
  for (std::int64_t i = 0; i < summary.values; ++i) {
    const double value = data[i];
    if (!std::isfinite(value)) continue;
    summary.lowest = finite == 0 ? value : std::min(summary.lowest, value);
    summary.highest = finite == 0 ? value : std::max(summary.highest, value);
    scale = std::max(scale, std::abs(value));
    ++finite;
    summary.zeros += value == 0 ? 1 : 0;
  }
  summary.nonFinite = summary.values - finite;
  if (finite == 0) {
    summary.lowest = summary.highest = summary.mean = summary.deviation = kNaN;
    return summary;
  }
  if (scale == 0) return summary;
  const auto count = static_cast<double>(finite);
  double squares = 0, distances = 0;
  for (std::int64_t i = 0; i < summary.values; ++i) {
    if (!std::isfinite(data[i])) continue;
    const double value = data[i] / scale;
    sum += value;
    squares += value * value;
  }
  const double mean = sum / count;
  for (std::int64_t i = 0; i < summary.values; ++i) {
    if (!std::isfinite(data[i])) continue;
    const double distance = data[i] / scale - mean;
    distances += distance * distance;
  }
  summary.mean = scale * mean;
  summary.deviation = scale * std::sqrt(distances / count);
  summary.norm = scale * std::sqrt(squares);
  return summary;
}

SignedBins::SignedBins(double largest) {
  constexpr int kDecades = 5;
  static_assert(3 * kDecades == kBounds);
  const int top = largest > 0 ? static_cast<int>(std::floor(std::log10(largest))) + 1 : 1;
  for (int decade = std::max(top, -300) - kDecades; std::ssize(bounds) < kBounds; ++decade) {
    for (const double step : {1.0, 2.0, 5.0})
      bounds.push_back(decade < 0 ? step / std::pow(10.0, -decade) : step * std::pow(10.0, decade));
  }
}

std::vector<std::int64_t> SignedBins::countsOf(const at::Tensor& tensor) const {
  const at::Tensor dense = valuesOf(tensor);
  const double* const data = dense.const_data_ptr<double>();
  std::vector<std::int64_t> counts(static_cast<std::size_t>(kCount));
  for (std::int64_t i = 0; i < dense.numel(); ++i) {
    if (!std::isfinite(data[i])) continue;
    const std::int64_t reached =
        std::upper_bound(bounds.begin(), bounds.end(), std::abs(data[i]) * kRounding) -
        bounds.begin();
    ++counts[static_cast<std::size_t>(kBounds + (data[i] < 0 ? -reached : reached))];
  }
  return counts;
}

namespace {

class WeightHistograms final : public Analysis {
 public:
  ItemCard card() const override {
    ItemCard card =
        itemCard(ItemKind::Analysis, "weight_histograms", "Weights and gradients",
                 "Histogram, mean, deviation and norm of each parameter and of its gradient");
    card.schema.fields =
        runOnly({choiceField("split", "train", {"train", "validation", "test"},
                             "split of the batch that the gradients are taken of")
                     .titled("Split"),
                 integerField("batch", 32, "samples of that batch; 0 leaves the gradients out")
                     .titled("Batch")
                     .range(0, 4096)
                     .withUnit("samples")});
    return card;
  }
  Kind kind() const noexcept override { return Kind::Probe; }

  ProbeSamples probeSamples(const Config& config) const override {
    // One sample is the least that a session reads.
    return {std::max<std::int64_t>(1, config.integer("batch")),
            {},
            splitFromString(config.text("split"))};
  }

  std::function<Findings()> probe(const Config& config, ProbeContext& context) const override {
    const std::vector<NamedTensor> live = parametersOf(context.session);
    std::vector<NamedTensor> gradients;
    Json ofWeights = Json::object();
    Json ofGradients{{"split", config.text("split")}, {"sample_ids", context.batch.sampleIds}};
    try {
      if (config.integer("batch") == 0) throw ConfigError("batch is 0");
      gradients = copied(gradientsOf(live, context));
    } catch (const ConfigError& error) {
      ofWeights["gradients"] = std::string("left out: ") + error.what();
    }
    return [weights = copied(live), gradients = std::move(gradients),
            ofWeights = std::move(ofWeights), ofGradients = std::move(ofGradients)] {
      Findings findings;
      describe(weights, "weight", ofWeights, findings);
      if (!gradients.empty()) describe(gradients, "gradient", ofGradients, findings);
      return findings;
    };
  }
};

}  // namespace

std::unique_ptr<Analysis> makeWeightHistograms() { return std::make_unique<WeightHistograms>(); }

}  // namespace vitrine::analyses
