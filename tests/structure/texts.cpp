#include "tests/structure/texts.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>
#include <utility>

#include "tests/structure/includes.h"

namespace vitrine::structure {

namespace fs = std::filesystem;

namespace {

/// Calls that make a QString of a literal, and those that show one.
const std::set<std::string_view> kTextCalls{
    "QLatin1String",     "QString",      "QStringLiteral",
    "addAction",         "addItem",      "addTab",
    "fromLatin1",        "fromUtf8",     "setAccessibleDescription",
    "setAccessibleName", "setStatusTip", "setPlaceholderText",
    "setText",           "setTitle",     "setToolTip",
    "setWindowTitle",    "showMessage",
};

struct Token {
  enum class Kind { Word, Literal, Sign };
  Kind kind = Kind::Sign;
  std::string_view text;  ///< of a literal: between its quotes
  int line = 0;
};

bool isSmall(char c) { return c >= 'a' && c <= 'z'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return isSmall(c) || (c >= 'A' && c <= 'Z'); }
bool isOfWord(char c) { return isLetter(c) || isDigit(c) || c == '_'; }

/// The closing quote of the literal whose opening one is at `at`, or the end of the source.
std::size_t closingQuote(std::string_view source, std::size_t at) {
  const char quote = source[at];
  for (++at; at < source.size() && source[at] != quote; ++at) {
    if (source[at] == '\\') ++at;
  }
  return std::min(at, source.size());
}

/// Behind the raw string whose opening quote is at `at`.
std::size_t behindRawString(std::string_view source, std::size_t at) {
  const std::size_t open = std::min(source.find('(', at), source.size());
  const std::string close = ")" + std::string(source.substr(at + 1, open - at - 1)) + "\"";
  const std::size_t end = source.find(close, open);
  return end == std::string_view::npos ? source.size() : end + close.size();
}

/// Behind the word or number that begins at `at`.
std::size_t behindWord(std::string_view source, std::size_t at) {
  const bool isNumber = isDigit(source[at]);
  while (at < source.size() && (isOfWord(source[at]) || (isNumber && source[at] == '\''))) ++at;
  return at;
}

/// Words, literals and signs; without comments, characters and raw strings.
std::vector<Token> tokensOf(std::string_view source) {
  std::vector<Token> tokens;
  int line = 1;
  std::size_t counted = 0, at = 0;
  const auto add = [&](Token::Kind kind, std::size_t begin, std::size_t end) {
    const std::string_view passed = source.substr(counted, begin - counted);
    line += static_cast<int>(std::count(passed.begin(), passed.end(), '\n'));
    counted = begin;
    tokens.push_back({kind, source.substr(begin, end - begin), line});
  };
  while (at < source.size()) {
    if (source.substr(at, 2) == "//") {
      at = std::min(source.find('\n', at), source.size());
    } else if (source.substr(at, 2) == "/*") {
      const std::size_t end = source.find("*/", at + 2);
      at = end == std::string_view::npos ? source.size() : end + 2;
    } else if (source.substr(at, 2) == "R\"") {
      at = behindRawString(source, at + 1);
    } else if (source[at] == '"') {
      const std::size_t end = closingQuote(source, at);
      add(Token::Kind::Literal, at + 1, end);
      at = end + 1;
    } else if (source[at] == '\'') {
      at = closingQuote(source, at) + 1;
    } else if (isOfWord(source[at])) {
      const std::size_t end = behindWord(source, at);
      add(Token::Kind::Word, at, end);
      at = end;
    } else {
      if (std::isspace(static_cast<unsigned char>(source[at])) == 0)
        add(Token::Kind::Sign, at, at + 1);
      ++at;
    }
  }
  return tokens;
}

bool isSentence(std::string_view text) {
  if (text.find_first_of("<{=&|_") != std::string_view::npos || text.starts_with("SELECT "))
    return false;
  if (text.size() > 1 && text[0] == ',' && text[1] != ' ') return false;  // part of a CSV line
  for (std::size_t at = 2; at + 2 < text.size(); ++at) {
    if (text[at] == ' ' && isLetter(text[at - 2]) && isLetter(text[at - 1]) &&
        isSmall(text[at + 1]) && isSmall(text[at + 2]))
      return true;
  }
  return false;
}

/// Those of a text as the source spells it.
std::vector<std::string> sentencesOf(const std::string& text) {
  std::vector<std::string> sentences{""};
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool isBreak = text.compare(at, 2, "\\n") == 0;
    const bool isEnd = text[at] == ' ' && at > 0 &&
                       std::string_view(".!?").find(text[at - 1]) != std::string_view::npos;
    if (isBreak || isEnd)
      sentences.emplace_back();
    else
      sentences.back() += text[at];
    if (isBreak) ++at;
  }
  return sentences;
}

/// Parts between spaces that have a letter or a digit.
int countOfWords(const std::string& sentence) {
  std::istringstream parts(sentence);
  int words = 0;
  for (std::string part; parts >> part;) {
    if (part.size() == 6 && part.starts_with("\\u")) continue;  // a sign by its code
    words +=
        std::any_of(part.begin(), part.end(), [](char c) { return isLetter(c) || isDigit(c); });
  }
  return words;
}

/// The literal at `at`, whose pieces follow each other.
std::string literalAt(const std::vector<Token>& tokens, std::size_t at) {
  std::string text;
  for (; at < tokens.size() && tokens[at].kind == Token::Kind::Literal; ++at)
    text += tokens[at].text;
  return text;
}

/// What `source` translates.
std::vector<WindowText> translatedTexts(const std::string& file, std::string_view source) {
  const std::vector<Token> tokens = tokensOf(source);
  std::vector<WindowText> found;
  for (std::size_t i = 2; i < tokens.size(); ++i) {
    if (tokens[i].kind == Token::Kind::Literal && tokens[i - 1].text == "(" &&
        tokens[i - 2].text == "tr")
      found.push_back({file, tokens[i].line, literalAt(tokens, i)});
  }
  return found;
}

/// Whether the text of the call whose name is at `at` is compared, or is a style sheet.
bool isNotShown(const std::vector<Token>& tokens, std::size_t at) {
  while (at >= 3 && tokens[at - 1].text == ":" && tokens[at - 2].text == ":") at -= 3;
  if (at < 2) return false;
  const std::string_view sign = tokens[at - 1].text, before = tokens[at - 2].text;
  const bool isCompared = sign == "=" && (before == "=" || before == "!");
  return isCompared ||
         (sign == "(" && (before == "setStyleSheet" || before == "setDefaultStyleSheet"));
}

}  // namespace

std::vector<WindowText> untranslatedTexts(const std::string& file, std::string_view source) {
  const std::vector<Token> tokens = tokensOf(source);
  std::vector<WindowText> found;
  for (std::size_t i = 2; i < tokens.size(); ++i) {
    if (tokens[i].kind != Token::Kind::Literal || tokens[i - 1].text != "(" ||
        !kTextCalls.contains(tokens[i - 2].text))
      continue;
    std::string text = literalAt(tokens, i);
    if (isSentence(text) && !isNotShown(tokens, i - 2))
      found.push_back({file, tokens[i].line, std::move(text)});
  }
  return found;
}

std::vector<WindowText> straightlyQuoted(const std::string& file, std::string_view source) {
  std::vector<WindowText> found = translatedTexts(file, source);
  std::erase_if(found, [](const WindowText& one) {
    const bool isQuoting =
        one.text.find("\\\"%") != std::string::npos || one.text.find("'%") != std::string::npos;
    return !isQuoting || one.text.find('<') != std::string::npos;
  });
  return found;
}

std::vector<WindowText> longSentences(const std::string& file, std::string_view source) {
  std::vector<WindowText> found;
  for (const WindowText& one : translatedTexts(file, source)) {
    for (std::string& sentence : sentencesOf(one.text)) {
      if (countOfWords(sentence) > kMostWords)
        found.push_back({file, one.line, std::move(sentence)});
    }
  }
  return found;
}

std::vector<WindowText> textsOfWindow(const fs::path& root, TextReader& read) {
  std::vector<WindowText> found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "ui")) {
    const fs::path& path = entry.path();
    if (!entry.is_regular_file() || (path.extension() != ".cpp" && path.extension() != ".h"))
      continue;
    const std::string file = path.lexically_relative(root).generic_string();
    for (WindowText& one : read(file, contentOf(path))) found.push_back(std::move(one));
  }
  return found;
}

}  // namespace vitrine::structure
