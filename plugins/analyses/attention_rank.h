// How many directions a layer's attention uses: singular values, the rank that holds 80 % of them,
// effective and stable rank. After the rank analysis of iLLaMA (Wang et al. 2024, arXiv:2404.06773,
// figures 4 and 11).
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "core/plugin/registry.h"

namespace vitrine::analyses {

/// Of a matrix A with singular values s, descending: c_k = (s_1 + ... + s_k) / sum s (not squared).
struct Spectrum {
  at::Tensor values;         ///< [images, heads, n] float64, descending; n = min(queries, keys)
  at::Tensor cumulative;     ///< [images, heads, n] float64: c_k; zero for a zero matrix
  at::Tensor effectiveRank;  ///< [images, heads] float64: exp of the entropy of s / sum s (Roy and
                             ///< Vetterli 2007)
  at::Tensor stableRank;     ///< [images, heads] float64: sum s^2 / s_1^2
};

/// \param attention  [images, heads, queries, keys], any floating dtype; decomposed in float64
/// \throws Error  a value is not finite
[[nodiscard]] Spectrum spectrumOf(const at::Tensor& attention);

/// First k, counted from 1, with c_k >= threshold; 0 where the curve never gets there (a zero
/// matrix). Curves that miss the threshold by rounding (1e-12) count as there. \param cumulative
/// [..., n] \returns           [...] int64
[[nodiscard]] at::Tensor rankAt(const at::Tensor& cumulative, double threshold);

class AttentionRank final : public Analysis {
 public:
  [[nodiscard]] ItemCard card() const override;
  [[nodiscard]] Kind kind() const noexcept override { return Kind::Probe; }
  [[nodiscard]] ProbeSamples probeSamples(const Config& config) const override;
  /// Scores: rank80 (of the mean curve over images), rank80_mean (mean of the images' ranks),
  /// effective_rank, stable_rank, each as NAME/layerL/headH and, averaged over heads, NAME/layerL.
  [[nodiscard]] std::function<Findings()> probe(const Config& config,
                                                ProbeContext& context) const override;
};

}  // namespace vitrine::analyses
