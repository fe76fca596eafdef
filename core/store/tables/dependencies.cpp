#include "core/store/tables/dependencies.h"

#include "core/store/tables/rows.h"
#include "core/store/tables/run_changes.h"

namespace vitrine::store {

void storeDependencies(Database& database, std::int64_t run,
                       const std::vector<RunDependency>& dependencies) {
  for (const RunDependency& each : dependencies) {
    database.run(
        "INSERT INTO run_dependency(run_id, kind, name, uuid, checkpoint) VALUES (?, ?, ?, ?, "
        "?)",
        run, each.kind, each.name, each.uuid, each.checkpoint);
  }
}

std::int64_t frozenUser(Database& database, const RunRow& run) {
  return database.integer(
      std::string("SELECT c.run_id FROM run_config c WHERE c.run_id <> ?2 AND json_valid(c.init) "
                  "AND json_extract(c.init, '$.run') = ?1 AND ") +
          kFrozeParts + " ORDER BY c.run_id LIMIT 1",
      run.uuid, run.id);
}

std::string whyNeeded(Database& database, const RunRow& run) {
  {
    Statement other = database.prepare(
        "SELECT id FROM run WHERE depends_on = ? AND state IN ('queued', 'starting') LIMIT 1");
    if (other.with(run.id).step())
      return "is what " + nameOf(other.integer(0)) + " will start from; delete that one first";
  }
  if (const std::int64_t user = frozenUser(database, run); user != 0)
    return "holds the frozen parameters of " + nameOf(user) + "; delete that one first";
  // The checkpoints of a run refer to its auxiliary networks: they are needed after its end, too.
  Statement other = database.prepare(
      "SELECT n.run_id, n.kind, n.name FROM run_dependency n JOIN run r ON r.id = n.run_id WHERE "
      "n.uuid = ? AND n.run_id <> ? AND (n.kind = 'aux' OR r.state IN ('queued', 'starting')) "
      "ORDER BY n.run_id LIMIT 1");
  if (!other.with(run.uuid, run.id).step()) return {};
  if (other.text(1) == "aux")
    return "is the auxiliary network '" + shown(other.text(2)) + "' of " +
           nameOf(other.integer(0)) + "; delete that one first";
  return "is one of the runs that " + nameOf(other.integer(0)) +
         " will be selected from; delete that one first";
}

}  // namespace vitrine::store
