// Reads curves of the Monitor from a store, on whatever thread the store belongs to: what is asked
// and what is answered are values.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/store/run_store.h"
#include "ui/monitor/curve_series.h"
#include "ui/monitor/metric_card.h"

namespace vitrine::ui {

/// A curve's name is a metric ("train/loss"), or the stem of several of one clock, whose mean it
/// is: "analysis/attention_rank/rank80/layer1" is the mean over ".../layer1/head*".
struct CurveKey {
  std::int64_t run = 0;
  std::string name;
  std::string over =
      {};  ///< the metric on x, whose order the points have; "" for the order of steps
  [[nodiscard]] auto operator<=>(const CurveKey&) const = default;
};

/// A curve to read, and its known part.
struct CurveReadRequest {
  CurveKey key;
  std::vector<std::string> sources;  ///< metrics it is read from; empty while they are not known
  std::int64_t lastSequence = 0;     ///< 0: read it whole
  double lastStep = 0;
  std::int64_t overSequence = 0;  ///< of the metric on x
  bool isStartAsked = false;      ///< also where the segments of the run began
  Smoothing smoothing = {};       ///< made at once with a curve that is read whole
};

/// Its change: none, points at its end, or another curve in its place.
struct CurveReadResponse {
  CurveKey key;
  std::vector<std::string> sources;
  std::shared_ptr<CurveSeries> whole;
  std::vector<store::MetricPoint> fresh;
  std::int64_t overSequence = 0;
  std::optional<std::map<std::int64_t, double>> starts;
  std::int64_t readings = 0;                     ///< how often the store was asked for points
  std::string error = {};                        ///< a sentence; then nothing else is there
  std::int64_t version = 0, changeSequence = 0;  ///< of the database and the run when it was asked
};

/// A curve that is there, to be smoothed in another way.
struct SmoothRequest {
  CurveKey key;
  std::shared_ptr<const CurveSeries> series;
  Smoothing smoothing;
};

/// Runs that are drawn as one curve: those of a variant.
struct RunGroup {
  QString name;
  std::vector<std::pair<std::uint64_t, std::int64_t>> runs;  ///< seed and id, ascending
};

/// What the curve of a group is made of and how: made again once that is something else.
struct GroupState {
  std::string metric;
  std::vector<std::int64_t> runs;       ///< in the group's order, of each seed one
  std::vector<std::int64_t> sequences;  ///< of the last points of their curves
  XAxis axis = XAxis::Step;
  Spread spread = Spread::Range;
  Smoothing smoothing;
  [[nodiscard]] bool operator==(const GroupState&) const = default;
};
struct GroupRequest {
  GroupState state;
  std::vector<std::shared_ptr<const CurveSeries>> curves;  ///< of `state.runs`
};

/// What the page needs to know besides the curves.
struct MonitorRequest {
  std::vector<SmoothRequest> smooth;
  std::vector<GroupRequest> groups;
  std::vector<CurveReadRequest> curves;
  std::vector<std::int64_t> namesOf;      ///< runs whose metrics are asked for
  std::vector<std::int64_t> tasksOf;      ///< runs whose task is asked for
  std::vector<std::int64_t> notesOf;      ///< runs whose notes are asked for
  std::vector<store::RunRow> variantsOf;  ///< runs that are to be put together by their variant
  bool isDatabaseAsked = false;           ///< also facts that all runs share
};

/// The notes on the curves of a run as they stood at a version of them.
struct NotesOfRun {
  std::int64_t version = 0;
  std::vector<store::CurveNoteRow> notes;
};

struct MonitorResponse {
  std::vector<std::pair<CurveKey, SmoothedLine>> smoothed;
  std::vector<std::pair<GroupState, std::shared_ptr<const GroupedCurve>>> grouped;
  std::vector<RunGroup> variants;         ///< of `variantsOf`, in the order of its first runs
  std::vector<CurveReadResponse> curves;  ///< of the first asks; the rest is to be asked for again
  std::map<std::int64_t, std::vector<std::string>> names;
  std::map<std::int64_t, std::string> tasks;  ///< "" for a run that names none
  std::map<std::int64_t, NotesOfRun> notes;
  bool hasDatabase = false;
  std::string databaseUuid;
  store::MetricKinds kinds;  ///< with the database, or the names of runs
  std::string error;  ///< a sentence, of the part that is not a curve
};

/// Reads names and notes before curves, and so many curves that a page that waits sees some soon.
[[nodiscard]] MonitorResponse readMonitor(store::RunReader& store, const MonitorRequest& ask,
                                          const std::atomic<bool>& isStale);
[[nodiscard]] CurveReadResponse readCurve(store::RunReader& store, const CurveReadRequest& ask);

}  // namespace vitrine::ui
