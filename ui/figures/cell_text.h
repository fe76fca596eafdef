// Breaks the texts of a table into lines: between words, else after a sign within a word. Inside of
// a word only where nothing else helps.
#pragma once

#include <QFontMetricsF>
#include <QString>
#include <QStringList>

namespace vitrine::ui {

/// What of a text stays in one piece.
enum class CellPiece {
  Word,  ///< between spaces; "82.0 ± 0.5" is one
  Part,  ///< "model.class_token" is three: '/', '_', '.', '-', '=' and ',' end one, but in numbers
  Number,  ///< numbers alone, each with its interval; words are none
};
[[nodiscard]] QStringList piecesOf(const QString& text, CellPiece piece);

/// Pixels that the longest piece takes.
[[nodiscard]] double longestPiece(const QFontMetricsF& metrics, const QString& text,
                                  CellPiece piece);

/// `text` in lines of at most `width` pixels, broken as little as they allow.
[[nodiscard]] QStringList cellLines(const QFontMetricsF& metrics, const QString& text,
                                    double width);

}  // namespace vitrine::ui
