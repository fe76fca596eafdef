#include "ui/runs/run_columns.h"

#include <QCoreApplication>
#include <QDateTime>
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/base/text.h"
#include "core/store/metrics/metric_format.h"
#include "core/store/metrics/metric_titles.h"
#include "core/store/run_facts.h"
#include "ui/kit/theme.h"
#include "ui/kit/value_text.h"
#include "ui/runs/run_differences.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {
namespace {

using Cell = RunsModel::Cell;

constexpr const char* kConfigColumn = "config:";
constexpr const char* kMetricColumn = "metric:";
constexpr const char* kBestColumn = "best:";
constexpr std::size_t kMostUsualKeys = 6;

QString sayOfColumn(const char* text) { return QCoreApplication::translate("RunColumns", text); }

/// The rest of `id` behind `start`; "" where it does not begin so.
std::string restOf(const std::string& id, const char* start) {
  return id.starts_with(start) ? id.substr(std::string(start).size()) : std::string();
}

Cell textCell(const std::string& text) {
  const QString shown = QString::fromStdString(text);
  return {shown, shown.isEmpty() ? QVariant() : QVariant(shown)};
}

Cell numberCell(const QString& text, double number) {
  return {text, std::isnan(number) ? QVariant() : QVariant(number)};
}

Cell dayCell(const std::string& utc) {
  const QDateTime at = timeFromUtc(utc);
  if (!at.isValid()) return {};
  return numberCell(at.toLocalTime().toString(QStringLiteral("yyyy-MM-dd HH:mm")),
                    static_cast<double>(at.toMSecsSinceEpoch()));
}

Cell durationCell(const store::RunRow& run) {
  const QDateTime start = timeFromUtc(run.startedAt);
  const QDateTime end = isAlive(run.state)        ? QDateTime::currentDateTimeUtc()
                        : !run.finishedAt.empty() ? timeFromUtc(run.finishedAt)
                                                  : timeFromUtc(run.heartbeatAt);
  if (!start.isValid() || !end.isValid()) return {};
  const double seconds = static_cast<double>(start.msecsTo(end)) / 1000;
  return numberCell(duration(seconds), seconds);
}

Cell configCell(const Json& value) {
  const QString text = valueText(value);
  return value.is_number() ? numberCell(text, value.get<double>()) : Cell{text, text};
}

struct FactColumn {
  const char *id, *title, *tip;
  Cell (*cell)(const store::RunRow& run);
};

// The words are marked for translation where they are said.
const FactColumn kFacts[] = {
    {"state", QT_TRANSLATE_NOOP("RunColumns", "State"), "",
     [](const store::RunRow& run) { return textCell(toString(run.state)); }},
    {"seed", QT_TRANSLATE_NOOP("RunColumns", "Seed"), "",
     [](const store::RunRow& run) {
       return numberCell(QString::number(run.seed), static_cast<double>(run.seed));
     }},
    {"id", QT_TRANSLATE_NOOP("RunColumns", "Id"), "",
     [](const store::RunRow& run) {
       return numberCell(QString::number(run.id), static_cast<double>(run.id));
     }},
    {"experiment", QT_TRANSLATE_NOOP("RunColumns", "Experiment"), "",
     [](const store::RunRow& run) { return textCell(run.experiment); }},
    {"variant", QT_TRANSLATE_NOOP("RunColumns", "Variant"), "",
     [](const store::RunRow& run) { return textCell(run.variant); }},
    {"stage", QT_TRANSLATE_NOOP("RunColumns", "Stage"), "",
     [](const store::RunRow& run) { return textCell(run.stage); }},
    {"step", QT_TRANSLATE_NOOP("RunColumns", "Step"), "",
     [](const store::RunRow& run) {
       return run.step > 0 ? numberCell(count(run.step), static_cast<double>(run.step)) : Cell();
     }},
    {"duration", QT_TRANSLATE_NOOP("RunColumns", "Duration"),
     QT_TRANSLATE_NOOP("RunColumns", "From its first start to its end, pauses included"),
     durationCell},
    {"created", QT_TRANSLATE_NOOP("RunColumns", "Created"), "",
     [](const store::RunRow& run) { return dayCell(run.createdAt); }},
    {"device", QT_TRANSLATE_NOOP("RunColumns", "Device"), "",
     [](const store::RunRow& run) { return textCell(run.device); }},
    {"reason", QT_TRANSLATE_NOOP("RunColumns", "Reason"),
     QT_TRANSLATE_NOOP("RunColumns", "Why the run failed, stopped or was interrupted"),
     [](const store::RunRow& run) { return textCell(run.reason); }},
};
constexpr const char* kTags = "tags";
constexpr const char* kNote = "note";
constexpr const char* kCheckpoints = "checkpoints";

}  // namespace

RunsModel::Column RunColumns::named(const std::string& id,
                                    const std::vector<std::string>& keys) const {
  RunsModel::Column column{id, QString::fromStdString(id), {}, {}};
  if (id == kTags) column.title = sayOfColumn(QT_TRANSLATE_NOOP("RunColumns", "Tags"));
  if (id == kNote) column.title = sayOfColumn(QT_TRANSLATE_NOOP("RunColumns", "Note"));
  if (id == kCheckpoints) {
    column.title = sayOfColumn(QT_TRANSLATE_NOOP("RunColumns", "Checkpoints"));
    column.tip =
        sayOfColumn(QT_TRANSLATE_NOOP("RunColumns", "Size of the checkpoints that are kept"));
  }
  for (const FactColumn& fact : kFacts) {
    if (id != fact.id) continue;
    column.title = sayOfColumn(fact.title);
    if (*fact.tip != '\0') column.tip = sayOfColumn(fact.tip);
  }
  if (const std::string key = restOf(id, kConfigColumn); !key.empty()) {
    column.title = shortKey(key, keys);
    column.tip = QString::fromStdString(key);
  }
  if (const std::string metric = restOf(id, kMetricColumn); !metric.empty()) {
    const store::MetricKind kind = store::kindOf(kinds_, metric);
    const store::MetricTitle title = store::metricTitle(metric, kind.title);
    column.title = QString::fromStdString(title.title);
    column.tip =
        QString::fromStdString(kind.definition.empty() ? metric : metric + '\n' + kind.definition);
  }
  if (const std::string metric = restOf(id, kBestColumn); !metric.empty()) {
    const store::MetricKind kind = store::kindOf(kinds_, metric);
    column.title = sayOfColumn(QT_TRANSLATE_NOOP("RunColumns", "%1, best"))
                       .arg(QString::fromStdString(store::metricTitle(metric, kind.title).title));
    column.tip = kind.direction == Direction::Lower
                     ? sayOfColumn(QT_TRANSLATE_NOOP("RunColumns", "Least value of the run"))
                     : sayOfColumn(QT_TRANSLATE_NOOP("RunColumns", "Greatest value of the run"));
  }
  return column;
}

std::vector<RunsModel::Column> RunColumns::offered() {
  kinds_ = store::metricKinds(query_);
  std::vector<std::string> ids;
  for (const FactColumn& fact : kFacts) ids.emplace_back(fact.id);
  for (const char* id : {kTags, kNote, kCheckpoints}) ids.emplace_back(id);
  std::set<std::string> known;
  for (const auto& [id, run] : runs_) {
    for (const auto& [key, value] : configs_.of(run)) known.insert(key);
  }
  const std::vector<std::string> keys(known.begin(), known.end());
  for (const std::string& key : keys) ids.push_back(kConfigColumn + key);
  const std::vector<std::string> recorded = store::recordedMetrics(query_);
  for (const std::string& metric : recorded) ids.push_back(kMetricColumn + metric);
  for (const std::string& metric : recorded) {
    if (store::kindOf(kinds_, metric).direction != Direction::None)
      ids.push_back(kBestColumn + metric);
  }
  std::vector<RunsModel::Column> columns;
  for (const std::string& id : ids) columns.push_back(named(id, keys));
  return columns;
}

std::vector<std::string> RunColumns::usual(std::int64_t experiment, const std::string& metric) {
  std::map<std::int64_t, ConfigTexts> configs;
  std::set<std::string> objects;  // transforms and the like: a cell cannot show them
  for (const auto& [id, run] : runs_) {
    if (run.experimentId != experiment) continue;
    const FlatConfig& config = configs_.of(run);
    configs[id] = configTexts(config);
    for (const auto& [key, value] : config) {
      if (value.is_array() &&
          std::any_of(value.begin(), value.end(), [](const Json& one) { return one.is_object(); }))
        objects.insert(key);
    }
  }
  const std::set<std::string> differing = keysThatDiffer(configs);
  std::vector<std::string> keys(differing.begin(), differing.end());
  std::erase_if(keys, [&objects](const std::string& key) { return objects.contains(key); });
  // What all of them have tells more of them apart.
  std::stable_partition(keys.begin(), keys.end(), [&configs](const std::string& key) {
    return std::all_of(configs.begin(), configs.end(),
                       [&key](const auto& one) { return one.second.contains(key); });
  });
  if (keys.size() > kMostUsualKeys) keys.resize(kMostUsualKeys);
  std::vector<std::string> ids{"state", "seed"};
  for (const std::string& key : keys) ids.push_back(kConfigColumn + key);
  if (!metric.empty()) ids.push_back(kMetricColumn + metric);
  ids.emplace_back("duration");
  return ids;
}

std::vector<RunsModel::Column> RunColumns::read(const std::vector<std::string>& ids) {
  kinds_ = store::metricKinds(query_);
  std::set<std::string> metrics, ranged;
  std::map<std::string, RunsModel::Column*> settings;
  std::vector<std::string> keys;
  for (const std::string& id : ids) {
    if (const std::string key = restOf(id, kConfigColumn); !key.empty()) keys.push_back(key);
    if (const std::string metric = restOf(id, kMetricColumn); !metric.empty())
      metrics.insert(metric);
    if (const std::string metric = restOf(id, kBestColumn); !metric.empty()) ranged.insert(metric);
  }
  const auto values = store::lastValuesOf(query_, metrics);
  const auto ranges = store::rangesOf(query_, ranged);
  std::vector<RunsModel::Column> columns;
  for (const std::string& id : ids) columns.push_back(named(id, keys));
  const auto put = [](RunsModel::Column& column, std::int64_t run, Cell cell) {
    if (cell.order.isValid()) column.cells[run] = std::move(cell);
  };
  for (RunsModel::Column& column : columns) {
    if (const std::string key = restOf(column.id, kConfigColumn); !key.empty())
      settings[key] = &column;
    for (const FactColumn& fact : kFacts) {
      if (column.id != fact.id) continue;
      for (const auto& [id, run] : runs_) put(column, id, fact.cell(run));
    }
    if (column.id == "duration") column.meanText = [](double mean) { return duration(mean); };
    if (column.id == kTags) {
      for (const auto& [id, run] : runs_)
        put(column, id, textCell(model_.tagsOf(id).toStdString()));
    }
    if (column.id == kNote) {
      for (const auto& [id, note] : store::notesByRun(query_))
        put(column, id, textCell(QString::fromStdString(note).simplified().toStdString()));
    }
    if (column.id == kCheckpoints) {
      for (const auto& [id, bytes] : store::checkpointBytes(query_)) {
        const auto size = static_cast<double>(bytes);
        put(column, id, numberCell(QString::fromStdString(formatBytes(size)), size));
      }
    }
    const std::string ofBest = restOf(column.id, kBestColumn);
    if (const auto range = ranges.find(ofBest); range != ranges.end()) {
      const store::MetricKind kind = store::kindOf(kinds_, ofBest);
      const auto format = store::metricFormat(ofBest, kind);
      for (const auto& [id, ends] : range->second) {
        const double value = kind.direction == Direction::Lower ? ends.first : ends.second;
        put(column, id, numberCell(metricText(format, value), value));
      }
      column.meanText = [format](double mean) { return metricText(format, mean); };
    }
    const std::string metric = restOf(column.id, kMetricColumn);
    const auto found = values.find(metric);
    if (found == values.end()) continue;
    const auto format = store::metricFormat(metric, store::kindOf(kinds_, metric));
    for (const auto& [id, value] : found->second)
      put(column, id, numberCell(metricText(format, value), value));
    column.meanText = [format](double mean) { return metricText(format, mean); };
  }
  if (settings.empty()) return columns;
  for (const auto& [id, run] : runs_) {
    for (const auto& [key, value] : configs_.of(run)) {
      if (const auto found = settings.find(key); found != settings.end())
        put(*found->second, id, configCell(value));
    }
  }
  return columns;
}

}  // namespace vitrine::ui
