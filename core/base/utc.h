// Moments as text; text.h has utcNow().
#pragma once

#include <cstdint>
#include <string>

#include "core/foundation_export.h"

namespace vitrine {

/// Milliseconds since 1970, by the system's clock.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::int64_t utcMilliseconds();
/// Milliseconds since 1970 as ISO 8601 UTC: "2026-11-21T11:40:02.123Z".
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string utcText(std::int64_t milliseconds);

}  // namespace vitrine
