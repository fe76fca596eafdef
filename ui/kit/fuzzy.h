// Finds typed words in texts, and scores a pattern for the command palette.
#pragma once

#include <QString>
#include <QStringList>

namespace vitrine::ui {

/// Every letter of `pattern` must occur in `text` in order; -1 where one does not. Letters next to
/// each other and at the start of words count more, so that "nex" ranks "New experiment" above
/// "Next sample". Case and spaces do not matter.
[[nodiscard]] int fuzzyScore(const QString& pattern, const QString& text);

/// The words of a filter; text between quotation marks is one word, without them.
[[nodiscard]] QStringList typedWords(const QString& text);

/// Whether `text` has every one of `words`, whatever their case.
[[nodiscard]] bool holdsWords(const QString& text, const QStringList& words);

}  // namespace vitrine::ui
