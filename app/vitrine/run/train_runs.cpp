#include "app/vitrine/run/train_runs.h"

#include <algorithm>

#include "app/vitrine/cli/output.h"
#include "app/vitrine/run/signals.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace vitrine::app {

std::vector<TrainedRun> trainAll(store::RunStore& store, const Engine& engine,
                                 const std::vector<std::int64_t>& ids) {
  const SignalScope signals;
  std::vector<TrainedRun> trained;
  // As they are now: one that is stopped while it waits for its turn stays stopped.
  std::vector<store::RunRow> asked;
  for (const std::int64_t id : ids) asked.push_back(store.run(id));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (wasSignalled()) {
      log::info(std::to_string(ids.size() - i) + " more runs stay queued; `vitrine run --id " +
                std::to_string(ids[i]) + "` starts the next");
      break;
    }
    if (ids.size() > 1)
      log::info("run " + std::to_string(i + 1) + " of " + std::to_string(ids.size()));
    try {
      WorkedRun worked = workRun(store, engine, asked[i]);
      trained.push_back({store.run(ids[i]), std::move(worked)});
    } catch (const RefusedError& problem) {
      // It starts from a run that failed: the others can continue.
      log::error(problem.what());
      WorkedRun refused;
      const store::RunRow run = store.run(ids[i]);
      refused.state = run.state;
      refused.reason = problem.what();
      refused.code = ExitCode::Refused;
      trained.push_back({run, std::move(refused)});
    }
  }
  return trained;
}

int exitCodeOf(const std::vector<TrainedRun>& trained) {
  int worst = 0;
  for (const TrainedRun& run : trained) {
    const int code = static_cast<int>(run.worked.code);
    if (worst == 0 || code == static_cast<int>(ExitCode::Interrupted)) worst = code;
  }
  return worst;
}

void printTrained(const std::vector<TrainedRun>& trained, bool asJson) {
  if (asJson) {
    Json list = Json::array();
    for (const TrainedRun& run : trained) list.push_back(toJson(run.run, run.worked));
    print(list);
    return;
  }
  Table table{{"id", "name", "state", "step", "time"}, {}};
  for (const TrainedRun& run : trained) {
    for (const auto& [name, value] : run.worked.scores) {
      if (std::find(table.columns.begin(), table.columns.end(), name) == table.columns.end())
        table.columns.push_back(name);
    }
  }
  for (const TrainedRun& run : trained) {
    std::vector<Json> row{run.run.id, run.run.name, toString(run.worked.state), run.worked.step,
                          formatDuration(run.worked.seconds)};
    for (std::size_t i = row.size(); i < table.columns.size(); ++i) {
      Json cell;
      for (const auto& [name, value] : run.worked.scores) {
        if (name == table.columns[i]) cell = finite(value);
      }
      row.push_back(cell);
    }
    table.rows.push_back(std::move(row));
  }
  print(table, Format::Text);
}

}  // namespace vitrine::app
