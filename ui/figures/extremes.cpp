#include "ui/figures/extremes.h"

#include <algorithm>
#include <cmath>

namespace vitrine::ui {

void Extremes::clear() {
  levels_.clear();
  size_ = 0;
}

std::size_t Extremes::bytes() const {
  std::size_t sum = 0;
  for (const auto& level : levels_) sum += level.capacity() * sizeof(Block);
  return sum;
}

void Extremes::update(std::span<const double> values, std::size_t firstChanged) {
  std::size_t first = std::min(firstChanged, size_);
  size_ = values.size();
  std::size_t below = size_;
  for (std::size_t l = 0; below > kBlock || l == 0; ++l) {
    if (levels_.size() <= l) levels_.emplace_back();
    std::vector<Block>& level = levels_[l];
    first /= kBlock;
    level.resize((below + kBlock - 1) / kBlock);
    for (std::size_t b = first; b < level.size(); ++b) {
      Block block;
      const auto take = [&](std::size_t low, std::size_t high) {
        if (!block.isAny || values[low] < values[block.low])
          block.low = static_cast<std::uint32_t>(low);
        if (!block.isAny || values[high] > values[block.high])
          block.high = static_cast<std::uint32_t>(high);
        block.isAny = true;
      };
      const std::size_t end = std::min((b + 1) * kBlock, below);
      for (std::size_t i = b * kBlock; i < end; ++i) {
        if (l == 0) {
          if (std::isfinite(values[i])) take(i, i);
        } else if (levels_[l - 1][i].isAny) {
          take(levels_[l - 1][i].low, levels_[l - 1][i].high);
        }
      }
      level[b] = block;
    }
    below = level.size();
  }
}

Extremes::Found Extremes::find(std::span<const double> values, std::size_t from,
                               std::size_t to) const {
  Found found;
  to = std::min(to, size_);
  const auto take = [&](std::size_t low, std::size_t high) {
    if (!found.isAny || values[low] < values[found.low]) found.low = low;
    if (!found.isAny || values[high] > values[found.high]) found.high = high;
    found.isAny = true;
  };
  // Up the levels from both ends, as far as whole blocks go.
  std::size_t l = 0;  // 0: values, n: levels_[n - 1]
  while (from < to) {
    const auto look = [&](std::size_t i) {
      if (l == 0) {
        if (std::isfinite(values[i])) take(i, i);
      } else if (levels_[l - 1][i].isAny) {
        take(levels_[l - 1][i].low, levels_[l - 1][i].high);
      }
    };
    const bool isTop = l == levels_.size();
    while (from < to && (isTop || from % kBlock != 0)) look(from++);
    while (from < to && to % kBlock != 0) look(--to);
    from /= kBlock;
    to /= kBlock;
    ++l;
  }
  return found;
}

}  // namespace vitrine::ui
