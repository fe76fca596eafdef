// Packing of moments and values (resources/docs/database.md, "Packing"). Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/store_export.h"

namespace vitrine::store::chunk {

inline constexpr std::size_t kRows = 1000;  ///< the most a chunk holds

/// Integers as base + i * stride + rest[i], rest in as few bytes as hold its largest (0 to 4),
/// big-endian.
struct Lane {
  std::int64_t base = 0, stride = 0;
  std::vector<std::byte> rest;
};

/// Moment of several metrics.
struct Moment {
  std::int64_t sequence = 0;
  std::int64_t step = 0;
  std::int64_t time = 0;   ///< milliseconds
  std::int64_t epoch = 0;  ///< millionths
  friend bool operator==(const Moment&, const Moment&) = default;
};

struct Clock {
  std::size_t count = 0;
  Lane sequence, step, time, epoch;
};

/// Packs as many of `moments` as fit a clock: at most kRows, fewer where a lane would need more
/// than 4 bytes. `moments` must not be empty.
[[nodiscard]] VITRINE_STORE_EXPORT Clock packClock(std::span<const Moment> moments);
/// \throws StoreError  the lanes do not belong to `count` moments
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<Moment> unpackClock(const Clock& clock);

/// Big-endian float64; every bit is kept.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<std::byte> packValues(
    std::span<const double> values);
/// \throws StoreError  `bytes` is not a multiple of 8 long
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<double> unpackValues(
    std::span<const std::byte> bytes);

/// Seconds as the nearest whole millisecond and epochs as the nearest millionth: what is stored of
/// a moment. Not-a-number becomes 0.
[[nodiscard]] VITRINE_STORE_EXPORT std::int64_t storedTime(double seconds) noexcept;
[[nodiscard]] VITRINE_STORE_EXPORT std::int64_t storedEpoch(double epoch) noexcept;
[[nodiscard]] inline double secondsOf(std::int64_t stored) noexcept {
  return static_cast<double>(stored) / 1e3;
}
[[nodiscard]] inline double epochsOf(std::int64_t stored) noexcept {
  return static_cast<double>(stored) / 1e6;
}

}  // namespace vitrine::store::chunk
