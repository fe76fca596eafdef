#include "core/store/maintenance/integrity.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "core/store/exchange/run_copier.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace {

/// The row belongs to a run that is being imported, which has none yet.
bool isUnfinished(Database& database, const std::string& table, std::int64_t id) {
  const auto known = runTables();
  const bool isLarge = std::any_of(known.begin(), known.end(), [&](const RunTable& each) {
    return each.isLarge && table == each.name;
  });
  if (!isLarge) return false;
  const std::set<std::int64_t> runs = unfinishedRuns(database);
  Statement run = database.prepare("SELECT run_id FROM " + table + " WHERE id = ?");
  return run.with(id).step() && runs.count(run.integer(0)) != 0;
}

}  // namespace

std::vector<std::string> problemsOf(Database& database) {
  std::vector<std::string> problems;
  database.each("PRAGMA integrity_check", [&](const Statement& row) {
    // One row may hold several lines, the first of which names the database.
    std::istringstream lines(row.text(0));
    for (std::string line; std::getline(lines, line);) {
      if (line != "ok" && !line.starts_with("*** in database")) problems.push_back(shown(line));
    }
  });
  database.each("PRAGMA foreign_key_check", [&](const Statement& row) {
    if (isUnfinished(database, row.text(0), row.integer(1))) return;
    problems.push_back("a row of '" + shown(row.text(0)) + "' refers to a missing row of '" +
                       shown(row.text(2)) + "'");
  });
  return problems;
}

}  // namespace vitrine::store
