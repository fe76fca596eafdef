// key=value words of the command line for one item, outside an experiment.
#pragma once

#include <string>
#include <vector>

#include "core/config/catalog.h"
#include "core/config/config.h"

namespace vitrine::app {

/// Puts each override at its dotted key below `values`. The text is a number, true, false, a list,
/// a quoted text or a bare word; what `none` means is the field's to say.
void layOverrides(Json& values, const std::vector<std::string>& overrides);

/// Checks `values` against the schemas' item and fills in its defaults. \throws ConfigError  after
/// saying every problem
[[nodiscard]] Json resolveOrThrow(const Schema& schema, const std::string& prefix, Json values);

}  // namespace vitrine::app
