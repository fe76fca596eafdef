// Edits of the form in the text it was made from: comments, order and spelling stay.
#pragma once

#include <string>

#include "ui/configure/document.h"

namespace vitrine::ui {

/// Whether two documents are the same experiment, however they are spelt.
[[nodiscard]] bool meansTheSame(const Document& a, const Document& b);

/// `text` with what `target` says differently, and nothing else changed. Where the text cannot be
/// edited so (it is no TOML, or spells a table in a way that has no room for the change), the
/// document is written anew, without the comments.
[[nodiscard]] std::string patchToml(const std::string& text, const Document& target);

}  // namespace vitrine::ui
