// vitrine runs: the list.
#include <algorithm>
#include <map>
#include <set>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "app/vitrine/cli/task_cards.h"
#include "core/store/metrics/metric_titles.h"
#include "core/store/tables/run_marks.h"

namespace vitrine::app {

namespace {

/// What sums up each run, and the columns that takes: one for each quantity.
struct Scores {
  std::map<std::int64_t, store::RunScore> ofRun;
  std::map<std::int64_t, std::string> tasks;
  store::TaskCards cards;

  /// "top1"; "" where the run has no score, and its task none that is known.
  [[nodiscard]] std::string quantityOf(std::int64_t run) const {
    if (const auto found = ofRun.find(run); found != ofRun.end())
      return store::metricName(found->second.metric).quantity;
    const auto task = tasks.find(run);
    const MetricCard* card = task == tasks.end() ? nullptr : store::cardOf(cards, task->second);
    return card == nullptr || card->headline.empty() ? "" : card->headline.front();
  }
  [[nodiscard]] Json cell(std::int64_t run, const std::string& quantity) const {
    const auto found = ofRun.find(run);
    return found == ofRun.end() || quantityOf(run) != quantity ? Json(nullptr)
                                                               : finite(found->second.value);
  }
};

Scores readScores(store::RunStore& store) {
  Scores scores{.cards = describedTaskCards()};
  store::RunScores reader;
  scores.ofRun = reader.read(store, scores.cards);
  scores.tasks = reader.tasks();
  return scores;
}

}  // namespace

int runsVerb(const Arguments& arguments) {
  CommandLine line("runs", {"vitrine runs", "vitrine runs --experiment roadmap --state done --csv"},
                   Csv::Offered);
  std::string experiment, state;
  line.app()
      .add_option("--experiment", experiment, "only runs whose experiment's title contains TEXT")
      ->type_name("TEXT");
  line.app()
      .add_option("--state", state, "only runs in this state")
      ->check(CLI::IsMember(store::runStateNames()))
      ->type_name("STATE");
  bool isWhole = false;
  line.app().add_flag("--archived", isWhole, "archived runs, too");
  line.parse(arguments);

  store::RunStore store = openStoreToShow(line, Missing::Create);
  std::map<std::int64_t, double> loss;
  for (const auto& [id, value] : store.lastValues(store::kTrainLoss)) loss[id] = value;
  const Scores scores = readScores(store);
  const std::set<std::int64_t> archived =
      isWhole ? std::set<std::int64_t>() : archivedRuns(store);
  std::size_t leftOut = 0;
  std::vector<store::RunRow> listed;
  std::vector<std::string> quantities;
  for (store::RunRow& run : store.runs()) {
    if (run.experiment.find(experiment) == std::string::npos) continue;
    if (!state.empty() && toString(run.state) != state) continue;
    if (archived.contains(run.id)) {
      ++leftOut;
      continue;
    }
    const std::string quantity = scores.quantityOf(run.id);
    if (!quantity.empty() &&
        std::find(quantities.begin(), quantities.end(), quantity) == quantities.end())
      quantities.push_back(quantity);
    listed.push_back(std::move(run));
  }

  Table table{{"id", "experiment", "name", "state", "step", "total", "loss"}, {}};
  table.columns.insert(table.columns.end(), quantities.begin(), quantities.end());
  table.columns.insert(table.columns.end(), {"device", "created"});
  for (const store::RunRow& run : listed) {
    const auto known = loss.find(run.id);
    std::vector<Json> row{run.id,   run.experiment, run.name, toString(run.state),
                          run.step, nullptr,        nullptr};
    if (run.totalSteps > 0) row[5] = run.totalSteps;
    if (known != loss.end()) row[6] = finite(known->second);
    for (const std::string& quantity : quantities) row.push_back(scores.cell(run.id, quantity));
    row.emplace_back(run.device);
    row.emplace_back(run.createdAt);
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty() && formatOf(line) == Format::Text) {
    print(leftOut > 0 ? std::string("all archived: `vitrine runs --archived` lists them\n")
                      : std::string("no runs yet: `vitrine train FILE` makes some\n"));
  } else {
    print(table, formatOf(line));
  }
  return 0;
}

}  // namespace vitrine::app
