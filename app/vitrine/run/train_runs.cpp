#include "app/vitrine/run/train_runs.h"

#include <algorithm>
#include <utility>

#include "app/vitrine/cli/output.h"
#include "app/vitrine/run/signals.h"
#include "core/base/error.h"
#include "core/base/error_json.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace vitrine::app {

std::vector<TrainedRun> trainAll(store::RunStore& store, const Engine& engine,
                                 const std::vector<std::int64_t>& ids,
                                 std::optional<train::InitChoice> first) {
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
      trained.push_back(workRun(store, engine, asked[i], std::exchange(first, {})));
    } catch (const Error& error) {
      // What it starts from failed, or is not there: the others can continue.
      log::error(error.what());
      TrainedRun refused{.run = store.run(ids[i])};
      refused.state = refused.run.state;
      refused.reason = error.what();
      refused.code = error.code();
      trained.push_back(std::move(refused));
    }
  }
  return trained;
}

int exitCodeOf(const std::vector<TrainedRun>& trained) {
  int worst = 0;
  for (const TrainedRun& run : trained) {
    const int code = static_cast<int>(run.code);
    if (worst == 0 || code == static_cast<int>(ExitCode::Interrupted)) worst = code;
  }
  return worst;
}

void printTrained(const std::vector<TrainedRun>& trained, bool asJson) {
  if (asJson) {
    Json list = Json::array();
    for (const TrainedRun& run : trained) list.push_back(toJson(run));
    const auto code = static_cast<ExitCode>(exitCodeOf(trained));
    if (code == ExitCode::Done || code == ExitCode::Interrupted) return print(list);
    const auto failed = std::find_if(trained.begin(), trained.end(),
                                     [&](const TrainedRun& run) { return run.code == code; });
    Json error = errorJson(code, nameOf(failed->run) + ": " + failed->reason);
    error["runs"] = std::move(list);
    print(error);
    return;
  }
  Table table{{"id", "name", "state", "step", "time"}, {}};
  for (const TrainedRun& run : trained) {
    for (const auto& [name, value] : run.scores) {
      // "test/class_accuracy/coat": one of up to a hundred, which no table holds.
      if (std::count(name.begin(), name.end(), '/') > 1) continue;
      if (std::find(table.columns.begin(), table.columns.end(), name) == table.columns.end())
        table.columns.push_back(name);
    }
  }
  for (const TrainedRun& run : trained) {
    std::vector<Json> row{run.run.id, run.run.name, toString(run.state), run.step,
                          formatDuration(run.seconds)};
    for (std::size_t i = row.size(); i < table.columns.size(); ++i) {
      Json cell;
      for (const auto& [name, value] : run.scores) {
        if (name == table.columns[i]) cell = finite(value);
      }
      row.push_back(cell);
    }
    table.rows.push_back(std::move(row));
  }
  print(table, Format::Text);
}

}  // namespace vitrine::app
