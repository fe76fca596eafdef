// Norms and nonlinearities, row by row.
#pragma once

#include "core/kernels/cpu/kernels.h"
#include "core/kernels/cpu/vectors.h"

namespace vitrine::cpu {
namespace {

void normRows(bool isRms, float eps, std::int64_t rows, std::int64_t width, const NormRows& at) {
  const float inverse = 1 / static_cast<float>(width);
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* s = at.x + r * width;
    float* y = at.out + r * width;
    if (at.branch != nullptr) {
      const float *a = s, *b = at.branch + r * width;
      float* sum = at.sum + r * width;
      walk(width, [&](auto lanes, std::int64_t c) {
        lanes.write(sum + c, lanes.read(a + c) + lanes.read(b + c));
      });
      s = sum;
    }
    float mean = 0;
    if (!isRms) {
      Vector total = {};
      walk(width, [&](auto lanes, std::int64_t c) { total += lanes.read(s + c); });
      mean = sumOf(total) * inverse;
    }
    const std::int64_t whole = width / kLanes * kLanes;
    Vector squares = {};
    walk(whole, [&](auto lanes, std::int64_t c) {
      const Vector d = lanes.read(s + c) - mean;
      squares += d * d;
    });
    float square = sumOf(squares);
    for (std::int64_t c = whole; c < width; ++c) square += (s[c] - mean) * (s[c] - mean);
    const float scale = 1 / __builtin_sqrtf(square * inverse + eps);
    if (at.bias == nullptr) {
      walk(width, [&](auto lanes, std::int64_t c) {
        lanes.write(y + c, (lanes.read(s + c) - mean) * scale * lanes.read(at.weight + c));
      });
    } else {
      walk(width, [&](auto lanes, std::int64_t c) {
        lanes.write(y + c, (lanes.read(s + c) - mean) * scale * lanes.read(at.weight + c) +
                               lanes.read(at.bias + c));
      });
    }
    at.means[r] = mean;
    at.scales[r] = scale;
  }
}

void normRowsBackward(bool isRms, std::int64_t rows, std::int64_t width, const NormGradients& at) {
  const float inverse = 1 / static_cast<float>(width);
  for (std::int64_t r = 0; r < rows; ++r) {
    const float *s = at.sum + r * width, *g = at.outGradient + r * width;
    float* d = at.gradient + r * width;
    const float mean = at.means[r], scale = at.scales[r];
    Vector plain = {}, along = {};
    walk(width, [&](auto lanes, std::int64_t c) {
      const Vector gradient = lanes.read(g + c), unit = (lanes.read(s + c) - mean) * scale;
      const Vector weighted = gradient * lanes.read(at.weight + c);
      plain += weighted;
      along += weighted * unit;
      lanes.write(at.weightGradient + c, lanes.read(at.weightGradient + c) + gradient * unit);
      lanes.write(at.biasGradient + c, lanes.read(at.biasGradient + c) + gradient);
    });
    const float shift = isRms ? 0 : sumOf(plain) * inverse, tilt = sumOf(along) * inverse;
    const float* through = at.through == nullptr ? nullptr : at.through + r * width;
    walk(width, [&](auto lanes, std::int64_t c) {
      const Vector unit = (lanes.read(s + c) - mean) * scale;
      Vector own = (lanes.read(g + c) * lanes.read(at.weight + c) - shift - unit * tilt) * scale;
      if (through != nullptr) own += lanes.read(through + c);
      lanes.write(d + c, own);
    });
  }
}

void geluTanh(std::int64_t count, const float* x, float* out, float* slopes) {
  walk(count, [&](auto lanes, std::int64_t c) {
    const Vector v = lanes.read(x + c);
    const Vector s = sigmoid(1.59576912F * (v + 0.044715F * v * v * v));  // (1 + tanh) / 2
    lanes.write(out + c, v * s);
    lanes.write(slopes + c, s + v * s * (1.0F - s) * 1.59576912F * (1.0F + 0.134145F * v * v));
  });
}

/// With the error function of Abramowitz & Stegun 7.1.26, absolute error 1.5e-7.
void geluErf(std::int64_t count, const float* x, float* out, float* slopes) {
  walk(count, [&](auto lanes, std::int64_t c) {
    const Vector v = lanes.read(x + c);
    const Vector z = magnitude(v) * 0.707106781F;
    const Vector e = expNegative(-z * z);
    const Vector t = 1.0F / (1.0F + 0.3275911F * z);
    const Vector tail =
        0.5F * e * t *
        (0.254829592F +
         t * (-0.284496736F + t * (1.421413741F + t * (-1.453152027F + t * 1.061405429F))));
    const Vector below = v < 0.0F ? tail : 1.0F - tail;  // the normal distribution function
    lanes.write(out + c, v * below);
    lanes.write(slopes + c, below + v * e * 0.398942280F);
  });
}

void swiGlu(std::int64_t count, const float* gate, const float* up, float* out) {
  walk(count, [&](auto lanes, std::int64_t c) {
    const Vector v = lanes.read(gate + c);
    lanes.write(out + c, v * sigmoid(v) * lanes.read(up + c));
  });
}

void swiGluBackward(std::int64_t count, const float* gate, const float* up, const float* gradient,
                    float* gateGradient, float* upGradient) {
  walk(count, [&](auto lanes, std::int64_t c) {
    const Vector v = lanes.read(gate + c), s = sigmoid(v), g = lanes.read(gradient + c);
    const Vector u = lanes.read(up + c);
    lanes.write(gateGradient + c, g * u * (s + v * s * (1.0F - s)));
    lanes.write(upGradient + c, g * v * s);
  });
}

void multiplyRows(std::int64_t count, const float* a, const float* b, float* out) {
  walk(count, [&](auto lanes, std::int64_t c) {
    lanes.write(out + c, lanes.read(a + c) * lanes.read(b + c));
  });
}

void addRows(std::int64_t rows, std::int64_t width, const float* x, std::int64_t stride,
             float* sums) {
  constexpr std::int64_t kTogether = 4;  // one sum would wait for itself at each row
  std::int64_t first = 0;
  for (; first + kTogether * kLanes <= width; first += kTogether * kLanes) {
    const WholeVector at;
    Vector together[kTogether];
#pragma GCC unroll 4
    for (int v = 0; v < kTogether; ++v) together[v] = at.read(sums + first + v * kLanes);
    for (std::int64_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kTogether; ++v)
        together[v] += at.read(x + r * stride + first + v * kLanes);
    }
#pragma GCC unroll 4
    for (int v = 0; v < kTogether; ++v) at.write(sums + first + v * kLanes, together[v]);
  }
  walk(width - first, [&](auto lanes, std::int64_t c) {
    Vector sum = lanes.read(sums + first + c);
    for (std::int64_t r = 0; r < rows; ++r) sum += lanes.read(x + r * stride + first + c);
    lanes.write(sums + first + c, sum);
  });
}

void addScaledRows(std::int64_t count, const float* a, const float* b, float factor, float* out) {
  walk(count, [&](auto lanes, std::int64_t c) {
    lanes.write(out + c, lanes.read(a + c) + factor * lanes.read(b + c));
  });
}

void addGatedRows(std::int64_t rows, std::int64_t width, const float* a, const float* b,
                  const float* gate, float factor, float* out) {
  for (std::int64_t at = 0; at < rows * width; at += width) {
    walk(width, [&](auto lanes, std::int64_t c) {
      lanes.write(out + at + c,
                  lanes.read(a + at + c) + factor * lanes.read(gate + c) * lanes.read(b + at + c));
    });
  }
}

void gateBackward(std::int64_t rows, std::int64_t width, const float* gradient, const float* b,
                  const float* gate, float factor, float* out, float* gateGradient) {
  walk(width, [&](auto lanes, std::int64_t c) {
    const Vector scale = factor * lanes.read(gate + c);
    Vector sum = {};
    for (std::int64_t at = c; at < rows * width; at += width) {
      const Vector g = lanes.read(gradient + at);
      sum += g * lanes.read(b + at);
      lanes.write(out + at, scale * g);
    }
    lanes.write(gateGradient + c, lanes.read(gateGradient + c) + factor * sum);
  });
}

}  // namespace
}  // namespace vitrine::cpu
