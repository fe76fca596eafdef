// Scores a typed pattern against a line of text, for the command palette.
#pragma once

#include <QString>

namespace vitrine::ui {

/// Every letter of `pattern` must occur in `text` in order; -1 where one does not. Letters next to
/// each other and at the start of words count more, so that "nex" ranks "New experiment" above
/// "Next sample". Case and spaces do not matter.
[[nodiscard]] int fuzzyScore(const QString& pattern, const QString& text);

}  // namespace vitrine::ui
