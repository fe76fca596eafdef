#include "core/store/tables/dependencies.h"

#include "core/base/error.h"
#include "core/store/run_store.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/run_changes.h"

namespace vitrine {

void storeDependencies(Database& database, std::int64_t run,
                       const std::vector<RunDependency>& dependencies) {
  for (const RunDependency& each : dependencies) {
    database
        .prepare(
            "INSERT INTO run_dependency(run_id, kind, name, uuid, checkpoint) VALUES (?, ?, ?, ?, "
            "?)")
        .with(run, each.kind, each.name, each.uuid, each.checkpoint)
        .run();
  }
}

std::string whyNeeded(Database& database, const RunRow& run) {
  {
    Statement other = database.prepare(
        "SELECT id FROM run WHERE depends_on = ? AND state IN ('queued', 'starting') LIMIT 1");
    if (other.with(run.id).step())
      return "is what " + nameOf(other.integer(0)) + " will start from; delete that one first";
  }
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

std::vector<RunDependency> RunStore::dependencies(std::int64_t run) {
  Statement row = database_->prepare(
      "SELECT kind, name, uuid, checkpoint FROM run_dependency WHERE run_id = ? ORDER BY kind, "
      "name");
  row.with(run);
  std::vector<RunDependency> dependencies;
  while (row.step()) dependencies.push_back({row.text(0), row.text(1), row.text(2), row.text(3)});
  return dependencies;
}

std::optional<RunStore::Blocker> RunStore::blocker(std::int64_t run) {
  Statement row = database_->prepare(
      std::string("SELECT d.id, d.state, d.id IS r.depends_on FROM run r JOIN run d ON d.id = ") +
      kBlockingRun + " WHERE r.id = ?");
  if (!row.with(run).step()) return std::nullopt;
  return Blocker{row.integer(0), runStateFromString(row.text(1)), row.integer(2) != 0};
}

}  // namespace vitrine
