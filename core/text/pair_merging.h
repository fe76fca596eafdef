// Byte-pair encoding: adjacent symbols are joined, the pair of the lowest rank first, of equal ones
// the leftmost (Sennrich et al. 2016, arXiv:1508.07909).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace vitrine::text {

/// Merge of two adjacent symbols.
struct Merge {
  std::int64_t rank = 0, token = 0;
};
using MergeRule = std::function<std::optional<Merge>(std::int64_t left, std::int64_t right)>;

/// Time grows with n log n. \param symbols  joined in place
void mergePairs(std::vector<std::int64_t>& symbols, const MergeRule& rule);

}  // namespace vitrine::text
