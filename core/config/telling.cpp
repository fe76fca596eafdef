#include "core/config/telling.h"

#include <algorithm>
#include <map>
#include <span>

#include "core/base/cell_text.h"
#include "core/base/joined.h"
#include "core/base/text.h"
#include "core/config/lookup.h"

namespace vitrine {

namespace {

std::string textOf(const Difference& change) {
  constexpr std::size_t kBytes = 40;
  return change.key + " = " +
         (change.after.is_null() ? "none" : shorten(plainText(change.after), kBytes));
}

/// Keys that one of two architectures does not have.
void dropForeignKeys(std::vector<Difference>& changes, const Json& before, const Json& after) {
  const auto architectureOf = [](const Json& config) {
    const Json* value = valueAt(config, "model.architecture");
    return value == nullptr ? Json() : *value;
  };
  if (architectureOf(before) == architectureOf(after)) return;
  std::erase_if(changes, [&](const Difference& change) {
    return change.key.starts_with("model.") &&
           (valueAt(before, change.key) == nullptr || valueAt(after, change.key) == nullptr);
  });
}

}  // namespace

std::vector<std::vector<Difference>> tellingDifferences(const std::vector<const Json*>& variants,
                                                        std::size_t baseline) {
  // A plan may have a hundred thousand runs: equal changes are counted once for all of them.
  const auto changeOf = [](const Difference& change) {
    return change.key + " = " + plainText(change.after);
  };
  std::vector<std::vector<Difference>> all;
  std::map<std::string, std::size_t> shared;  // variants with that change
  for (const Json* variant : variants) {
    all.push_back(difference(*variants[baseline], *variant));
    for (const Difference& change : all.back()) ++shared[changeOf(change)];
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    dropForeignKeys(all[i], *variants[baseline], *variants[i]);
    std::ranges::stable_sort(all[i], {},
                             [&](const Difference& change) { return shared[changeOf(change)]; });
  }
  return all;
}

std::string tellingText(const std::vector<Difference>& changes) {
  constexpr std::size_t kMostNamed = 4;
  const std::size_t named = std::min(changes.size(), kMostNamed);
  const std::string text = joined(std::span(changes).first(named),
                                  [](const Difference& change) { return textOf(change); });
  if (named == changes.size()) return text;
  return text + ", and " + std::to_string(changes.size() - named) + " more";
}

}  // namespace vitrine
