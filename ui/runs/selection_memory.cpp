#include "ui/runs/selection_memory.h"

#include <vector>

#include "core/base/read_json.h"
#include "ui/kit/settings.h"
#include "ui/kit/value_text.h"

namespace vitrine::ui {
namespace {

/// Ids of runs in the settings of a window; none where the value is not a list of numbers.
std::vector<std::int64_t> knownRuns(const Json& kept, const char* name,
                                    StudioWorkbench& workbench) {
  std::vector<std::int64_t> runs;
  for (const Json& id : stateList(kept, name)) {
    if (id.is_number_integer() && workbench.run(id.get<std::int64_t>()) != nullptr)
      runs.push_back(id.get<std::int64_t>());
  }
  return runs;
}

}  // namespace

QString databaseSetting(const QString& group, store::RunReader& store) {
  const std::string uuid = store.uuid();
  return group + QLatin1Char('/') +
         QString::fromStdString(uuid.empty() ? store.file().filename().string() : uuid);
}

SelectionMemory::SelectionMemory(store::RunReader& store)
    : key_(databaseSetting(QStringLiteral("selections"), store)) {}

void SelectionMemory::keep(const Selection& selection) const {
  const Json kept{{"runs", selection.runs()},
                  {"current", {selection.current()}},
                  {"hidden", selection.hidden()}};
  storeSetting(key_, QString::fromStdString(kept.dump()));
}

bool SelectionMemory::restore(StudioWorkbench& workbench) const {
  const Json kept = readJson(setting(key_).toString().toStdString());
  const std::vector<std::int64_t> runs = knownRuns(kept, "runs", workbench);
  const std::vector<std::int64_t> current = knownRuns(kept, "current", workbench);
  const std::vector<std::int64_t> hidden = knownRuns(kept, "hidden", workbench);
  if (runs.empty() && current.empty()) return false;
  workbench.selection().setRuns(runs, current.empty() ? runs.front() : current.front(),
                                {hidden.begin(), hidden.end()});
  return true;
}

}  // namespace vitrine::ui
