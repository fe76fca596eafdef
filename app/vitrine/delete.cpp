// vitrine delete: a run, its results and its files.
#include "app/vitrine/open_store.h"
#include "app/vitrine/output.h"
#include "core/base/log.h"

namespace vitrine::app {

int runDelete(const Arguments& arguments) {
  CommandLine line("delete", {"vitrine delete 3", "vitrine delete 3 4 5 --db lab.sqlite"});
  std::vector<std::int64_t> ids;
  line.app().add_option("id", ids, "the runs")->required()->type_name("ID");
  line.parse(arguments);
  RunStore store = openStore(line, Missing::Refuse);
  store.reapLostRuns();
  for (const std::int64_t id : ids)
    (void)store.run(id);  // all or none: a wrong number deletes nothing
  for (const std::int64_t id : ids) {
    store.deleteRun(id);
    log::info("run " + std::to_string(id) + " deleted");
  }
  if (line.wantsJson()) print(Json::object({{"deleted", ids}}));
  return 0;
}

}  // namespace vitrine::app
