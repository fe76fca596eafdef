#include "core/config/experiment.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/run_resolver.h"
#include "core/config/toml_reader.h"

namespace vitrine {

namespace {

constexpr auto kAtKey = ProblemList::At::Key;
constexpr auto kAtValue = ProblemList::At::Value;
constexpr std::size_t kMostRuns = 100'000;
/// A plan with problems is not run, so its later runs need no look.
constexpr std::size_t kMostRunsLookedAt = 2'000;

using Path = std::vector<std::string>;

/// A `[[variant]]` or `[[stage]]`.
struct Entry {
  std::string name;
  Node layer;  ///< a table of what it sets
};

struct Axis {
  std::string key;
  Path path;
  std::string shortName;
  std::vector<Node> values;
};

bool isPrefix(const Path& prefix, const Path& path) {
  return prefix.size() <= path.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

std::string shownInName(const Node& node) {
  if (node.isTable) {
    std::string text;
    for (const auto& [name, child] : node.children)
      text += (text.empty() ? "" : " ") + name + " " + shownInName(child);
    return shorten("{" + text + "}", 60);
  }
  if (node.value.is_string()) return shorten(node.value.get_ref<const std::string&>(), 60);
  if (node.value.is_number_float()) return formatReal(node.value.get<double>());
  if (node.value.is_null()) return "none";
  return shorten(node.value.dump(), 60);
}

bool sameValue(const Node& a, const Node& b) {
  if (a.isTable != b.isTable || a.value != b.value || a.children.size() != b.children.size())
    return false;
  return std::equal(a.children.begin(), a.children.end(), b.children.begin(),
                    [](const auto& x, const auto& y) {
                      return x.first == y.first && sameValue(x.second, y.second);
                    });
}

bool isUuid(const std::string& text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool isDash = i == 8 || i == 13 || i == 18 || i == 23;
    const char c = text[i];
    const bool isHex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (isDash ? c != '-' : !isHex) return false;
  }
  return true;
}

/// Keys of a `[[stage]]` that belong to `[init]`.
const std::vector<std::string>& stageInitKeys() {
  static const std::vector<std::string> keys = {
      "checkpoint", "use", "skip", "freeze", "rename", "strict", "resize_positions"};
  return keys;
}

class Planner {
 public:
  Planner(const std::string& fileName, const Catalog& catalog)
      : catalog_(catalog), problems_(cleanUtf8(fileName)) {
    const std::string stem = std::filesystem::path(cleanUtf8(fileName)).stem().string();
    fallbackTitle_ = stem;
    base_.isTable = true;
  }

  Plan plan(const std::string& text, const std::vector<Override>& overrides) {
    Plan plan;
    plan.sourceText = text;
    const Node document = readToml(text, problems_);
    const bool isReadable = problems_.isEmpty();
    readDocument(document);
    readOverrides(overrides);
    if (isReadable) expand(plan);
    plan.title = title_.empty() ? fallbackTitle_ : title_;
    plan.problems = problems_.take();
    return plan;
  }

  std::vector<Problem> model(const std::vector<Override>& overrides, Json& values) {
    readOverrides(overrides);
    Node tree = base_;
    for (const auto& [path, node] : overrides_) lay(tree, path, node);
    LayerNames layers = layerNames(nullptr, nullptr);
    RunResolver resolver(catalog_, problems_);
    Json config = Json::object();
    Origins origins;
    resolver.model(tree, layers, config, origins);
    values = std::move(config["model"]);
    return problems_.take();
  }

 private:
  // ---- reading ----

  void readDocument(const Node& document) {
    for (const auto& [name, child] : document.children) {
      const Path path = split(name, '.');
      if (name == "title") {
        readTitle(child, kAtValue);
      } else if (name == "sweep") {
        readSweep(child);
      } else if (name == "variant" || name == "stage") {
        readEntries(name, child, name == "variant" ? variants_ : stages_);
      } else if (contains(sectionNames(), path[0])) {
        Node section = child;
        section.neverReplace();
        lay(base_, path, section);
      } else {
        unknownSection(&child, name);
      }
    }
  }

  static bool contains(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  }

  void unknownSection(const Node* where, const std::string& name) {
    std::vector<std::string> legal = {"title"};
    legal.insert(legal.end(), sectionNames().begin(), sectionNames().end());
    legal.insert(legal.end(), {"sweep", "variant", "stage"});
    std::string close = nearest(split(name, '.')[0], legal);
    if (close.empty()) {
      for (const std::string& key : trainSchema().keys()) {
        if (key == name || key.ends_with("." + name)) close = "train." + key;
      }
    }
    problems_.add(
        where, kAtKey, shorten(name, 80),
        "there is no such key" + (close.empty() ? " here; there are " + listed(legal) : ""), close);
  }

  void readTitle(const Node& node, ProblemList::At at) {
    if (!node.isTable && (node.value.is_string() || !node.raw.empty())) {
      title_ = node.value.is_string() ? node.value.get<std::string>() : node.raw;
    } else {
      problems_.add(&node, at, "title", "must be text");
    }
  }

  void readSweep(const Node& node) {
    if (!node.isTable) {
      problems_.add(&node, kAtValue, "sweep",
                    "must be a table of lists: \"train.seed\" = [0, 1, 2]");
      return;
    }
    collectAxes(node, "");
    // Seeds are the fastest axis wherever they stand.
    std::stable_partition(axes_.begin(), axes_.end(),
                          [](const Axis& axis) { return axis.key != "train.seed"; });
  }

  void collectAxes(const Node& node, const std::string& prefix) {
    for (const auto& [name, child] : node.children) {
      const std::string key = prefix.empty() ? name : prefix + "." + name;
      if (child.isTable) {
        collectAxes(child, key);
        continue;
      }
      const std::string shownKey = "sweep." + shorten(key, 80);
      if (!child.value.is_array()) {
        problems_.add(&child, kAtValue, shownKey, "must be a list of the values to try");
        continue;
      }
      if (child.items.empty()) {
        problems_.add(&child, kAtValue, shownKey,
                      "is an empty list; name at least one value or leave the key out");
        continue;
      }
      Axis axis;
      axis.key = key;
      axis.path = split(key, '.');
      if (!contains(sectionNames(), axis.path[0])) {
        unknownSection(&child, key);
        continue;
      }
      for (const Axis& other : axes_) {
        if (other.key == key) problems_.add(&child, kAtKey, shownKey, "is swept twice");
      }
      if (child.items.size() <= 1000) {
        for (std::size_t i = 0; i < child.items.size(); ++i) {
          const auto before = child.items.begin() + static_cast<std::ptrdiff_t>(i);
          const bool isRepeated = std::any_of(child.items.begin(), before, [&](const Node& item) {
            return sameValue(item, child.items[i]);
          });
          if (isRepeated) {
            problems_.add(&child.items[i], kAtValue, shownKey,
                          "value " + shownInName(child.items[i]) + " is listed twice");
          }
        }
      }
      axis.values = child.items;
      for (Node& value : axis.values) value.mark(Source::Sweep);
      axes_.push_back(std::move(axis));
    }
  }

  void readEntries(const std::string& kind, const Node& node, std::vector<Entry>& entries) {
    const bool isList = !node.isTable && node.value.is_array();
    if (!isList) {
      problems_.add(&node, kAtKey, kind, "must be written as [[" + kind + "]], once for each");
      return;
    }
    std::unordered_set<std::string> names;
    for (const Node& item : node.items) {
      if (!item.isTable) {
        problems_.add(&item, kAtValue, kind, "must be a table with a name");
        continue;
      }
      Entry entry;
      entry.layer.isTable = true;
      readEntry(kind, item, entry);
      if (entry.name.empty()) {
        problems_.add(&item, kAtValue, kind + ".name",
                      "must be given: a name that no other " + kind + " has");
      } else if (!names.insert(entry.name).second) {
        problems_.add(item.find("name"), kAtValue, kind + ".name",
                      "'" + shorten(entry.name, 60) + "' is the name of an earlier " + kind +
                          "; give another");
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
      problems_.add(init, kAtValue, "stage.init", "must be \"previous\" or a table like [init]");
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
          problems_.add(&child, kAtValue, kind + ".name", "must be text");
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
          close = "set." + shorten(name, 80);
        problems_.add(&child, kAtKey, kind + "." + shorten(name, 80),
                      "there is no such key here; there are " + listed(legal), close);
      }
    }
  }

  void readSet(const std::string& kind, const Node& set, Entry& entry) {
    if (!set.isTable) {
      problems_.add(&set, kAtValue, kind + ".set",
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
      const std::string message = readTomlValue(each.value, node);
      node.mark(Source::CommandLine);
      const std::string key = cleanUtf8(each.key);
      const Path path = split(key, '.');
      if (!message.empty()) {
        problems_.add(&node, kAtValue, shorten(key, 80), message);
      } else if (key == "title") {
        readTitle(node, kAtValue);
      } else if (!contains(sectionNames(), path[0])) {
        unknownSection(&node, key);
      } else if (path.size() > static_cast<std::size_t>(kDeepestTable)) {
        problems_.add(&node, kAtKey, shorten(key, 80), "has more than 64 parts");
      } else {
        overrides_.emplace_back(path, std::move(node));
      }
    }
  }

  // ---- expanding ----

  static LayerNames layerNames(const Entry* variant, const Entry* stage) {
    return {"default",
            "preset",
            "file",
            "variant " + (variant ? variant->name : std::string()),
            "stage " + (stage ? stage->name : std::string()),
            "sweep",
            "command line"};
  }

  void dropOverriddenAxes() {
    std::erase_if(axes_, [this](const Axis& axis) {
      return std::any_of(overrides_.begin(), overrides_.end(),
                         [&axis](const auto& each) { return isPrefix(each.first, axis.path); });
    });
  }

  void nameAxes() {
    for (Axis& axis : axes_) {
      // As many parts from the right as tell it from the other axes.
      for (std::size_t parts = 1; parts <= axis.path.size(); ++parts) {
        std::string name;
        for (std::size_t i = axis.path.size() - parts; i < axis.path.size(); ++i) {
          name += (name.empty() ? "" : ".") + axis.path[i];
        }
        axis.shortName = name;
        const bool isTold = std::none_of(axes_.begin(), axes_.end(), [&](const Axis& other) {
          return &other != &axis && (other.key == name || other.key.ends_with("." + name));
        });
        if (isTold) break;
      }
    }
  }

  void expand(Plan& plan) {
    dropOverriddenAxes();
    nameAxes();
    std::size_t total =
        std::max<std::size_t>(variants_.size(), 1) * std::max<std::size_t>(stages_.size(), 1);
    for (const Axis& axis : axes_) total = total > kMostRuns ? total : total * axis.values.size();
    if (total > kMostRuns) {
      problems_.addAt(0, 0, "sweep",
                      "the file means more than " + formatCount(kMostRuns) +
                          " runs; sweep fewer values or split it");
      return;
    }
    points_ = total / std::max<std::size_t>(variants_.size(), 1) /
              std::max<std::size_t>(stages_.size(), 1);

    const std::size_t variantCount = std::max<std::size_t>(variants_.size(), 1);
    for (std::size_t variant = 0; variant < variantCount; ++variant) {
      Node withVariant = base_;
      if (!variants_.empty()) layTable(withVariant, variants_[variant].layer);
      for (std::size_t point = 0; point < points_; ++point) {
        for (std::size_t stage = 0; stage < std::max<std::size_t>(stages_.size(), 1); ++stage) {
          planRun(plan, withVariant, variant, point, stage);
          if (problems_.isFull()) return;
          if (!problems_.isEmpty() && plan.runs.size() >= kMostRunsLookedAt) return;
        }
      }
    }
    makeDistinct(plan);
  }

  void planRun(Plan& plan, const Node& withVariant, std::size_t variant, std::size_t point,
               std::size_t stage) {
    const Entry* variantEntry = variants_.empty() ? nullptr : &variants_[variant];
    const Entry* stageEntry = stages_.empty() ? nullptr : &stages_[stage];
    Node tree = withVariant;
    if (stageEntry) layTable(tree, stageEntry->layer);
    std::vector<std::size_t> choice(axes_.size());
    for (std::size_t i = axes_.size(), rest = point; i-- > 0;) {
      choice[i] = rest % axes_[i].values.size();
      rest /= axes_[i].values.size();
    }
    for (std::size_t i = 0; i < axes_.size(); ++i)
      lay(tree, axes_[i].path, axes_[i].values[choice[i]]);
    for (const auto& [path, node] : overrides_) lay(tree, path, node);

    PlannedRun& run = plan.runs.emplace_back();
    LayerNames layers = layerNames(variantEntry, stageEntry);
    RunResolver(catalog_, problems_).resolve(tree, layers, run);
    run.variant = variantEntry ? variantEntry->name : "";
    run.stage = stageEntry ? stageEntry->name : "";

    std::vector<std::string> parts;
    if (variantEntry) parts.push_back(variantEntry->name);
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (axes_[i].values.size() < 2) continue;
      const bool isSeed = axes_[i].key == "train.seed";
      parts.push_back((isSeed ? "seed" : axes_[i].shortName) + " " +
                      shownInName(axes_[i].values[choice[i]]));
    }
    if (stageEntry) parts.push_back(stageEntry->name);
    for (const std::string& part : parts) run.name += (run.name.empty() ? "" : ", ") + part;

    if (stage > 0) run.dependsOn = static_cast<int>(plan.runs.size()) - 2;
    const Node* init = tree.find("init");
    if (run.init && !run.init->run.empty() && init) connect(run, *init, variant, point, stage);
  }

  /// Index of a run in the plan.
  [[nodiscard]] int indexOf(std::size_t variant, std::size_t point, std::size_t stage) const {
    const std::size_t stageCount = std::max<std::size_t>(stages_.size(), 1);
    return static_cast<int>((variant * points_ + point) * stageCount + stage);
  }

  void connect(PlannedRun& run, const Node& init, std::size_t variant, std::size_t point,
               std::size_t stage) {
    const Node* where = init.find("run");
    const std::string text = run.init->run;
    const auto refuse = [&](const std::string& message, const std::string& close = "") {
      problems_.add(where, kAtValue, "init.run", message, close);
    };
    if (isUuid(text)) return;
    run.init->run.clear();
    if (text == "previous") {
      if (stage == 0)
        return refuse("'previous' is the stage before, and there is none before this run");
      run.init->plannedRun = indexOf(variant, point, stage - 1);
    } else if (text.starts_with("stage:")) {
      const int found = position(stages_, text.substr(6), stage);
      if (found < 0) return refuseName("stage", stages_, text.substr(6), refuse);
      run.init->plannedRun = indexOf(variant, point, static_cast<std::size_t>(found));
    } else if (text.starts_with("variant:")) {
      const int found = position(variants_, text.substr(8), variant);
      if (found < 0) return refuseName("variant", variants_, text.substr(8), refuse);
      const std::size_t last = std::max<std::size_t>(stages_.size(), 1) - 1;
      run.init->plannedRun = indexOf(static_cast<std::size_t>(found), point, last);
    } else {
      return refuse("'" + shorten(text, 60) +
                    "' is neither a run's UUID nor variant:NAME, stage:NAME or previous");
    }
    run.dependsOn = run.init->plannedRun;
  }

  static int position(const std::vector<Entry>& entries, const std::string& name,
                      std::size_t before) {
    for (std::size_t i = 0; i < std::min(before, entries.size()); ++i) {
      if (entries[i].name == name) return static_cast<int>(i);
    }
    return -1;
  }

  template <class Refuse>
  static void refuseName(const std::string& kind, const std::vector<Entry>& entries,
                         const std::string& name, const Refuse& refuse) {
    std::vector<std::string> names;
    for (const Entry& entry : entries) names.push_back(entry.name);
    const std::string shown = "'" + shorten(name, 60) + "'";
    if (contains(names, name)) {
      return refuse(kind + " " + shown +
                    " does not come before this run; a run can only start from an earlier one");
    }
    const std::string close = nearest(name, names);
    refuse(
        "there is no " + kind + " " + shown + (names.empty() ? "" : "; there are " + listed(names)),
        close.empty() ? "" : kind + ":" + close);
  }

  void makeDistinct(Plan& plan) {
    std::unordered_set<std::string> taken;
    for (PlannedRun& run : plan.runs) {
      if (run.name.empty()) run.name = title_.empty() ? fallbackTitle_ : title_;
      if (run.name.empty()) {
        const Json& architecture = run.config["model"].value("architecture", Json("run"));
        run.name = architecture.is_string() ? architecture.get<std::string>() : "run";
      }
      const std::string name = run.name;
      for (int i = 2; !taken.insert(run.name).second; ++i)
        run.name = name + " (" + std::to_string(i) + ")";
    }
  }

  const Catalog& catalog_;
  ProblemList problems_;
  std::string title_, fallbackTitle_;
  Node base_;  ///< the file's own values
  std::vector<Axis> axes_;
  std::vector<Entry> variants_, stages_;
  std::vector<std::pair<Path, Node>> overrides_;
  std::size_t points_ = 1;
};

}  // namespace

Override parseOverride(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0) {
    throw ConfigError("'" + shorten(cleanUtf8(text), 80) +
                      "' is no KEY=VALUE; write for example train.epochs=5");
  }
  const auto trimmed = [](std::string part) {
    const std::size_t first = part.find_first_not_of(" \t");
    if (first == std::string::npos) return std::string();
    return part.substr(first, part.find_last_not_of(" \t") - first + 1);
  };
  return {trimmed(text.substr(0, at)), trimmed(text.substr(at + 1))};
}

Plan planExperiment(const std::string& text, const std::string& fileName, const Catalog& catalog,
                    const std::vector<Override>& overrides) {
  return Planner(fileName, catalog).plan(text, overrides);
}

Plan planExperimentFile(const std::filesystem::path& file, const Catalog& catalog,
                        const std::vector<Override>& overrides) {
  std::error_code status;
  if (std::filesystem::is_directory(file, status)) {
    throw FileError("cannot read '" + file.string() + "': it is a folder");
  }
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::string text(kLargestText + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || !(in.eof() || in.good())) {
    throw FileError("cannot read '" + file.string() +
                    "': " + std::generic_category().message(errno ? errno : EIO));
  }
  if (static_cast<std::size_t>(in.gcount()) > kLargestText) {
    throw FileError("'" + file.string() +
                    "' is larger than 8 MiB, the limit of an experiment file");
  }
  text.resize(static_cast<std::size_t>(in.gcount()));
  return planExperiment(text, file.string(), catalog, overrides);
}

std::vector<Problem> planModel(const Catalog& catalog, const std::vector<Override>& overrides,
                               Json& model) {
  return Planner("", catalog).model(overrides, model);
}

}  // namespace vitrine
