#include "core/store/metrics/chunk.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "core/base/error.h"

namespace vitrine::store::chunk {

namespace {

/// Differences wrap; a lane that would need them is refused by its range.
std::int64_t wrappingAdd(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// The lane of one column of `moments`; nothing when the rest needs more than 4 bytes.
std::optional<Lane> packLane(std::span<const Moment> moments, std::int64_t Moment::*column) {
  // Anything further out than this is nonsense, and differences below could overflow.
  constexpr std::int64_t kFar = std::int64_t{1} << 52;
  const auto n = static_cast<std::int64_t>(moments.size());
  const std::int64_t first = moments.front().*column;
  if (n == 1) return Lane{first, 0, {}};
  for (const Moment& moment : moments) {
    if (moment.*column > kFar || moment.*column < -kFar) return std::nullopt;
  }
  Lane lane;
  lane.stride = (moments.back().*column - first) / (n - 1);
  lane.base = std::numeric_limits<std::int64_t>::max();
  std::int64_t highest = std::numeric_limits<std::int64_t>::min();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t rest = moments[static_cast<std::size_t>(i)].*column - i * lane.stride;
    lane.base = std::min(lane.base, rest);
    highest = std::max(highest, rest);
  }
  const auto range = static_cast<std::uint64_t>(highest - lane.base);
  if (range > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  const auto width = static_cast<std::size_t>((std::bit_width(range) + 7) / 8);
  lane.rest.resize(width * moments.size());
  std::byte* out = lane.rest.data();
  for (std::int64_t i = 0; i < n; ++i) {
    const auto rest = static_cast<std::uint64_t>(moments[static_cast<std::size_t>(i)].*column -
                                                 i * lane.stride - lane.base);
    for (std::size_t byte = width; byte-- > 0;) *out++ = static_cast<std::byte>(rest >> (8 * byte));
  }
  return lane;
}

/// A loop of its own for every width, which the compiler knows then.
template <std::size_t width>
void unpackRest(const Lane& lane, std::vector<Moment>& moments, std::int64_t Moment::*column) {
  const std::byte* bytes = lane.rest.data();
  std::int64_t even = lane.base;
  for (Moment& moment : moments) {
    std::int64_t rest = 0;
    for (std::size_t i = 0; i < width; ++i)
      rest = (rest << 8) | std::to_integer<std::int64_t>(*bytes++);
    moment.*column = wrappingAdd(even, rest);
    even = wrappingAdd(even, lane.stride);
  }
}

void unpackLane(const Lane& lane, std::vector<Moment>& moments, std::int64_t Moment::*column) {
  const std::size_t width = lane.rest.size() / moments.size();
  if (width > 4 || width * moments.size() != lane.rest.size()) {
    throw StoreError("a clock of " + std::to_string(moments.size()) + " moments has a lane of " +
                     std::to_string(lane.rest.size()) + " bytes; the database is damaged");
  }
  static constexpr std::array kUnpack{unpackRest<0>, unpackRest<1>, unpackRest<2>, unpackRest<3>,
                                      unpackRest<4>};
  kUnpack.at(width)(lane, moments, column);
}

/// `bits` as they lie in the database, and back.
std::uint64_t bigEndian(std::uint64_t bits) {
  return std::endian::native == std::endian::little ? __builtin_bswap64(bits) : bits;
}

std::int64_t rounded(double value) noexcept {
  if (!(value > -1e15 && value < 1e15)) return 0;
  return std::llround(value);
}

}  // namespace

Clock packClock(std::span<const Moment> moments) {
  for (std::size_t count = std::min(moments.size(), kRows);; count = (count + 1) / 2) {
    const auto some = moments.first(count);
    auto sequence = packLane(some, &Moment::sequence);
    auto step = packLane(some, &Moment::step);
    auto time = packLane(some, &Moment::time);
    auto epoch = packLane(some, &Moment::epoch);
    if (sequence && step && time && epoch)
      return {count, std::move(*sequence), std::move(*step), std::move(*time), std::move(*epoch)};
  }
}

std::vector<Moment> unpackClock(const Clock& clock) {
  if (clock.count == 0 || clock.count > kRows) {
    throw StoreError("a clock of " + std::to_string(clock.count) +
                     " moments; the database is damaged");
  }
  std::vector<Moment> moments(clock.count);
  unpackLane(clock.sequence, moments, &Moment::sequence);
  unpackLane(clock.step, moments, &Moment::step);
  unpackLane(clock.time, moments, &Moment::time);
  unpackLane(clock.epoch, moments, &Moment::epoch);
  return moments;
}

std::vector<std::byte> packValues(std::span<const double> values) {
  std::vector<std::byte> bytes(values.size() * 8);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t bits = bigEndian(std::bit_cast<std::uint64_t>(values[i]));
    std::memcpy(&bytes[8 * i], &bits, 8);
  }
  return bytes;
}

std::vector<double> unpackValues(std::span<const std::byte> bytes) {
  if (bytes.size() % 8 != 0) {
    throw StoreError("a chunk of values has " + std::to_string(bytes.size()) +
                     " bytes, not a multiple of 8; the database is damaged");
  }
  std::vector<double> values(bytes.size() / 8);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &bytes[8 * i], 8);
    values[i] = std::bit_cast<double>(bigEndian(bits));
  }
  return values;
}

std::int64_t storedTime(double seconds) noexcept { return rounded(seconds * 1e3); }
std::int64_t storedEpoch(double epoch) noexcept { return rounded(epoch * 1e6); }

}  // namespace vitrine::store::chunk
