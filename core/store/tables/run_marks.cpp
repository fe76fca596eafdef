#include "core/store/tables/run_marks.h"

#include "core/base/error.h"
#include "core/store/sqlite/database.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace {

constexpr const char* kYes = "yes";

/// 0 where it is none of the palette.
int colourOf(const std::string& value) {
  const bool isOne = value.size() == 1 && value[0] >= '1' && value[0] < '1' + kMarkColours;
  return isOne ? value[0] - '0' : 0;
}

}  // namespace

bool isMark(RunField field) noexcept {
  return field == RunField::Archived || field == RunField::Baseline || field == RunField::Colour;
}

void checkMark(RunField field, const std::string& value) {
  if (value.empty()) return;
  if (field == RunField::Colour) {
    if (colourOf(value) == 0) {
      throw ConfigError("the colour of a run has to be 1 to " + std::to_string(kMarkColours) +
                        ", or nothing for its usual one, not '" + shown(value) + "'");
    }
  } else if (value != kYes) {
    throw ConfigError("the mark '" + toString(field) + "' of a run has to be '" + kYes +
                      "' or nothing, not '" + shown(value) + "'");
  }
}

std::string readMark(Database& database, std::int64_t run, RunField field) {
  return database.text("SELECT value FROM run_mark WHERE run_id = ? AND field = ?", run,
                       toString(field));
}

void writeMark(Database& database, std::int64_t run, RunField field, const std::string& value) {
  if (value.empty()) {
    database.run("DELETE FROM run_mark WHERE run_id = ? AND field = ?", run, toString(field));
    return;
  }
  database.run("INSERT OR REPLACE INTO run_mark(run_id, field, value) VALUES (?, ?, ?)", run,
               toString(field), value);
}

std::vector<std::int64_t> otherBaselines(Database& database, std::int64_t run) {
  return database.integers(
      "SELECT m.run_id FROM run_mark m JOIN run r ON r.id = m.run_id WHERE m.field = 'baseline' "
      "AND "
      "m.run_id <> ?1 AND r.experiment_id = (SELECT experiment_id FROM run WHERE id = ?1) ORDER BY "
      "m.run_id",
      run);
}

std::vector<MarkedBaseline> markedBaselines(const QueryFunction& query) {
  std::vector<MarkedBaseline> baselines;
  for (const std::vector<Json>& row :
       query("SELECT m.run_id, r.experiment_id, r.variant FROM run_mark m JOIN run r ON r.id = "
             "m.run_id WHERE m.field = 'baseline' ORDER BY m.run_id")
           .rows) {
    baselines.push_back({row[0].get<std::int64_t>(), row[1].get<std::int64_t>(),
                         row[2].is_string() ? row[2].get<std::string>() : ""});
  }
  return baselines;
}

std::set<std::int64_t> archivedRuns(RunReader& store) {
  const std::vector<std::int64_t> runs =
      store.connection().integers("SELECT run_id FROM run_mark WHERE field = 'archived'");
  return {runs.begin(), runs.end()};
}

std::map<std::int64_t, RunMarks> marksByRun(RunReader& store) {
  std::map<std::int64_t, RunMarks> marks;
  store.connection().each("SELECT run_id, field, value FROM run_mark", [&](const Statement& row) {
    RunMarks& one = marks[row.integer(0)];
    const auto field = runFieldFromString(row.text(1));
    if (field == RunField::Archived) one.isArchived = true;
    if (field == RunField::Baseline) one.isBaseline = true;
    if (field == RunField::Colour) one.colour = colourOf(row.text(2));
  });
  return marks;
}

}  // namespace vitrine::store
