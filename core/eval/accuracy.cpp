#include "core/eval/accuracy.h"

#include <ATen/ATen.h>

#include <limits>
#include <sstream>

#include "core/base/error.h"

namespace vitrine::eval {

namespace {

void check(const at::Tensor& logits, const at::Tensor& labels) {
  if (logits.dim() != 2 || labels.dim() != 1 || logits.size(0) != labels.size(0) ||
      labels.scalar_type() != at::kLong) {
    std::ostringstream text;
    text << "accuracy takes logits [samples, classes] and int64 labels [samples], got "
         << logits.sizes() << " and " << labels.sizes();
    throw ShapeError(text.str());
  }
}

}  // namespace

std::int64_t topKCorrect(const at::Tensor& logits, const at::Tensor& labels, std::int64_t k) {
  check(logits, labels);
  const at::Tensor label = labels.unsqueeze(1);
  const at::Tensor own = logits.gather(1, label);
  const at::Tensor classes = at::arange(logits.size(1), labels.options());
  const at::Tensor above = logits.le(own).logical_not();
  const at::Tensor before = logits.eq(own).logical_and(classes.lt(label));
  const at::Tensor isRight =
      above.logical_or(before).sum(1).lt(k).logical_and(own.squeeze(1).isnan().logical_not());
  return isRight.sum().item<std::int64_t>();
}

ClassCounts::ClassCounts(std::int64_t classes)
    : samples_(static_cast<std::size_t>(classes)), correct_(samples_.size()) {
  if (classes <= kMostMatrixClasses) matrix_.resize(samples_.size() * samples_.size());
}

void ClassCounts::add(const at::Tensor& logits, const at::Tensor& labels) {
  check(logits, labels);
  const auto classes = static_cast<std::int64_t>(samples_.size());
  if (logits.size(1) != classes) {
    throw ShapeError("counts of " + std::to_string(classes) + " classes take no logits of " +
                     std::to_string(logits.size(1)));
  }
  const at::Tensor predictions = logits.argmax(1).to(at::kCPU).contiguous();
  const at::Tensor truths = labels.to(at::kCPU).contiguous();
  const auto* predicted = predictions.const_data_ptr<std::int64_t>();
  const auto* truth = truths.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < truths.numel(); ++i) {
    if (truth[i] < 0 || truth[i] >= classes) {
      throw ShapeError("label " + std::to_string(truth[i]) + " is not one of the " +
                       std::to_string(classes) + " classes");
    }
    const auto row = static_cast<std::size_t>(truth[i]);
    ++samples_[row];
    if (predicted[i] == truth[i]) ++correct_[row];
    if (!matrix_.empty()) ++matrix_[row * samples_.size() + static_cast<std::size_t>(predicted[i])];
  }
}

std::vector<double> ClassCounts::accuracy() const {
  std::vector<double> out;
  out.reserve(samples_.size());
  for (std::size_t c = 0; c < samples_.size(); ++c) {
    out.push_back(samples_[c] == 0
                      ? std::numeric_limits<double>::quiet_NaN()
                      : static_cast<double>(correct_[c]) / static_cast<double>(samples_[c]));
  }
  return out;
}

}  // namespace vitrine::eval
