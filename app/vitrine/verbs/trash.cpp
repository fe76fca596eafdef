// vitrine trash: restores deleted runs, or removes them permanently.
#include "core/store/maintenance/trash.h"

#include <set>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace vitrine::app {

int trashVerb(const Arguments& arguments) {
  CommandLine line("trash", {"vitrine trash", "vitrine trash restore 3"});
  std::string action = "list";
  std::vector<std::int64_t> ids;
  line.app()
      .add_option("action", action,
                  "list: deleted runs that can be restored; restore: restore runs; empty: remove "
                  "all permanently")
      ->check(CLI::IsMember({"list", "restore", "empty"}));
  line.app().add_option("id", ids, "the runs to restore")->check(runNumberProblem)->type_name("ID");
  line.parse(arguments);
  if ((action == "restore") == ids.empty()) {
    throw ConfigError(action == "restore"
                          ? "vitrine trash restore: name a run; `vitrine trash` lists them"
                          : "vitrine trash " + action +
                                " takes no run; see `vitrine trash --help`");
  }
  const store::RunStore store = openStore(line, Missing::Refuse);
  if (action == "restore") {
    std::set<std::int64_t> there;  // all or none: a wrong number restores nothing
    for (const store::TrashedRun& run : store::trashedRuns(store.file())) there.insert(run.id);
    for (const std::int64_t id : ids) {
      if (!there.contains(id))
        throw NotFoundError(store::nameOf(id) +
                            " is not in the trash; `vitrine trash` lists the runs in it");
    }
    std::vector<std::int64_t> restored;
    for (const std::int64_t id : ids) {
      if (there.erase(id) == 0) continue;  // named twice
      restored.push_back(store::restoreRun(store.file(), id));
      log::info(store::nameOf(id) + " is back" +
                (restored.back() == id ? "" : " as run " + std::to_string(restored.back())));
    }
    if (line.wantsJson()) print(Json::object({{"restored", restored}}));
    return 0;
  }
  if (action == "empty") {
    const store::EmptiedTrash emptied = store::emptyTrash(store.file());
    log::info(std::to_string(emptied.runs) + (emptied.runs == 1 ? " run" : " runs") +
              " removed permanently, " + formatBytes(emptied.bytes));
    if (line.wantsJson()) print(Json{{"removed", emptied.runs}, {"bytes", emptied.bytes}});
    return 0;
  }
  Table table{{"id", "name", "experiment", "deleted", "bytes"}, {}};
  for (const store::TrashedRun& run : store::trashedRuns(store.file()))
    table.rows.push_back({run.id, run.name, run.experiment, run.deletedAt, run.bytes});
  print(table, formatOf(line));
  return 0;
}

}  // namespace vitrine::app
