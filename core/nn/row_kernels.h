// The loops over rows that the fused layers are made of: norms, activations and their gradients,
// float32 on the CPU, by the calling thread alone, with the vectors of cpuPath().
#pragma once

#include <cstdint>

#include "core/kernels/cpu/kernels.h"
#include "core/nn/mlp.h"
#include "core/nn/norm.h"

namespace vitrine::nn {

using cpu::NormGradients;
using cpu::NormRows;

void normRows(NormKind kind, float eps, std::int64_t rows, std::int64_t width, const NormRows& at);

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
