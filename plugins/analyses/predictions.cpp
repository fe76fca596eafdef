#include "plugins/analyses/predictions.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/artifact/predictions.h"

namespace vitrine::analyses {

namespace {

constexpr std::int64_t kLargestFloatInteger = std::int64_t{1} << 24;  // exact in float32

/// 1 / T in quarter octaves, 1 among them; squared probabilities at T need the sum at T / 2.
std::vector<double> inverseTemperatures() {
  std::vector<double> inverse;
  for (int quarter = -10; quarter <= 14; ++quarter) inverse.push_back(std::exp2(quarter / 4.0));
  return inverse;
}

/// Of each row: the logit of the label, log of the sums of exp(b (z - largest z)) for each b, the
/// top classes, their logits.
at::Tensor summaryOf(const at::Tensor& logits, const at::Tensor& labels) {
  const at::Tensor exact = logits.to(at::kDouble);
  const auto [top, which] =
      exact.topk(std::min(PredictionRows::kTopClasses, exact.size(1)), 1, true, true);
  const at::Tensor below = exact - top.narrow(1, 0, 1);
  std::vector<at::Tensor> columns{exact.gather(1, labels.unsqueeze(1))};
  for (const double inverse : inverseTemperatures())
    columns.push_back((below * inverse).exp().sum(1, true).log());
  columns.push_back(which.to(at::kDouble));
  columns.push_back(top);
  return at::cat(columns, 1).to(at::kFloat).contiguous();
}

}  // namespace

std::int64_t PredictionRows::bytes() const {
  return static_cast<std::int64_t>(ids_.size()) * (width_ + 2) *
         static_cast<std::int64_t>(sizeof(float));
}

void PredictionRows::append(const std::vector<std::int64_t>& ids, const at::Tensor& logits,
                            const at::Tensor& labels) {
  if (isTooLarge_) return;
  at::Tensor rows = logits.detach().to(at::kCPU, at::kFloat).contiguous();
  const at::Tensor right = labels.to(at::kCPU, at::kLong).contiguous();
  if (classes_ == 0) classes_ = width_ = rows.size(1);
  const std::int64_t samples = rows.size(0);
  for (std::int64_t i = 0; i < samples; ++i)
    ids_.push_back(i < std::ssize(ids) ? ids[static_cast<std::size_t>(i)] : -1);
  const auto* answers = right.const_data_ptr<std::int64_t>();
  labels_.insert(labels_.end(), answers, answers + samples);
  if (form_ == Form::Top) rows = summaryOf(rows, right);
  const auto* values = rows.const_data_ptr<float>();
  values_.insert(values_.end(), values, values + rows.numel());
  if (bytes() <= largestBytes_) return;
  if (form_ == Form::Logits) {
    const auto total = std::ssize(labels_);
    const at::Tensor all = at::from_blob(values_.data(), {total, classes_}, at::kFloat);
    const at::Tensor summary = summaryOf(all, at::from_blob(labels_.data(), {total}, at::kLong));
    form_ = Form::Top;
    width_ = summary.size(1);
    const auto* kept = summary.const_data_ptr<float>();
    values_.assign(kept, kept + summary.numel());
  }
  if (bytes() > largestBytes_) {
    isTooLarge_ = true;
    ids_ = {};
    labels_ = {};
    values_ = {};
  }
}

bool PredictionRows::isLeftOut() const { return ids_.empty(); }

Artifact PredictionRows::artifact(const std::vector<std::string>& classes) const {
  Artifact artifact{"calibration", "predictions", artifact_kind::kPredictions};
  const auto samples = std::ssize(ids_);
  const auto fill = [&](auto& rows) {
    rows.reserve(static_cast<std::size_t>(samples * (width_ + 2)));
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      using Value = typename std::decay_t<decltype(rows)>::value_type;
      rows.push_back(static_cast<Value>(ids_[i]));
      rows.push_back(static_cast<Value>(labels_[i]));
      const auto first = values_.begin() + static_cast<std::ptrdiff_t>(i) * width_;
      rows.insert(rows.end(), first, first + width_);
    }
  };
  const std::vector<std::int64_t> shape{samples, width_ + 2};
  const bool isLarge = std::any_of(ids_.begin(), ids_.end(),
                                   [](std::int64_t id) { return id > kLargestFloatInteger; });
  if (isLarge) {
    std::vector<double> rows;
    fill(rows);
    setFloat64(artifact, rows, shape, {"sample", "column"});
  } else {
    std::vector<float> rows;
    fill(rows);
    setFloat32(artifact, rows, shape, {"sample", "column"});
  }
  artifact.meta["classes"] = classes_;
  if (std::ssize(classes) == classes_) artifact.meta["class_names"] = classes;
  artifact.meta["samples"] = samples;
  if (form_ == Form::Logits) {
    artifact.meta["form"] = predictions_form::kLogits;
    artifact.meta["columns"] = {"sample id", "label", "logits of all classes"};
  } else {
    artifact.meta["form"] = predictions_form::kTop;
    artifact.meta["top"] = std::min(kTopClasses, classes_);
    artifact.meta["inverse_temperatures"] = inverseTemperatures();
    artifact.meta["columns"] = {"sample id",
                                "label",
                                "logit of the label",
                                "log of the sum of exp(b (logit - largest logit)), for each b of "
                                "inverse_temperatures",
                                "top classes",
                                "logits of the top classes"};
  }
  return artifact;
}

}  // namespace vitrine::analyses
