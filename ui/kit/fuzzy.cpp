#include "ui/kit/fuzzy.h"

#include <algorithm>
#include <vector>

namespace vitrine::ui {

int fuzzyScore(const QString& pattern, const QString& text) {
  QString wanted;
  for (const QChar c : pattern) {
    if (!c.isSpace()) wanted += c.toCaseFolded();
  }
  const QString have = text.toCaseFolded();
  const auto letters = static_cast<std::size_t>(wanted.size());
  const auto places = static_cast<std::size_t>(have.size());
  if (letters == 0) return 0;
  if (letters > places) return -1;

  // best[j]: score of the letters so far with the last one at place j; -1 impossible.
  constexpr int kLetter = 1, kNeighbour = 6, kWordStart = 8;
  std::vector<int> best(places, -1), next(places, -1);
  for (std::size_t i = 0; i < letters; ++i) {
    int before = i == 0 ? 0 : -1;  // best of the letters before, ending at least two places back
    std::fill(next.begin(), next.end(), -1);
    for (std::size_t j = 0; j < places; ++j) {
      if (i > 0 && j >= 2) before = std::max(before, best[j - 2]);
      if (have[static_cast<qsizetype>(j)] != wanted[static_cast<qsizetype>(i)]) continue;
      const bool isStart = j == 0 || !have[static_cast<qsizetype>(j - 1)].isLetterOrNumber();
      const int own = kLetter + (isStart ? kWordStart : 0);
      if (before >= 0) next[j] = before + own;
      if (i > 0 && j >= 1 && best[j - 1] >= 0)
        next[j] = std::max(next[j], best[j - 1] + own + kNeighbour);
    }
    best.swap(next);
  }
  return *std::max_element(best.begin(), best.end());
}

QStringList typedWords(const QString& text) {
  QStringList words{QString()};
  bool isQuoted = false;
  for (const QChar c : text) {
    if (c == QLatin1Char('"')) {
      isQuoted = !isQuoted;
    } else if (c.isSpace() && !isQuoted) {
      words << QString();
    } else {
      words.back() += c;
    }
  }
  words.removeAll(QString());
  return words;
}

bool holdsWords(const QString& text, const QStringList& words) {
  return std::all_of(words.begin(), words.end(),
                     [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

}  // namespace vitrine::ui
