#include "core/eval/generation_metrics.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"

namespace vitrine::eval {

namespace {

at::Tensor rows(const at::Tensor& features, std::int64_t least) {
  if (features.dim() != 2 || features.size(0) < least) {
    throw ShapeError("features are [samples, width] of at least " + std::to_string(least) +
                     " samples, not " + c10::str(features.sizes()));
  }
  return features.detach().to(at::kCPU, at::kDouble);
}

/// Of one row to all of `to`. One at a time: those of all pairs would not fit into memory.
/// By differences: |a|^2 + |b|^2 - 2 ab would lose what decides a tie.
at::Tensor squaredDistances(const at::Tensor& from, std::int64_t row, const at::Tensor& to) {
  return (to - from.select(0, row)).square_().sum(1);
}

/// Share of `points` within a ball around any of `centres`.
double covered(const at::Tensor& points, const at::Tensor& centres, const at::Tensor& radii) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < points.size(0); ++i) {
    if ((squaredDistances(points, i, centres) <= radii).any().item<bool>()) ++count;
  }
  return static_cast<double>(count) / static_cast<double>(points.size(0));
}

}  // namespace

FeatureMoments momentsOf(const at::Tensor& features) {
  const at::Tensor x = rows(features, 2);
  const at::Tensor mean = x.mean(0), centred = x - mean;
  return {mean, centred.t().mm(centred) / static_cast<double>(x.size(0) - 1)};
}

double frechetDistance(const FeatureMoments& a, const FeatureMoments& b) {
  const auto [values, vectors] = at::linalg_eigh(a.covariance);
  const at::Tensor root = (vectors * values.clamp_min(0).sqrt()).mm(vectors.t());
  const at::Tensor product = root.mm(b.covariance).mm(root);
  const at::Tensor shared =
      at::linalg_eigvalsh((product + product.t()) / 2).clamp_min(0).sqrt().sum();
  return ((a.mean - b.mean).square().sum() + a.covariance.trace() + b.covariance.trace() -
          2 * shared)
      .item<double>();
}

double inceptionScore(const at::Tensor& logits, std::int64_t split) {
  const at::Tensor p = rows(logits, 1).softmax(1);
  const std::int64_t size = split > 0 ? split : p.size(0);
  double sum = 0;
  std::int64_t splits = 0;
  for (std::int64_t first = 0; first < p.size(0); first += size, ++splits) {
    const at::Tensor part = p.narrow(0, first, std::min(size, p.size(0) - first));
    const at::Tensor divergence =
        at::xlogy(part, part).sum(1) - at::xlogy(part, part.mean(0, true)).sum(1);
    sum += std::exp(divergence.mean().item<double>());
  }
  return sum / static_cast<double>(splits);
}

at::Tensor squaredRadii(const at::Tensor& features, std::int64_t k) {
  const at::Tensor x = rows(features, k + 1);
  at::Tensor radii = at::empty({x.size(0)}, at::kDouble);
  // The first of a row is the sample itself.
  for (std::int64_t i = 0; i < x.size(0); ++i)
    radii[i].copy_(std::get<0>(squaredDistances(x, i, x).kthvalue(k + 1)));
  return radii;
}

PrecisionRecall precisionRecall(const at::Tensor& real, const at::Tensor& generated,
                                std::int64_t k) {
  const at::Tensor a = rows(real, k + 1), b = rows(generated, k + 1);
  return {covered(b, a, squaredRadii(a, k)), covered(a, b, squaredRadii(b, k))};
}

}  // namespace vitrine::eval
