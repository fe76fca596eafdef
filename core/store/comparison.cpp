#include "core/store/comparison.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>
#include <utility>

#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace {

/// In the order of the values.
constexpr std::array kCurveValues = {"last", "best", "minimum", "maximum", "at step"};

std::string idListOf(const std::vector<ComparedRun>& runs) {
  const auto idOf = [](const ComparedRun& run) { return std::to_string(run.row.id); };
  return "(" + vitrine::joined(runs, idOf, ",") + ")";
}

/// A REAL cell; NULL is read as not-a-number.
double realCell(const Json& cell) {
  return cell.is_number() ? cell.get<double>() : std::numeric_limits<double>::quiet_NaN();
}
std::int64_t integerCell(const Json& cell) {
  return cell.is_number_integer() ? cell.get<std::int64_t>() : 0;
}

/// What a run is called without its seed; "" where that is all.
std::string nameWithoutSeed(const ComparedRun& run) {
  std::string name = ", " + (run.plannedName.empty() ? run.row.name : run.plannedName);
  // "seed 1" says what a variant leaves out, and the stage is said apart; other axes of the sweep
  // may stand behind it.
  if (const auto at = name.rfind(", seed "); at != std::string::npos) {
    const std::string rest = name.substr(std::min(name.find(", ", at + 2), name.size()));
    name.erase(at);
    if (rest != ", " + run.row.stage) name += rest;
  }
  return name.empty() ? "" : name.substr(2);
}

std::string withStage(std::string name, const RunRow& run) {
  if (!run.stage.empty() && name.find(run.stage) == std::string::npos)
    name += (name.empty() ? "" : " / ") + run.stage;
  return name;
}

/// Where a run that a script logged says it; a native one says train.seed.
constexpr const char* kScriptSeed = "seed";

/// Whether the configuration says which seed it is: an imported run does not, and is not the
/// repetition.
bool hasSeed(const Json& config) {
  if (config.is_object() && config.contains(kScriptSeed)) return true;
  const auto train = config.find("train");
  return train != config.end() && train->is_object() && train->contains("seed");
}

MetricMeaning meaningOf(const MetricKinds& kinds, const std::string& name) {
  const MetricKind kind = kindOf(kinds, name);
  return {kind.unit, kind.direction, kind.definition, kind.title};
}

bool isCounted(RunState state, Unfinished unfinished) {
  return state == RunState::Done || unfinished == Unfinished::Counted;
}

/// Which run stands for each seed, of those that `isThere` accepts; finished ones go before others,
/// newer before older.
template <class IsThere>
std::map<std::uint64_t, std::size_t> chosenRuns(const VariantGroup& variant,
                                                const std::vector<ComparedRun>& runs,
                                                IsThere isThere) {
  std::map<std::uint64_t, std::size_t> chosen;
  for (const std::size_t index : variant.runs) {
    if (!isThere(runs[index])) continue;
    const auto [place, isNew] = chosen.emplace(runs[index].row.seed, index);
    if (isNew) continue;
    const RunRow& before = runs[place->second].row;
    const RunRow& now = runs[index].row;
    const bool isDone = now.state == RunState::Done, wasDone = before.state == RunState::Done;
    if (isDone != wasDone ? isDone : now.id > before.id) place->second = index;
  }
  return chosen;
}

}  // namespace

std::string toString(CurveValue value) { return kCurveValues.at(static_cast<std::size_t>(value)); }

std::optional<CurveValue> curveValueFromString(const std::string& text) {
  const auto found = std::find(kCurveValues.begin(), kCurveValues.end(), text);
  if (found == kCurveValues.end()) return std::nullopt;
  return static_cast<CurveValue>(found - kCurveValues.begin());
}

Json withoutSeed(Json config) {
  if (config.is_object()) config.erase(kScriptSeed);
  if (const auto train = config.find("train"); train != config.end() && train->is_object())
    train->erase("seed");
  return config;
}

std::vector<ComparedRun> comparedRuns(const QueryFunction& query, const std::vector<RunRow>& rows) {
  std::vector<ComparedRun> runs;
  runs.reserve(rows.size());
  for (const RunRow& row : rows) runs.push_back({row, Json::object(), ""});
  if (runs.empty()) return runs;
  std::unordered_map<std::int64_t, std::size_t> places;
  for (std::size_t i = 0; i < runs.size(); ++i) places.emplace(runs[i].row.id, i);
  const RunStore::Table table = query("SELECT id, config FROM runs WHERE id IN " + idListOf(runs));
  std::vector<bool> isThere(runs.size(), false);
  for (const auto& row : table.rows) {
    const auto place = places.find(integerCell(row[0]));
    if (place == places.end()) continue;
    runs[place->second].config = parseJson(
        row[1].get<std::string>(), "the configuration of run " + std::to_string(place->first));
    isThere[place->second] = true;
  }
  const RunStore::Table renamed = query(
      "SELECT run_id, text FROM edit WHERE field = 'name' AND is_taken = 1 AND version = 0 "
      "AND run_id IN " +
      idListOf(runs));
  for (const auto& row : renamed.rows) {
    const auto place = places.find(integerCell(row[0]));
    if (place != places.end()) runs[place->second].plannedName = row[1].get<std::string>();
  }
  // A run that was deleted meanwhile is none.
  std::vector<ComparedRun> found;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (isThere[i]) found.push_back(std::move(runs[i]));
  }
  return found;
}

std::vector<std::pair<std::string, std::int64_t>> comparedNames(
    const QueryFunction& query, const std::vector<ComparedRun>& runs) {
  std::vector<std::pair<std::string, std::int64_t>> names;
  if (runs.empty()) return names;
  const RunStore::Table table =
      query("SELECT name, count(*) FROM metric_summaries WHERE run_id IN " + idListOf(runs) +
            " GROUP BY name ORDER BY name");
  for (const auto& row : table.rows)
    names.emplace_back(row[0].get<std::string>(), integerCell(row[1]));
  return names;
}

Measurements measure(const QueryFunction& query, const std::vector<ComparedRun>& runs,
                     const std::vector<std::string>& names, ValueChoice choice,
                     const MetricKinds& kinds) {
  Measurements out;
  if (names.empty()) return out;
  for (const std::string& name : names) {
    out.meanings[name] = meaningOf(kinds, name);
    out.values[name];
  }
  if (runs.empty()) return out;
  const std::string list = vitrine::joined(names, quotedSql, ",");
  const std::string ids = idListOf(runs);
  const RunStore::Table table = query(
      "SELECT run_id, name, last, minimum, maximum, last_step, minimum_step, maximum_step, count "
      "FROM metric_summaries WHERE run_id IN " +
      ids + " AND name IN (" + list + ")");
  for (const auto& row : table.rows) {
    out.values[row[1].get<std::string>()][integerCell(row[0])] = {
        realCell(row[2]),    realCell(row[3]),    realCell(row[4]), integerCell(row[5]),
        integerCell(row[6]), integerCell(row[7]), std::nullopt,     integerCell(row[8])};
  }
  if (choice.value != CurveValue::AtStep) return out;
  for (const std::string& name : names) {
    auto& values = out.values[name];
    std::string reached;
    for (const auto& [run, value] : values) {
      if (value.lastStep >= choice.step)
        reached += (reached.empty() ? "" : ",") + std::to_string(run);
    }
    if (reached.empty()) continue;
    const RunStore::Table points =
        query("SELECT run_id, max(step), value FROM metrics WHERE run_id IN (" + reached +
              ") AND name = " + quotedSql(name) + " AND step <= " + std::to_string(choice.step) +
              " GROUP BY run_id");
    for (const auto& row : points.rows) {
      if (!row[1].is_null()) values[integerCell(row[0])].atStep = realCell(row[2]);
    }
  }
  return out;
}

std::vector<VariantGroup> variantsOf(const std::vector<ComparedRun>& runs) {
  std::vector<VariantGroup> variants;
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunRow& row = runs[i].row;
    Json config = withoutSeed(runs[i].config);
    const std::string own = hasSeed(runs[i].config) ? "" : std::to_string(row.id);
    const std::string key = std::to_string(row.experimentId) + '\n' + row.variant + '\n' +
                            row.stage + '\n' + nameWithoutSeed(runs[i]) + '\n' + own + '\n' +
                            dumpJson(config);
    const auto [place, isNew] = places.emplace(key, variants.size());
    if (isNew) {
      const std::string name = row.variant.empty() ? nameWithoutSeed(runs[i]) : row.variant;
      variants.push_back({withStage(name, row), std::move(config), {}});
    }
    variants[place->second].runs.push_back(i);
  }
  for (VariantGroup& variant : variants) {
    std::sort(variant.runs.begin(), variant.runs.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(runs[a].row.seed, runs[a].row.id) <
             std::pair(runs[b].row.seed, runs[b].row.id);
    });
  }
  return variants;
}

std::optional<double> valueOf(const MetricValue& value, const MetricMeaning& meaning,
                              ValueChoice choice) {
  switch (choice.value) {
    case CurveValue::Last:
      return value.last;
    case CurveValue::Minimum:
      return value.minimum;
    case CurveValue::Maximum:
      return value.maximum;
    case CurveValue::AtStep:
      return value.atStep;
    case CurveValue::Best:
      break;
  }
  if (meaning.direction == Direction::None) return std::nullopt;
  return meaning.direction == Direction::Lower ? value.minimum : value.maximum;
}

std::map<std::uint64_t, std::int64_t> seedRuns(const VariantGroup& variant,
                                               const std::vector<ComparedRun>& runs,
                                               Unfinished unfinished) {
  std::map<std::uint64_t, std::int64_t> out;
  for (const auto& [seed, index] : chosenRuns(variant, runs, [&](const ComparedRun& run) {
         return isCounted(run.row.state, unfinished);
       }))
    out[seed] = runs[index].row.id;
  return out;
}

VariantSample sampleOf(const VariantGroup& variant, const std::vector<ComparedRun>& runs,
                       const std::map<std::int64_t, MetricValue>& values,
                       const MetricMeaning& meaning, ValueChoice choice, Unfinished unfinished) {
  // A value at a step is the same whether the run continues or not.
  if (choice.value == CurveValue::AtStep) unfinished = Unfinished::Counted;
  const auto measured = [&](const ComparedRun& run) -> std::optional<double> {
    const auto found = values.find(run.row.id);
    return found == values.end() ? std::nullopt : valueOf(found->second, meaning, choice);
  };
  const std::map<std::uint64_t, std::size_t> chosen =
      chosenRuns(variant, runs, [&](const ComparedRun& run) {
        return isCounted(run.row.state, unfinished) && measured(run).has_value();
      });
  VariantSample out;
  std::vector<double> sample;
  for (const auto& [seed, index] : chosen) {
    out.values[seed] = *measured(runs[index]);
    out.runs[seed] = runs[index].row.id;
    sample.push_back(out.values[seed]);
  }
  out.statistics = statisticsOf(sample);
  for (const std::size_t index : variant.runs) {
    const RunRow& row = runs[index].row;
    const auto standsFor = chosen.find(row.seed);
    if (standsFor != chosen.end() && standsFor->second == index) continue;
    LeftOutBy by = LeftOutBy::Repetition;
    std::string reason;
    if (!isCounted(row.state, unfinished)) {
      by = LeftOutBy::State;
      reason = toString(row.state);
    } else if (!measured(runs[index])) {
      by = LeftOutBy::Curve;
      reason = choice.value == CurveValue::AtStep ? "does not reach the step" : "has no such value";
    } else {
      reason = nameOf(runs[standsFor->second].row.id) + " has the same seed";
    }
    out.leftOut.push_back({row.id, row.seed, by, reason});
  }
  return out;
}

std::string leftOutText(const std::map<std::string, std::vector<LeftOutRun>>& byMetric) {
  // (reason, run) -> the metrics that the run is left out of for it.
  std::map<std::pair<std::string, std::int64_t>, std::vector<std::string>> metrics;
  for (const auto& [metric, runs] : byMetric) {
    for (const LeftOutRun& run : runs) {
      const std::string reason =
          run.by == LeftOutBy::State        ? run.reason
          : run.by == LeftOutBy::Repetition ? "repeated with the same seed (the newest counts)"
          : run.reason == "does not reach the step" ? "that do not reach the step"
                                                    : "without a value";
      metrics[{reason, run.run}].push_back(metric);
    }
  }
  std::map<std::string, int> counts;
  for (const auto& [left, names] : metrics) {
    std::string words = left.first;
    if (names.size() < byMetric.size()) {
      for (const std::string& name : names)
        words += (&name == &names[0] ? " for " : " and ") + name;
    }
    ++counts[words];
  }
  return vitrine::joined(
      counts, [](const auto& each) { return std::to_string(each.second) + " " + each.first; });
}

std::string countText(std::size_t seeds, std::size_t pairs) {
  const std::string n = std::to_string(seeds);
  return pairs == seeds ? n : n + ", " + std::to_string(pairs) + " paired";
}

std::string statesText(const VariantGroup& variant, const std::vector<ComparedRun>& runs) {
  std::map<RunState, int> states;
  for (const std::size_t run : variant.runs) ++states[runs[run].row.state];
  std::string text;
  const auto add = [&](RunState state, int count) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + toString(state);
  };
  if (const auto done = states.find(RunState::Done); done != states.end())
    add(done->first, done->second);
  for (const auto& [state, count] : states) {
    if (state != RunState::Done) add(state, count);
  }
  return text;
}

}  // namespace vitrine::store
