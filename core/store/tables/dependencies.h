// Runs that a run needs before it can start. Private to core/store.
#pragma once

#include "core/store/sqlite/database.h"
#include "core/store/types.h"

namespace vitrine::store {

/// A subquery over a row `r` of `run`: the id of the first run that it waits for, or NULL. A run of
/// a grid counts when it failed, too: it has no score then.
inline constexpr const char* kBlockingRun =
    "coalesce((SELECT b.id FROM run b WHERE b.id = r.depends_on AND b.state <> 'done'), "
    "(SELECT b.id FROM run_dependency n JOIN run b ON b.uuid = n.uuid WHERE n.run_id = r.id AND "
    "CASE n.kind WHEN 'select' THEN b.state NOT IN ('done', 'failed') ELSE n.checkpoint IN "
    "('latest', 'best') AND b.state <> 'done' END ORDER BY b.id LIMIT 1))";

/// A condition on a row `c` of `run_config`: the run froze parameters that it started with, by
/// `init.freeze` or in a group of `train.groups`. Its checkpoints refer to where these lie.
inline constexpr const char* kFrozeParts =
    "(json_array_length(CASE WHEN json_valid(c.init) THEN c.init ELSE '{}' END, '$.freeze') > 0 "
    "OR EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid(c.config) THEN c.config ELSE '{}' "
    "END, '$.train.groups') g WHERE json_extract(g.value, '$.freeze') = 1))";

/// Within a transaction.
void storeDependencies(Database& database, std::int64_t run,
                       const std::vector<RunDependency>& dependencies);

/// The first run whose checkpoints refer to those of `run` for what it froze, or 0.
[[nodiscard]] std::int64_t frozenUser(Database& database, const RunRow& run);

/// Why `run` may not be deleted for the sake of others that need it, or "".
[[nodiscard]] std::string whyNeeded(Database& database, const RunRow& run);

}  // namespace vitrine::store
