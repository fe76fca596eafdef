// Edits of the form in the text it was made from: comments, order and spelling stay.
#pragma once

#include <string>

#include "core/config/edit/document.h"

namespace vitrine {

/// Whether two documents are the same experiment, however they are spelt.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT bool meansTheSame(const Document& a, const Document& b);

/// `text` with what `target` says differently, and nothing else changed. Where the text cannot be
/// edited so (it is not TOML, or spells a table in a way that has no room for the change), the
/// document is written again, without the comments.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string patchToml(const std::string& text,
                                                              const Document& target);

}  // namespace vitrine
