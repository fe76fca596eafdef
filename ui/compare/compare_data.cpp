#include "ui/compare/compare_data.h"

#include <QStringList>
#include <algorithm>
#include <cmath>
#include <set>

#include "core/config/lookup.h"
#include "core/store/metrics/metric_format.h"
#include "core/store/metrics/metric_titles.h"
#include "core/store/run_facts.h"
#include "core/store/tables/run_marks.h"
#include "ui/kit/series/run_series.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {

namespace {

std::vector<std::string> namesOf(const CompareData& data) {
  std::vector<std::string> names;
  for (const auto& [name, count] : data.names) names.push_back(name);
  return names;
}

/// What the runs are judged by, from the cards of their tasks.
store::RunCard cardOfRuns(const CompareData& data, const store::TaskCards& cards) {
  std::set<std::string> tasks;
  for (const store::ComparedRun& run : data.runs) tasks.insert(store::taskOf(run.config));
  std::vector<store::RunCard> all;
  for (const std::string& task : tasks)
    all.push_back(store::runCard(store::cardOf(cards, task), namesOf(data), data.kinds));
  return joined(all);
}

/// The first of them, else whatever was recorded.
std::string defaultMetric(const CompareData& data) {
  const std::vector<std::string> metrics = comparedMetrics(data.card, namesOf(data));
  if (!metrics.empty()) return metrics.front();
  return data.names.empty() ? "" : data.names.front().first;
}

/// The family of the first metric.
std::optional<store::MetricFamily> drawnFamily(const CompareData& data) {
  if (data.metrics.empty()) return std::nullopt;
  const auto drawn = store::numberedMetric(data.metrics.front());
  if (!drawn) return std::nullopt;
  for (store::MetricFamily& family : store::metricFamilies(namesOf(data))) {
    if (family.name == drawn->family) return std::move(family);
  }
  return std::nullopt;
}

/// Quantities besides the metric of the page that are worth a second axis.
std::vector<std::string> tradeOffMetrics(const CompareData& data) {
  std::vector<std::string> metrics = comparedMetrics(data.card, namesOf(data));
  metrics.emplace_back(kDeviceSeconds);
  return metrics;
}

/// The variant of the run that is marked as the baseline of an experiment here, the first of
/// several. The run itself may be left out: then the variant of its name.
std::size_t markedVariant(const store::QueryFunction& query, const CompareData& data) {
  const std::vector<store::MarkedBaseline> marked = store::markedBaselines(query);
  for (const store::MarkedBaseline& one : marked) {
    if (const auto place = data.find(one.run)) return data.ofRun[*place];
  }
  for (const store::MarkedBaseline& one : marked) {
    for (std::size_t i = 0; !one.variant.empty() && i < data.runs.size(); ++i) {
      const store::RunRow& row = data.runs[i].row;
      if (row.experimentId == one.experiment && row.variant == one.variant) return data.ofRun[i];
    }
  }
  return 0;
}

/// A size resolves to [height, width]; people write one number where both are the same.
bool isSquareSize(const Json& value) {
  return value.is_array() && value.size() == 2 && value[0].is_number() && value[0] == value[1];
}

}  // namespace

QString CompareData::titleOf(const std::string& metric) const {
  return QString::fromStdString(
      store::metricTitle(metric, store::kindOf(kinds, metric).title).title);
}

std::size_t CompareData::baseline(const CompareChoice& choice) const {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i].toStdString() == choice.baseline) return i;
  }
  return markedBaseline;
}

std::optional<std::size_t> CompareData::find(std::int64_t run) const {
  const auto place = std::lower_bound(
      runs.begin(), runs.end(), run,
      [](const store::ComparedRun& one, std::int64_t id) { return one.row.id < id; });
  if (place == runs.end() || place->row.id != run) return std::nullopt;
  return static_cast<std::size_t>(place - runs.begin());
}

std::shared_ptr<const CompareData> readCompareData(const store::QueryFunction& query,
                                                   std::vector<store::RunRow> rows,
                                                   const CompareChoice& choice,
                                                   const std::atomic<bool>& isStale,
                                                   const store::TaskCards& cards) {
  auto data = std::make_shared<CompareData>();
  std::sort(rows.begin(), rows.end(),
            [](const store::RunRow& a, const store::RunRow& b) { return a.id < b.id; });
  data->runs = comparedRuns(query, rows);
  if (data->runs.empty() || isStale) return data;
  data->variants = variantsOf(data->runs);
  data->ofRun.resize(data->runs.size());
  std::set<std::string> titles;
  for (std::size_t i = 0; i < data->variants.size(); ++i) {
    for (const std::size_t run : data->variants[i].runs) {
      data->ofRun[run] = i;
      titles.insert(data->runs[run].row.experiment);
    }
  }
  data->experiment =
      titles.size() == 1 ? *titles.begin() : std::to_string(titles.size()) + " experiments";
  data->markedBaseline = markedVariant(query, *data);
  data->keys = differingKeys(data->variants);
  data->labels = variantLabels(data->runs, data->variants);
  data->names = comparedNames(query, data->runs);
  data->kinds = metricKinds(query);
  data->card = cardOfRuns(*data, cards);
  if (isStale) return data;

  for (const std::string& metric : choice.metrics) {
    const bool isThere = std::any_of(data->names.begin(), data->names.end(),
                                     [&](const auto& entry) { return entry.first == metric; });
    if (isThere &&
        std::find(data->metrics.begin(), data->metrics.end(), metric) == data->metrics.end())
      data->metrics.push_back(metric);
  }
  if (data->metrics.empty()) {
    const std::string metric = defaultMetric(*data);
    if (!metric.empty()) data->metrics.push_back(metric);
  }
  data->family = drawnFamily(*data);
  std::vector<std::string> needed = neededMetrics(choice);
  if (data->family) {
    for (const auto& [at, member] : data->family->members) needed.push_back(member);
  }
  std::vector<std::string> wanted = data->metrics;
  for (const std::string& name : needed) {
    if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) wanted.push_back(name);
  }
  // What makes the default picture of trade-offs.
  for (const std::string& name : tradeOffMetrics(*data)) {
    const bool isThere = std::any_of(data->names.begin(), data->names.end(),
                                     [&](const auto& entry) { return entry.first == name; });
    if (isThere && std::find(wanted.begin(), wanted.end(), name) == wanted.end())
      wanted.emplace_back(name);
  }
  data->measured = measure(query, data->runs, wanted, choice.value, data->kinds);
  if (isStale) return data;

  std::set<std::int64_t> runs, experiments;
  for (const store::ComparedRun& run : data->runs) {
    runs.insert(run.row.id);
    experiments.insert(run.row.experimentId);
  }
  data->environments = store::environmentsOf(query, runs);
  data->sources = store::sourcesOf(query, experiments);
  data->quantities = quantitiesOf(*data, QuantityScope::All);
  return data;
}

std::vector<store::RunRow> comparedRows(const std::map<std::int64_t, store::RunRow>& all,
                                        const std::vector<std::int64_t>& selected,
                                        const std::set<std::int64_t>& archived) {
  std::vector<store::RunRow> rows;
  for (const std::int64_t id : selected) {
    if (const auto found = all.find(id); found != all.end()) rows.push_back(found->second);
  }
  if (rows.size() > 1) return rows;
  const std::int64_t chosen = rows.empty() ? 0 : rows.front().id;
  std::int64_t experiment = rows.empty() ? 0 : rows.front().experimentId;
  if (rows.empty()) {
    std::map<std::int64_t, int> counts;
    for (const auto& [id, row] : all) {
      if (!archived.contains(id) && ++counts[row.experimentId] > 1)
        experiment = std::max(experiment, row.experimentId);
    }
  }
  rows.clear();
  for (const auto& [id, row] : all) {
    if (row.experimentId == experiment && (id == chosen || !archived.contains(id)))
      rows.push_back(row);
  }
  return rows;
}

QString differsText(const CompareData& data, std::size_t variant, std::size_t baseline) {
  QStringList parts;
  for (const Difference& change :
       difference(data.variants[baseline].config, data.variants[variant].config)) {
    parts << shortKey(change.key, data.keys) + QStringLiteral(" = ") + valueText(change.after);
  }
  return parts.join(QStringLiteral(", "));
}

QString shortDiffersText(const CompareData& data, const std::vector<Difference>& changes) {
  constexpr qsizetype kMostChanges = 3;
  QStringList parts;
  for (const Difference& change : changes) {
    const QString key = shortKey(change.key, data.keys);
    if (change.after.is_boolean()) {
      parts << (change.after.get<bool>() ? key : QObject::tr("no %1").arg(key));
    } else {
      parts << (change.after.is_string() ? valueText(change.after)
                                         : key + QLatin1Char(' ') + valueText(change.after));
    }
  }
  const qsizetype more = parts.size() - kMostChanges;
  if (more > 0) {
    parts.resize(kMostChanges);
    parts << QObject::tr("%1 more").arg(more);
  }
  return parts.join(QStringLiteral(", "));
}

std::int64_t seriesOf(const CompareData& data, std::size_t variant) {
  const std::int64_t first = data.runs[data.variants[variant].runs.front()].row.id;
  if (isSeriesShared() || hasOwnSeries(first) || data.runs.size() == data.variants.size())
    return seriesOf(first);
  return static_cast<std::int64_t>(variant) + 1;
}

std::vector<Quantity> quantitiesOf(const CompareData& data, QuantityScope scope) {
  std::vector<Quantity> out;
  if (data.variants.empty()) return out;
  const std::vector<std::string>& differing = data.keys;
  std::vector<std::string> keys = differing;
  if (scope == QuantityScope::All) {
    keys.clear();
    for (const auto& [key, value] : flatten(data.variants.front().config)) keys.push_back(key);
    for (const std::string& key : differing) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  for (const std::string& key : keys) {
    Quantity quantity{
        "config:" + key, shortKey(key, keys), QString(), Direction::None, true, false};
    bool isAnything = false;
    for (const store::VariantGroup& variant : data.variants) {
      const Json* value = valueAt(variant.config, key);
      if (value == nullptr || value->is_null()) continue;
      isAnything = true;
      if (!value->is_number() && !isSquareSize(*value)) quantity.isNumber = false;
    }
    if (isAnything) out.push_back(quantity);
  }
  for (const auto& [name, count] : data.names) {
    const auto meaning = data.measured.meanings.find(name);
    if (meaning == data.measured.meanings.end()) {
      if (scope == QuantityScope::All)
        out.push_back(
            {"metric:" + name, data.titleOf(name), QString(), Direction::None, true, false});
      continue;
    }
    if (scope == QuantityScope::Telling &&
        std::find(data.metrics.begin(), data.metrics.end(), name) == data.metrics.end())
      continue;
    const store::MetricFormat format = store::metricFormat(name, meaning->second.unit, {});
    const std::string unit = format.isPercent ? format.unit() : meaning->second.unit;
    out.push_back({"metric:" + name, data.titleOf(name), QString::fromStdString(unit),
                   meaning->second.direction, true, format.isPercent});
  }
  if (scope == QuantityScope::All) {
    out.push_back({"cost:memory", QObject::tr("peak memory"), QStringLiteral("GB"),
                   Direction::Lower, true, false});
    out.push_back({"cost:speed", QObject::tr("speed"),
                   QString::fromStdString(data.card.unit) + QStringLiteral("/s"), Direction::Higher,
                   true, false});
    out.push_back(
        {"cost:steps", QObject::tr("steps"), QString(), Direction::Lower, true, false});
    out.push_back({"run:seed", QObject::tr("seed"), QString(), Direction::None, true, false});
  }
  return out;
}

Json quantityValue(const CompareData& data, std::size_t run, const Quantity& quantity,
                   store::ValueChoice choice) {
  const std::size_t colon = quantity.id.find(':');
  const std::string kind = quantity.id.substr(0, colon), name = quantity.id.substr(colon + 1);
  const store::ComparedRun& one = data.runs[run];
  if (kind == "config") {
    const Json* value = valueAt(one.config, name);
    if (value == nullptr || value->is_null()) return nullptr;
    if (isSquareSize(*value)) return (*value)[0];
    return *value;
  }
  if (kind == "metric") {
    const auto values = data.measured.values.find(name);
    if (values == data.measured.values.end()) return nullptr;
    const auto found = values->second.find(one.row.id);
    if (found == values->second.end()) return nullptr;
    const auto value = valueOf(found->second, data.measured.meanings.at(name), choice);
    if (!value || !std::isfinite(*value)) return nullptr;
    return quantity.isPercent ? *value * 100 : *value;
  }
  if (name == "memory" && one.row.memoryBytes > 0)
    return static_cast<double>(one.row.memoryBytes) / 1e9;
  if (name == "speed" && one.row.imagesPerSecond > 0) return one.row.imagesPerSecond;
  if (name == "steps" && one.row.step > 0) return one.row.step;
  if (name == "seed") return one.row.seed;
  return nullptr;
}

std::vector<std::string> neededMetrics(const CompareChoice& choice) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& id) {
    if (id.starts_with("metric:")) names.push_back(id.substr(7));
  };
  for (const ParallelAxisChoice& axis : choice.parallel) add(axis.quantity);
  add(choice.scatterX);
  add(choice.scatterY);
  return names;
}

}  // namespace vitrine::ui
