#include "core/config/telling.h"

#include <algorithm>
#include <map>
#include <string>

#include "core/config/lookup.h"

namespace vitrine {

std::vector<Difference> tellingDifferences(const std::vector<const Json*>& variants,
                                           std::size_t variant, std::size_t baseline) {
  constexpr const char* kArchitecture = "model.architecture";
  const auto at = [](const Json& config, const std::string& key) {
    const Json* value = valueAt(config, key);
    return value == nullptr ? Json() : *value;
  };
  const Json &before = *variants[baseline], &after = *variants[variant];
  std::vector<Difference> changes = difference(before, after);
  if (at(before, kArchitecture) != at(after, kArchitecture)) {
    std::erase_if(changes, [&](const Difference& change) {
      return change.key.starts_with("model.") && (valueAt(before, change.key) == nullptr ||
                                                  valueAt(after, change.key) == nullptr);
    });
  }
  std::map<std::string, std::ptrdiff_t> shared;
  for (const Difference& change : changes) {
    shared[change.key] = std::ranges::count_if(
        variants, [&](const Json* other) { return at(*other, change.key) == change.after; });
  }
  std::ranges::stable_sort(changes, [&](const Difference& a, const Difference& b) {
    return shared[a.key] < shared[b.key];
  });
  return changes;
}

}  // namespace vitrine
