#include "core/text/pair_merging.h"

#include <queue>
#include <tuple>

namespace vitrine::text {

namespace {

/// A pair that can be joined; out of date once one of its symbols has changed.
struct Candidate {
  std::int64_t rank, place, left, right, token;
  bool operator>(const Candidate& other) const {
    return std::tie(rank, place) > std::tie(other.rank, other.place);
  }
};

}  // namespace

void mergePairs(std::vector<std::int64_t>& symbols, const MergeRule& rule) {
  constexpr std::int64_t kGone = -1;
  const auto count = static_cast<std::int64_t>(symbols.size());
  std::vector<std::int64_t> before(symbols.size()), after(symbols.size());
  for (std::int64_t i = 0; i < count; ++i) {
    before[static_cast<std::size_t>(i)] = i - 1;
    after[static_cast<std::size_t>(i)] = i + 1;
  }
  const auto at = [](std::vector<std::int64_t>& list, std::int64_t i) -> std::int64_t& {
    return list[static_cast<std::size_t>(i)];
  };
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto offer = [&](std::int64_t place) {
    if (place < 0 || at(after, place) >= count) return;
    const std::int64_t left = at(symbols, place), right = at(symbols, at(after, place));
    if (const auto merge = rule(left, right))
      queue.push({merge->rank, place, left, right, merge->token});
  };
  for (std::int64_t i = 0; i + 1 < count; ++i) offer(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    const std::int64_t next = at(symbols, best.place) == kGone ? count : at(after, best.place);
    if (next >= count || at(symbols, best.place) != best.left || at(symbols, next) != best.right)
      continue;
    at(symbols, best.place) = best.token;
    at(symbols, next) = kGone;
    at(after, best.place) = at(after, next);
    if (at(after, next) < count) at(before, at(after, next)) = best.place;
    offer(at(before, best.place));
    offer(best.place);
  }
  std::erase(symbols, kGone);
}

}  // namespace vitrine::text
