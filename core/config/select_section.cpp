#include "core/config/select_section.h"

#include <algorithm>
#include <cstdint>
#include <unordered_set>

#include "core/base/text.h"
#include "core/config/resolve.h"
#include "core/config/selection.h"

namespace vitrine {

namespace {

const std::string kSeed = "train.seed";

Schema makeSelectSchema() {
  Schema schema;
  schema.fields = {
      textField("metric", nullptr,
                "score that decides, as the curves name it: validation/top1; none: the first one "
                "that sums the task up")
          .titled("Metric")
          .orNone(),
      choiceField("direction", "higher", {"higher", "lower"}, "value of it that is better")
          .titled("Better is"),
      choiceField("split", "holdout", {"holdout"},
                  "split that scores the grid: a part of the training split")
          .titled("Scored on"),
      realField("holdout", 0.1, "fraction of the training split that the grid leaves out")
          .titled("Held-out fraction")
          .moreThan(0)
          .lessThan(1),
      listField("refit_seeds", FieldType::Integer, Json::array({0}),
                "a run on all of the training set for each of these values of train.seed")
          .titled("Seeds of the final runs")
          .range(0, 9007199254740991.0),
  };
  for (Field& field : schema.fields) field.runOnly();
  return schema;
}

/// The command line's value of `path` itself, or null.
const Node* overrideOf(const ExperimentText& text, const Path& path) {
  for (auto each = text.overrides.rbegin(); each != text.overrides.rend(); ++each) {
    if (each->first == path) return &each->second;
  }
  return nullptr;
}

void checkGrid(const ExperimentText& text, std::vector<Axis>& grid, ProblemList& problems) {
  for (const Axis& axis : grid) {
    const Node* where = &axis.values.front();
    const std::string key = "select.grid." + shorten(axis.key, 80);
    if (axis.path[0] == "init" || axis.path[0] == "aux") {
      problems.add(where, kAtValue, Code::Misplaced, key,
                   "cannot be chosen: what a run starts from and uses must be known before; make a "
                   "[[variant]] of each");
    }
    if (axis.key == "data.holdout" || axis.key == "data.evaluate_splits")
      problems.add(where, kAtValue, Code::Misplaced, key, "cannot be chosen: [select] sets it");
    for (const Axis& swept : text.axes) {
      if (swept.key == axis.key)
        problems.add(where, kAtValue, Code::Duplicate, key,
                     "is in [sweep] too; keep one of the two");
    }
  }
  std::erase_if(grid, [&](const Axis& axis) {
    return std::any_of(text.overrides.begin(), text.overrides.end(),
                       [&](const auto& each) { return isPrefix(each.first, axis.path); });
  });
}

std::vector<Node> seedsOf(const ExperimentText& text, const Json& values, ProblemList& problems) {
  std::vector<Node> seeds;
  if (const Node* given = overrideOf(text, {"train", "seed"})) return {*given};
  for (const Axis& axis : text.axes) {
    if (axis.key != kSeed) continue;
    problems.add(&axis.values.front(), kAtValue, Code::Conflict, "sweep." + kSeed,
                 "cannot be swept with [select]: refit_seeds gives the seeds of the final runs, "
                 "and select.grid may hold train.seed for those before");
  }
  const Json& list = values.at("refit_seeds");
  std::unordered_set<std::int64_t> known;
  for (const Json& seed : list) {
    if (!known.insert(seed.get<std::int64_t>()).second) {
      problems.add(text.select->find("refit_seeds"), kAtValue, Code::Duplicate,
                   "select.refit_seeds", "lists " + seed.dump() + " twice");
      break;
    }
    seeds.push_back(nodeFrom(seed, Source::Select));
  }
  if (list.empty()) {
    problems.add(text.select->find("refit_seeds"), kAtValue, Code::Empty, "select.refit_seeds",
                 "is an empty list; name the seed of at least one final run");
  }
  return seeds;
}

}  // namespace

const Schema& selectSchema() {
  static const Schema schema = makeSelectSchema();
  return schema;
}

std::size_t Select::gridSize() const {
  std::size_t size = 1;
  for (const Axis& axis : grid) {
    if (size > 1'000'000) break;  // the planner refuses it
    size *= axis.values.size();
  }
  return size;
}

std::vector<std::size_t> Select::choiceAt(std::size_t index) const {
  std::vector<std::size_t> choice(grid.size());
  for (std::size_t i = grid.size(); i-- > 0;) {
    choice[i] = index % grid[i].values.size();
    index /= grid[i].values.size();
  }
  return choice;
}

std::size_t Select::runsOfCandidate() const {
  return !grid.empty() && grid.back().key == kSeed ? grid.back().values.size() : 1;
}

std::optional<Select> readSelect(const ExperimentText& text, ProblemList& problems) {
  if (!text.select) return std::nullopt;
  const LayerNames layers{"default", "preset", "file",   "variant",
                          "stage",   "sweep",  "select", "command line"};
  Json values = Json::object();
  Resolver(problems, layers, nullptr)
      .table({{&selectSchema()}, {"grid"}}, &*text.select, "select.", values);
  Select select{.grid = text.grid};
  if (text.grid.empty() && !text.select->find("grid")) {
    problems.add(&*text.select, kAtKey, Code::Missing, "select.grid",
                 "must be given: grid = { \"train.optimizer.learning_rate\" = [1e-3, 3e-4] }");
  }
  checkGrid(text, select.grid, problems);
  if (values["metric"].is_string()) select.metric = values["metric"].get<std::string>();
  if (!select.metric.empty() && !select.metric.starts_with("validation/")) {
    problems.add(text.select->find("metric"), kAtValue, Code::UnknownName, "select.metric",
                 "'" + shorten(select.metric, 60) +
                     "' is not a score of the held-out part, which is the validation split of the "
                     "grid; name one like validation/top1");
  }
  select.direction = values["direction"].get<std::string>();
  select.holdout = values["holdout"].get<double>();
  select.seeds = seedsOf(text, values, problems);
  return select;
}

void refuseOwnHoldout(const Node& tree, ProblemList& problems) {
  const Node* given = tree.findPath("data.holdout");
  if (given == nullptr || given->value.is_null() || given->value == "none") return;
  problems.add(given, kAtValue, Code::Conflict, "data.holdout",
               "is set by [select]: select.holdout is the part that the grid leaves out, and the "
               "final runs leave none; remove it here");
}

}  // namespace vitrine
