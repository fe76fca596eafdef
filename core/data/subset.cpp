#include "core/data/subset.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "core/base/random.h"

namespace vitrine {

namespace {

struct Candidate {
  std::int64_t label = 0;
  std::uint64_t draw = 0;
  std::int64_t id = 0;
  double place = 0;
};

}  // namespace

std::vector<std::int64_t> stratifiedSubset(const Dataset& dataset, Split split, std::int64_t count,
                                           std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(dataset.size(split));
  const auto wanted = std::min(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)), size);
  std::vector<std::int64_t> ids(size);
  std::iota(ids.begin(), ids.end(), 0);
  if (wanted == size) return ids;

  const RandomStream stream(seed, "subset");
  const bool hasLabels = findField(fieldsOf(dataset.info()), "label") != nullptr;
  std::vector<Candidate> candidates;
  candidates.reserve(size);
  for (const std::int64_t id : ids) {
    const auto words =
        stream.bits(static_cast<std::uint64_t>(split), static_cast<std::uint64_t>(id));
    const std::uint64_t draw = std::uint64_t{words[1]} << 32 | words[0];
    candidates.push_back({hasLabels ? dataset.label(split, id) : 0, draw, id});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.label, a.draw, a.id) < std::tie(b.label, b.draw, b.id);
  });
  for (auto first = candidates.begin(); first != candidates.end();) {
    const auto last = std::find_if(first, candidates.end(), [&](const Candidate& other) {
      return other.label != first->label;
    });
    const auto samples = static_cast<double>(last - first);
    for (auto at = first + 1; at != last; ++at)
      at->place = (static_cast<double>(at - first) + 0.5) / samples;
    first = last;
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.place, a.draw, a.id) < std::tie(b.place, b.draw, b.id);
  });
  ids.resize(wanted);
  for (std::size_t i = 0; i < wanted; ++i) ids[i] = candidates[i].id;
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace vitrine
