// Distances between generated and real images, by a network's features of both. Definitions of the
// evaluator of Dhariwal & Nichol 2021 (arXiv:2105.05233); the features decide what a number means,
// so it is reported with their network.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/engine_export.h"

namespace vitrine::eval {

/// Mean and covariance of features, float64.
struct FeatureMoments {
  at::Tensor mean;        ///< [width]
  at::Tensor covariance;  ///< [width, width], divisor samples - 1
};
/// \param features  [samples, width], any floating type
/// \throws ShapeError  another shape, or fewer than 2 samples
[[nodiscard]] VITRINE_ENGINE_EXPORT FeatureMoments momentsOf(const at::Tensor& features);

/// Distance of two normal distributions (Heusel et al. 2017, arXiv:1706.08500):
///
///     |m1 - m2|^2 + tr(C1) + tr(C2) - 2 tr sqrt(C1 C2)
///
/// The root comes from the eigenvalues of sqrt(C1) C2 sqrt(C1); singular covariances work, too.
[[nodiscard]] VITRINE_ENGINE_EXPORT double frechetDistance(const FeatureMoments& a,
                                                           const FeatureMoments& b);

/// exp of the mean over samples of KL(p(y | x) || p(y)) (Salimans et al. 2016, arXiv:1606.03498).
/// p(y) is that of each split of `split` samples in order; the result is the mean over the splits.
/// \param logits  [samples, classes]
/// \param split   0: one split of all
[[nodiscard]] VITRINE_ENGINE_EXPORT double inceptionScore(const at::Tensor& logits,
                                                          std::int64_t split = 0);

/// Squared distance of each sample to its k-th nearest other one, [samples] float64.
/// \throws ShapeError  there are not more than k samples
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor squaredRadii(const at::Tensor& features,
                                                            std::int64_t k);

/// Kynkaanniemi et al. 2019, arXiv:1904.06991.
struct PrecisionRecall {
  double precision = 0;  ///< share of the generated within a ball of the real ones
  double recall = 0;     ///< share of the real ones within a ball of the generated
};
/// \param real, generated  features, [samples, width]
/// \param k                the ball of a sample reaches to its k-th nearest neighbour
/// \throws ShapeError  there are not more than k samples
[[nodiscard]] VITRINE_ENGINE_EXPORT PrecisionRecall precisionRecall(const at::Tensor& real,
                                                                    const at::Tensor& generated,
                                                                    std::int64_t k = 3);

}  // namespace vitrine::eval
