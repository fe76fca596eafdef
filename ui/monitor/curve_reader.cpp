#include "ui/monitor/curve_reader.h"

#include <QDateTime>

#include "core/base/error.h"
#include "core/store/comparison.h"
#include "ui/kit/value_text.h"
#include "ui/workbench/recipe.h"
#include "ui/workbench/run_facts.h"

namespace vitrine::ui {
namespace {

// An answer ends with the curve that reaches so many points; each curve counts as some, for the
// query.
constexpr std::size_t kMostPoints = 500'000, kPointsOfAQuery = 1000;
// More news than this are read as another curve: its means and extremes are made on this thread.
constexpr std::size_t kMostNews = 50'000;

using CurveNames = std::map<std::int64_t, std::vector<std::string>>;

class CurveReading {
 public:
  CurveReading(store::RunReader& store, CurveNames& names, CurveReadResponse& answer)
      : store_(store), names_(names), answer_(answer) {}

  [[nodiscard]] std::vector<store::MetricPoint> points(std::int64_t run, const std::string& metric,
                                                       std::int64_t after) {
    ++answer_.readings;
    return store_.points(run, metric, after);
  }
  // The metric itself, or those of the heads.
  [[nodiscard]] std::vector<std::string> sourcesOf(std::int64_t run, const std::string& name) {
    const auto [known, isNew] = names_.try_emplace(run);
    if (isNew) known->second = store_.metricNames(run);
    std::vector<std::string> heads;
    for (const std::string& metric : known->second) {
      if (metric == name) return {metric};
      if (metric.starts_with(name + "/head")) heads.push_back(metric);
    }
    return heads;
  }
  [[nodiscard]] CurveSeries whole(std::int64_t run, const std::vector<std::string>& sources,
                                  const std::string& name) {
    CurveSeries series;
    if (sources.size() == 1 && sources.front() == name) {
      series.append(points(run, name, 0));
      return series;
    }
    std::vector<std::vector<store::MetricPoint>> heads;
    for (const std::string& source : sources) heads.push_back(points(run, source, 0));
    series.append(meanOf(heads));
    return series;
  }

 private:
  store::RunReader& store_;
  CurveNames& names_;
  CurveReadResponse& answer_;
};

std::map<std::int64_t, double> startsOf(store::RunReader& store, std::int64_t run) {
  std::map<std::int64_t, double> starts;
  for (const store::SegmentRow& segment : store.segments(run)) {
    const QDateTime at = timeFromUtc(segment.startedAt);
    if (at.isValid()) starts[segment.number] = static_cast<double>(at.toMSecsSinceEpoch()) / 1000;
  }
  return starts;
}

std::vector<RunGroup> groupsOf(store::RunReader& store, const std::vector<store::RunRow>& rows) {
  const store::QueryFunction query = [&](const std::string& sql) { return store.query(sql); };
  const std::vector<store::ComparedRun> runs = comparedRuns(query, rows);
  const std::vector<store::VariantGroup> variants = variantsOf(runs);
  const std::vector<QString> labels = variantLabels(runs, variants);
  std::vector<RunGroup> groups;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    RunGroup group{labels[i], {}};
    for (const std::size_t run : variants[i].runs)
      group.runs.emplace_back(runs[run].row.seed, runs[run].row.id);
    groups.push_back(std::move(group));
  }
  return groups;
}

void readOver(CurveReading& reading, const CurveReadRequest& ask, CurveReadResponse& answer) {
  const CurveKey& key = ask.key;
  const auto overSources = reading.sourcesOf(key.run, key.over);
  if (overSources.empty()) return;
  const bool hasNews = ask.lastSequence == 0 ||
                       !reading.points(key.run, answer.sources.back(), ask.lastSequence).empty() ||
                       !reading.points(key.run, overSources.back(), ask.overSequence).empty();
  if (!hasNews) return;
  const CurveSeries other = reading.whole(key.run, overSources, key.over);
  answer.overSequence = other.lastSequence();
  answer.whole =
      std::make_shared<CurveSeries>(reading.whole(key.run, answer.sources, key.name).over(other));
}

void readInSteps(CurveReading& reading, const CurveReadRequest& ask, CurveReadResponse& answer) {
  const CurveKey& key = ask.key;
  if (ask.lastSequence > 0) {
    auto fresh = reading.points(key.run, answer.sources.back(), ask.lastSequence);
    if (fresh.empty()) return;
    const bool isMean = answer.sources.back() != key.name;  // a few dozen points: read whole
    // A resumed run may have gone back to its checkpoint: what was there is superseded.
    const bool isBack = static_cast<double>(fresh.front().step) <= ask.lastStep;
    if (!isMean && !isBack && fresh.size() <= kMostNews) {
      answer.fresh = std::move(fresh);
      return;
    }
  }
  auto whole = std::make_shared<CurveSeries>(reading.whole(key.run, answer.sources, key.name));
  if (whole->size() > 0) answer.whole = std::move(whole);
}

CurveReadResponse readOne(store::RunReader& store, const CurveReadRequest& ask, CurveNames& names) {
  CurveReadResponse answer{.key = ask.key};
  try {
    CurveReading reading(store, names, answer);
    // Also of what the run never measured: otherwise it would be asked again and again.
    if (ask.isStartAsked) answer.starts = startsOf(store, ask.key.run);
    answer.sources =
        ask.sources.empty() ? reading.sourcesOf(ask.key.run, ask.key.name) : ask.sources;
    if (answer.sources.empty()) return answer;
    if (ask.key.over.empty()) {
      readInSteps(reading, ask, answer);
    } else {
      readOver(reading, ask, answer);
    }
    if (answer.whole) answer.whole->prepare(ask.smoothing);
  } catch (const Error& error) {
    answer = {};
    answer.key = ask.key;
    answer.error = error.what();
  }
  return answer;
}

}  // namespace

CurveReadResponse readCurve(store::RunReader& store, const CurveReadRequest& ask) {
  CurveNames names;
  return readOne(store, ask, names);
}

MonitorResponse readMonitor(store::RunReader& store, const MonitorRequest& ask,
                            const std::atomic<bool>& isStale) {
  MonitorResponse answer;
  try {
    if (ask.isDatabaseAsked) {
      answer.databaseUuid = databaseUuid(store);
      answer.hasDatabase = true;
    }
    for (const std::int64_t run : ask.namesOf) {
      if (isStale) return answer;
      answer.names[run] = store.metricNames(run);
    }
    // After the names: what is measured has been declared.
    if (ask.isDatabaseAsked || !ask.namesOf.empty()) answer.kinds = metricKinds(store);
    for (const std::int64_t run : ask.tasksOf) {
      if (isStale) return answer;
      answer.tasks[run] = store::taskOf(store.config(run));
    }
    for (const std::int64_t run : ask.notesOf) {
      if (isStale) return answer;
      // The version before the list, so that it is not newer.
      const std::int64_t version = store.version(run, store::RunField::CurveNotes);
      answer.notes[run] = {version, store.curveNotes(run)};
    }
    if (!ask.variantsOf.empty()) answer.variants = groupsOf(store, ask.variantsOf);
  } catch (const Error& error) {
    answer.error = error.what();
    return answer;
  }
  for (const SmoothRequest& one : ask.smooth) {
    if (isStale) return answer;
    answer.smoothed.emplace_back(one.key, one.series->smoothedAgain(one.smoothing));
  }
  for (const GroupRequest& group : ask.groups) {
    if (isStale) return answer;
    std::vector<const CurveSeries*> curves;
    for (const auto& curve : group.curves) curves.push_back(curve.get());
    auto made =
        std::make_shared<GroupedCurve>(groupedCurve(curves, group.state.axis, group.state.spread));
    for (const CurveSeries* line : {&made->centre, &made->low, &made->high})
      line->prepare(group.state.smoothing);
    answer.grouped.emplace_back(group.state, std::move(made));
  }
  CurveNames names = answer.names;
  std::size_t read = 0;
  for (const CurveReadRequest& curve : ask.curves) {
    if (isStale || read >= kMostPoints) break;
    answer.curves.push_back(readOne(store, curve, names));
    const CurveReadResponse& last = answer.curves.back();
    read += kPointsOfAQuery + last.fresh.size() + (last.whole ? last.whole->size() : 0);
  }
  return answer;
}

}  // namespace vitrine::ui
