#include "core/text/word_split.h"

#include "core/text/unicode.h"

namespace vitrine::text {

namespace {

class Splitter {
 public:
  explicit Splitter(const std::vector<CodePoint>& points) : points_(points) {}

  /// Where the piece ends that begins at `at`, in code points.
  [[nodiscard]] std::size_t endOf(std::size_t at) const {
    for (const auto rule : {&Splitter::contraction, &Splitter::word, &Splitter::digits,
                            &Splitter::others, &Splitter::lines}) {
      if (const std::size_t end = (this->*rule)(at); end > at) return end;
    }
    return spaces(at);
  }

 private:
  [[nodiscard]] bool has(std::size_t at) const { return at < points_.size(); }
  [[nodiscard]] char32_t point(std::size_t at) const { return points_[at].value; }
  [[nodiscard]] bool isLineEnd(std::size_t at) const {
    return has(at) && (point(at) == '\r' || point(at) == '\n');
  }
  [[nodiscard]] bool isWhite(std::size_t at) const { return has(at) && isSpace(point(at)); }
  [[nodiscard]] bool isLetterAt(std::size_t at) const { return has(at) && isLetter(point(at)); }
  [[nodiscard]] bool isNumberAt(std::size_t at) const { return has(at) && isNumber(point(at)); }
  [[nodiscard]] bool isOther(std::size_t at) const {
    return has(at) && !isSpace(point(at)) && !isLetter(point(at)) && !isNumber(point(at));
  }

  [[nodiscard]] std::size_t contraction(std::size_t at) const {
    if (point(at) != '\'') return at;
    for (const std::u32string_view ending : {U"s", U"t", U"re", U"ve", U"m", U"ll", U"d"}) {
      std::size_t i = 0;
      while (i < ending.size() && has(at + 1 + i) && lower(point(at + 1 + i)) == ending[i]) ++i;
      if (i == ending.size()) return at + 1 + i;
    }
    return at;
  }
  [[nodiscard]] static char32_t lower(char32_t letter) {
    constexpr char32_t kLongS = 0x17F;  // folds to s
    if (letter == kLongS) return U's';
    return letter >= U'A' && letter <= U'Z' ? letter + (U'a' - U'A') : letter;
  }
  [[nodiscard]] std::size_t word(std::size_t at) const {
    std::size_t i = at;
    if (!isLetterAt(i) && !isNumberAt(i) && !isLineEnd(i)) ++i;
    const std::size_t first = i;
    while (isLetterAt(i)) ++i;
    return i > first ? i : at;
  }
  [[nodiscard]] std::size_t digits(std::size_t at) const {
    constexpr std::size_t kMost = 3;
    std::size_t i = at;
    while (i < at + kMost && isNumberAt(i)) ++i;
    return i;
  }
  [[nodiscard]] std::size_t others(std::size_t at) const {
    std::size_t i = at + (point(at) == ' ' && isOther(at + 1) ? 1 : 0);
    if (!isOther(i)) return at;
    while (isOther(i)) ++i;
    while (isLineEnd(i)) ++i;
    return i;
  }
  [[nodiscard]] std::size_t lines(std::size_t at) const {
    std::size_t end = at;
    for (std::size_t i = at; isWhite(i); ++i) {
      if (isLineEnd(i)) end = i + 1;
    }
    return end;
  }
  [[nodiscard]] std::size_t spaces(std::size_t at) const {
    std::size_t i = at;
    while (isWhite(i)) ++i;
    return has(i) && i > at + 1 ? i - 1 : i;
  }

  const std::vector<CodePoint>& points_;
};

}  // namespace

std::vector<std::string_view> splitWords(std::string_view text) {
  const std::vector<CodePoint> points = codePoints(text, "the text");
  const Splitter splitter(points);
  std::vector<std::string_view> pieces;
  for (std::size_t at = 0; at < points.size();) {
    const std::size_t end = splitter.endOf(at);
    const std::size_t first = points[at].begin,
                      last = end < points.size() ? points[end].begin : text.size();
    pieces.push_back(text.substr(first, last - first));
    at = end;
  }
  return pieces;
}

}  // namespace vitrine::text
