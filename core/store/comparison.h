// Comparison of runs: those that differ in their seed alone, the changes of each variant, and one
// value per seed. The number of queries does not depend on the number of runs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/statistics.h"
#include "core/config/config.h"
#include "core/store/run_card.h"
#include "core/store/run_store.h"
#include "core/store_export.h"

namespace vitrine::store {

struct ComparedRun {
  RunRow row;
  Json config;              ///< resolved
  std::string plannedName;  ///< before it was renamed; "": as in `row`
};

/// Value of a curve that stands for its run.
enum class CurveValue { Last, Best, Minimum, Maximum, AtStep };
[[nodiscard]] VITRINE_STORE_EXPORT std::string toString(CurveValue value);  ///< "last", "at step"
[[nodiscard]] VITRINE_STORE_EXPORT std::optional<CurveValue> curveValueFromString(
    const std::string& text);

struct ValueChoice {
  CurveValue value = CurveValue::Last;
  std::int64_t step = 0;  ///< of AtStep: the newest value up to it, of curves that reach it
  bool operator==(const ValueChoice&) const = default;
};

struct MetricMeaning {
  std::string unit;  ///< "" where there is none
  Direction direction = Direction::None;
  std::string definition;
  std::string title{};  ///< that its task gave it, as MetricKind::title
};

/// Facts about one metric of one run.
struct MetricValue {
  double last = 0, minimum = 0, maximum = 0;  ///< NaN where it is not a number
  std::int64_t lastStep = 0, minimumStep = 0, maximumStep = 0;
  std::optional<double> atStep;  ///< where it was asked for, and the curve reaches it
  std::int64_t count = 0;        ///< points of the curve
};

/// The answer to one reading. Values are by metric name, then by run.
struct Measurements {
  std::map<std::string, std::map<std::int64_t, MetricValue>> values;
  std::map<std::string, MetricMeaning> meanings;  ///< of every name in `values`
};

/// Configurations and planned names of `rows`, in their order: two queries.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<ComparedRun> comparedRuns(
    const QueryFunction& query, const std::vector<RunRow>& rows);
/// Names of all metrics that any of the runs has, with the number of runs: one query.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<std::pair<std::string, std::int64_t>> comparedNames(
    const QueryFunction& query, const std::vector<ComparedRun>& runs);
/// One query, with AtStep one more per name.
/// \param kinds  metricKinds(query): where the meanings come from
[[nodiscard]] VITRINE_STORE_EXPORT Measurements measure(const QueryFunction& query,
                                                        const std::vector<ComparedRun>& runs,
                                                        const std::vector<std::string>& names,
                                                        ValueChoice choice,
                                                        const MetricKinds& kinds);

/// Runs that differ in their seed alone. They share experiment, variant, stage, configuration and
/// planned name (a later stage may owe its difference to an earlier one). A run whose configuration
/// names no seed, as an imported one, is alone.
struct VariantGroup {
  std::string name;  ///< of the file, with the stage; else what its runs are called, or ""
  Json config;       ///< without the seed
  std::vector<std::size_t> runs;  ///< indices, by seed, then by id
};
/// In the order in which the runs first name them: the first of an experiment is its baseline.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<VariantGroup> variantsOf(
    const std::vector<ComparedRun>& runs);

/// Whether a run that has not reached its end gives a value.
enum class Unfinished { LeftOut, Counted };

/// Why a run gives no value: it is not done, a newer run has its seed, or its curve has none.
enum class LeftOutBy { State, Repetition, Curve };

/// A run that gives no value.
struct LeftOutRun {
  std::int64_t run = 0;
  std::uint64_t seed = 0;
  LeftOutBy by = LeftOutBy::State;
  std::string reason;  ///< "running", "failed", "run 7 has the same seed", "has no such value" ...
};

/// One value per seed. Of finished runs of one seed the newest counts: a repetition is not a second
/// sample.
struct VariantSample {
  std::map<std::uint64_t, double> values;      ///< by seed; may be NaN
  std::map<std::uint64_t, std::int64_t> runs;  ///< whose value it is
  std::vector<LeftOutRun> leftOut;
  SampleStatistics statistics;
};
/// \param values  of one metric, by run. With AtStep a run that reached the step counts, whether it
/// continues or not.
[[nodiscard]] VITRINE_STORE_EXPORT VariantSample
sampleOf(const VariantGroup& variant, const std::vector<ComparedRun>& runs,
         const std::map<std::int64_t, MetricValue>& values, const MetricMeaning& meaning,
         ValueChoice choice, Unfinished unfinished);
/// Runs that give no value, counted by reason; "" where every run gives one. Example: "1 failed, 2
/// repeated with the same seed (the newest counts), 1 without a value for test/ece". Names a metric
/// where a run is left out of some metrics only.
/// \param byMetric  of all variants
[[nodiscard]] VITRINE_STORE_EXPORT std::string leftOutText(
    const std::map<std::string, std::vector<LeftOutRun>>& byMetric);
/// Seeds that a mean is from, and the pairs that a difference is from where these are fewer: "3",
/// "3, 2 paired".
[[nodiscard]] VITRINE_STORE_EXPORT std::string countText(std::size_t seeds, std::size_t pairs);
/// All runs of a variant by their state, finished ones first: "3 done, 1 failed".
[[nodiscard]] VITRINE_STORE_EXPORT std::string statesText(const VariantGroup& variant,
                                                          const std::vector<ComparedRun>& runs);
/// Without a metric: which run stands for each seed, as sampleOf() chooses.
[[nodiscard]] VITRINE_STORE_EXPORT std::map<std::uint64_t, std::int64_t> seedRuns(
    const VariantGroup& variant, const std::vector<ComparedRun>& runs, Unfinished unfinished);

/// Value of a run by `choice`; nothing where Best has no direction or the step was not reached.
[[nodiscard]] VITRINE_STORE_EXPORT std::optional<double> valueOf(const MetricValue& value,
                                                                 const MetricMeaning& meaning,
                                                                 ValueChoice choice);

/// The configuration without what tells two seeds apart.
[[nodiscard]] VITRINE_STORE_EXPORT Json withoutSeed(Json config);

}  // namespace vitrine::store
