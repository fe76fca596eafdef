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
  std::size_t below = size_, l = 0;
  for (; below > kBlock || l == 0; ++l) {
    const bool isNew = levels_.size() <= l;
    if (isNew) levels_.emplace_back();
    std::vector<Block>& level = levels_[l];
    first = isNew ? 0 : first / kBlock;  // a new level is over all that was there before, too
    level.resize((below + kBlock - 1) / kBlock);
    for (std::size_t b = first; b < level.size(); ++b) {
      Block block;
      const std::size_t begin = b * kBlock, end = std::min(begin + kBlock, below);
      looked_ += end - begin;
      if (l == 0) {
        for (std::size_t i = begin; i < end; ++i) {
          const double value = values[i];
          if (!std::isfinite(value)) continue;
          if (value < block.low) {
            block.low = value;
            block.lowAt = static_cast<std::uint32_t>(i);
          }
          if (value > block.high) {
            block.high = value;
            block.highAt = static_cast<std::uint32_t>(i);
          }
          if (value > 0 && value < block.positive) block.positive = value;
        }
      } else {
        for (std::size_t i = begin; i < end; ++i) {
          const Block& part = levels_[l - 1][i];
          if (part.low < block.low) {
            block.low = part.low;
            block.lowAt = part.lowAt;
          }
          if (part.high > block.high) {
            block.high = part.high;
            block.highAt = part.highAt;
          }
          block.positive = std::min(block.positive, part.positive);
        }
      }
      level[b] = block;
    }
    below = level.size();
  }
  levels_.resize(l);
}

// Up the levels from both ends, as far as whole blocks go.
template <typename OnValue, typename OnBlock>
void Extremes::walk(std::size_t from, std::size_t to, const OnValue& onValue,
                    const OnBlock& onBlock) const {
  to = std::min(to, size_);
  if (from >= to) return;
  if (to - from < 2 * kBlock) {
    for (; from < to; ++from) onValue(from);
    return;
  }
  while (from % kBlock != 0) onValue(from++);
  while (to % kBlock != 0) onValue(--to);
  for (std::size_t l = 0; from < to; ++l) {
    from /= kBlock;
    to /= kBlock;
    const std::vector<Block>& level = levels_[l];
    const bool isTop = l + 1 == levels_.size();
    while (from < to && (isTop || from % kBlock != 0)) onBlock(level[from++]);
    while (from < to && to % kBlock != 0) onBlock(level[--to]);
  }
}

Extremes::Found Extremes::find(std::span<const double> values, std::size_t from,
                               std::size_t to) const {
  Found found;
  double low = kNone, high = -kNone;
  walk(
      from, to,
      [&](std::size_t i) {
        const double value = values[i];
        if (!std::isfinite(value)) return;
        if (value < low) {
          low = value;
          found.low = i;
        }
        if (value > high) {
          high = value;
          found.high = i;
        }
      },
      [&](const Block& block) {
        if (block.low < low) {
          low = block.low;
          found.low = block.lowAt;
        }
        if (block.high > high) {
          high = block.high;
          found.high = block.highAt;
        }
      });
  found.isAny = low <= high;
  return found;
}

Extremes::Bounds Extremes::bounds(std::span<const double> values, std::size_t from,
                                  std::size_t to) const {
  // Without a branch that depends on the values: a guess that fails costs more than the rest.
  Bounds found;
  walk(
      from, to,
      [&](std::size_t i) {
        const double value = values[i];
        const bool isFinite = std::isfinite(value);
        found.least = std::min(found.least, isFinite ? value : kNone);
        found.greatest = std::max(found.greatest, isFinite ? value : -kNone);
      },
      [&](const Block& block) {
        found.least = std::min(found.least, block.low);
        found.greatest = std::max(found.greatest, block.high);
      });
  return found;
}

double Extremes::leastPositive(std::span<const double> values, std::size_t from,
                               std::size_t to) const {
  double least = kNone;
  walk(
      from, to,
      [&](std::size_t i) {
        if (std::isfinite(values[i]) && values[i] > 0) least = std::min(least, values[i]);
      },
      [&](const Block& block) { least = std::min(least, block.positive); });
  return least;
}

}  // namespace vitrine::ui
