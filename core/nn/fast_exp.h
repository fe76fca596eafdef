// exp() as a handful of multiplications, so that compilers can turn loops around it into vector
// code.
#pragma once

#include <bit>
#include <cstdint>

namespace vitrine::nn {

/// exp(x) for x <= 0, relative error below 2e-7; exactly 0 below -87, so that -inf leaves nothing
/// behind.
inline float expNegative(float x) {
  const float clamped = x < -87.0F ? -87.0F : x;
  const float shifted =
      clamped * 1.44269504F + 12582912.0F;  // round to nearest by adding 1.5 * 2^23
  const float whole = shifted - 12582912.0F;
  const float rest = (clamped - whole * 0.693145752F) - whole * 1.42860677e-6F;
  float sum = 1.9875691500e-4F;
  sum = sum * rest + 1.3981999507e-3F;
  sum = sum * rest + 8.3334519073e-3F;
  sum = sum * rest + 4.1665795894e-2F;
  sum = sum * rest + 1.6666665459e-1F;
  sum = sum * rest + 5.0000001201e-1F;
  sum = sum * rest * rest + rest + 1.0F;
  const std::int32_t exponent = (std::bit_cast<std::int32_t>(shifted) - 0x4B400000) << 23;
  const float value = std::bit_cast<float>(std::bit_cast<std::int32_t>(sum) + exponent);
  return x < -87.0F ? 0.0F : (x == x ? value : x);  // NaN stays NaN
}

}  // namespace vitrine::nn
