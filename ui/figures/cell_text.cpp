#include "ui/figures/cell_text.h"

#include <algorithm>

namespace vitrine::ui {
namespace {

/// Whether a line may end between the characters before and at `at`.
bool isPartEnd(const QString& word, qsizetype at) {
  const QChar before = at > 1 ? word[at - 2] : QChar(), sign = word[at - 1], after = word[at];
  if (sign == QLatin1Char('/') || sign == QLatin1Char('_') || sign == QLatin1Char('='))
    return !before.isNull();
  if (sign == QLatin1Char('.') || sign == QLatin1Char(','))
    return !before.isNull() && !after.isDigit();
  return sign == QLatin1Char('-') && before.isLetter() && after.isLetter();
}

/// With or without its interval. A hash that begins with a digit is none.
bool isNumber(const QString& word) {
  constexpr qsizetype kMostDigits = 24;  // of a double: "-1.7976931348623157e+308"
  if (word.section(QLatin1Char(' '), 0, 0).size() > kMostDigits) return false;
  const qsizetype first = word.startsWith(QLatin1Char('+')) || word.startsWith(QLatin1Char('-')) ||
                                  word.startsWith(QChar(0x2212))
                              ? 1
                              : 0;
  return word.size() > first && word[first].isDigit();
}

/// What lies between the spaces of a text; a number and its interval are one word.
QStringList spacedWords(const QString& text) {
  QStringList words;
  bool isOpen = false;
  for (const QString& one : text.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    const bool isSign = one == QStringLiteral("\u00b1");
    const bool isInterval =
        one.startsWith(QLatin1Char('[')) && !words.isEmpty() && isNumber(words.last());
    if ((isSign || isInterval || isOpen) && !words.isEmpty()) {
      words.last() += QLatin1Char(' ') + one;
    } else {
      words << one;
    }
    isOpen = isSign || ((isInterval || isOpen) && words.last().contains(QLatin1Char('[')) &&
                        !one.endsWith(QLatin1Char(']')));
  }
  return words;
}

QStringList partsOf(const QString& text) {
  QStringList parts;
  for (const QString& word : text.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    qsizetype from = 0;
    for (qsizetype at = 1; at < word.size(); ++at) {
      if (!isPartEnd(word, at)) continue;
      parts << word.mid(from, at - from);
      from = at;
    }
    parts << word.mid(from);
  }
  return parts;
}

}  // namespace

QStringList piecesOf(const QString& text, CellPiece piece) {
  QStringList pieces;
  for (const QString& word : spacedWords(text)) {
    if (piece == CellPiece::Word || isNumber(word))
      pieces << word;
    else if (piece == CellPiece::Part)
      pieces << partsOf(word);
  }
  return pieces;
}

double longestPiece(const QFontMetricsF& metrics, const QString& text, CellPiece piece) {
  double longest = 0;
  for (const QString& one : piecesOf(text, piece))
    longest = std::max(longest, metrics.horizontalAdvance(one));
  return longest;
}

QStringList cellLines(const QFontMetricsF& metrics, const QString& text, double width) {
  QStringList lines;
  for (const QString& paragraph : text.split(QLatin1Char('\n'))) {
    QString line;
    const auto fits = [&](const QString& one) { return metrics.horizontalAdvance(one) <= width; };
    const auto close = [&] {
      if (!line.isEmpty()) lines << line;
      line.clear();
    };
    for (const QString& word : spacedWords(paragraph)) {
      const QString longer = line.isEmpty() ? word : line + QLatin1Char(' ') + word;
      if (fits(longer)) {
        line = longer;
        continue;
      }
      close();
      for (const QString& part : fits(word) ? QStringList{word} : partsOf(word)) {
        if (!fits(line + part)) close();
        line += part;
        while (!fits(line) && line.size() > 1) {
          qsizetype most = 1;
          while (fits(line.left(most + 1))) ++most;
          lines << line.left(most);
          line.remove(0, most);
        }
      }
    }
    close();
  }
  return lines;
}

}  // namespace vitrine::ui
