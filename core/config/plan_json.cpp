#include "core/config/plan_json.h"

#include <algorithm>
#include <array>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/run_resolver.h"
#include "core/config/selection.h"
#include "core/config/toml/toml_reader.h"

namespace vitrine {

namespace {

constexpr int kVersion = 1;
constexpr std::array kParts = {"plain", "grid", "refit"};  // in the order of RunPart

Json placeOrNull(int place) { return place < 0 ? Json(nullptr) : Json(place); }

Json runJson(const PlannedRun& run) {
  Json auxFrom = Json::object(), origins = Json::object();
  for (const AuxSource& aux : run.auxiliaries) {
    if (aux.plannedRun >= 0) auxFrom[aux.name] = aux.plannedRun;
  }
  for (const auto& [key, origin] : run.origins)
    origins[key] = {{"layer", origin.layer}, {"line", origin.line}};
  return {{"name", run.name},
          {"variant", run.variant},
          {"stage", run.stage},
          {"seed", run.seed},
          {"depends_on", placeOrNull(run.dependsOn)},
          {"init_from", placeOrNull(run.init ? run.init->plannedRun : -1)},
          {"aux_from", std::move(auxFrom)},
          {"part", kParts[static_cast<std::size_t>(run.part)]},
          {"selection", run.selection},
          {"selected_from", run.selectedFrom},
          {"config", run.config},
          {"origins", std::move(origins)}};
}

/// Reads the runs in their order; what a run names is one before it.
class PlanReader {
 public:
  explicit PlanReader(const Catalog& catalog) : catalog_(catalog) {}

  Plan read(const Json& json) {
    if (json.at("plan") != kVersion)
      throw ConfigError("the plan has version " + json.at("plan").dump() +
                        ", this program reads version 1; check the experiment again");
    if (const std::size_t problems = json.at("problems").size(); problems > 0)
      throw ConfigError("the plan has " + std::to_string(problems) +
                        (problems == 1 ? " problem" : " problems") +
                        "; correct the experiment and check it again");
    plan_.title = json.at("title").get<std::string>();
    plan_.sourceText = json.at("source").get<std::string>();
    for (const Json& run : json.at("runs")) readRun(run);
    plan_.total = plan_.runs.size();
    return std::move(plan_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw ConfigError("run " + std::to_string(plan_.runs.size()) + " of the plan " + why +
                      "; check the experiment again");
  }

  void readRun(const Json& json) {
    PlannedRun& run = plan_.runs.emplace_back();
    run.name = json.at("name").get<std::string>();
    if (run.name.empty() || !names_.insert(run.name).second)
      refuse("has no name, or that of another run");
    run.variant = json.at("variant").get<std::string>();
    run.stage = json.at("stage").get<std::string>();
    resolve(json.at("config"), run);
    if (json.at("seed") != run.seed) refuse("has another seed than its configuration");
    run.origins.clear();
    for (const auto& [key, origin] : json.at("origins").items())
      run.origins.push_back(
          {key, {origin.at("layer").get<std::string>(), origin.at("line").get<int>()}});
    run.dependsOn = placeAt(json, "depends_on");
    const int initFrom = placeAt(json, "init_from");
    if (run.init) {
      connect(initFrom, run.init->run, run.init->plannedRun);
    } else if (initFrom >= 0) {
      refuse("has no [init] and starts from a run");
    }
    const Json& auxFrom = json.at("aux_from");
    if (!auxFrom.is_object()) refuse("does not say where its auxiliary networks come from");
    for (AuxSource& aux : run.auxiliaries)
      connect(placeAt(auxFrom, aux.name), aux.run, aux.plannedRun);
    const auto part = std::find(kParts.begin(), kParts.end(), json.at("part").get<std::string>());
    if (part == kParts.end()) refuse("has no such part as " + json.at("part").dump());
    run.part = static_cast<RunPart>(part - kParts.begin());
    for (const Json& from : json.at("selected_from")) run.selectedFrom.push_back(place(from));
    run.selection = json.at("selection");
    if (run.selection.is_null() != (run.part != RunPart::Refit))
      refuse("is chosen from a grid, or is not, against its part");
    if (!run.selection.is_null()) checkSelection(run);
  }

  /// Fills in what follows from the configuration, which has to be a resolved one.
  void resolve(const Json& config, PlannedRun& run) const {
    ProblemList problems("");
    LayerNames layers;
    RunResolver(catalog_, problems).resolve(nodeFrom(config, Source::File), layers, run);
    if (const std::vector<Problem> all = problems.take(); !all.empty())
      refuse("has a problem: " + all.front().sentence());
    if (run.config != config) refuse("is not resolved: values are missing or written otherwise");
  }

  [[nodiscard]] int place(const Json& value) const {
    const int before = static_cast<int>(plan_.runs.size()) - 1;
    if (!value.is_number_integer() || value < 0 || value >= before)
      refuse("names run " + shorten(value.dump(), 40) + ", which is not one before it");
    return value.get<int>();
  }
  [[nodiscard]] int placeAt(const Json& table, const std::string& key) const {
    const auto found = table.find(key);
    return found == table.end() || found->is_null() ? -1 : place(*found);
  }

  /// As the planner leaves it: a run of the plan, or a UUID.
  void connect(int from, std::string& run, int& plannedRun) const {
    plannedRun = from;
    if (from >= 0) {
      run.clear();
    } else if (!run.empty() && !isUuid(run)) {
      refuse("starts from '" + shorten(run, 60) + "', which the plan does not say");
    }
  }

  void requireKey(const std::string& key) const {
    if (std::count(key.begin(), key.end(), '.') >= kDeepestTable)
      refuse("is chosen by a key of more than 64 parts");
  }

  void checkSelection(const PlannedRun& run) const {
    const Json& selection = run.selection;
    const std::string direction = selection.at("direction").get<std::string>();
    if (selection.at("metric").get<std::string>().empty() || !selection.at("chosen").is_null() ||
        (direction != "higher" && direction != "lower"))
      refuse("does not say what decides");
    std::multiset<std::string> given, named;
    for (const int from : run.selectedFrom)
      given.insert(plan_.runs[static_cast<std::size_t>(from)].name);
    const Json& candidates = selection.at("candidates");
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const Json& candidate = candidates.at(i);
      for (const Json& name : candidate.at("runs")) named.insert(name.get<std::string>());
      for (const auto& change : candidate.at("set").items()) requireKey(change.key());
      for (const Json& key : candidate.at("unset")) requireKey(key.get<std::string>());
      (void)candidateText(candidate);
      PlannedRun chosen;
      resolve(withCandidate(run.config, selection, i), chosen);
    }
    if (!candidates.is_array() || named.empty() || named != given)
      refuse("is chosen from other runs than it waits for");
  }

  const Catalog& catalog_;
  Plan plan_;
  std::set<std::string> names_;
};

}  // namespace

Json toJson(const Plan& plan) {
  Json runs = Json::array(), excluded = Json::array();
  for (const PlannedRun& run : plan.runs) runs.push_back(runJson(run));
  for (const ExcludedRun& run : plan.excluded) {
    Json point = Json::object();
    for (const auto& [key, value] : run.point) point[key] = value;
    excluded.push_back({{"name", run.name},
                        {"variant", run.variant},
                        {"values", std::move(point)},
                        {"runs_before", run.place}});
  }
  return {{"plan", kVersion},          {"title", plan.title},
          {"source", plan.sourceText}, {"problems", problemsJson(plan.problems)},
          {"runs", std::move(runs)},   {"left_out", std::move(excluded)}};
}

Plan planFromJson(const Json& json, const Catalog& catalog) {
  try {
    return PlanReader(catalog).read(json);
  } catch (const Json::exception& error) {
    throw ConfigError(std::string("this is not a whole plan of `vitrine check --json`: ") +
                      error.what());
  }
}

}  // namespace vitrine
