#include "core/config/experiment.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/exclude.h"
#include "core/config/experiment_reader.h"
#include "core/config/run_resolver.h"
#include "core/config/toml_reader.h"

namespace vitrine {

namespace {

constexpr auto kAtKey = ProblemList::At::Key;
constexpr auto kAtValue = ProblemList::At::Value;
constexpr std::size_t kMostRuns = 100'000;
/// A plan with problems is not run, so its later runs need no look.
constexpr std::size_t kMostRunsLookedAt = 2'000;

bool isPrefix(const Path& prefix, const Path& path) {
  return prefix.size() <= path.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
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

class Planner {
 public:
  Planner(const std::string& fileName, const Catalog& catalog)
      : catalog_(catalog), problems_(cleanUtf8(fileName)) {
    const std::string stem = std::filesystem::path(cleanUtf8(fileName)).stem().string();
    fallbackTitle_ = stem;
  }

  Plan plan(const std::string& text, const std::vector<Override>& overrides,
            const PlanLimits& limits) {
    limits_ = limits;
    Plan plan;
    plan.sourceText = text;
    const Node document = readToml(text, problems_);
    const bool isReadable = problems_.isEmpty();
    text_ = readExperiment(document, overrides, problems_);
    if (isReadable) expand(plan);
    plan.title = text_.title.empty() ? fallbackTitle_ : text_.title;
    plan.problems = problems_.take();
    return plan;
  }

  std::vector<Problem> model(const std::vector<Override>& overrides, Json& values) {
    Node empty;
    empty.isTable = true;
    text_ = readExperiment(empty, overrides, problems_);
    Node tree = text_.base;
    for (const auto& [path, node] : text_.overrides) lay(tree, path, node);
    LayerNames layers = layerNames(nullptr, nullptr);
    RunResolver resolver(catalog_, problems_);
    Json config = Json::object();
    Origins origins;
    resolver.model(tree, layers, config, origins);
    values = std::move(config["model"]);
    return problems_.take();
  }

 private:
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
    for (std::size_t i = text_.axes.size(); i-- > 0;) {
      const bool isSet =
          std::any_of(text_.overrides.begin(), text_.overrides.end(),
                      [&](const auto& each) { return isPrefix(each.first, text_.axes[i].path); });
      if (!isSet) continue;
      text_.axes.erase(text_.axes.begin() + static_cast<std::ptrdiff_t>(i));
      dropAxis(text_.excludes, i);
    }
  }

  void nameAxes() {
    for (Axis& axis : text_.axes) {
      // As many parts from the right as tell it from the other axes.
      for (std::size_t parts = 1; parts <= axis.path.size(); ++parts) {
        std::string name;
        for (std::size_t i = axis.path.size() - parts; i < axis.path.size(); ++i) {
          name += (name.empty() ? "" : ".") + axis.path[i];
        }
        axis.shortName = name;
        const bool isTold =
            std::none_of(text_.axes.begin(), text_.axes.end(), [&](const Axis& other) {
              return &other != &axis && (other.key == name || other.key.ends_with("." + name));
            });
        if (isTold) break;
      }
    }
  }

  void expand(Plan& plan) {
    dropOverriddenAxes();
    nameAxes();
    std::size_t total = std::max<std::size_t>(text_.variants.size(), 1) *
                        std::max<std::size_t>(text_.stages.size(), 1);
    for (const Axis& axis : text_.axes)
      total = total > kMostRuns ? total : total * axis.values.size();
    if (total > kMostRuns) {
      problems_.addAt(0, 0, "sweep",
                      std::string("the file means more than ") + formatCount(kMostRuns) +
                          " runs; sweep fewer values or split it");
      return;
    }
    points_ = total / std::max<std::size_t>(text_.variants.size(), 1) /
              std::max<std::size_t>(text_.stages.size(), 1);

    const std::size_t variantCount = std::max<std::size_t>(text_.variants.size(), 1);
    const std::size_t stageCount = std::max<std::size_t>(text_.stages.size(), 1);
    firstRun_.assign(variantCount * points_, -1);
    for (std::size_t variant = 0; variant < variantCount; ++variant) {
      Node withVariant = text_.base;
      if (!text_.variants.empty()) layTable(withVariant, text_.variants[variant].layer);
      for (std::size_t point = 0; point < points_; ++point) {
        if (limits_.isStale != nullptr && *limits_.isStale) return;
        const std::vector<std::size_t> choice = choiceAt(point);
        const bool isWanted = plan.runs.size() < limits_.mostRuns;
        if (leftOutBy(text_.excludes, variant, choice) >= 0) {
          if (isWanted)
            plan.leftOut.push_back({nameOf(variant, choice, nullptr),
                                    text_.variants.empty() ? "" : text_.variants[variant].name,
                                    pointAt(choice), plan.runs.size()});
          continue;
        }
        plan.total += stageCount;
        if (!isWanted) continue;
        firstRun_[variant * points_ + point] = static_cast<int>(plan.runs.size());
        for (std::size_t stage = 0; stage < stageCount; ++stage) {
          planRun(plan, withVariant, variant, point, stage);
          if (problems_.isFull()) return;
          if (!problems_.isEmpty() && plan.runs.size() >= kMostRunsLookedAt) return;
        }
      }
    }
    if (plan.total == 0)
      problems_.addAt(text_.excludes.front().line, text_.excludes.front().column, "exclude",
                      "every run of the file is left out; take one [[exclude]] away");
    makeDistinct(plan);
  }

  /// Place of each axis's value at a point of the sweep.
  [[nodiscard]] std::vector<std::size_t> choiceAt(std::size_t point) const {
    std::vector<std::size_t> choice(text_.axes.size());
    for (std::size_t i = text_.axes.size(), rest = point; i-- > 0;) {
      choice[i] = rest % text_.axes[i].values.size();
      rest /= text_.axes[i].values.size();
    }
    return choice;
  }

  [[nodiscard]] SweepPoint pointAt(const std::vector<std::size_t>& choice) const {
    SweepPoint point;
    for (std::size_t i = 0; i < choice.size(); ++i)
      point.emplace_back(text_.axes[i].key, jsonOf(text_.axes[i].values[choice[i]]));
    return point;
  }

  [[nodiscard]] std::string nameOf(std::size_t variant, const std::vector<std::size_t>& choice,
                                   const Entry* stage) const {
    std::vector<std::string> parts;
    if (!text_.variants.empty()) parts.push_back(text_.variants[variant].name);
    for (std::size_t i = 0; i < text_.axes.size(); ++i) {
      if (text_.axes[i].values.size() < 2) continue;
      const bool isSeed = text_.axes[i].key == "train.seed";
      parts.push_back((isSeed ? "seed" : text_.axes[i].shortName) + " " +
                      shownInName(text_.axes[i].values[choice[i]]));
    }
    if (stage) parts.push_back(stage->name);
    std::string name;
    for (const std::string& part : parts) name += (name.empty() ? "" : ", ") + part;
    return name;
  }

  void planRun(Plan& plan, const Node& withVariant, std::size_t variant, std::size_t point,
               std::size_t stage) {
    const Entry* variantEntry = text_.variants.empty() ? nullptr : &text_.variants[variant];
    const Entry* stageEntry = text_.stages.empty() ? nullptr : &text_.stages[stage];
    Node tree = withVariant;
    if (stageEntry) layTable(tree, stageEntry->layer);
    const std::vector<std::size_t> choice = choiceAt(point);
    for (std::size_t i = 0; i < text_.axes.size(); ++i)
      lay(tree, text_.axes[i].path, text_.axes[i].values[choice[i]]);
    for (const auto& [path, node] : text_.overrides) lay(tree, path, node);

    PlannedRun& run = plan.runs.emplace_back();
    LayerNames layers = layerNames(variantEntry, stageEntry);
    RunResolver(catalog_, problems_).resolve(tree, layers, run);
    run.variant = variantEntry ? variantEntry->name : "";
    run.stage = stageEntry ? stageEntry->name : "";

    run.name = nameOf(variant, choice, stageEntry);
    run.point = pointAt(choice);

    if (stage > 0) run.dependsOn = static_cast<int>(plan.runs.size()) - 2;
    const Node* init = tree.find("init");
    if (run.init && !run.init->run.empty() && init) connect(run, *init, variant, point, stage);
  }

  /// Index of a run in the plan; -1 where it is left out.
  [[nodiscard]] int indexOf(std::size_t variant, std::size_t point, std::size_t stage) const {
    const int first = firstRun_[variant * points_ + point];
    return first < 0 ? -1 : first + static_cast<int>(stage);
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
      const int found = position(text_.stages, text.substr(6), stage);
      if (found < 0) return refuseName("stage", text_.stages, text.substr(6), refuse);
      run.init->plannedRun = indexOf(variant, point, static_cast<std::size_t>(found));
    } else if (text.starts_with("variant:")) {
      const int found = position(text_.variants, text.substr(8), variant);
      if (found < 0) return refuseName("variant", text_.variants, text.substr(8), refuse);
      const std::size_t last = std::max<std::size_t>(text_.stages.size(), 1) - 1;
      run.init->plannedRun = indexOf(static_cast<std::size_t>(found), point, last);
      if (run.init->plannedRun < 0)
        return refuse("starts from the variant '" + shorten(text.substr(8), 60) +
                      "', which an [[exclude]] leaves out for '" + shorten(run.name, 60) +
                      "'; leave this run out too");
    } else {
      return refuse(std::string("'") + shorten(text, 60) +
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
    const std::string shown = std::string("'") + shorten(name, 60) + "'";
    if (std::find(names.begin(), names.end(), name) != names.end()) {
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
      if (run.name.empty()) run.name = text_.title.empty() ? fallbackTitle_ : text_.title;
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
  std::string fallbackTitle_;
  ExperimentText text_;
  PlanLimits limits_;
  std::size_t points_ = 1;
  std::vector<int> firstRun_;  ///< by variant and point: index into the plan; -1: left out
};

}  // namespace

Override parseOverride(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0) {
    throw ConfigError(std::string("'") + shorten(cleanUtf8(text), 80) +
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
                    const std::vector<Override>& overrides, const PlanLimits& limits) {
  return Planner(fileName, catalog).plan(text, overrides, limits);
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
