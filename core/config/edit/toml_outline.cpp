// A scan for keys, strings, brackets and comments; what values mean is left to toml++.
#include "core/config/edit/toml_outline.h"

#include <algorithm>

#include "core/config/toml/parse_toml.h"

namespace vitrine {

namespace {

class OutlineScan {
 public:
  OutlineScan(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::vector<TomlStatement> document() {
    std::vector<TomlStatement> found;
    std::size_t header = 0;
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // a byte order mark is not part of a key
    while (at_ < text_.size()) {
      const std::size_t lineBegin = at_;
      skipSpace();
      if (at_ >= text_.size() || text_[at_] == '#' || text_[at_] == '\n' || text_[at_] == '\r') {
        skipLine();
        continue;
      }
      TomlStatement statement{.begin = lineBegin};
      if (text_[at_] == '[') {
        const bool isArray = text_.substr(at_, 2) == "[[";
        at_ += isArray ? 2 : 1;
        statement.kind = isArray ? TomlStatement::Kind::ArrayHeader : TomlStatement::Kind::Header;
        statement.path = key(statement.parts);
        header = found.size() + 1;
      } else {
        if (header > 0) statement.path = found[header - 1].path;
        const TomlPath own = key(statement.parts);
        statement.path.insert(statement.path.end(), own.begin(), own.end());
        statement.header = header;
        if (at_ < text_.size() && text_[at_] == '=') ++at_;
        skipSpace();
        statement.valueBegin = at_;
        skipValue();
        statement.valueEnd = at_;
      }
      skipLine();
      statement.end = at_;
      found.push_back(std::move(statement));
    }
    return found;
  }

  std::vector<TomlInlineEntry> inlineTable() {
    std::vector<TomlInlineEntry> found;
    if (at_ >= text_.size() || text_[at_] != '{') return found;
    ++at_;
    while (at_ < text_.size()) {
      while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == ',' ||
                                    text_[at_] == '\n' || text_[at_] == '\r'))
        ++at_;
      if (at_ >= text_.size() || text_[at_] == '}') break;
      TomlInlineEntry entry{.begin = at_};
      entry.path = key(entry.parts);
      if (at_ < text_.size() && text_[at_] == '=') ++at_;
      skipSpace();
      entry.valueBegin = at_;
      skipValue();
      entry.valueEnd = at_;
      if (entry.path.empty() || entry.valueEnd == entry.begin) break;
      found.push_back(std::move(entry));
    }
    return found;
  }

  std::vector<TomlRange> array() {
    std::vector<TomlRange> found;
    if (at_ >= text_.size() || text_[at_] != '[') return found;
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == ',' || c == '\n' || c == '\r') {
        ++at_;
      } else if (c == '#') {
        skipLine();
      } else if (c == ']') {
        break;
      } else {
        const std::size_t begin = at_;
        skipValue();
        if (at_ == begin) break;
        found.push_back({begin, at_});
      }
    }
    return found;
  }

 private:
  void skipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  void skipLine() {
    const std::size_t end = text_.find('\n', at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
  }

  /// Parts with dots between; stands after it and its space.
  TomlPath key(std::vector<TomlRange>& parts) {
    TomlPath path;
    for (;;) {
      skipSpace();
      const std::size_t begin = at_;
      if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
        skipString();
        path.push_back(unquoted(text_.substr(begin, at_ - begin)));
      } else {
        const auto isBare = [](char c) {
          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '_' || c == '-';
        };
        while (at_ < text_.size() && isBare(text_[at_])) ++at_;
        if (at_ == begin) return path;
        path.emplace_back(text_.substr(begin, at_ - begin));
      }
      parts.push_back({begin, at_});
      skipSpace();
      if (at_ >= text_.size() || text_[at_] != '.') return path;
      ++at_;
    }
  }

  static std::string unquoted(std::string_view token) {
    TomlRefusal ignored;  // not a key then: nothing is found under it
    if (const auto table = parseToml("k = " + std::string(token), ignored)) {
      if (const auto* value = table->get_as<std::string>("k")) return value->get();
    }
    return std::string(token);
  }

  void skipString() {
    const char quote = text_[at_];
    const std::string fence(3, quote);
    const bool isLong = text_.substr(at_, 3) == fence;
    at_ += isLong ? 3 : 1;
    while (at_ < text_.size()) {
      if (quote == '"' && text_[at_] == '\\') {
        at_ = std::min(at_ + 2, text_.size());
      } else if (!isLong && text_[at_] == quote) {
        ++at_;
        return;
      } else if (isLong && text_.substr(at_, 3) == fence) {
        at_ += 3;
        while (at_ < text_.size() && text_[at_] == quote) ++at_;  // quotes before the fence
        return;
      } else {
        ++at_;
      }
    }
  }

  void skipValue() {
    int depth = 0;
    std::size_t end = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skipString();
        end = at_;
      } else if (c == '[' || c == '{') {
        ++depth;
        end = ++at_;
      } else if (c == ']' || c == '}') {
        if (depth == 0) break;
        --depth;
        end = ++at_;
        if (depth == 0) break;
      } else if (c == '#') {
        if (depth == 0) break;
        skipLine();
      } else if (depth == 0 && (c == ',' || c == '\n' || c == '\r')) {
        break;
      } else {
        ++at_;
        if (c != ' ' && c != '\t') end = at_;
      }
    }
    at_ = end;
  }

  std::string_view text_;
  std::size_t at_;
};

}  // namespace

int variantAt(std::string_view text, int line) {
  std::size_t end = 0;  // of that line
  for (int i = 0; i < line && end < text.size(); ++i)
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  int variant = -1, found = -1;
  for (const TomlStatement& statement : outlineToml(text)) {
    if (statement.begin >= end) break;
    const bool isOfVariant = !statement.path.empty() && statement.path.front() == "variant";
    const bool isNext = statement.kind == TomlStatement::Kind::ArrayHeader && isOfVariant &&
                        statement.path.size() == 1;
    if (isNext) ++variant;
    found = isOfVariant ? variant : -1;
  }
  return found;
}

std::vector<TomlStatement> outlineToml(std::string_view text) {
  return OutlineScan(text, 0).document();
}

std::vector<TomlInlineEntry> outlineInline(std::string_view text, std::size_t begin) {
  return OutlineScan(text, begin).inlineTable();
}

std::vector<TomlRange> outlineArray(std::string_view text, std::size_t begin) {
  return OutlineScan(text, begin).array();
}

bool startsWith(const TomlPath& path, const TomlPath& prefix) {
  return prefix.size() <= path.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

}  // namespace vitrine
