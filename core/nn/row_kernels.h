// The loops over rows that the fused layers are made of: norms, activations and their gradients,
// float32 on the CPU, by the calling thread alone.
#pragma once

#include <cstdint>

#include "core/nn/mlp.h"
#include "core/nn/norm.h"

namespace vitrine::nn {

/// out = norm(x + branch) of `rows` rows of `width` floats; `sum` receives x + branch. Without a
/// branch (null) `sum` is not touched. `means` (zero for RMS) and `scales` receive one value a row.
struct NormRows {
  const float* x = nullptr;
  const float* branch = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;  ///< LayerNorm only
  float* sum = nullptr;
  float* out = nullptr;
  float* means = nullptr;
  float* scales = nullptr;
};
void normRows(NormKind kind, float eps, std::int64_t rows, std::int64_t width, const NormRows& at);

/// Gradient of the norm's input; `through` (or null), the gradient that reaches it past the norm,
/// is added. Gradients of weight and bias are added to; RMS wants room for a bias' all the same.
struct NormGradients {
  const float* sum = nullptr;  ///< the norm's input
  const float* weight = nullptr;
  const float* means = nullptr;
  const float* scales = nullptr;
  const float* through = nullptr;
  const float* outGradient = nullptr;
  float* gradient = nullptr;
  float* weightGradient = nullptr;
  float* biasGradient = nullptr;
};
void normRowsBackward(NormKind kind, std::int64_t rows, std::int64_t width,
                      const NormGradients& at);

/// GELU and its slope. \pre kind is one of the two GELUs of `Gelu`
void geluRows(Gelu form, std::int64_t count, const float* x, float* out, float* slopes);

/// out = silu(gate) * up
void swiGluRows(std::int64_t count, const float* gate, const float* up, float* out);
void swiGluRowsBackward(std::int64_t count, const float* gate, const float* up,
                        const float* gradient, float* gateGradient, float* upGradient);

/// out = a * b
void multiplyRows(std::int64_t count, const float* a, const float* b, float* out);
/// sums[c] += sum over rows, `stride` apart, of x[r][c]
void addRows(std::int64_t rows, std::int64_t width, const float* x, std::int64_t stride,
             float* sums);
/// out = a + factor * b
void addScaledRows(std::int64_t count, const float* a, const float* b, float factor, float* out);

}  // namespace vitrine::nn
