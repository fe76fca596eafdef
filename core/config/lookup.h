// One value of nested tables, by its dotted key.
#pragma once

#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/foundation_export.h"

namespace vitrine {

/// The value at "model.mask.kind"; nullptr when there is none.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT const Json* valueAt(const Json& tables,
                                                            std::string_view dottedKey);
/// The text there; "" where there is none, or a value that is not a text.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string textAt(const Json& tables,
                                                           std::string_view dottedKey);

}  // namespace vitrine
