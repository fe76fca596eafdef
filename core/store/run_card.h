// Headline metrics, pinned plots and the unit of throughput of a run. They come from the card of
// its task, or from the recorded metrics where the task is not known here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/statistics.h"
#include "core/config/catalog.h"
#include "core/store/run_store.h"
#include "core/store_export.h"

namespace vitrine::store {

/// The mean loss over the training set: every task has it.
inline constexpr const char* kTrainLoss = "train/loss";

/// Cards of the tasks that plugins bring, by id of the task.
using TaskCards = std::map<std::string, MetricCard>;
[[nodiscard]] VITRINE_STORE_EXPORT TaskCards taskCards(const Catalog& catalog);
/// `task.name` of a resolved configuration; "" where it names none, as that of an imported run.
[[nodiscard]] VITRINE_STORE_EXPORT std::string taskOf(const Json& config);
/// nullptr where no plugin here brings the task.
[[nodiscard]] VITRINE_STORE_EXPORT const MetricCard* cardOf(const TaskCards& cards,
                                                            const std::string& task);

/// Whether throughput counts the samples of a batch, one each. The default unit does; it also
/// stands for that of an unknown task.
[[nodiscard]] VITRINE_STORE_EXPORT bool countsSamples(const MetricCard* card);

/// A row of metric_kind: what the metrics of a pattern mean.
struct MetricKind {
  std::string pattern, unit, definition;  ///< units "fraction" and "points" are shown times 100
  Direction direction{};                  ///< which values are better
  std::string title{};  ///< that its task gave it; "" where the name is known or says it
};
/// In their order: the first whose pattern matches holds.
using MetricKinds = std::vector<MetricKind>;
/// \param query  RunStore::query
[[nodiscard]] VITRINE_STORE_EXPORT MetricKinds
metricKinds(const std::function<RunStore::Table(const std::string& sql)>& query);
[[nodiscard]] VITRINE_STORE_EXPORT MetricKinds metricKinds(RunReader& store);
/// Averaged weights have the kind of the metric, and "analysis/ID/top1/56" that of
/// "analysis/ID/top1"; that of an unknown metric is empty.
[[nodiscard]] VITRINE_STORE_EXPORT MetricKind kindOf(const MetricKinds& kinds,
                                                     const std::string& metric);

struct RunCard {
  std::vector<std::string> headline;  ///< metrics with their split, the most important first
  std::vector<std::string> plots;     ///< of the task, before the user chooses
  /// Plots that follow those of the task: learning rate, and the first metric of each analysis. The
  /// heads of a layer count as their stem ("analysis/attention_rank/rank80/layer0").
  std::vector<std::string> morePlots;
  std::string unit = "samples";  ///< of throughput: "images", "tokens"
};

/// A quantity of the card is taken from the test split, else validation, else train, and from the
/// weights themselves before averaged ones. One that nothing has recorded yet is of the test split.
/// \param card      nullptr: headline, plots and unit come from `recorded`, the scores of the first
///                  split that has some in the order of `kinds`
/// \param recorded  names of the run's metrics, in any order
[[nodiscard]] VITRINE_STORE_EXPORT RunCard runCard(const MetricCard* card,
                                                   const std::vector<std::string>& recorded,
                                                   const MetricKinds& kinds);
/// One card for several runs: whatever any of them has, once; "samples" where their units differ.
[[nodiscard]] VITRINE_STORE_EXPORT RunCard joined(const std::vector<RunCard>& cards);
/// `plots`, then `morePlots`, each once.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<std::string> allPlots(const RunCard& card);
/// Metrics that a comparison shows by default: the headline, then the losses outside training.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<std::string> comparedMetrics(
    const RunCard& card, const std::vector<std::string>& recorded);

/// The value that sums up a run in a list.
struct RunScore {
  std::string metric;
  double value = 0;
};

/// Scores of all runs of a database. Remembers the task of each run: the next reading costs one
/// query for each task more than the two that ask what there is.
class VITRINE_STORE_EXPORT RunScores {
 public:
  /// By run; runs that have recorded no score are not in it. \throws StoreError
  [[nodiscard]] std::map<std::int64_t, RunScore> read(RunReader& store, const TaskCards& cards);
  /// Tasks of the runs as read last, by run.
  [[nodiscard]] const std::map<std::int64_t, std::string>& tasks() const noexcept { return tasks_; }

 private:
  void readTasks(RunReader& store);
  std::map<std::int64_t, std::string> tasks_;
  std::int64_t newest_ = -1;
};

}  // namespace vitrine::store
