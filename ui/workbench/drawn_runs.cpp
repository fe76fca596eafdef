#include "ui/workbench/drawn_runs.h"

#include <algorithm>

#include "ui/workbench/page.h"

namespace vitrine::ui {

std::vector<std::int64_t> drawnRuns(const Selection& selection, std::size_t most) {
  std::vector<std::int64_t> runs = selection.drawn();
  const std::int64_t current = selection.current();
  const bool isWanted = current != 0 && (runs.empty() || !selection.hidden().contains(current));
  if (isWanted && std::find(runs.begin(), runs.end(), current) == runs.end())
    runs.push_back(current);
  if (runs.size() > most) {
    if (const auto at = std::find(runs.begin(), runs.end(), current); at != runs.end())
      std::rotate(runs.begin(), at, at + 1);
    runs.resize(most);
  }
  return runs;
}

QString runNameOf(const Workbench& workbench, std::int64_t run) {
  const auto& runs = workbench.runs();
  const auto found = runs.find(run);
  return found == runs.end() || found->second.name.empty()
             ? Workbench::tr("run %1").arg(run)
             : QString::fromStdString(found->second.name);
}

}  // namespace vitrine::ui
