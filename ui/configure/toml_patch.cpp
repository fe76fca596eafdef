// One small edit after the other, each found by a fresh outline; the result is read back and
// compared, so that a text the edits do not fit is written anew instead of being spoilt.
#include "ui/configure/toml_patch.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/text.h"
#include "core/config/to_toml.h"
#include "ui/configure/toml_outline.h"

namespace vitrine::ui {

namespace {

constexpr const char* kSeeds = "train.seed";

using Kind = TomlStatement::Kind;

std::string dotted(const TomlPath& path, std::size_t from) {
  std::string text;
  for (std::size_t i = from; i < path.size(); ++i)
    text += (text.empty() ? "" : ".") + tomlKey(path[i]);
  return text;
}

std::string joined(const TomlPath& path, std::size_t from = 0) {
  std::string text;
  for (std::size_t i = from; i < path.size(); ++i) text += (i > from ? "." : "") + path[i];
  return text;
}

TomlPath below(TomlPath path, const std::string& key) {
  path.push_back(key);
  return path;
}

/// Where a section stands in a file that nobody ordered otherwise.
int sectionRank(const std::string& section) {
  static const std::map<std::string, int> kRanks{{"model", 0}, {"task", 1},    {"data", 2},
                                                 {"train", 3}, {"observe", 4}, {"init", 5},
                                                 {"sweep", 6}, {"variant", 7}, {"stage", 8}};
  const auto found = kRanks.find(section);
  return found == kRanks.end() ? 9 : found->second;
}

std::string setText(const Document::Variant& variant) {
  std::string text = "{ ";
  for (std::size_t i = 0; i < variant.set.size(); ++i) {
    text += (i > 0 ? ", " : "") + tomlKey(variant.set[i].first) + " = " +
            tomlValue(variant.set[i].second);
  }
  return text + " }";
}

/// Sorted keys, so that order within a table does not matter.
nlohmann::json unordered(const Json& value) { return nlohmann::json(value); }

std::vector<Document::Axis> axesInEffect(const Document& document) {
  std::vector<Document::Axis> axes = document.sweep;
  std::stable_partition(axes.begin(), axes.end(),
                        [](const Document::Axis& axis) { return axis.key != kSeeds; });
  return axes;
}

bool sameAxes(const Document& a, const Document& b) {
  const auto left = axesInEffect(a);
  const auto right = axesInEffect(b);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const Document::Axis& x, const Document::Axis& y) {
                      return x.key == y.key && x.values == y.values;
                    });
}

bool sameVariant(const Document::Variant& a, const Document::Variant& b) {
  return a.name == b.name && a.set == b.set;
}

/// Only a preset is under [model]: elsewhere a table written whole has nothing to replace.
std::set<std::string> wholeInEffect(const Document& document) {
  std::set<std::string> whole;
  for (const std::string& path : document.wholeTables) {
    const Json* table = document.find(path);
    if (path.rfind("model.", 0) == 0 && table != nullptr && !table->empty()) whole.insert(path);
  }
  return whole;
}

class Patch {
 public:
  Patch(std::string text, const Document& now, const Document& target)
      : text_(std::move(text)), now_(now), target_(target) {
    if (text_.find("\r\n") != std::string::npos) newLine_ = "\r\n";
  }

  std::string run() {
    title();
    tables({}, now_.tables, target_.tables);
    sweep();
    variants();
    return text_;
  }

 private:
  // --- text ---
  void put(std::size_t begin, std::size_t end, const std::string& with) {
    text_.replace(begin, end - begin, with);
  }
  /// A line of its own at a line's beginning.
  void putLine(std::size_t at, const std::string& line) {
    const bool isOpen = at > 0 && text_[at - 1] != '\n';
    text_.insert(at, (isOpen ? newLine_ : "") + line + newLine_);
  }
  void removeLines(std::size_t begin, std::size_t end) {
    text_.erase(begin, end - begin);
    // No two empty lines where there was one on each side, none at the beginning.
    const auto isBreak = [this](std::size_t at) {
      return at < text_.size() && (text_[at] == '\n' || text_.compare(at, 2, "\r\n") == 0);
    };
    const bool isAfterEmpty =
        begin == 0 || (begin >= 2 && text_[begin - 1] == '\n' &&
                       (text_[begin - 2] == '\n' ||
                        (begin >= 3 && text_[begin - 2] == '\r' && text_[begin - 3] == '\n')));
    if (isAfterEmpty && isBreak(begin)) text_.erase(begin, text_.find('\n', begin) + 1 - begin);
  }
  /// The end of the last line with something on it before `at`.
  [[nodiscard]] std::size_t afterContent(std::size_t at) const {
    while (at > 0) {
      const std::size_t lineBegin = at < 2 ? 0 : text_.rfind('\n', at - 2) + 1;
      const std::string_view line(text_.data() + lineBegin, at - lineBegin);
      if (line.find_first_not_of(" \t\r\n") != std::string_view::npos) break;
      at = lineBegin;
    }
    return at;
  }
  /// Above the comment that belongs to the line at `at`.
  [[nodiscard]] std::size_t aboveComment(std::size_t at) const {
    while (at > 0) {
      const std::size_t lineBegin = at < 2 ? 0 : text_.rfind('\n', at - 2) + 1;
      const std::size_t first = text_.find_first_not_of(" \t", lineBegin);
      if (first >= at || text_[first] != '#') break;
      at = lineBegin;
    }
    return at;
  }

  // --- title ---
  void title() {
    if (now_.title == target_.title) return;
    for (const TomlStatement& statement : outlineToml(text_)) {
      if (statement.path != TomlPath{"title"}) continue;
      if (target_.title.empty()) {
        removeLines(statement.begin, statement.end);
      } else {
        put(statement.valueBegin, statement.valueEnd, tomlString(target_.title));
      }
      return;
    }
    if (target_.title.empty()) return;
    const std::vector<TomlStatement> statements = outlineToml(text_);
    // Below a comment at the head of the file, above everything else.
    std::size_t at = statements.empty() ? text_.size() : aboveComment(statements.front().begin);
    if (at == 0 && !statements.empty()) at = statements.front().begin;
    const bool isHeaderNext = !statements.empty() && statements.front().kind != Kind::Entry;
    putLine(at, "title = " + tomlString(target_.title) + (isHeaderNext ? newLine_ : ""));
  }

  // --- tables ---
  void tables(const TomlPath& path, const Json& now, const Json& target) {
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
      if (unordered(old) == unordered(value) && isWhole(now_, full) == isWhole(target_, full))
        continue;
      if (old.is_object() && value.is_object() && !value.empty() &&
          isWhole(now_, full) == isWhole(target_, full)) {
        tables(full, old, value);
      } else {
        replace(full, value);
      }
    }
  }

  static bool isWhole(const Document& document, const TomlPath& path) {
    return path[0] == "model" && document.wholeTables.count(joined(path)) > 0;
  }

  void erase(const TomlPath& path) {
    for (bool isAgain = true; isAgain;) {
      isAgain = false;
      const std::vector<TomlStatement> statements = outlineToml(text_);
      // From the end: a header goes after what stands under it, never before.
      for (auto one = statements.rbegin(); one != statements.rend() && !isAgain; ++one) {
        if (one->kind == Kind::ArrayHeader) continue;
        if (startsWith(one->path, path)) {
          removeLines(one->begin, one->end);
          isAgain = true;
        } else if (one->kind == Kind::Entry && startsWith(path, one->path) &&
                   text_[one->valueBegin] == '{') {
          const auto from = static_cast<std::ptrdiff_t>(one->path.size());
          isAgain = eraseInline(one->valueBegin, TomlPath(path.begin() + from, path.end()));
        }
      }
    }
  }

  bool eraseInline(std::size_t brace, const TomlPath& path) {
    const std::vector<TomlInlineEntry> entries = outlineInline(text_, brace);
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
        put(begin, end, "");
        return true;
      }
      if (startsWith(path, entry.path) && text_[entry.valueBegin] == '{' &&
          eraseInline(
              entry.valueBegin,
              TomlPath(path.begin() + static_cast<std::ptrdiff_t>(entry.path.size()), path.end())))
        return true;
    }
    return false;
  }

  void replace(const TomlPath& path, const Json& value) {
    for (const TomlStatement& statement : outlineToml(text_)) {
      if (statement.kind != Kind::Entry || !startsWith(path, statement.path)) continue;
      if (statement.path == path && (!value.is_object() || value.empty() || isWhole(target_, path)))
        return put(statement.valueBegin, statement.valueEnd, tomlValue(value));
      if (statement.path != path && text_[statement.valueBegin] == '{' &&
          replaceInline(statement.valueBegin, path, statement.path.size(), value))
        return;
    }
    erase(path);
    insert(path, value);
  }

  bool replaceInline(std::size_t brace, const TomlPath& path, std::size_t from, const Json& value) {
    for (const TomlInlineEntry& entry : outlineInline(text_, brace)) {
      const TomlPath rest(path.begin() + static_cast<std::ptrdiff_t>(from), path.end());
      if (!startsWith(rest, entry.path)) continue;
      if (rest.size() == entry.path.size()) {
        put(entry.valueBegin, entry.valueEnd, tomlValue(value));
        return true;
      }
      if (text_[entry.valueBegin] == '{')
        return replaceInline(entry.valueBegin, path, from + entry.path.size(), value);
    }
    return false;
  }

  void insert(const TomlPath& path, const Json& value) {
    const bool isSpread =
        value.is_object() && (path.size() == 1 || (!value.empty() && !isWhole(target_, path)));
    if (!isSpread) return insertLeaf(path, value);
    for (const auto& [key, one] : value.items()) insert(below(path, key), one);
    if (value.empty()) openSection(path[0], "");
  }

  void insertLeaf(const TomlPath& path, const Json& value) {
    const std::vector<TomlStatement> statements = outlineToml(text_);
    const TomlStatement* header = nullptr;
    std::size_t headerPlace = 0;
    for (std::size_t i = 0; i < statements.size(); ++i) {
      const TomlStatement& one = statements[i];
      if (one.path.size() >= path.size() || !startsWith(path, one.path)) continue;
      if (one.kind == Kind::Entry && text_[one.valueBegin] == '{')
        return insertInline(one.valueBegin, path, one.path.size(), value);
      if (one.kind == Kind::Header &&
          (header == nullptr || header->path.size() < one.path.size())) {
        header = &one;
        headerPlace = i + 1;
      }
    }
    // Beside the keys it has most in common with.
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
    const std::string line = dotted(path, from) + " = " + tomlValue(value);
    if (beside != nullptr && mostShared > 0 && (header != nullptr || mostShared >= 1)) {
      putLine(beside->end, line);
    } else if (header != nullptr) {
      putLine(header->end, line);
    } else {
      openSection(path[0], dotted(path, 1) + " = " + tomlValue(value));
    }
  }

  void insertInline(std::size_t brace, const TomlPath& path, std::size_t from, const Json& value) {
    const std::vector<TomlInlineEntry> entries = outlineInline(text_, brace);
    for (const TomlInlineEntry& entry : entries) {
      const TomlPath rest(path.begin() + static_cast<std::ptrdiff_t>(from), path.end());
      if (entry.path.size() < rest.size() && startsWith(rest, entry.path) &&
          text_[entry.valueBegin] == '{')
        return insertInline(entry.valueBegin, path, from + entry.path.size(), value);
    }
    const std::string said = dotted(path, from) + " = " + tomlValue(value);
    if (entries.empty()) {
      const std::size_t close = text_.find('}', brace);
      put(brace, close + 1, "{ " + said + " }");
    } else {
      text_.insert(entries.back().valueEnd, ", " + said);
    }
  }

  /// A section of its own, where files usually have it.
  void openSection(const std::string& name, const std::string& body, bool isArray = false) {
    const std::string header = isArray ? "[[" + tomlKey(name) + "]]" : "[" + tomlKey(name) + "]";
    const std::string block = header + newLine_ + (body.empty() ? "" : body + newLine_);
    for (const TomlStatement& statement : outlineToml(text_)) {
      if (statement.kind == Kind::Entry || sectionRank(statement.path[0]) <= sectionRank(name))
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

  // --- sweep ---
  [[nodiscard]] const TomlStatement* axisIn(const std::vector<TomlStatement>& statements,
                                            const std::string& key) const {
    for (const TomlStatement& one : statements) {
      if (one.kind == Kind::Entry && one.path.size() > 1 && one.path[0] == "sweep" &&
          joined(one.path, 1) == key)
        return &one;
    }
    return nullptr;
  }

  void sweep() {
    if (sameAxes(now_, target_)) return;
    if (target_.sweep.empty()) return erase({"sweep"});
    const std::vector<Document::Axis> wanted = axesInEffect(target_);
    // Lines stay where the ones that are kept have the wanted order, else all are written again.
    std::vector<std::string> kept, asked;
    for (const Document::Axis& axis : axesInEffect(now_)) {
      if (target_.axis(axis.key) != nullptr) kept.push_back(axis.key);
    }
    for (const Document::Axis& axis : wanted) {
      if (now_.axis(axis.key) != nullptr) asked.push_back(axis.key);
    }
    std::size_t lastKept = 0;  // of `wanted`
    for (std::size_t i = 0; i < wanted.size(); ++i)
      lastKept = now_.axis(wanted[i].key) != nullptr ? i : lastKept;
    for (std::size_t i = 0; i < lastKept; ++i) {  // a new one before an old one
      if (now_.axis(wanted[i].key) == nullptr && wanted[lastKept].key != kSeeds) kept.clear();
    }
    const bool isOrdered = kept == asked;
    for (const Document::Axis& old : now_.sweep) {
      const auto statements = outlineToml(text_);
      const TomlStatement* entry = axisIn(statements, old.key);
      if (entry != nullptr && (!isOrdered || target_.axis(old.key) == nullptr))
        removeLines(entry->begin, entry->end);
    }
    for (const Document::Axis& axis : wanted) putAxis(axis);
  }

  void putAxis(const Document::Axis& axis) {
    const std::string values = tomlValue(Json(axis.values));
    const auto statements = outlineToml(text_);
    if (const TomlStatement* entry = axisIn(statements, axis.key); entry != nullptr) {
      if (now_.axis(axis.key)->values != axis.values)
        put(entry->valueBegin, entry->valueEnd, values);
      return;
    }
    const std::string line = tomlString(axis.key) + " = " + values;
    const TomlStatement* header = nullptr;
    std::size_t last = 0;
    for (const TomlStatement& one : statements) {
      if (one.path[0] != "sweep") continue;
      if (one.kind == Kind::Header && one.path.size() == 1) header = &one;
      last = std::max(last, one.end);
    }
    if (last == 0) {
      openSection("sweep", line);
    } else {
      putLine(last, header == nullptr ? "sweep." + line : line);
    }
  }

  // --- variants ---
  struct Block {
    std::size_t begin, end;
  };
  [[nodiscard]] std::vector<Block> variantBlocks() const {
    std::vector<Block> blocks;
    bool isOpen = false;
    for (const TomlStatement& one : outlineToml(text_)) {
      if (one.kind == Kind::ArrayHeader && one.path == TomlPath{"variant"}) {
        blocks.push_back({one.begin, one.end});
        isOpen = true;
      } else if (one.kind != Kind::Entry && one.path[0] != "variant") {
        isOpen = false;
      } else if (isOpen) {
        blocks.back().end = one.end;
      }
    }
    return blocks;
  }

  /// Without its header and its last line break.
  [[nodiscard]] std::string variantBody(const Document::Variant& variant) const {
    std::string text = "name = " + tomlString(variant.name);
    if (!variant.set.empty()) text += newLine_ + "set = " + setText(variant);
    return text;
  }
  [[nodiscard]] std::string variantText(const Document::Variant& variant) const {
    return "[[variant]]" + newLine_ + variantBody(variant);
  }

  void variants() {
    const auto& old = now_.variants;
    const auto& wanted = target_.variants;
    if (std::equal(old.begin(), old.end(), wanted.begin(), wanted.end(), sameVariant)) return;
    // Which old block each wanted variant is: by place where the number is the same, else by name.
    std::vector<int> from(wanted.size(), -1);
    std::size_t next = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (old.size() == wanted.size()) {
        from[i] = static_cast<int>(i);
        continue;
      }
      for (std::size_t k = next; k < old.size(); ++k) {
        if (old[k].name != wanted[i].name) continue;
        from[i] = static_cast<int>(k);
        next = k + 1;
        break;
      }
    }
    std::vector<Block> blocks = variantBlocks();
    if (blocks.size() != old.size()) return;  // spelt in another way: the check at the end tells
    // From the end, so that places before stay what they are.
    int kept = static_cast<int>(old.size());
    for (std::size_t i = wanted.size(); i-- > 0;) {
      if (from[i] < 0) {
        insertVariant(kept, wanted[i]);
        continue;
      }
      for (int gone = kept - 1; gone > from[i]; --gone)
        removeBlock(blocks[static_cast<std::size_t>(gone)]);
      kept = from[i];
      const auto place = static_cast<std::size_t>(kept);
      if (!sameVariant(old[place], wanted[i])) patchVariant(blocks[place], old[place], wanted[i]);
    }
    for (int gone = kept - 1; gone >= 0; --gone)
      removeBlock(blocks[static_cast<std::size_t>(gone)]);
  }

  void removeBlock(const Block& block) { removeLines(block.begin, block.end); }

  /// Before the block that is number `place` now, or behind the last.
  void insertVariant(int place, const Document::Variant& variant) {
    const std::vector<Block> blocks = variantBlocks();
    if (blocks.empty()) return openSection("variant", variantBody(variant), true);
    if (static_cast<std::size_t>(place) < blocks.size()) {
      text_.insert(aboveComment(blocks[static_cast<std::size_t>(place)].begin),
                   variantText(variant) + newLine_ + newLine_);
    } else {
      putLine(blocks.back().end, newLine_ + variantText(variant));
    }
  }

  void patchVariant(const Block& block, const Document::Variant& old,
                    const Document::Variant& wanted) {
    const std::vector<TomlStatement> statements = outlineToml(text_);
    const TomlStatement *name = nullptr, *set = nullptr;
    bool isPlain = true;
    for (const TomlStatement& one : statements) {
      if (one.begin < block.begin || one.begin >= block.end) continue;
      if (one.path == TomlPath{"variant", "name"}) {
        name = &one;
      } else if (one.path == TomlPath{"variant", "set"} && one.kind == Kind::Entry) {
        set = &one;
      } else if (one.kind != Kind::ArrayHeader) {
        isPlain = false;
      }
    }
    if (!isPlain || name == nullptr)
      return put(block.begin, block.end, variantText(wanted) + newLine_);
    // The later of both first.
    const auto patchName = [&, name] {
      if (old.name != wanted.name) put(name->valueBegin, name->valueEnd, tomlString(wanted.name));
    };
    const auto patchSet = [&, set] {
      if (old.set == wanted.set) return;
      if (set == nullptr) {
        if (!wanted.set.empty()) putLine(name->end, "set = " + setText(wanted));
      } else if (wanted.set.empty()) {
        text_.erase(set->begin, set->end - set->begin);
      } else {
        put(set->valueBegin, set->valueEnd, setText(wanted));
      }
    };
    if (set == nullptr || set->begin > name->begin) {
      patchSet();
      patchName();
    } else {
      patchName();
      patchSet();
    }
  }

  std::string text_;
  const Document& now_;
  const Document& target_;
  std::string newLine_ = "\n";
};

}  // namespace

bool meansTheSame(const Document& a, const Document& b) {
  return a.title == b.title && unordered(a.tables) == unordered(b.tables) && sameAxes(a, b) &&
         std::equal(a.variants.begin(), a.variants.end(), b.variants.begin(), b.variants.end(),
                    sameVariant) &&
         unordered(a.rest) == unordered(b.rest) && wholeInEffect(a) == wholeInEffect(b);
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

}  // namespace vitrine::ui
