// Counter-based random numbers: Philox-4x32-10 (Salmon et al. 2011, "Parallel random numbers: as
// easy as 1, 2, 3").
//
// A stream is keyed by (run seed, name) and addressed by counters. A value depends on what it is
// for, and never on how many were drawn before, on threads, or on a resume. The names in use are
// `order` and `augment`, counted by (epoch, sample id), and `init`, counted by (parameter name,
// element).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/foundation_export.h"

namespace vitrine {

/// One Philox-4x32-10 block.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::array<std::uint32_t, 4> philox4x32(
    std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) noexcept;

/// 64-bit FNV-1a of a name: how names become keys and counters.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::uint64_t nameHash(std::string_view name) noexcept;

/// Values addressed by (a, b): for example (epoch, sample id).
class VITRINE_FOUNDATION_EXPORT RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name) noexcept;

  /// Four 32-bit words at counter (a, b); `a` uses its low 32 bits, `b` 64, `lane` tells draws of
  /// one address apart.
  [[nodiscard]] std::array<std::uint32_t, 4> bits(std::uint64_t a, std::uint64_t b,
                                                  std::uint32_t lane = 0) const noexcept;
  /// Uniform in [0, 1), 53 bits.
  [[nodiscard]] double uniform(std::uint64_t a, std::uint64_t b,
                               std::uint32_t lane = 0) const noexcept;
  /// Uniform integer in [0, bound), bound > 0, without modulo bias.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound, std::uint64_t a, std::uint64_t b,
                                    std::uint32_t lane = 0) const noexcept;
  /// Standard normal (Box-Muller).
  [[nodiscard]] double normal(std::uint64_t a, std::uint64_t b,
                              std::uint32_t lane = 0) const noexcept;

 private:
  std::array<std::uint32_t, 2> key_;
};

/// The random numbers of one sample: a function of (stream, id). Each call gives the next one.
class SampleNumbers {
 public:
  SampleNumbers(const RandomStream& stream, std::int64_t id) noexcept
      : stream_(stream), id_(static_cast<std::uint64_t>(id)) {}
  double uniform() { return stream_.uniform(0, id_, lane_++); }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(
        stream_.below(static_cast<std::uint64_t>(bound), 0, id_, lane_++));
  }

 private:
  const RandomStream& stream_;
  std::uint64_t id_;
  std::uint32_t lane_ = 0;
};

/// A permutation of 0..count-1 (Fisher-Yates) that depends only on the stream and `epoch`.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::vector<std::int64_t> permutation(
    const RandomStream& stream, std::uint64_t epoch, std::int64_t count);

}  // namespace vitrine
