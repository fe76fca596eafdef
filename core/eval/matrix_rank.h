// Ranks of matrices: singular values, the rank that holds most of their sum, effective and stable
// rank. After the rank analysis of Wang et al. 2024, arXiv:2404.06773, figures 4 and 11.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/artifact/artifact.h"
#include "core/base/json.h"
#include "core/engine_export.h"

namespace vitrine::eval {

/// Of a matrix A with singular values s, descending: c_k = (s_1 + ... + s_k) / sum s (not squared).
struct Spectrum {
  at::Tensor values;         ///< [images, heads, n] float64, descending; n = min(rows, columns)
  at::Tensor cumulative;     ///< [images, heads, n] float64: c_k; zero for a zero matrix
  at::Tensor effectiveRank;  ///< [images, heads] float64: exp of the entropy of s / sum s (Roy and
                             ///< Vetterli 2007); zero for a zero matrix
  at::Tensor stableRank;     ///< [images, heads] float64: sum s^2 / s_1^2; zero for a zero matrix
};

/// \param matrices  [images, heads, rows, columns], any floating dtype; decomposed in float64
/// \throws Error  a value is not finite
[[nodiscard]] VITRINE_ENGINE_EXPORT Spectrum spectrumOf(const at::Tensor& matrices);

/// First k, counted from 1, with c_k >= threshold; 0 where the curve never gets there (a zero
/// matrix). Curves that miss the threshold by rounding (1e-12) count as there.
/// \param cumulative  [..., n]
/// \returns           [...] int64
[[nodiscard]] VITRINE_ENGINE_EXPORT at::Tensor rankAt(const at::Tensor& cumulative,
                                                      double threshold);

/// One layer of a model: [images, heads, rows, columns].
struct LayerMatrices {
  std::int64_t layer = 0;
  at::Tensor matrices;
};

/// Results of an analysis about its matrices.
struct RankFindings {
  std::vector<std::pair<std::string, double>> scores;
  std::vector<Artifact> artifacts;
};
/// Scores: rank80 (of the mean curve over images), rank80_mean (mean of the images' ranks),
/// effective_rank, stable_rank, each as NAME/layerL/headH and, averaged over heads, NAME/layerL.
/// Artifacts, [layers, heads, singular values], means over images: "spectrum" and "cumulative".
/// Layers with as many heads share theirs.
/// \param analysis   item id that the artifacts are of
/// \param threshold  share of the sum that the rank holds: 0.8 for rank80
/// \param meta       of every artifact, next to its layers and the threshold
/// \throws Error  a value is not finite
[[nodiscard]] VITRINE_ENGINE_EXPORT RankFindings
rankFindings(const std::string& analysis, const std::vector<LayerMatrices>& layers,
             double threshold, const Json& meta);

}  // namespace vitrine::eval
