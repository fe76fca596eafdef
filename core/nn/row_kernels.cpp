#include "core/nn/row_kernels.h"

#include <cmath>

#include "core/kernels/vector_clones.h"
#include "core/nn/fast_exp.h"

namespace vitrine::nn {

namespace {

inline float sumOf(const float* lanes) {
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += lanes[i];
  return sum;
}

VITRINE_VECTOR_CLONES
void normalise(bool isRms, float eps, std::int64_t rows, std::int64_t width, const NormRows& at) {
  const std::int64_t whole = width / 16 * 16;
  const float inverse = 1 / static_cast<float>(width);
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* s = at.x + r * width;
    float* y = at.out + r * width;
    if (at.branch != nullptr) {
      const float *a = s, *b = at.branch + r * width;
      float* sum = at.sum + r * width;
      for (std::int64_t c = 0; c < width; ++c) sum[c] = a[c] + b[c];
      s = sum;
    }
    float lanes[16] = {};
    for (std::int64_t c = 0; c < whole; c += 16) {
      for (int i = 0; i < 16; ++i) lanes[i] += s[c + i];
    }
    float total = sumOf(lanes);
    for (std::int64_t c = whole; c < width; ++c) total += s[c];
    const float mean = isRms ? 0 : total * inverse;
    float squares[16] = {};
    for (std::int64_t c = 0; c < whole; c += 16) {
      for (int i = 0; i < 16; ++i) {
        const float d = s[c + i] - mean;
        squares[i] += d * d;
      }
    }
    float square = sumOf(squares);
    for (std::int64_t c = whole; c < width; ++c) square += (s[c] - mean) * (s[c] - mean);
    const float scale = 1 / std::sqrt(square * inverse + eps);
    if (isRms) {
      for (std::int64_t c = 0; c < width; ++c) y[c] = s[c] * scale * at.weight[c];
    } else {
      for (std::int64_t c = 0; c < width; ++c)
        y[c] = (s[c] - mean) * scale * at.weight[c] + at.bias[c];
    }
    at.means[r] = mean;
    at.scales[r] = scale;
  }
}

VITRINE_VECTOR_CLONES
void normaliseBackward(bool isRms, std::int64_t rows, std::int64_t width, const NormGradients& at) {
  const std::int64_t whole = width / 16 * 16;
  const float inverse = 1 / static_cast<float>(width);
  const float* weight = at.weight;
  float *weightGradient = at.weightGradient, *biasGradient = at.biasGradient;
  for (std::int64_t r = 0; r < rows; ++r) {
    const float *s = at.sum + r * width, *g = at.outGradient + r * width;
    float* d = at.gradient + r * width;
    const float mean = at.means[r], scale = at.scales[r];
    float plain[16] = {}, along[16] = {};
    for (std::int64_t c = 0; c < whole; c += 16) {
      for (int i = 0; i < 16; ++i) {
        const float unit = (s[c + i] - mean) * scale, weighted = g[c + i] * weight[c + i];
        plain[i] += weighted;
        along[i] += weighted * unit;
        weightGradient[c + i] += g[c + i] * unit;
        biasGradient[c + i] += g[c + i];
      }
    }
    float plainSum = sumOf(plain), alongSum = sumOf(along);
    for (std::int64_t c = whole; c < width; ++c) {
      const float unit = (s[c] - mean) * scale, weighted = g[c] * weight[c];
      plainSum += weighted;
      alongSum += weighted * unit;
      weightGradient[c] += g[c] * unit;
      biasGradient[c] += g[c];
    }
    const float shift = isRms ? 0 : plainSum * inverse, tilt = alongSum * inverse;
    const float* through = at.through == nullptr ? nullptr : at.through + r * width;
    for (std::int64_t c = 0; c < width; ++c) {
      const float unit = (s[c] - mean) * scale;
      const float own = (g[c] * weight[c] - shift - unit * tilt) * scale;
      d[c] = through == nullptr ? own : own + through[c];
    }
  }
}

VITRINE_VECTOR_CLONES
void geluTanh(std::int64_t count, const float* x, float* out, float* slopes) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float v = x[i];
    const float u = 1.59576912F * (v + 0.044715F * v * v * v);  // twice the argument of tanh
    const float e = expNegative(u < 0 ? u : -u);
    const float s = (u < 0 ? e : 1.0F) / (1.0F + e);  // (1 + tanh(u / 2)) / 2
    out[i] = v * s;
    slopes[i] = s + v * s * (1.0F - s) * 1.59576912F * (1.0F + 0.134145F * v * v);
  }
}

/// With the error function of Abramowitz & Stegun 7.1.26, absolute error 1.5e-7.
VITRINE_VECTOR_CLONES
void geluErf(std::int64_t count, const float* x, float* out, float* slopes) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float v = x[i];
    const float z = (v < 0 ? -v : v) * 0.707106781F;
    const float e = expNegative(-z * z);
    const float t = 1.0F / (1.0F + 0.3275911F * z);
    const float tail =
        0.5F * e * t *
        (0.254829592F +
         t * (-0.284496736F + t * (1.421413741F + t * (-1.453152027F + t * 1.061405429F))));
    const float below = v < 0 ? tail : 1.0F - tail;  // the normal distribution function
    out[i] = v * below;
    slopes[i] = below + v * e * 0.398942280F;
  }
}

VITRINE_VECTOR_CLONES
void product(std::int64_t count, const float* a, const float* b, float* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = a[i] * b[i];
}

inline float sigmoid(float v) {
  const float e = expNegative(v < 0 ? v : -v);
  return (v < 0 ? e : 1.0F) / (1.0F + e);
}

VITRINE_VECTOR_CLONES
void swiGluForward(std::int64_t count, const float* gate, const float* up, float* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = gate[i] * sigmoid(gate[i]) * up[i];
}

VITRINE_VECTOR_CLONES
void swiGluBackward(std::int64_t count, const float* gate, const float* up, const float* gradient,
                    float* gateGradient, float* upGradient) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float v = gate[i], s = sigmoid(v), g = gradient[i];
    gateGradient[i] = g * up[i] * (s + v * s * (1.0F - s));
    upGradient[i] = g * v * s;
  }
}

VITRINE_VECTOR_CLONES
void columnSums(std::int64_t rows, std::int64_t width, const float* x, std::int64_t stride,
                float* sums) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* row = x + r * stride;
    for (std::int64_t c = 0; c < width; ++c) sums[c] += row[c];
  }
}

VITRINE_VECTOR_CLONES
void scaledSum(std::int64_t count, const float* a, const float* b, float factor, float* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = a[i] + factor * b[i];
}

}  // namespace

void normRows(NormKind kind, float eps, std::int64_t rows, std::int64_t width, const NormRows& at) {
  normalise(kind == NormKind::Rms, eps, rows, width, at);
}
void normRowsBackward(NormKind kind, std::int64_t rows, std::int64_t width,
                      const NormGradients& at) {
  normaliseBackward(kind == NormKind::Rms, rows, width, at);
}
void geluRows(Gelu form, std::int64_t count, const float* x, float* out, float* slopes) {
  (form == Gelu::Tanh ? geluTanh : geluErf)(count, x, out, slopes);
}
void swiGluRows(std::int64_t count, const float* gate, const float* up, float* out) {
  swiGluForward(count, gate, up, out);
}
void swiGluRowsBackward(std::int64_t count, const float* gate, const float* up,
                        const float* gradient, float* gateGradient, float* upGradient) {
  swiGluBackward(count, gate, up, gradient, gateGradient, upGradient);
}
void multiplyRows(std::int64_t count, const float* a, const float* b, float* out) {
  product(count, a, b, out);
}
void addRows(std::int64_t rows, std::int64_t width, const float* x, std::int64_t stride,
             float* sums) {
  columnSums(rows, width, x, stride, sums);
}
void addScaledRows(std::int64_t count, const float* a, const float* b, float factor, float* out) {
  scaledSum(count, a, b, factor, out);
}

}  // namespace vitrine::nn
