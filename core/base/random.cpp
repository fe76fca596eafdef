#include "core/base/random.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace vitrine {

namespace {

// Multipliers and Weyl increments of Philox-4x32 (Salmon et al. 2011, table 2).
constexpr std::uint32_t kMultiplier0 = 0xD2511F53u;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57u;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9u;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85u;

constexpr std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}
constexpr std::uint64_t join(std::uint32_t high32, std::uint32_t low32) {
  return (static_cast<std::uint64_t>(high32) << 32) | low32;
}

__extension__ typedef unsigned __int128 Wide;

}  // namespace

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = static_cast<std::uint64_t>(kMultiplier0) * counter[0];
    const std::uint64_t product1 = static_cast<std::uint64_t>(kMultiplier1) * counter[2];
    counter = {high(product1) ^ counter[1] ^ key[0], low(product1),
               high(product0) ^ counter[3] ^ key[1], low(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

std::uint64_t nameHash(std::string_view name) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3u;
  }
  return hash;
}

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) noexcept {
  // Seed and name are mixed by the generator itself, so that neighbouring seeds share nothing.
  const std::uint64_t hash = nameHash(name);
  const auto mixed = philox4x32({low(seed), high(seed), low(hash), high(hash)}, {0, 0});
  key_ = {mixed[0], mixed[1]};
}

std::array<std::uint32_t, 4> RandomStream::bits(std::uint64_t a, std::uint64_t b,
                                                std::uint32_t lane) const noexcept {
  return philox4x32({lane, low(a), low(b), high(b)}, key_);
}

double RandomStream::uniform(std::uint64_t a, std::uint64_t b, std::uint32_t lane) const noexcept {
  const auto words = bits(a, b, lane);
  return static_cast<double>(join(words[0], words[1]) >> 11) * 0x1.0p-53;
}

std::uint64_t RandomStream::below(std::uint64_t bound, std::uint64_t a, std::uint64_t b,
                                  std::uint32_t lane) const noexcept {
  // Lemire 2019, "Fast random integer generation in an interval". A rejection happens with
  // probability bound / 2^64; the second half of the block serves it, then lanes counted down from
  // the top.
  const std::uint64_t threshold = (0 - bound) % bound;
  auto words = bits(a, b, lane);
  for (std::uint32_t retry = 0;; ++retry) {
    const Wide product = static_cast<Wide>(join(words[0], words[1])) * bound;
    if (static_cast<std::uint64_t>(product) >= threshold)
      return static_cast<std::uint64_t>(product >> 64);
    if (retry % 2 == 0) {
      words = {words[2], words[3], words[0], words[1]};
    } else {
      words = bits(a, b, lane ^ (0xFFFFFFFFu - retry));
    }
  }
}

double RandomStream::normal(std::uint64_t a, std::uint64_t b, std::uint32_t lane) const noexcept {
  const auto words = bits(a, b, lane);
  // The first uniform lies in (0, 1], so its logarithm is finite.
  const double first = static_cast<double>((join(words[0], words[1]) >> 11) + 1) * 0x1.0p-53;
  const double second = static_cast<double>(join(words[2], words[3]) >> 11) * 0x1.0p-53;
  return std::sqrt(-2 * std::log(first)) * std::cos(2 * std::numbers::pi * second);
}

std::vector<std::int64_t> permutation(const RandomStream& stream, std::uint64_t epoch,
                                      std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count > 0 ? count : 0));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[stream.below(i, epoch, i - 1)]);
  return order;
}

}  // namespace vitrine
