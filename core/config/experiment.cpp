#include "core/config/experiment.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "core/base/joined.h"
#include "core/base/text.h"
#include "core/config/exclude.h"
#include "core/config/experiment_reader.h"
#include "core/config/run_resolver.h"
#include "core/config/select_section.h"
#include "core/config/selection.h"
#include "core/config/toml/toml_reader.h"

namespace vitrine {

namespace {

constexpr std::size_t kMostRuns = 100'000;
/// A plan with problems is not run, so its later runs need no look.
constexpr std::size_t kMostRunsLookedAt = 2'000;

/// A file of another kind, known by a key of its own, and its reader.
struct OtherFile {
  const char* key;
  const char* sentence;
};
constexpr OtherFile kOtherFiles[] = {
    {"result",
     "this is a list of published numbers, not an experiment; `vitrine report` compares the runs "
     "of the experiments next to it with them"},
    {"claim",
     "this is a list of claims, not an experiment; `vitrine compare --claims FILE` judges them"},
    {"experiments",
     "this is a tour, not an experiment; `vitrine demo --tour` runs its experiments"},
};

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
    Plan plan{.title = fallbackTitle_, .sourceText = text};
    const Node document = readToml(text, problems_);
    if (isOtherFile(document)) {
      plan.problems = problems_.take();
      return plan;
    }
    const bool isReadable = problems_.isEmpty();
    text_ = readExperiment(document, overrides, problems_);
    select_ = readSelect(text_, problems_);
    if (isReadable) expand(plan);
    if (!text_.title.empty()) plan.title = text_.title;
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
            "select",
            "command line"};
  }

  /// One problem takes the place of one for each key that experiments do not have.
  bool isOtherFile(const Node& document) {
    if (document.find("model") != nullptr) return false;
    for (const auto& [key, sentence] : kOtherFiles) {
      const Node* own = document.find(key);
      if (own == nullptr) continue;
      problems_.add(own, kAtKey, Code::Misplaced, key, sentence);
      return true;
    }
    return false;
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
    std::vector<Axis*> all;
    for (Axis& axis : text_.axes) all.push_back(&axis);
    if (select_) {
      for (Axis& axis : select_->grid) all.push_back(&axis);
    }
    for (Axis* each : all) {
      Axis& axis = *each;
      // As many parts from the right as tell it from the other axes.
      for (std::size_t parts = 1; parts <= axis.path.size(); ++parts) {
        std::string name;
        for (std::size_t i = axis.path.size() - parts; i < axis.path.size(); ++i)
          name += (name.empty() ? "" : ".") + axis.path[i];
        axis.shortName = name;
        const bool isTold = std::none_of(all.begin(), all.end(), [&](const Axis* other) {
          return other != each && (other->key == name || other->key.ends_with("." + name));
        });
        if (isTold) break;
      }
    }
  }

  void expand(Plan& plan) {
    dropOverriddenAxes();
    nameAxes();
    const std::size_t variantCount = std::max<std::size_t>(text_.variants.size(), 1);
    const std::size_t stageCount = std::max<std::size_t>(text_.stages.size(), 1);
    cells_ = select_ ? select_->size() : 1;
    std::size_t total = variantCount * stageCount * cells_;
    for (const Axis& axis : text_.axes)
      total = total > kMostRuns ? total : total * axis.values.size();
    if (total > kMostRuns) {
      problems_.addAt(0, 0, Code::TooLarge, "sweep",
                      std::string("the file means more than ") + formatCount(kMostRuns) +
                          " runs; sweep fewer values or split it");
      return;
    }
    points_ = total / variantCount / stageCount / cells_;
    if (select_ && select_->gridSize() * select_->seeds.size() > kMostRuns) {
      problems_.addAt(0, 0, Code::TooLarge, "select",
                      std::string("every final run would choose from ") +
                          formatCount(select_->gridSize()) +
                          " runs; take a smaller grid or fewer seeds");
      return;
    }
    firstRun_.assign(variantCount * points_ * cells_, -1);
    for (std::size_t variant = 0; variant < variantCount; ++variant) {
      Node withVariant = text_.base;
      if (!text_.variants.empty()) layTable(withVariant, text_.variants[variant].layer);
      for (std::size_t point = 0; point < points_; ++point) {
        if (limits_.isStale != nullptr && *limits_.isStale) return;
        const std::vector<std::size_t> choice = choiceAt(point);
        const bool isWanted = plan.runs.size() < limits_.mostRuns;
        if (excludedBy(text_.excludes, variant, choice) >= 0) {
          if (isWanted)
            plan.excluded.push_back({nameOf(variant, choice, {}, nullptr),
                                     text_.variants.empty() ? "" : text_.variants[variant].name,
                                     pointAt(choice), plan.runs.size()});
          continue;
        }
        plan.total += stageCount * cells_;
        if (!isWanted) continue;
        for (std::size_t cell = 0; cell < cells_; ++cell) {
          firstRun_[(variant * points_ + point) * cells_ + cell] =
              static_cast<int>(plan.runs.size());
          for (std::size_t stage = 0; stage < stageCount; ++stage) {
            planRun(plan, withVariant, {variant, point, cell, stage});
            if (problems_.isFull()) return;
            if (!problems_.isEmpty() && plan.runs.size() >= kMostRunsLookedAt) return;
          }
        }
      }
    }
    if (plan.total == 0)
      problems_.addAt(text_.excludes.front().line, text_.excludes.front().column, Code::NoRuns,
                      "exclude", "every run of the file is excluded; remove one [[exclude]]");
    makeDistinct(plan);
    nameCandidates(plan);
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

  static void nameChoice(const std::vector<Axis>& axes, const std::vector<std::size_t>& choice,
                         std::vector<std::string>& parts) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (axes[i].values.size() < 2) continue;
      const bool isSeed = axes[i].key == "train.seed";
      parts.push_back((isSeed ? "seed" : axes[i].shortName) + " " +
                      shownInName(axes[i].values[choice[i]]));
    }
  }

  /// \param cell  which run of [select]; none where the name is that of all of them
  [[nodiscard]] std::string nameOf(std::size_t variant, const std::vector<std::size_t>& choice,
                                   std::optional<std::size_t> cell, const Entry* stage) const {
    std::vector<std::string> parts;
    if (!text_.variants.empty()) parts.push_back(text_.variants[variant].name);
    nameChoice(text_.axes, choice, parts);
    if (select_ && cell && *cell < select_->gridSize()) {
      parts.emplace_back("grid");
      nameChoice(select_->grid, select_->choiceAt(*cell), parts);
    } else if (select_ && cell) {
      parts.emplace_back("refit");
      if (select_->seeds.size() > 1)
        parts.push_back("seed " + shownInName(select_->seeds[*cell - select_->gridSize()]));
    }
    if (stage) parts.push_back(stage->name);
    return joined(parts);
  }

  /// Where a run stands in the product of all that varies.
  struct Place {
    std::size_t variant = 0, point = 0, cell = 0, stage = 0;
  };

  [[nodiscard]] const Entry* variantAt(const Place& place) const {
    return text_.variants.empty() ? nullptr : &text_.variants[place.variant];
  }
  [[nodiscard]] const Entry* stageAt(const Place& place) const {
    return text_.stages.empty() ? nullptr : &text_.stages[place.stage];
  }

  /// \param gridIndex  whose values of the grid it has
  [[nodiscard]] Node treeOf(const Node& withVariant, const Place& place, std::size_t gridIndex) {
    Node tree = withVariant;
    if (const Entry* stage = stageAt(place)) layTable(tree, stage->layer);
    const std::vector<std::size_t> choice = choiceAt(place.point);
    for (std::size_t i = 0; i < text_.axes.size(); ++i)
      lay(tree, text_.axes[i].path, text_.axes[i].values[choice[i]]);
    if (select_) {
      const std::vector<std::size_t> chosen = select_->choiceAt(gridIndex);
      for (std::size_t i = 0; i < chosen.size(); ++i)
        lay(tree, select_->grid[i].path, select_->grid[i].values[chosen[i]]);
    }
    for (const auto& [path, node] : text_.overrides) lay(tree, path, node);
    if (!select_) return tree;
    refuseOwnHoldout(tree, problems_);
    if (place.cell < select_->gridSize()) {
      // What keeps the grid from the test split; nothing in the file is above it.
      lay(tree, {"data", "holdout"}, nodeFrom(select_->holdout, Source::Select));
      lay(tree, {"data", "evaluate_splits"}, nodeFrom(Json::array({"validation"}), Source::Select));
    } else {
      lay(tree, {"train", "seed"}, select_->seeds[place.cell - select_->gridSize()]);
    }
    return tree;
  }

  void planRun(Plan& plan, const Node& withVariant, const Place& place) {
    const bool isRefit = select_ && place.cell >= select_->gridSize();
    const Node tree = treeOf(withVariant, place, isRefit ? 0 : place.cell);
    const Entry *variant = variantAt(place), *stage = stageAt(place);
    PlannedRun& run = plan.runs.emplace_back();
    LayerNames layers = layerNames(variant, stage);
    RunResolver(catalog_, problems_).resolve(tree, layers, run);
    run.variant = variant ? variant->name : "";
    run.stage = stage ? stage->name : "";

    const std::vector<std::size_t> choice = choiceAt(place.point);
    run.name = nameOf(place.variant, choice, place.cell, stage);
    run.point = pointAt(choice);

    if (place.stage > 0) run.dependsOn = static_cast<int>(plan.runs.size()) - 2;
    if (run.init && !run.init->run.empty()) {
      run.init->plannedRun = connect(run, run.init->run, tree, "init.run", place);
      if (run.init->plannedRun >= 0) run.dependsOn = run.init->plannedRun;
    }
    for (AuxSource& source : run.auxiliaries) {
      if (!source.run.empty())
        source.plannedRun = connect(run, source.run, tree, "aux." + source.name + ".run", place);
    }
    if (!select_) return;
    run.part = isRefit ? RunPart::Refit : RunPart::Grid;
    if (isRefit) {
      makeSelection(run, withVariant, place);
    } else {
      const std::vector<std::size_t> chosen = select_->choiceAt(place.cell);
      for (std::size_t i = 0; i < chosen.size(); ++i)
        run.point.emplace_back(select_->grid[i].key, jsonOf(select_->grid[i].values[chosen[i]]));
    }
  }

  /// What a refit chooses from: its own configuration with the values of each candidate. The same
  /// for all seeds, which differ in other values only.
  const Json& candidatesOf(const PlannedRun& run, const Node& withVariant, const Place& place) {
    if (place.cell == select_->gridSize() && place.stage == 0) candidates_.clear();
    const auto [known, isNew] = candidates_.emplace(place.stage, Json::array());
    if (!isNew) return known->second;
    for (std::size_t first = 0; first < select_->gridSize(); first += select_->runsOfCandidate()) {
      PlannedRun other;
      LayerNames layers = layerNames(variantAt(place), stageAt(place));
      RunResolver(catalog_, problems_).resolve(treeOf(withVariant, place, first), layers, other);
      Json candidate = candidateChanges(run.config, other.config);
      candidate["values"] = Json::object();
      const std::vector<std::size_t> chosen = select_->choiceAt(first);
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        const Axis& axis = select_->grid[i];
        if (axis.key != "train.seed")
          candidate["values"][axis.key] = jsonOf(axis.values[chosen[i]]);
      }
      candidate["runs"] = Json::array();  // their names are not distinct yet
      known->second.push_back(std::move(candidate));
    }
    return known->second;
  }

  void makeSelection(PlannedRun& run, const Node& withVariant, const Place& place) {
    const std::size_t lastStage = std::max<std::size_t>(text_.stages.size(), 1) - 1;
    for (std::size_t cell = 0; cell < select_->gridSize(); ++cell)
      run.selectedFrom.push_back(indexOf({place.variant, place.point, cell, lastStage}));
    std::string metric = select_->metric;
    const ItemCard* task =
        catalog_.find(ItemKind::Task, run.config["task"].value("name", std::string()));
    if (metric.empty() && task != nullptr && !task->metrics.headline.empty())
      metric = "validation/" + task->metrics.headline.front();
    if (metric.empty()) {
      problems_.add(&*text_.select, kAtKey, Code::Missing, "select.metric",
                    "must be given: the task names no score that sums it up");
    }
    run.selection = {{"metric", metric},
                     {"direction", select_->direction},
                     {"candidates", candidatesOf(run, withVariant, place)},
                     {"chosen", nullptr}};
  }

  static void nameCandidates(Plan& plan) {
    for (PlannedRun& run : plan.runs) {
      if (run.part != RunPart::Refit || run.selection.is_null()) continue;
      Json& candidates = run.selection["candidates"];
      const std::size_t each = run.selectedFrom.size() / candidates.size();
      for (std::size_t i = 0; i < run.selectedFrom.size(); ++i) {
        const int from = run.selectedFrom[i];
        if (from >= 0)
          candidates[i / each]["runs"].push_back(plan.runs[static_cast<std::size_t>(from)].name);
      }
    }
  }

  /// Index of a run in the plan; -1 where it is left out.
  [[nodiscard]] int indexOf(const Place& place) const {
    const int first = firstRun_[(place.variant * points_ + place.point) * cells_ + place.cell];
    return first < 0 ? -1 : first + static_cast<int>(place.stage);
  }

  /// The run of the plan that `text` names, which is emptied then; -1 where it is a UUID or wrong.
  /// \param key  "init.run"
  int connect(const PlannedRun& run, std::string& text, const Node& tree, const std::string& key,
              const Place& place) {
    const Node* where = tree.findPath(key);
    const auto refuse = [&](Code code, const std::string& message, const std::string& close = "") {
      problems_.add(where, kAtValue, code, key, message, close);
    };
    if (isUuid(text)) return -1;
    const std::string wanted = std::exchange(text, "");
    Place other = place;
    if (wanted == "previous") {
      if (place.stage == 0) {
        refuse(Code::WrongOrder,
               "'previous' is the stage before, and there is none before this run");
        return -1;
      }
      --other.stage;
      return indexOf(other);
    }
    if (wanted.starts_with("stage:")) {
      const int found = position(text_.stages, wanted.substr(6), place.stage);
      if (found < 0) {
        refuseName("stage", text_.stages, wanted.substr(6), refuse);
        return -1;
      }
      other.stage = static_cast<std::size_t>(found);
      return indexOf(other);
    }
    if (!wanted.starts_with("variant:")) {
      refuse(Code::UnknownName,
             std::string("'") + shorten(wanted, 60) +
                 "' is neither a run's UUID, which vitrine show prints, nor variant:NAME, "
                 "stage:NAME or previous");
      return -1;
    }
    const int found = position(text_.variants, wanted.substr(8), place.variant);
    if (found < 0) {
      refuseName("variant", text_.variants, wanted.substr(8), refuse);
      return -1;
    }
    other.variant = static_cast<std::size_t>(found);
    other.stage = std::max<std::size_t>(text_.stages.size(), 1) - 1;
    const int index = indexOf(other);
    if (index < 0)
      refuse(Code::Conflict, "starts from the variant '" + shorten(wanted.substr(8), 60) +
                                 "', which an [[exclude]] removes for '" + shorten(run.name, 60) +
                                 "'; exclude this run too");
    return index;
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
      return refuse(Code::WrongOrder,
                    kind + " " + shown +
                        " does not come before this run; a run can only start from an earlier one");
    }
    const std::string close = nearest(name, names);
    refuse(
        Code::UnknownName,
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
  std::optional<Select> select_;
  std::size_t points_ = 1;
  std::size_t cells_ = 1;  ///< runs of [select] at each point, a chain of stages each
  std::map<std::size_t, Json> candidates_;  ///< of the refits at one variant and point, by stage
  std::vector<int> firstRun_;  ///< by variant, point and cell: index into the plan; -1: left out
};

}  // namespace

Plan planExperiment(const std::string& text, const std::string& fileName, const Catalog& catalog,
                    const std::vector<Override>& overrides, const PlanLimits& limits) {
  return Planner(fileName, catalog).plan(text, overrides, limits);
}

std::vector<Problem> planModel(const Catalog& catalog, const std::vector<Override>& overrides,
                               Json& model) {
  return Planner("", catalog).model(overrides, model);
}

}  // namespace vitrine
