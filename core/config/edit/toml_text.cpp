#include "core/config/edit/toml_text.h"

#include <map>
#include <string_view>
#include <utility>

#include "core/config/to_toml.h"

namespace vitrine {

namespace {

/// Where a section stands in a file that nobody ordered otherwise.
int sectionRank(const std::string& section) {
  static const std::map<std::string, int> kRanks{
      {"model", 0}, {"task", 1},  {"data", 2},    {"train", 3},   {"observe", 4},
      {"init", 5},  {"sweep", 6}, {"variant", 7}, {"exclude", 8}, {"stage", 9}};
  const auto found = kRanks.find(section);
  return found == kRanks.end() ? 10 : found->second;
}

}  // namespace

TomlText::TomlText(std::string text) : text_(std::move(text)) {
  if (text_.find("\r\n") != std::string::npos) newLine_ = "\r\n";
}

void TomlText::putLine(std::size_t at, const std::string& line) {
  const bool isOpen = at > 0 && text_[at - 1] != '\n';
  text_.insert(at, (isOpen ? newLine_ : "") + line + newLine_);
}

void TomlText::removeLines(std::size_t begin, std::size_t end) {
  text_.erase(begin, end - begin);
  // No two empty lines where there was one on each side, none at the beginning or the end.
  const auto isBreak = [this](std::size_t at) {
    return at < text_.size() && (text_[at] == '\n' || text_.compare(at, 2, "\r\n") == 0);
  };
  const bool isAfterEmpty =
      begin == 0 || (begin >= 2 && text_[begin - 1] == '\n' &&
                     (text_[begin - 2] == '\n' ||
                      (begin >= 3 && text_[begin - 2] == '\r' && text_[begin - 3] == '\n')));
  if (isAfterEmpty && isBreak(begin)) text_.erase(begin, text_.find('\n', begin) + 1 - begin);
  if (isAfterEmpty && begin >= text_.size()) text_.erase(afterContent(text_.size()));
}

std::size_t TomlText::afterContent(std::size_t at) const {
  while (at > 0) {
    const std::size_t lineBegin = at < 2 ? 0 : text_.rfind('\n', at - 2) + 1;
    const std::string_view line(text_.data() + lineBegin, at - lineBegin);
    if (line.find_first_not_of(" \t\r\n") != std::string_view::npos) break;
    at = lineBegin;
  }
  return at;
}

std::size_t TomlText::aboveComment(std::size_t at) const {
  while (at > 0) {
    const std::size_t lineBegin = at < 2 ? 0 : text_.rfind('\n', at - 2) + 1;
    const std::size_t first = text_.find_first_not_of(" \t", lineBegin);
    if (first >= at || text_[first] != '#') break;
    at = lineBegin;
  }
  return at;
}

void TomlText::openSection(const std::string& name, const std::string& body, Header form) {
  const std::string header =
      form == Header::Array ? "[[" + tomlKey(name) + "]]" : "[" + tomlKey(name) + "]";
  const std::string block = header + newLine_ + (body.empty() ? "" : body + newLine_);
  for (const TomlStatement& statement : outlineToml(text_)) {
    if (statement.kind == TomlStatement::Kind::Entry ||
        sectionRank(statement.path[0]) <= sectionRank(name))
      continue;
    const std::size_t at = aboveComment(statement.begin);
    text_.insert(at, block + newLine_);
    return;
  }
  const std::size_t end = afterContent(text_.size());
  std::string before = end == 0 ? "" : newLine_;
  if (end > 0 && text_[end - 1] != '\n') before += newLine_;
  put(end, text_.size(), before + block);
}

}  // namespace vitrine
