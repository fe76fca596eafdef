#include "core/config/edit/toml_text.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "core/config/toml/to_toml.h"

namespace vitrine {

namespace {

/// Where a section stands in a file without an order of its own.
int sectionRank(const std::string& section) {
  static const std::map<std::string, int> kRanks{
      {"model", 0}, {"task", 1},  {"data", 2},   {"train", 3},   {"observe", 4},  {"init", 5},
      {"aux", 6},   {"sweep", 7}, {"select", 8}, {"variant", 9}, {"exclude", 10}, {"stage", 11}};
  const auto found = kRanks.find(section);
  return found == kRanks.end() ? 12 : found->second;
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
  openSection(TomlPath{name}, body, form);
}

void TomlText::openSection(const TomlPath& path, const std::string& body, Header form) {
  std::string name;
  for (const std::string& part : path) name += (name.empty() ? "" : ".") + tomlKey(part);
  const std::string header = form == Header::Array ? "[[" + name + "]]" : "[" + name + "]";
  const std::string block = header + newLine_ + (body.empty() ? "" : body + newLine_);
  const std::vector<TomlStatement> statements = outlineToml(text_);
  if (path.size() > 1) {
    const auto last =
        std::find_if(statements.rbegin(), statements.rend(), [&](const TomlStatement& one) {
          // Entries above the first header must stay above it.
          const bool isBelowHeader = one.kind != TomlStatement::Kind::Entry || one.header > 0;
          return isBelowHeader && one.path[0] == path[0];
        });
    if (last != statements.rend())
      return putLine(last->end, newLine_ + block.substr(0, block.size() - newLine_.size()));
  }
  for (const TomlStatement& statement : statements) {
    if (statement.kind == TomlStatement::Kind::Entry ||
        sectionRank(statement.path[0]) <= sectionRank(path[0]))
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
