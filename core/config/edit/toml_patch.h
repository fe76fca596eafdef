// Edits of the form in the text it was made from: comments, order and spelling stay.
#pragma once

#include <string>

#include "core/config/edit/document.h"

namespace vitrine {

/// Whether two documents are the same experiment, however they are spelt.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT bool meansTheSame(const Document& a, const Document& b);

/// `text` with the differences of `target`, and nothing else changed. A text that is not TOML, or
/// spells a table in a form without room for the change, is replaced by the document, without
/// comments.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string patchToml(const std::string& text,
                                                              const Document& target);

}  // namespace vitrine
