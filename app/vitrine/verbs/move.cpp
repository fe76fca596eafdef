// vitrine move: another place in the queue.
#include "app/vitrine/cli/open_store.h"
#include "app/vitrine/cli/output.h"
#include "core/base/error.h"
#include "core/jobs/queue.h"

namespace vitrine::app {

int moveVerb(const Arguments& arguments) {
  CommandLine line("move", {"vitrine move 7 --front", "vitrine move 7 --before 3 --db lab.sqlite"});
  std::int64_t id = 0, before = 0, after = 0, priority = 0;
  bool isFront = false;
  addRunId(line, id);
  CLI::Option_group* where = line.app().add_option_group("place");
  where->add_option("--before", before, "before that run, with its priority")
      ->check(runNumberProblem)
      ->type_name("ID");
  where->add_option("--after", after, "behind that run, with its priority")
      ->check(runNumberProblem)
      ->type_name("ID");
  where->add_flag("--front", isFront, "before all others");
  CLI::Option* number =
      where->add_option("--priority", priority, "higher is started first; 0 is usual")
          ->type_name("N");
  where->require_option(1);
  line.parse(arguments);
  if (id == before || id == after)
    throw ConfigError("vitrine move: " + store::nameOf(id) +
                      " has no place next to itself; name another run of the queue");
  store::RunStore store = openStore(line, Missing::Refuse);
  jobs::JobQueue queue(store);
  if (before != 0) queue.moveBefore(id, before);
  if (after != 0) queue.moveAfter(id, after);
  if (isFront) queue.moveToFront(id);
  if (number->count() > 0) queue.setPriority(id, priority);
  if (line.wantsJson()) {
    std::vector<std::int64_t> order;
    for (const jobs::QueueEntry& entry : queue.list()) order.push_back(entry.run);
    print(Json{{"id", id}, {"order", order}});
  }
  return 0;
}

}  // namespace vitrine::app
