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

void addToConfusion(at::Tensor& counts, const at::Tensor& logits, const at::Tensor& labels) {
  check(logits, labels);
  const std::int64_t classes = logits.size(1);
  if (counts.dim() != 2 || counts.size(0) != classes || counts.size(1) != classes) {
    throw ShapeError("a confusion matrix for " + std::to_string(classes) +
                     " classes needs that many rows and columns");
  }
  const at::Tensor cells = labels * classes + logits.argmax(1);
  counts += at::bincount(cells, {}, classes * classes).view({classes, classes}).to(counts.device());
}

std::vector<double> classAccuracy(const at::Tensor& counts) {
  const at::Tensor all = counts.to(at::kCPU, at::kLong).contiguous();
  const std::int64_t classes = all.size(0);
  const auto* values = all.const_data_ptr<std::int64_t>();
  std::vector<double> out;
  for (std::int64_t row = 0; row < classes; ++row) {
    std::int64_t samples = 0;
    for (std::int64_t column = 0; column < classes; ++column)
      samples += values[row * classes + column];
    out.push_back(samples == 0 ? std::numeric_limits<double>::quiet_NaN()
                               : static_cast<double>(values[row * classes + row]) /
                                     static_cast<double>(samples));
  }
  return out;
}

}  // namespace vitrine::eval
