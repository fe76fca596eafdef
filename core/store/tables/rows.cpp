#include "core/store/tables/rows.h"

#include <fstream>
#include <iterator>

#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "core/store/run_store.h"
#include "core/store/tables/generated_rows.h"
#include "core/store/tables/run_changes.h"

namespace vitrine::store {

namespace {

#define VITRINE_RUN_COLUMNS                                                                      \
  "SELECT r.id, r.uuid, e.title, r.variant, r.stage, r.name, r.experiment_id, r.seed, r.state, " \
  "r.reason, "                                                                                   \
  "r.created_at, r.started_at, r.finished_at, r.device, r.commit_hash, r.step, r.total_steps, "  \
  "r.epoch, "                                                                                    \
  "r.total_epochs, r.loss, r.images_per_second, r.remaining_seconds, r.memory_bytes, "           \
  "r.heartbeat_at, "                                                                             \
  "r.latest_checkpoint, r.best_checkpoint, r.log_file, r.worker_pid, r.worker_start, "           \
  "r.worker_boot, "                                                                              \
  "r.worker_host, r.change_sequence FROM run r JOIN experiment e ON e.id = r.experiment_id "

constexpr const char* kOne = VITRINE_RUN_COLUMNS "WHERE r.id = ?";
constexpr const char* kChanged = VITRINE_RUN_COLUMNS "WHERE r.change_sequence > ? ORDER BY r.id";
constexpr const char* kAlive = VITRINE_RUN_COLUMNS
    "WHERE r.state IN ('starting', 'running', 'pausing', 'stopping') ORDER BY r.id";
#undef VITRINE_RUN_COLUMNS

/// Uuids become names of folders that are written and deleted: nothing else may stand there.
void checkUuid(const RunRow& run) {
  const bool isUuid =
      run.uuid.size() == 36 && run.uuid.find_first_not_of("0123456789abcdef-") == std::string::npos;
  if (!isUuid) {
    throw StoreError(nameOf(run.id) + " has '" + shown(run.uuid) +
                     "' for a UUID; the database is damaged: restore a backup");
  }
}

RunRow rowOf(const Statement& row) {
  RunRow run;
  int i = 0;
  run.id = row.integer(i++);
  run.uuid = row.text(i++);
  checkUuid(run);
  run.experiment = row.text(i++);
  run.variant = row.text(i++);
  run.stage = row.text(i++);
  run.name = row.text(i++);
  run.experimentId = row.integer(i++);
  run.seed = seedOf(row, i++);
  run.state = runStateFromString(row.text(i++));
  run.reason = row.text(i++);
  run.createdAt = row.text(i++);
  run.startedAt = row.text(i++);
  run.finishedAt = row.text(i++);
  run.device = row.text(i++);
  run.commit = row.text(i++);
  run.step = row.integer(i++);
  run.totalSteps = row.integer(i++);
  run.epoch = row.real(i++);
  run.totalEpochs = row.real(i++);
  run.loss = row.real(i++);
  run.imagesPerSecond = row.real(i++);
  run.remainingSeconds = row.real(i++);
  run.memoryBytes = row.integer(i++);
  run.heartbeatAt = row.text(i++);
  run.latestCheckpoint = row.isNull(i) ? -1 : row.integer(i);
  ++i;
  run.bestCheckpoint = row.isNull(i) ? -1 : row.integer(i);
  ++i;
  run.logFile = row.text(i++);
  run.worker.pid = row.integer(i++);
  run.worker.startTime = row.text(i++);
  run.worker.bootId = row.text(i++);
  run.worker.host = row.text(i++);
  run.changeSequence = row.integer(i++);
  return run;
}

}  // namespace

RunRow readRun(Database& database, std::int64_t run) {
  Statement row = database.prepare(kOne);
  if (!row.with(run).step()) noSuchRun(database, run);
  return rowOf(row);
}

std::optional<RunRow> readRunByUuid(Database& database, const std::string& uuid) {
  const std::int64_t id = database.integer("SELECT id FROM run WHERE uuid = ?", uuid);
  if (id == 0) return std::nullopt;
  return readRun(database, id);
}

std::vector<RunRow> readRunsAlive(Database& database) { return database.rows(kAlive, rowOf); }

std::vector<RunRow> readRunsChanged(Database& database, std::int64_t since) {
  return database.rows(kChanged, rowOf, since);
}

std::string readNote(Database& database, std::int64_t run) {
  return database.text("SELECT text FROM note WHERE run_id = ?", run);
}

std::vector<std::string> readTags(Database& database, std::int64_t run) {
  return database.texts("SELECT tag FROM tag WHERE run_id = ? ORDER BY tag", run);
}

std::vector<CurveNoteRow> readCurveNotes(Database& database, std::int64_t run) {
  return database.rows(
      "SELECT metric, step, text FROM curve_note WHERE run_id = ? ORDER BY metric, step, text",
      [](const Statement& row) {
        return CurveNoteRow{row.text(0), row.integer(1), row.text(2)};
      },
      run);
}

std::string uuidOf(Database& database) {
  return database.text("SELECT value FROM meta WHERE key = 'uuid'");
}

Json parseJson(const std::string& text, const std::string& what) {
  Json value = readJson(text);
  if (value.is_discarded()) {
    throw StoreError(what + " is not JSON of at most " + std::to_string(kDeepestJson) +
                     " levels; the database is damaged: restore a backup");
  }
  return value;
}

std::string shown(std::string_view text) {
  std::string line = shorten(cleanUtf8(text), 160);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return line;
}

std::string quotedSql(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

std::vector<std::string> writableColumns(Database& database, const std::string& table) {
  return database.texts("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", table);
}

std::string columnList(const std::vector<std::string>& names, const char* item) {
  return joined(names, [item](const std::string& name) {
    return item != nullptr ? std::string(item) : '"' + name + '"';
  });
}

std::string lastLogLine(const std::filesystem::path& folder, const std::string& relativePath) {
  const std::filesystem::path file = placeBelow(folder, relativePath);
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return {};  // opening a pipe would wait
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  if (!stream) return {};
  constexpr std::streamoff kTail = 4096;
  const std::streamoff size = stream.tellg();
  stream.seekg(size > kTail ? size - kTail : 0);
  const std::string text((std::istreambuf_iterator<char>(stream)),
                         std::istreambuf_iterator<char>());
  return shorten(cleanUtf8(lastLine(text)), 300);
}

}  // namespace vitrine::store
