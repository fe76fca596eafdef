// Sweep, variants and excluded runs in the text of an experiment.
#include <algorithm>
#include <span>

#include "core/base/joined.h"
#include "core/config/edit/toml_patch_parts.h"
#include "core/config/toml/to_toml.h"

namespace vitrine {

namespace {

constexpr const char* kSeeds = "train.seed";

using Kind = TomlStatement::Kind;

std::string excludeBody(const Document::Exclude& exclude, const std::string& newLine) {
  std::string text;
  for (const auto& [key, value] : exclude)
    text += (text.empty() ? "" : newLine) + tomlKey(key) + " = " + tomlValue(value);
  return text;
}

std::vector<Document::Axis> axesInEffect(const Document& document) {
  std::vector<Document::Axis> axes = document.sweep;
  std::stable_partition(axes.begin(), axes.end(),
                        [](const Document::Axis& axis) { return axis.key != kSeeds; });
  return axes;
}

bool sameSet(const Document::Exclude& a, const Document::Exclude& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && sameJson(x.second, y.second);
  });
}

bool sameVariant(const Document::Variant& a, const Document::Variant& b) {
  return a.name == b.name && sameSet(a.set, b.set);
}

class RunsPatch {
 public:
  RunsPatch(TomlText& text, const Document& now, const Document& target)
      : text_(text), now_(now), target_(target) {}

  void run() {
    sweep();
    variants();
    excludes();
    stages();
  }

 private:
  // --- sweep ---
  [[nodiscard]] const TomlStatement* axisIn(const std::vector<TomlStatement>& statements,
                                            const std::string& key) const {
    for (const TomlStatement& one : statements) {
      if (one.kind == Kind::Entry && one.path.size() > 1 && one.path[0] == "sweep" &&
          joined(std::span(one.path).subspan(1), ".") == key)
        return &one;
    }
    return nullptr;
  }

  void sweep() {
    if (target_.sweep.empty() || sameAxes(now_, target_)) return;
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
      const auto statements = text_.outline();
      const TomlStatement* entry = axisIn(statements, old.key);
      if (entry != nullptr && (!isOrdered || target_.axis(old.key) == nullptr))
        text_.removeLines(entry->begin, entry->end);
    }
    for (const Document::Axis& axis : wanted) putAxis(axis);
  }

  void putAxis(const Document::Axis& axis) {
    const std::string values = tomlValue(Json(axis.values));
    const auto statements = text_.outline();
    if (const TomlStatement* entry = axisIn(statements, axis.key); entry != nullptr) {
      if (!sameJson(Json(now_.axis(axis.key)->values), Json(axis.values)))
        text_.put(entry->valueBegin, entry->valueEnd, values);
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
      text_.openSection("sweep", line);
    } else {
      text_.putLine(last, header == nullptr ? "sweep." + line : line);
    }
  }

  // --- variants ---
  struct Block {
    std::size_t begin, end;
  };
  [[nodiscard]] std::vector<Block> blocksOf(const std::string& name) const {
    std::vector<Block> blocks;
    bool isOpen = false;
    for (const TomlStatement& one : text_.outline()) {
      if (one.kind == Kind::ArrayHeader && one.path == TomlPath{name}) {
        blocks.push_back({one.begin, one.end});
        isOpen = true;
      } else if (one.kind != Kind::Entry && one.path[0] != name) {
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
    if (!variant.set.empty()) text += text_.newLine() + "set = " + tomlTable(variant.set);
    return text;
  }
  [[nodiscard]] std::string variantText(const Document::Variant& variant) const {
    return "[[variant]]" + text_.newLine() + variantBody(variant);
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
    std::vector<Block> blocks = blocksOf("variant");
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

  void removeBlock(const Block& block) { text_.removeLines(block.begin, block.end); }

  /// Before the block that is number `place` now, or behind the last.
  void insertVariant(int place, const Document::Variant& variant) {
    const std::vector<Block> blocks = blocksOf("variant");
    if (blocks.empty())
      return text_.openSection("variant", variantBody(variant), TomlText::Header::Array);
    if (static_cast<std::size_t>(place) < blocks.size()) {
      text_.insert(text_.aboveComment(blocks[static_cast<std::size_t>(place)].begin),
                   variantText(variant) + text_.newLine() + text_.newLine());
    } else {
      text_.putLine(blocks.back().end, text_.newLine() + variantText(variant));
    }
  }

  void patchVariant(const Block& block, const Document::Variant& old,
                    const Document::Variant& wanted) {
    const std::vector<TomlStatement> statements = text_.outline();
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
      return text_.put(block.begin, block.end, variantText(wanted) + text_.newLine());
    // The later of both first.
    const auto patchName = [&, name] {
      if (old.name != wanted.name)
        text_.put(name->valueBegin, name->valueEnd, tomlString(wanted.name));
    };
    const auto patchSet = [&, set] {
      if (sameSet(old.set, wanted.set)) return;
      if (set == nullptr) {
        if (!wanted.set.empty()) text_.putLine(name->end, "set = " + tomlTable(wanted.set));
      } else if (wanted.set.empty()) {
        text_.put(set->begin, set->end, "");
      } else {
        text_.put(set->valueBegin, set->valueEnd, tomlTable(wanted.set));
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

  // --- excluded runs ---
  void excludes() {
    const auto& old = now_.excludes;
    const auto& wanted = target_.excludes;
    if (sameExcludes(now_, target_)) return;
    // Those that stay keep their text; one that changed its wording is another one.
    std::vector<bool> isKept(old.size(), false);
    std::vector<const Document::Exclude*> added;
    std::size_t next = 0;
    for (const Document::Exclude& one : wanted) {
      const auto found =
          std::find_if(old.begin() + static_cast<std::ptrdiff_t>(next), old.end(),
                       [&one](const Document::Exclude& other) { return sameSet(other, one); });
      if (found == old.end()) {
        added.push_back(&one);
        continue;
      }
      next = static_cast<std::size_t>(found - old.begin()) + 1;
      isKept[next - 1] = true;
    }
    const std::vector<Block> blocks = blocksOf("exclude");
    if (blocks.size() != old.size()) return;  // spelt in another way: the check at the end tells
    for (std::size_t i = old.size(); i-- > 0;) {
      if (!isKept[i]) removeBlock(blocks[i]);
    }
    for (const Document::Exclude* one : added) {
      const std::vector<Block> there = blocksOf("exclude");
      const std::string body = excludeBody(*one, text_.newLine());
      if (there.empty()) {
        text_.openSection("exclude", body, TomlText::Header::Array);
      } else {
        text_.putLine(there.back().end, text_.newLine() + "[[exclude]]" + text_.newLine() + body);
      }
    }
  }

  // --- stages ---
  void stages() {
    const auto old = now_.rest.find("stage"), wanted = target_.rest.find("stage");
    if (old == now_.rest.end() || wanted == target_.rest.end() || sameJson(*old, *wanted)) return;
    const std::vector<Block> blocks = blocksOf("stage");
    // Spelt in another way: the check at the end tells.
    if (blocks.size() != old->size() || blocks.size() != wanted->size()) return;
    const std::vector<TomlStatement> statements = text_.outline();
    // From the end, so that places before stay what they are.
    for (auto one = statements.rbegin(); one != statements.rend(); ++one) {
      if (one->kind != Kind::Entry || one->path != TomlPath{"stage", "set"}) continue;
      const auto block = std::find_if(blocks.begin(), blocks.end(),
                                      [&one](const Block& b) { return one->begin < b.end; });
      const auto place = static_cast<std::size_t>(block - blocks.begin());
      const Json& stage = (*wanted)[place];
      if (sameJson((*old)[place], stage)) continue;
      text_.put(one->valueBegin, one->valueEnd, tomlValue(stage.value("set", Json::object())));
    }
  }

  TomlText& text_;
  const Document& now_;
  const Document& target_;
};

}  // namespace

bool sameAxes(const Document& a, const Document& b) {
  const auto left = axesInEffect(a);
  const auto right = axesInEffect(b);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const Document::Axis& x, const Document::Axis& y) {
                      return x.key == y.key && sameJson(Json(x.values), Json(y.values));
                    });
}

bool sameVariants(const Document& a, const Document& b) {
  return std::equal(a.variants.begin(), a.variants.end(), b.variants.begin(), b.variants.end(),
                    sameVariant);
}

bool sameExcludes(const Document& a, const Document& b) {
  return std::equal(a.excludes.begin(), a.excludes.end(), b.excludes.begin(), b.excludes.end(),
                    sameSet);
}

void patchRuns(TomlText& text, const Document& now, const Document& target) {
  RunsPatch(text, now, target).run();
}

}  // namespace vitrine
