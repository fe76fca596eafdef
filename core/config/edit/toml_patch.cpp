// One small edit after the other, each found by a fresh outline. The result is read back and
// compared: a text that the edits do not fit is written again.
#include "core/config/edit/toml_patch.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "core/base/joined.h"
#include "core/config/edit/toml_lists.h"
#include "core/config/edit/toml_outline.h"
#include "core/config/edit/toml_patch_parts.h"
#include "core/config/edit/toml_text.h"
#include "core/config/toml/to_toml.h"

namespace vitrine {

namespace {

using Kind = TomlStatement::Kind;

std::string dotted(const TomlPath& path, std::size_t from) {
  return joined(std::span(path).subspan(from), tomlKey, ".");
}

TomlPath below(TomlPath path, const std::string& key) {
  path.push_back(key);
  return path;
}

/// With sorted keys, and with NaN as a value that TOML does not have: it would not equal itself.
nlohmann::json comparable(const Json& value) {
  if (value.is_object()) {
    nlohmann::json table = nlohmann::json::object();
    for (const auto& [key, one] : value.items()) table[key] = comparable(one);
    return table;
  }
  if (value.is_array()) {
    nlohmann::json list = nlohmann::json::array();
    for (const Json& one : value) list.push_back(comparable(one));
    return list;
  }
  if (value.is_number_float() && std::isnan(value.get<double>()))
    return nlohmann::json::binary({});
  return nlohmann::json(value);
}

class Patch {
 public:
  Patch(std::string text, const Document& now, const Document& target)
      : text_(std::move(text)), now_(now), target_(target) {}

  std::string run() {
    title();
    tables({}, now_.tables, target_.tables);
    if (target_.sweep.empty() && !now_.sweep.empty()) erase({"sweep"});
    patchRuns(text_, now_, target_);
    return text_.text();
  }

 private:
  // --- title ---
  void title() {
    if (now_.title == target_.title) return;
    for (const TomlStatement& statement : text_.outline()) {
      if (statement.path != TomlPath{"title"}) continue;
      if (target_.title.empty()) {
        text_.removeLines(statement.begin, statement.end);
      } else {
        text_.put(statement.valueBegin, statement.valueEnd, tomlString(target_.title));
      }
      return;
    }
    if (target_.title.empty()) return;
    const std::vector<TomlStatement> statements = text_.outline();
    // Below a comment at the head of the file, above everything else.
    std::size_t at =
        statements.empty() ? text_.text().size() : text_.aboveComment(statements.front().begin);
    if (at == 0 && !statements.empty()) at = statements.front().begin;
    const bool isHeaderNext = !statements.empty() && statements.front().kind != Kind::Entry;
    text_.putLine(at,
                  "title = " + tomlString(target_.title) + (isHeaderNext ? text_.newLine() : ""));
  }

  // --- tables ---
  void tables(const TomlPath& path, const Json& given, const Json& target) {
    const Json now = isNamedTable(below(path, "*")) ? renamed(path, given, target) : given;
    for (const auto& [key, value] : now.items()) {
      if (!target.contains(key)) erase(below(path, key));
    }
    for (const auto& [key, value] : target.items()) {
      const TomlPath full = below(path, key);
      if (!now.contains(key)) {
        insert(full, value);
        continue;
      }
      const Json& old = now[key];
      if (sameJson(old, value)) continue;
      if (old.is_object() && value.is_object() && !value.empty()) {
        tables(full, old, value);
      } else if (!patchList(text_, full, old, value, editOfTable())) {
        replace(full, value);
      }
    }
  }

  /// `now` with the name that one of its tables has in `target`, and the text with it. This is for
  /// a table that went while another came in its place.
  Json renamed(const TomlPath& path, const Json& now, const Json& target) {
    std::vector<std::string> gone, come;
    for (const auto& entry : now.items()) {
      if (!target.contains(entry.key())) gone.push_back(entry.key());
    }
    for (const auto& entry : target.items()) {
      if (!now.contains(entry.key())) come.push_back(entry.key());
    }
    if (gone.size() != 1 || come.size() != 1 || !sameJson(now[gone[0]], target[come[0]]))
      return now;
    renameTable(text_, below(path, gone[0]), come[0]);
    Json result = Json::object();
    for (const auto& [key, value] : now.items()) result[key == gone[0] ? come[0] : key] = value;
    return result;
  }

  /// The same edits inside one table of a list.
  [[nodiscard]] TableEdit editOfTable() const {
    return [this](const std::string& text, const Json& from, const Json& to) {
      const bool isInline = text.find_first_not_of(" \t") != std::string::npos &&
                            text[text.find_first_not_of(" \t")] == '{';
      const std::string head = isInline ? "list = " : "[list]" + text_.newLine();
      Patch inside(head + text, now_, target_);
      inside.tables({"list"}, from, to);
      return inside.text_.text().substr(head.size());
    };
  }

  void erase(const TomlPath& path) {
    for (bool isAgain = true; isAgain;) {
      isAgain = false;
      const std::vector<TomlStatement> statements = text_.outline();
      // From the end: a header goes after what stands under it, never before.
      for (auto one = statements.rbegin(); one != statements.rend() && !isAgain; ++one) {
        if (one->kind == Kind::ArrayHeader && one->path.size() < 2) continue;
        if (startsWith(one->path, path)) {
          // A comment above a table that the user named is about that table.
          const bool isOwn = one->kind == Kind::ArrayHeader || isNamedTable(one->path);
          text_.removeLines(isOwn ? text_.aboveComment(one->begin) : one->begin, one->end);
          isAgain = true;
        } else if (one->kind == Kind::Entry && startsWith(path, one->path) &&
                   text_.at(one->valueBegin) == '{') {
          const auto from = static_cast<std::ptrdiff_t>(one->path.size());
          isAgain = eraseInline(one->valueBegin, TomlPath(path.begin() + from, path.end()));
        }
      }
    }
  }

  bool eraseInline(std::size_t brace, const TomlPath& path) {
    const std::vector<TomlInlineEntry> entries = outlineInline(text_.text(), brace);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const TomlInlineEntry& entry = entries[i];
      if (startsWith(entry.path, path)) {
        std::size_t begin = entry.begin;
        std::size_t end = entry.valueEnd;
        if (i + 1 < entries.size()) {
          end = entries[i + 1].begin;
        } else if (i > 0) {
          begin = entries[i - 1].valueEnd;
        }
        text_.put(begin, end, "");
        return true;
      }
      if (startsWith(path, entry.path) && text_.at(entry.valueBegin) == '{' &&
          eraseInline(
              entry.valueBegin,
              TomlPath(path.begin() + static_cast<std::ptrdiff_t>(entry.path.size()), path.end())))
        return true;
    }
    return false;
  }

  void replace(const TomlPath& path, const Json& value) {
    for (const TomlStatement& statement : text_.outline()) {
      if (statement.kind != Kind::Entry || !startsWith(path, statement.path)) continue;
      if (statement.path == path && (!value.is_object() || value.empty()))
        return text_.put(statement.valueBegin, statement.valueEnd,
                         tomlLines(value, text_.newLine()));
      if (statement.path != path && text_.at(statement.valueBegin) == '{' &&
          replaceInline(statement.valueBegin, path, statement.path.size(), value))
        return;
    }
    erase(path);
    insert(path, value);
  }

  bool replaceInline(std::size_t brace, const TomlPath& path, std::size_t from, const Json& value) {
    for (const TomlInlineEntry& entry : outlineInline(text_.text(), brace)) {
      const TomlPath rest(path.begin() + static_cast<std::ptrdiff_t>(from), path.end());
      if (!startsWith(rest, entry.path)) continue;
      if (rest.size() == entry.path.size()) {
        text_.put(entry.valueBegin, entry.valueEnd, tomlValue(value));
        return true;
      }
      if (text_.at(entry.valueBegin) == '{')
        return replaceInline(entry.valueBegin, path, from + entry.path.size(), value);
    }
    return false;
  }

  void insert(const TomlPath& path, const Json& value) {
    if (isNamedTable(path) && value.is_object() && !isInsideInline(path))
      return text_.openSection(path, bodyOf(value, ""));
    const bool isSpread = value.is_object() && (path.size() == 1 || !value.empty());
    if (!isSpread) return insertLeaf(path, value);
    for (const auto& [key, one] : value.items()) insert(below(path, key), one);
    if (value.empty()) text_.openSection(path[0], "");
  }

  [[nodiscard]] bool isInsideInline(const TomlPath& path) const {
    const std::vector<TomlStatement> statements = text_.outline();
    return std::any_of(statements.begin(), statements.end(), [&](const TomlStatement& one) {
      return one.kind == Kind::Entry && startsWith(path, one.path);
    });
  }

  /// Lines of a section, without the last line break.
  [[nodiscard]] std::string bodyOf(const Json& table, const std::string& prefix) const {
    std::string text;
    for (const auto& [key, value] : table.items()) {
      const std::string name = prefix + tomlKey(key);
      const bool isSpread = value.is_object() && !value.empty();
      text += (text.empty() ? "" : text_.newLine()) +
              (isSpread ? bodyOf(value, name + ".") : name + " = " + tomlValue(value));
    }
    return text;
  }

  void insertLeaf(const TomlPath& path, const Json& value) {
    const std::vector<TomlStatement> statements = text_.outline();
    const TomlStatement* header = nullptr;
    std::size_t headerPlace = 0;
    for (std::size_t i = 0; i < statements.size(); ++i) {
      const TomlStatement& one = statements[i];
      if (one.path.size() >= path.size() || !startsWith(path, one.path)) continue;
      if (one.kind == Kind::Entry && text_.at(one.valueBegin) == '{')
        return insertInline(one.valueBegin, path, one.path.size(), value);
      if (one.kind == Kind::Header &&
          (header == nullptr || header->path.size() < one.path.size())) {
        header = &one;
        headerPlace = i + 1;
      }
    }
    // Next to the keys it has most in common with.
    const TomlStatement* beside = nullptr;
    std::size_t mostShared = 0;
    for (const TomlStatement& one : statements) {
      if (one.kind != Kind::Entry || one.header != headerPlace) continue;
      std::size_t shared = 0;
      while (shared < one.path.size() && shared < path.size() && one.path[shared] == path[shared])
        ++shared;
      if (shared >= mostShared && shared > 0) {
        mostShared = shared;
        beside = &one;
      }
    }
    const std::size_t from = header == nullptr ? 0 : header->path.size();
    const std::string line = dotted(path, from) + " = " + tomlLines(value, text_.newLine());
    if (beside != nullptr && mostShared > 0 && (header != nullptr || mostShared >= 1)) {
      text_.putLine(beside->end, line);
    } else if (header != nullptr) {
      text_.putLine(header->end, line);
    } else {
      text_.openSection(path[0], dotted(path, 1) + " = " + tomlLines(value, text_.newLine()));
    }
  }

  void insertInline(std::size_t brace, const TomlPath& path, std::size_t from, const Json& value) {
    const std::vector<TomlInlineEntry> entries = outlineInline(text_.text(), brace);
    for (const TomlInlineEntry& entry : entries) {
      const TomlPath rest(path.begin() + static_cast<std::ptrdiff_t>(from), path.end());
      if (entry.path.size() < rest.size() && startsWith(rest, entry.path) &&
          text_.at(entry.valueBegin) == '{')
        return insertInline(entry.valueBegin, path, from + entry.path.size(), value);
    }
    const std::string given = dotted(path, from) + " = " + tomlValue(value);
    if (entries.empty()) {
      const std::size_t close = text_.text().find('}', brace);
      text_.put(brace, close + 1, "{ " + given + " }");
    } else {
      text_.insert(entries.back().valueEnd, ", " + given);
    }
  }

  TomlText text_;
  const Document& now_;
  const Document& target_;
};

}  // namespace

bool sameJson(const Json& a, const Json& b) { return comparable(a) == comparable(b); }

bool meansTheSame(const Document& a, const Document& b) {
  return a.title == b.title && sameJson(a.tables, b.tables) && sameAxes(a, b) &&
         sameVariants(a, b) && sameExcludes(a, b) && sameJson(a.rest, b.rest);
}

std::string patchToml(const std::string& text, const Document& target) {
  Problem problem;
  const std::optional<Document> now = parseDocument(text, problem);
  if (!now) return toText(target);
  if (meansTheSame(*now, target)) return text;
  std::string patched = Patch(text, *now, target).run();
  const std::optional<Document> read = parseDocument(patched, problem);
  return read && meansTheSame(*read, target) ? patched : toText(target);
}

}  // namespace vitrine
