// vitrine delete: a run, its results and its files, into the trash, or permanently.
#include <set>

#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/store/maintenance/trash.h"

namespace vitrine::app {

int deleteVerb(const Arguments& arguments) {
  CommandLine line("delete",
                   {"vitrine delete 3 4 5 --db lab.sqlite", "vitrine delete 3 --for-good"});
  std::vector<std::int64_t> ids;
  bool isForGood = false;
  line.app()
      .add_option("id", ids, "the runs")
      ->required()
      ->check(runNumberProblem)
      ->type_name("ID");
  line.app().add_flag("--for-good", isForGood,
                      "remove them at once instead of moving them to the trash");
  line.parse(arguments);
  store::RunStore store = openStore(line, Missing::Refuse);
  store.reapLostRuns();
  std::set<std::int64_t> known;  // in the order that was given: a run may be needed by another
  std::erase_if(ids, [&](std::int64_t id) { return !known.insert(id).second; });
  std::vector<std::string> names;  // all or none: a wrong number deletes nothing
  for (const std::int64_t id : ids) {
    const store::RunRow run = store.run(id);
    if (isAlive(run.state))
      throw RefusedError(store::nameOf(id) + " is " + toString(run.state) +
                         "; stop it before deleting it");
    names.push_back(run.name);
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string who = store::nameOf(ids[i]) + " '" + names[i] + "'";
    if (isForGood) {
      store.deleteRun(ids[i]);
      log::info(who + " deleted permanently");
    } else {
      store::trashRun(store.file(), ids[i]);
      log::info(who + " moved to the trash; `vitrine trash restore " + std::to_string(ids[i]) +
                "` restores it within " + std::to_string(store::kTrashTime.count()) + " days");
    }
  }
  if (line.wantsJson()) print(Json{{"deleted", ids}, {"for_good", isForGood}});
  return 0;
}

}  // namespace vitrine::app
