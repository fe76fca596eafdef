// Values of a view's state in JSON, which a settings file or a recipe holds: what is missing or of
// another type is left to the page.
#pragma once

#include <string>

#include "core/base/json.h"

namespace vitrine::ui {

/// A whole number from `least` to `most`, else `otherwise`.
[[nodiscard]] int stateInteger(const Json& state, const char* key, int least, int most,
                               int otherwise);
/// A text, else "".
[[nodiscard]] std::string stateText(const Json& state, const char* key);

}  // namespace vitrine::ui
