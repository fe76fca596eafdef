// What a table of runs can show next to their names: facts of a run, settings, last values of
// metrics.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/store/run_card.h"
#include "ui/runs/run_configs.h"
#include "ui/runs/runs_model.h"

namespace vitrine::ui {

/// A column is known by an id: "state" and other facts, "config:model.width", "metric:test/top1"
/// for the last value, "best:test/top1".
class RunColumns {
 public:
  using Runs = std::map<std::int64_t, store::RunRow>;

  /// \param query  of the database: RunReader::query
  RunColumns(const Runs& runs, const RunsModel& model, RunConfigs& configs,
             store::QueryFunction query)
      : runs_(runs), model_(model), configs_(configs), query_(std::move(query)) {}

  /// All columns that there are, without cells: facts, settings, metrics. \throws Error
  [[nodiscard]] std::vector<RunsModel::Column> offered();
  /// State, seed, what differs among the runs of `experiment`, `metric` unless "", duration.
  /// \throws Error
  [[nodiscard]] std::vector<std::string> usual(std::int64_t experiment, const std::string& metric);
  /// Columns with the values of all runs, with one query for all metrics and one each for what they
  /// mean, best values, notes and checkpoints. An id that is not known has no values. \throws Error
  [[nodiscard]] std::vector<RunsModel::Column> read(const std::vector<std::string>& ids);

 private:
  /// Title and tip of a column. \param keys  of all settings it stands next to
  [[nodiscard]] RunsModel::Column named(const std::string& id,
                                        const std::vector<std::string>& keys) const;

  const Runs& runs_;
  const RunsModel& model_;
  RunConfigs& configs_;
  store::QueryFunction query_;
  store::MetricKinds kinds_;  ///< as of the last reading: runs declare metrics while they start
};

}  // namespace vitrine::ui
