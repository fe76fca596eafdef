#include "core/store/run_card.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/base/statistics.h"
#include "core/base/text.h"
#include "core/config/lookup.h"
#include "core/store/metrics/metric_family.h"
#include "core/store/metrics/metric_titles.h"

namespace vitrine::store {

namespace {

/// Where a score is looked for: what was not trained on comes first.
constexpr std::array kSplits{"test", "validation", "train"};
constexpr const char* kLoss = "loss";
constexpr const char* kLearningRate = "optimizer/learning_rate";
constexpr const char* kRateOfSystem = "system/";
constexpr const char* kPerSecond = "_per_second";
constexpr std::size_t kMostGuessed = 4;  // scores of a task that is not known

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void addOnce(std::vector<std::string>& names, const std::string& name) {
  if (!contains(names, name)) names.push_back(name);
}

/// The metrics that a quantity may have been recorded as, the preferred one first.
std::vector<std::string> metricsOf(const std::string& quantity) {
  std::vector<std::string> names;
  for (const char* split : kSplits) {
    const std::string name = std::string(split) + "/" + quantity;
    names.push_back(name);
    names.push_back(name + "@ema");
  }
  return names;
}

std::size_t placeOf(const MetricKinds& kinds, const std::string& metric) {
  const std::string plain = metric.substr(0, metric.rfind("@ema"));
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (matchesGlob(kinds[i].pattern, plain)) return i;
  }
  return kinds.size();
}

void sortByMeaning(std::vector<std::string>& metrics, const MetricKinds& kinds) {
  std::vector<std::pair<std::size_t, std::string>> keyed;
  for (std::string& metric : metrics) {
    const std::size_t place = placeOf(kinds, metric);
    keyed.emplace_back(place, std::move(metric));
  }
  std::sort(keyed.begin(), keyed.end());
  for (std::size_t i = 0; i < keyed.size(); ++i) metrics[i] = std::move(keyed[i].second);
}

/// The scores of the first split that has any: whole quantities that are not loss, not their parts.
std::vector<std::string> guessedHeadline(const std::vector<std::string>& recorded,
                                         const MetricKinds& kinds) {
  for (const char* split : kSplits) {
    std::vector<std::string> scores;
    for (const std::string& metric : recorded) {
      const MetricName name = metricName(metric);
      if (name.split != split || !name.part.empty() || name.quantity == kLoss) continue;
      if (name.isAveraged && contains(recorded, metric.substr(0, metric.rfind("@ema")))) continue;
      scores.push_back(metric);
    }
    if (scores.empty()) continue;
    sortByMeaning(scores, kinds);
    if (scores.size() > kMostGuessed) scores.resize(kMostGuessed);
    return scores;
  }
  return {};
}

std::string guessedUnit(const std::vector<std::string>& recorded) {
  for (const std::string& metric : recorded) {
    if (metric.starts_with(kRateOfSystem) && metric.ends_with(kPerSecond)) {
      const std::size_t from = std::string(kRateOfSystem).size();
      return metric.substr(from, metric.size() - from - std::string(kPerSecond).size());
    }
  }
  return RunCard().unit;
}

/// The first metric of each analysis, the heads of a layer as their stem.
std::vector<std::string> plotsOfAnalyses(const std::vector<std::string>& recorded,
                                         const MetricKinds& kinds) {
  std::map<std::string, std::vector<std::string>> stems;
  for (const std::string& metric : recorded) {
    const MetricName name = metricName(metric);
    if (name.split == "analysis" && !name.isAveraged)
      stems[name.quantity].push_back(metric.substr(0, metric.rfind("/head")));
  }
  std::vector<std::string> plots;
  for (auto& [analysis, metrics] : stems) {
    sortByMeaning(metrics, kinds);
    plots.push_back(metrics.front());
  }
  return plots;
}

}  // namespace

TaskCards taskCards(const Catalog& catalog) {
  TaskCards cards;
  for (const ItemCard& item : catalog.items) {
    if (item.kind == ItemKind::Task) cards.emplace(item.id, item.metrics);
  }
  return cards;
}

std::string taskOf(const Json& config) { return textAt(config, "task.name"); }

const MetricCard* cardOf(const TaskCards& cards, const std::string& task) {
  const auto found = cards.find(task);
  return found == cards.end() ? nullptr : &found->second;
}

bool countsSamples(const MetricCard* card) {
  return card == nullptr || card->unit == MetricCard().unit;
}

MetricKinds metricKinds(const std::function<RunStore::Table(const std::string& sql)>& query) {
  MetricKinds kinds;
  for (const auto& row :
       query("SELECT pattern, unit, definition, direction, title FROM metric_kind ORDER BY id")
           .rows)
    kinds.push_back({row[0].get<std::string>(), row[1].get<std::string>(),
                     row[2].get<std::string>(), directionFromString(row[3].get<std::string>()),
                     row[4].get<std::string>()});
  return kinds;
}

MetricKinds metricKinds(RunReader& store) {
  return metricKinds([&store](const std::string& sql) { return store.query(sql); });
}

MetricKind kindOf(const MetricKinds& kinds, const std::string& metric) {
  const std::size_t place = placeOf(kinds, metric);
  if (place == kinds.size()) {
    const auto point = numberedMetric(metric);
    if (!point) return {};
    MetricKind kind = kindOf(kinds, point->family);
    kind.title.clear();
    return kind;
  }
  MetricKind kind = kinds[place];
  if (kind.pattern.ends_with('*'))
    kind.title.clear();  // one title for many: their names tell them apart
  return kind;
}

RunCard runCard(const MetricCard* card, const std::vector<std::string>& recorded,
                const MetricKinds& kinds) {
  RunCard made;
  if (card == nullptr) {
    made.headline = guessedHeadline(recorded, kinds);
    made.unit = guessedUnit(recorded);
  } else {
    made.unit = card->unit;
    for (const std::string& quantity : card->headline) {
      const std::vector<std::string> names = metricsOf(quantity);
      const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) {
        return contains(recorded, name);
      });
      made.headline.push_back(found == names.end() ? names.front() : *found);
    }
    made.plots = card->plots;
  }
  if (made.plots.empty()) {
    if (recorded.empty() || contains(recorded, kTrainLoss)) made.plots.emplace_back(kTrainLoss);
    if (!made.headline.empty()) made.plots.push_back(made.headline.front());
  }
  if (recorded.empty() || contains(recorded, kLearningRate))
    made.morePlots.emplace_back(kLearningRate);
  for (const std::string& plot : plotsOfAnalyses(recorded, kinds)) addOnce(made.morePlots, plot);
  return made;
}

RunCard joined(const std::vector<RunCard>& cards) {
  RunCard whole;
  bool isFirst = true;
  for (const RunCard& card : cards) {
    for (const std::string& metric : card.headline) addOnce(whole.headline, metric);
    for (const std::string& metric : card.plots) addOnce(whole.plots, metric);
    for (const std::string& metric : card.morePlots) addOnce(whole.morePlots, metric);
    whole.unit = isFirst || whole.unit == card.unit ? card.unit : RunCard().unit;
    isFirst = false;
  }
  return whole;
}

std::vector<std::string> allPlots(const RunCard& card) {
  std::vector<std::string> plots = card.plots;
  for (const std::string& metric : card.morePlots) addOnce(plots, metric);
  return plots;
}

std::vector<std::string> comparedMetrics(const RunCard& card,
                                         const std::vector<std::string>& recorded) {
  std::vector<std::string> metrics;
  for (const std::string& metric : card.headline) {
    if (contains(recorded, metric)) addOnce(metrics, metric);
  }
  for (const std::string& metric : metricsOf(kLoss)) {
    const MetricName name = metricName(metric);
    if (!name.isAveraged && metric != kTrainLoss && contains(recorded, metric))
      addOnce(metrics, metric);
  }
  if (metrics.empty() && contains(recorded, kTrainLoss)) metrics.emplace_back(kTrainLoss);
  return metrics;
}

void RunScores::readTasks(RunReader& store) {
  const RunStore::Table there =
      store.query("SELECT count(*), coalesce(max(run_id), 0) FROM run_config");
  const auto runs = there.rows.front()[0].get<std::size_t>();
  const auto newest = there.rows.front()[1].get<std::int64_t>();
  if (runs == tasks_.size() && newest == newest_) return;
  newest_ = newest;
  tasks_.clear();
  const RunStore::Table table = store.query(
      "SELECT run_id, CASE WHEN json_valid(config) THEN json_extract(config, '$.task.name') END "
      "FROM run_config");
  for (const auto& row : table.rows)
    tasks_[row[0].get<std::int64_t>()] = row[1].is_string() ? row[1].get<std::string>() : "";
}

std::map<std::int64_t, RunScore> RunScores::read(RunReader& store, const TaskCards& cards) {
  readTasks(store);
  std::map<std::string, std::vector<std::int64_t>> runs;
  for (const auto& [id, task] : tasks_) runs[task].push_back(id);

  std::vector<std::string> ofSplits;
  for (const auto& row :
       store
           .query("SELECT name FROM metric_name WHERE name GLOB 'test/*' OR name GLOB "
                  "'validation/*' OR name GLOB 'train/*' ORDER BY name")
           .rows)
    ofSplits.push_back(row[0].get<std::string>());

  std::map<std::int64_t, RunScore> scores;
  std::optional<MetricKinds> kinds;  // read for the first task that is not known here
  for (const auto& [task, ids] : runs) {
    std::string quantity;
    if (const MetricCard* card = cardOf(cards, task); card != nullptr) {
      for (const std::string& wanted : card->headline) {
        const std::vector<std::string> names = metricsOf(wanted);
        const bool isThere = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
          return contains(ofSplits, name);
        });
        if (quantity.empty() && isThere) quantity = wanted;
      }
    } else if (!ofSplits.empty()) {
      std::string list;
      for (const std::int64_t id : ids) list += (list.empty() ? "" : ",") + std::to_string(id);
      std::vector<std::string> recorded;
      for (const auto& row :
           store.query("SELECT DISTINCT name FROM metric_summaries WHERE run_id IN (" + list + ")")
               .rows)
        recorded.push_back(row[0].get<std::string>());
      if (!kinds) kinds = metricKinds(store);
      const std::vector<std::string> guessed = guessedHeadline(recorded, *kinds);
      if (!guessed.empty()) quantity = metricName(guessed.front()).quantity;
    }
    if (quantity.empty()) continue;
    for (const std::string& metric : metricsOf(quantity)) {
      if (!contains(ofSplits, metric)) continue;
      for (const auto& [id, value] : store.lastValues(metric)) {
        const auto known = tasks_.find(id);
        if (known != tasks_.end() && known->second == task) scores.try_emplace(id, metric, value);
      }
    }
  }
  return scores;
}

}  // namespace vitrine::store
