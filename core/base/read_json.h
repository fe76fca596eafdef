// Reads JSON text from outside: the only place that parses it. Internal text is read the same way.
#pragma once

#include <string_view>

#include "core/base/json.h"
#include "core/foundation_export.h"

namespace vitrine {

/// Levels of lists and objects, at most: copying, comparing and writing a value recurse once a
/// level, and so do the functions that show it.
inline constexpr int kDeepestJson = 128;

/// The value of `text`; discarded where it is not JSON, or is nested deeper than kDeepestJson.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Json readJson(std::string_view text);
/// Whether readJson() gives a value, without making one.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT bool isJson(std::string_view text);

}  // namespace vitrine
