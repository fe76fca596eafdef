#include "core/config/experiment_reader.h"

#include <algorithm>
#include <unordered_set>

#include "core/base/text.h"
#include "core/config/exclude.h"
#include "core/config/resolve.h"
#include "core/config/run_resolver.h"
#include "core/config/toml/toml_reader.h"

namespace vitrine {

namespace {

/// Keys of a `[[stage]]` that belong to `[init]`.
const std::vector<std::string>& stageInitKeys() {
  static const std::vector<std::string> keys = {
      "checkpoint", "use", "skip", "freeze", "rename", "strict", "resize_positions"};
  return keys;
}

class ExperimentReader {
 public:
  explicit ExperimentReader(ProblemList& problems) : problems_(problems) {
    text_.base.isTable = true;
  }

  ExperimentText read(const Node& document, const std::vector<Override>& overrides) {
    readDocument(document);
    readOverrides(overrides);
    return std::move(text_);
  }

 private:
  void readDocument(const Node& document) {
    const Node* excludes = nullptr;
    for (const auto& [name, child] : document.children) {
      const Path path = split(name, '.');
      if (name == "title") {
        readTitle(child, kAtValue);
      } else if (name == "exclude") {
        excludes = &child;  // when everything that varies is known
      } else if (name == "sweep") {
        readAxes(child, "sweep", text_.axes);
      } else if (name == "select") {
        readSelect(child);
      } else if (name == "variant" || name == "stage") {
        readEntries(name, child, name == "variant" ? text_.variants : text_.stages);
      } else if (contains(sectionNames(), path[0])) {
        Node section = child;
        section.neverReplace();
        lay(text_.base, path, section);
      } else {
        unknownSection(&child, name);
      }
    }
    if (excludes) text_.excludes = readExcludes(*excludes, text_, problems_);
  }

  void unknownSection(const Node* where, const std::string& name) {
    const std::string table = split(name, '.')[0];
    if (contains({"sweep", "variant", "exclude", "stage"}, table)) {
      problems_.add(where, kAtKey, Code::Misplaced, shorten(name, 80),
                    "cannot be given here; write it in the experiment file as " +
                        (table == "sweep" ? "[sweep]" : "[[" + table + "]]"));
      return;
    }
    std::vector<std::string> legal = {"title"};
    legal.insert(legal.end(), sectionNames().begin(), sectionNames().end());
    legal.insert(legal.end(), {"sweep", "select", "variant", "exclude", "stage"});
    std::string close = nearest(table, legal);
    if (close.empty()) {
      for (const std::string& key : trainSchema().keys()) {
        if (key == name || key.ends_with("." + name)) close = "train." + key;
      }
    }
    problems_.add(
        where, kAtKey, Code::UnknownKey, shorten(name, 80),
        "there is no such key" + (close.empty() ? " here; there are " + listed(legal) : ""), close);
  }

  void readTitle(const Node& node, At at) {
    if (!node.isTable && (node.value.is_string() || !node.raw.empty())) {
      text_.title = node.value.is_string() ? node.value.get<std::string>() : node.raw;
    } else {
      problems_.add(&node, at, Code::WrongType, "title", "must be text");
    }
  }

  void readSelect(const Node& node) {
    if (!node.isTable) {
      problems_.add(&node, kAtValue, Code::WrongType, "select", "must be a table: [select]");
      return;
    }
    text_.select = node;
    if (const Node* grid = node.find("grid")) readAxes(*grid, "select.grid", text_.grid);
  }

  /// \param section  "sweep" or "select.grid"
  void readAxes(const Node& node, const std::string& section, std::vector<Axis>& axes) {
    if (!node.isTable) {
      problems_.add(&node, kAtValue, Code::WrongType, section,
                    "must be a table of lists: \"train.seed\" = [0, 1, 2]");
      return;
    }
    collectAxes(node, section, "", axes);
    // Seeds are the fastest axis wherever they stand.
    std::stable_partition(axes.begin(), axes.end(),
                          [](const Axis& axis) { return axis.key != "train.seed"; });
  }

  void collectAxes(const Node& node, const std::string& section, const std::string& prefix,
                   std::vector<Axis>& axes) {
    for (const auto& [name, child] : node.children) {
      const std::string key = prefix.empty() ? name : prefix + "." + name;
      if (child.isTable) {
        collectAxes(child, section, key, axes);
        continue;
      }
      const std::string shownKey = section + "." + shorten(key, 80);
      if (!child.value.is_array()) {
        problems_.add(&child, kAtValue, Code::WrongType, shownKey,
                      "must be a list of the values to try");
        continue;
      }
      if (child.items.empty()) {
        problems_.add(&child, kAtValue, Code::Empty, shownKey,
                      "is an empty list; name at least one value or leave the key out");
        continue;
      }
      Axis axis{.key = key, .path = split(key, '.')};
      if (!contains(sectionNames(), axis.path[0])) {
        unknownSection(&child, key);
        continue;
      }
      for (const Axis& other : axes) {
        if (other.key == key)
          problems_.add(&child, kAtKey, Code::Duplicate, shownKey, "is swept twice");
      }
      if (child.items.size() <= 1000) {
        for (std::size_t i = 0; i < child.items.size(); ++i) {
          const auto before = child.items.begin() + static_cast<std::ptrdiff_t>(i);
          const bool isRepeated = std::any_of(child.items.begin(), before, [&](const Node& item) {
            return sameValue(item, child.items[i]);
          });
          if (isRepeated) {
            problems_.add(&child.items[i], kAtValue, Code::Duplicate, shownKey,
                          std::string("value ") + shownInName(child.items[i]) + " is listed twice");
          }
        }
      }
      axis.values = child.items;
      for (Node& value : axis.values)
        value.mark(section == "sweep" ? Source::Sweep : Source::Select);
      axes.push_back(std::move(axis));
    }
  }

  void readEntries(const std::string& kind, const Node& node, std::vector<Entry>& entries) {
    const bool isList = !node.isTable && node.value.is_array();
    if (!isList) {
      problems_.add(&node, kAtKey, Code::WrongType, kind,
                    "must be written as [[" + kind + "]], once for each");
      return;
    }
    std::unordered_set<std::string> names;
    for (const Node& item : node.items) {
      if (!item.isTable) {
        problems_.add(&item, kAtValue, Code::WrongType, kind, "must be a table with a name");
        continue;
      }
      Entry entry;
      entry.layer.isTable = true;
      readEntry(kind, item, entry);
      if (entry.name.empty()) {
        problems_.add(&item, kAtValue, Code::Missing, kind + ".name",
                      "must be given: a name that no other " + kind + " has");
      } else if (!names.insert(entry.name).second) {
        problems_.add(item.find("name"), kAtValue, Code::Duplicate, kind + ".name",
                      std::string("'") + shorten(entry.name, 60) + "' is the name of an earlier " +
                          kind + "; give another");
      }
      entry.layer.mark(kind == "variant" ? Source::Variant : Source::Stage);
      entries.push_back(std::move(entry));
      if (problems_.isFull()) return;
    }
  }

  void readEntry(const std::string& kind, const Node& item, Entry& entry) {
    const bool isStage = kind == "stage";
    // `init` goes first: the other keys of [init] are laid over it.
    const Node* init = isStage ? item.find("init") : nullptr;
    if (init && !init->isTable && init->value != "previous") {
      problems_.add(init, kAtValue, Code::WrongType, "stage.init",
                    "must be \"previous\" or a table like [init]");
    } else if (init) {
      Node table = *init;
      if (!init->isTable) {
        table.isTable = true;
        table.value = nullptr;
        table.children.emplace_back("run", *init);
      }
      table.replaces = true;
      lay(entry.layer, {"init"}, table);
    }
    for (const auto& [name, child] : item.children) {
      if (name == "name") {
        if (child.value.is_string()) {
          entry.name = child.value.get<std::string>();
        } else {
          problems_.add(&child, kAtValue, Code::WrongType, kind + ".name", "must be text");
        }
      } else if (name == "set") {
        readSet(kind, child, entry);
      } else if (isStage && contains(stageInitKeys(), name)) {
        lay(entry.layer, {"init", name}, child);
      } else if (!isStage || name != "init") {
        std::vector<std::string> legal = {"name", "set"};
        if (isStage) {
          legal.push_back("init");
          legal.insert(legal.end(), stageInitKeys().begin(), stageInitKeys().end());
        }
        std::string close = nearest(name, legal);
        if (close.empty() && contains(sectionNames(), split(name, '.')[0]))
          close = std::string("set.") + shorten(name, 80);
        problems_.add(&child, kAtKey, Code::UnknownKey, kind + "." + shorten(name, 80),
                      "there is no such key here; there are " + listed(legal), close);
      }
    }
  }

  void readSet(const std::string& kind, const Node& set, Entry& entry) {
    if (!set.isTable) {
      problems_.add(&set, kAtValue, Code::WrongType, kind + ".set",
                    "must be a table: set = { \"model.depth\" = 4 }");
      return;
    }
    for (const auto& [name, child] : set.children) {
      const Path path = split(name, '.');
      if (contains(sectionNames(), path[0])) {
        lay(entry.layer, path, child);
      } else {
        unknownSection(&child, name);
      }
    }
  }

  void readOverrides(const std::vector<Override>& overrides) {
    for (const Override& each : overrides) {
      Node node;
      Path path;
      if (!readOverride(each, problems_, path, node)) continue;
      const std::string key = cleanUtf8(each.key);
      if (key == "title") {
        readTitle(node, kAtValue);
      } else if (path[0] == "select" && text_.select && path.size() == 2 && path[1] != "grid") {
        lay(*text_.select, {path[1]}, node);
      } else if (path[0] == "select") {
        problems_.add(&node, kAtKey, Code::Misplaced, shorten(key, 80),
                      text_.select ? "cannot be given here; write it in the file"
                                   : "the file has no [select]");
      } else if (!contains(sectionNames(), path[0])) {
        unknownSection(&node, key);
      } else {
        text_.overrides.emplace_back(path, std::move(node));
      }
    }
  }

  ProblemList& problems_;
  ExperimentText text_;
};

}  // namespace

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool isPrefix(const Path& prefix, const Path& path) {
  return prefix.size() <= path.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

bool sameValue(const Node& a, const Node& b) {
  if (a.value.is_discarded() || b.value.is_discarded()) return false;  // a date equals nothing
  if (a.isTable != b.isTable || a.value != b.value || a.children.size() != b.children.size())
    return false;
  return std::equal(a.children.begin(), a.children.end(), b.children.begin(),
                    [](const auto& x, const auto& y) {
                      return x.first == y.first && sameValue(x.second, y.second);
                    });
}

std::string shownInName(const Node& node) {
  if (node.isTable) {
    std::string text;
    for (const auto& [name, child] : node.children)
      text += (text.empty() ? "" : " ") + name + " " + shownInName(child);
    return shorten(std::string("{").append(text).append("}"), 60);
  }
  if (node.value.is_string()) return shorten(node.value.get_ref<const std::string&>(), 60);
  if (node.value.is_number_float()) return formatReal(node.value.get<double>());
  if (node.value.is_null()) return "none";
  return shorten(node.value.dump(), 60);
}

ExperimentText readExperiment(const Node& document, const std::vector<Override>& overrides,
                              ProblemList& problems) {
  return ExperimentReader(problems).read(document, overrides);
}

}  // namespace vitrine
