// Lists that several people edit at the same time. Private to core/store.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace vitrine::store {

/// `theirs` with the additions and without the removals of `mine` against `base`.
template <typename Row>
[[nodiscard]] std::vector<Row> mergedList(const std::vector<Row>& base,
                                          const std::vector<Row>& mine,
                                          const std::vector<Row>& theirs) {
  const std::set<Row> before(base.begin(), base.end()), after(mine.begin(), mine.end());
  std::set<Row> merged(theirs.begin(), theirs.end());
  for (const Row& row : before)
    if (!after.contains(row)) merged.erase(row);
  for (const Row& row : after)
    if (!before.contains(row)) merged.insert(row);
  return {merged.begin(), merged.end()};
}

/// UTF-8: every byte but those that continue with a character begins one.
[[nodiscard]] inline std::size_t charactersOf(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
  }));
}

/// A step as an entry of such a list gives it.
[[nodiscard]] inline bool isStep(const Json& value) {
  return value.is_number_integer() &&
         !(value.is_number_unsigned() &&
           value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max());
}

}  // namespace vitrine::store
