// vitrine archive: runs leave the list and keep their data.
#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "core/base/log.h"

namespace vitrine::app {

int archiveVerb(const Arguments& arguments) {
  CommandLine line("archive", {"vitrine archive 3 4 5", "vitrine archive 3 --undo"});
  std::vector<std::int64_t> ids;
  bool isBack = false;
  line.app()
      .add_option("id", ids, "the runs")
      ->required()
      ->check(runNumberProblem)
      ->type_name("ID");
  line.app().add_flag("--undo", isBack, "back into the list");
  line.parse(arguments);
  store::RunStore store = openStore(line, Missing::Refuse);
  for (const std::int64_t id : ids)
    (void)store.run(id);  // all or none: a wrong number does nothing
  for (const std::int64_t id : ids) {
    store.setMark(id, store::RunField::Archived, isBack ? "" : "yes");
    log::info(store::nameOf(id) +
              (isBack ? " unarchived" : " archived; `vitrine runs --archived` lists it"));
  }
  if (line.wantsJson()) print(Json{{"id", ids}, {"archived", !isBack}});
  return 0;
}

}  // namespace vitrine::app
