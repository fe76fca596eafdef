// Kinds of norm, nonlinearity, MLP and rotary pairs, shared by layers and their kernels.
#pragma once

namespace vitrine::kernels {

enum class NormKind {
  Layer,  ///< (x - mean) / sqrt(variance + eps) * weight + bias      Ba et al. 2016
  Rms,    ///< x / sqrt(mean(x^2) + eps) * weight                     Zhang & Sennrich 2019
};

enum class Gelu { Erf, Tanh };

enum class MlpKind {
  GeluErf,   ///< fc2(gelu(fc1(x))), exact
  GeluTanh,  ///< fc2(gelu(fc1(x))), tanh approximation
  SwiGlu,    ///< fc2(silu(fc1(x)) * fc3(x))
};

/// Channels of a rotary pair.
enum class RopePairs {
  Interleaved,  ///< (2m, 2m + 1)
  HalfSplit,    ///< (m, m + pairs)
};

}  // namespace vitrine::kernels
