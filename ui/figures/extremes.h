// Finds the least and the greatest value of any part of a long curve without reading all of it. It
// keeps a pyramid over blocks, grown at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace vitrine::ui {

class Extremes {
 public:
  static constexpr std::size_t kBlock = 16;  ///< entries per block, on every level

  static constexpr double kNone = std::numeric_limits<double>::infinity();

  struct Found {
    std::size_t low = 0, high = 0;  ///< positions
    bool isAny = false;             ///< a finite value was there
  };

  /// Takes in values that were added; those from `firstChanged` on may have changed too. Costs as
  /// much as there are such values, however long the curve is.
  void update(std::span<const double> values, std::size_t firstChanged);
  void clear();
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const;
  /// Of the finite values in [from, to). \param values  what update() was last given
  [[nodiscard]] Found find(std::span<const double> values, std::size_t from, std::size_t to) const;
  /// The same without the positions, which is what takes the time; infinity and minus infinity
  /// where no finite value was there.
  struct Bounds {
    double least = kNone, greatest = -kNone;
  };
  [[nodiscard]] Bounds bounds(std::span<const double> values, std::size_t from,
                              std::size_t to) const;
  /// The least value above zero of the finite ones in [from, to); infinity where there is none.
  [[nodiscard]] double leastPositive(std::span<const double> values, std::size_t from,
                                     std::size_t to) const;
  /// Values and blocks that update() has looked at so far: what a test counts.
  [[nodiscard]] std::uint64_t looked() const { return looked_; }

 private:
  // The values themselves, too: following a position into a long curve misses every cache.
  struct Block {
    double low = kNone, high = -kNone, positive = kNone;  ///< `low` above `high`: nothing finite
    std::uint32_t lowAt = 0, highAt = 0;
  };
  template <typename OnValue, typename OnBlock>
  void walk(std::size_t from, std::size_t to, const OnValue& onValue, const OnBlock& onBlock) const;

  std::vector<std::vector<Block>> levels_;  ///< the first over values, each further over the last
  std::size_t size_ = 0;
  std::uint64_t looked_ = 0;
};

}  // namespace vitrine::ui
