// Edits of the parts that multiply the runs, for toml_patch. Internal to core/config/edit.
#pragma once

#include "core/config/edit/document.h"
#include "core/config/edit/toml_text.h"

namespace vitrine {

/// Whether a file means the same with both: order within a table does not matter, NaN equals NaN.
[[nodiscard]] bool sameJson(const Json& a, const Json& b);

/// Seeds count as the last axis wherever they stand.
[[nodiscard]] bool sameAxes(const Document& a, const Document& b);
[[nodiscard]] bool sameVariants(const Document& a, const Document& b);
[[nodiscard]] bool sameExcludes(const Document& a, const Document& b);

/// Sweep, variants, excludes and what stages set: `text` says what `target` says of them. An empty
/// sweep is taken out before.
void patchRuns(TomlText& text, const Document& now, const Document& target);

}  // namespace vitrine
