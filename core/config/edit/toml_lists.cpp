// Elements are moved as pieces of text. A piece is a line with its comment where each has lines of
// its own, a block under its [[header]], else the value alone.
#include "core/config/edit/toml_lists.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/config/edit/toml_patch_parts.h"
#include "core/config/toml/to_toml.h"

namespace vitrine {

namespace {

using Kind = TomlStatement::Kind;

bool isOnlyTables(const Json& value) {
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_object(); });
}

/// Which old element each wanted one is, -1 for a new one: first those that are the same, then by
/// name.
std::vector<int> oldPlaces(const Json& now, const Json& target) {
  std::vector<int> from(target.size(), -1);
  std::vector<bool> isTaken(now.size(), false);
  const auto take = [&](const auto& isMatch) {
    for (std::size_t i = 0; i < target.size(); ++i) {
      for (std::size_t k = 0; k < now.size() && from[i] < 0; ++k) {
        if (isTaken[k] || !isMatch(now[k], target[i])) continue;
        from[i] = static_cast<int>(k);
        isTaken[k] = true;
      }
    }
  };
  const auto nameOf = [](const Json& one) {
    return one.is_object() ? one.value("name", Json()) : Json();
  };
  take(sameJson);
  take([&](const Json& a, const Json& b) {
    return nameOf(a).is_string() && nameOf(a) == nameOf(b);
  });
  return from;
}

/// Where the value at `path` stands, in a statement or inside inline tables.
std::optional<TomlRange> valuePlace(const TomlText& text, const TomlPath& path) {
  for (const TomlStatement& one : text.outline()) {
    if (one.kind != Kind::Entry || !startsWith(path, one.path)) continue;
    TomlRange value{one.valueBegin, one.valueEnd};
    std::size_t depth = one.path.size();
    while (depth < path.size() && text.at(value.begin) == '{') {
      const TomlPath rest(path.begin() + static_cast<std::ptrdiff_t>(depth), path.end());
      const std::vector<TomlInlineEntry> entries = outlineInline(text.text(), value.begin);
      const auto next = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) {
        return startsWith(rest, entry.path);
      });
      if (next == entries.end()) break;
      value = {next->valueBegin, next->valueEnd};
      depth += next->path.size();
    }
    if (depth == path.size()) return value;
  }
  return std::nullopt;
}

/// The pieces of a text that are put together again in another order.
struct Pieces {
  TomlRange whole;                               ///< from the first to the last
  std::vector<std::string> texts;                ///< in their old order
  std::function<std::string(const Json&)> make;  ///< of an element that is new
  std::string between;
};

std::string rebuilt(const Pieces& pieces, const std::vector<int>& from, const Json& target) {
  std::string text;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (i > 0) text += pieces.between;
    text += from[i] < 0 ? pieces.make(target[i]) : pieces.texts[static_cast<std::size_t>(from[i])];
  }
  return text;
}

std::size_t beginOfLine(const std::string& text, std::size_t at) {
  return at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
}

std::size_t endOfLine(const std::string& text, std::size_t at) {
  const std::size_t end = text.find('\n', at);
  return end == std::string::npos ? text.size() : end + 1;
}

/// The element's new text in the place of its old one.
std::string withElement(std::string piece, TomlRange element, const std::string& text) {
  return piece.replace(element.begin, element.end - element.begin, text);
}

class ListPatch {
 public:
  ListPatch(TomlText& text, TomlPath path, const Json& now, const Json& target,
            const TableEdit& edit)
      : text_(text),
        path_(std::move(path)),
        now_(now),
        target_(target),
        edit_(edit),
        from_(oldPlaces(now, target)),
        to_(now.size(), -1) {
    for (std::size_t i = 0; i < from_.size(); ++i) {
      if (from_[i] >= 0) to_[static_cast<std::size_t>(from_[i])] = static_cast<int>(i);
    }
  }

  bool run() {
    if (const auto place = valuePlace(text_, path_)) return inArray(*place);
    return inBlocks();
  }

 private:
  /// What an old element says now.
  [[nodiscard]] std::string elementText(std::size_t i, const std::string& old) const {
    const int to = to_[i];
    if (to < 0 || sameJson(now_[i], target_[static_cast<std::size_t>(to)])) return old;
    return edit_(old, now_[i], target_[static_cast<std::size_t>(to)]);
  }

  bool inArray(TomlRange value) {
    const std::vector<TomlRange> elements = outlineArray(text_.text(), value.begin);
    if (elements.size() != now_.size()) return false;
    if (elements.empty() || target_.empty()) {
      text_.put(value.begin, value.end, tomlLines(target_, text_.newLine()));
      return true;
    }
    Pieces pieces = ofLines(elements, value);
    if (pieces.texts.empty()) {
      pieces.whole = {elements.front().begin, elements.back().end};
      for (std::size_t i = 0; i < elements.size(); ++i)
        pieces.texts.push_back(elementText(i, slice(elements[i])));
      pieces.make = [](const Json& one) { return tomlValue(one); };
      pieces.between = ", ";
    }
    text_.put(pieces.whole.begin, pieces.whole.end, rebuilt(pieces, from_, target_));
    return true;
  }

  /// Whole lines, with the comments above and behind each element; nothing where two elements or a
  /// bracket share a line.
  [[nodiscard]] Pieces ofLines(const std::vector<TomlRange>& elements, TomlRange value) const {
    const std::string& all = text_.text();
    Pieces pieces;
    std::size_t before = endOfLine(all, value.begin);  // of the line with the bracket
    const std::size_t close = beginOfLine(all, value.end - 1);
    std::vector<TomlRange> lines;
    for (const TomlRange& element : elements) {
      const std::size_t begin = beginOfLine(all, element.begin);
      if (begin < before || all.find_first_not_of(" \t", begin) != element.begin) return {};
      const std::size_t end = endOfLine(all, element.end);
      if (end > close) return {};
      lines.push_back({before, end});
      before = end;
    }
    const std::string indent = all.substr(beginOfLine(all, elements[0].begin),
                                          elements[0].begin - beginOfLine(all, elements[0].begin));
    for (std::size_t i = 0; i < elements.size(); ++i) {
      std::string piece = slice(lines[i]);
      TomlRange element{elements[i].begin - lines[i].begin, elements[i].end - lines[i].begin};
      const std::size_t next = piece.find_first_not_of(" \t", element.end);
      const bool hasComma = next != std::string::npos && piece[next] == ',';
      const bool isLast = to_[i] + 1 == static_cast<int>(target_.size());
      if (!hasComma && !isLast) piece.insert(element.end, ",");
      pieces.texts.push_back(
          withElement(std::move(piece), element, elementText(i, slice(elements[i]))));
    }
    pieces.whole = {lines.front().begin, lines.back().end};
    pieces.make = [indent, newLine = text_.newLine()](const Json& one) {
      return indent + tomlValue(one) + "," + newLine;
    };
    return pieces;
  }

  /// `[[data.pipeline.train]]`, once for each.
  bool inBlocks() {
    std::vector<TomlRange> blocks;  // without the empty lines behind them
    std::vector<std::size_t> bodies;
    bool isOpen = false, isSplit = false;
    for (const TomlStatement& one : text_.outline()) {
      if (one.kind == Kind::ArrayHeader && one.path == path_) {
        isSplit = isSplit || (!blocks.empty() && !isOpen);
        std::size_t begin = text_.aboveComment(one.begin);
        if (!blocks.empty()) {  // with every comment behind the block before
          const std::string& all = text_.text();
          begin = beginOfLine(all, all.find_first_not_of(" \t\r\n", blocks.back().end));
        }
        blocks.push_back({begin, one.end});
        bodies.push_back(one.end);
        isOpen = true;
      } else if (one.kind != Kind::Entry && !startsWith(one.path, path_)) {
        isOpen = false;
      } else if (isOpen) {
        blocks.back().end = one.end;
      }
    }
    if (blocks.empty() || blocks.size() != now_.size() || isSplit || target_.empty()) return false;
    Pieces pieces{.whole = {blocks.front().begin, blocks.back().end}, .between = text_.newLine()};
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      std::string piece =
          slice({blocks[i].begin, bodies[i]}) + elementText(i, slice({bodies[i], blocks[i].end}));
      if (piece.empty() || piece.back() != '\n') piece += text_.newLine();
      pieces.texts.push_back(std::move(piece));
    }
    pieces.make = [this](const Json& one) {
      std::string header;
      for (const std::string& part : path_) header += (header.empty() ? "" : ".") + tomlKey(part);
      std::string block = "[[" + header + "]]" + text_.newLine();
      for (const auto& [key, value] : one.items())
        block += tomlKey(key) + " = " + tomlValue(value) + text_.newLine();
      return block;
    };
    text_.put(pieces.whole.begin, pieces.whole.end, rebuilt(pieces, from_, target_));
    return true;
  }

  [[nodiscard]] std::string slice(TomlRange range) const {
    return text_.text().substr(range.begin, range.end - range.begin);
  }

  TomlText& text_;
  TomlPath path_;
  const Json& now_;
  const Json& target_;
  const TableEdit& edit_;
  std::vector<int> from_, to_;
};

/// Renames inside `{ ... }`; `rest` is the rest of the path there.
void renameInline(TomlText& text, std::size_t brace, const TomlPath& rest,
                  const std::string& name) {
  const std::vector<TomlInlineEntry> entries = outlineInline(text.text(), brace);
  // From the end: each edit moves the text behind it.
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    if (startsWith(entry->path, rest)) {
      const TomlRange part = entry->parts[rest.size() - 1];
      text.put(part.begin, part.end, name);
    } else if (startsWith(rest, entry->path) && text.at(entry->valueBegin) == '{') {
      const auto from = static_cast<std::ptrdiff_t>(entry->path.size());
      renameInline(text, entry->valueBegin, TomlPath(rest.begin() + from, rest.end()), name);
    }
  }
}

}  // namespace

bool isNamedTable(const TomlPath& path) {
  return (path.size() == 2 && path[0] == "aux") ||
         (path.size() == 3 && path[0] == "train" && path[1] == "groups");
}

std::string tomlLines(const Json& value, const std::string& newLine) {
  if (!isOnlyTables(value) || value.size() < 2) return tomlValue(value);
  std::string text = "[" + newLine;
  for (const Json& one : value) text += "  " + tomlValue(one) + "," + newLine;
  return text + "]";
}

void renameTable(TomlText& text, const TomlPath& path, const std::string& name) {
  const std::string key = tomlKey(name);
  const std::vector<TomlStatement> statements = text.outline();
  // From the end: each edit moves the text behind it.
  for (auto one = statements.rbegin(); one != statements.rend(); ++one) {
    const std::size_t inHeader = one->path.size() - one->parts.size();
    if (startsWith(one->path, path) && path.size() > inHeader) {
      const TomlRange part = one->parts[path.size() - inHeader - 1];
      text.put(part.begin, part.end, key);
    } else if (one->kind == Kind::Entry && startsWith(path, one->path) &&
               text.at(one->valueBegin) == '{') {
      const auto from = static_cast<std::ptrdiff_t>(one->path.size());
      renameInline(text, one->valueBegin, TomlPath(path.begin() + from, path.end()), key);
    }
  }
}

bool patchList(TomlText& text, const TomlPath& path, const Json& now, const Json& target,
               const TableEdit& edit) {
  if (!isOnlyTables(now) || !isOnlyTables(target)) return false;
  return ListPatch(text, path, now, target, edit).run();
}

}  // namespace vitrine
