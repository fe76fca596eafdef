// Small changes to an input, drawn from a seed: the same on every machine.
#pragma once

#include <cstdint>
#include <string>

namespace vitrine::fuzz {

/// SplitMix64 (Steele et al. 2014).
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  /// In [0, count). \pre count > 0
  std::size_t below(std::size_t count) noexcept { return static_cast<std::size_t>(next() % count); }

 private:
  std::uint64_t state_;
};

/// One to four changes: flipped bits, set bytes, cut, repeated, removed or moved parts, other
/// numbers.
[[nodiscard]] std::string mutate(std::string input, Dice& dice, std::size_t longest);

/// The same for a safetensors file, by its parts: numbers, types, keys and whole entries of the
/// header change, and most of the time the header's length and the size of the buffer are put right
/// afterwards, so that the change gets past them.
[[nodiscard]] std::string mutateSafetensors(std::string input, Dice& dice, std::size_t longest);

}  // namespace vitrine::fuzz
