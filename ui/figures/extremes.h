// Where the least and the greatest value of any part of a long curve are, without looking at all of
// it: a pyramid over blocks, grown at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace vitrine::ui {

class Extremes {
 public:
  static constexpr std::size_t kBlock = 16;  ///< entries per block, on every level

  struct Found {
    std::size_t low = 0, high = 0;  ///< positions
    bool isAny = false;             ///< a finite value was there
  };

  /// Takes in values that were added; those from `firstChanged` on may have changed too.
  void update(std::span<const double> values, std::size_t firstChanged);
  void clear();
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const;
  /// Of the finite values in [from, to). \param values  what update() was last given
  [[nodiscard]] Found find(std::span<const double> values, std::size_t from, std::size_t to) const;

 private:
  struct Block {
    std::uint32_t low = 0, high = 0;
    bool isAny = false;
  };
  std::vector<std::vector<Block>> levels_;  ///< the first over values, each further over the last
  std::size_t size_ = 0;
};

}  // namespace vitrine::ui
