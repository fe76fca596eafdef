#include "tests/fuzz/database_seeds.h"

#include <sqlite3.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <span>

#include "core/base/error.h"
#include "core/files/checkpoint_folder.h"
#include "core/jobs/queue.h"
#include "core/store/exchange/exchange.h"
#include "core/store/maintenance/maintenance.h"
#include "core/store/run_store.h"

namespace vitrine::fuzz {

namespace fs = std::filesystem;

namespace {

std::string contentOf(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

store::NewRun newRun(const char* name) {
  return {.name = name,
          .config = Json::parse(R"({"model": {"width": 64, "mask": "soft"},
"train": {"epochs": 5, "layers": [1, 2]}})"),
          .origins = Json::parse(R"({"model.width": {"layer": "file", "line": 3}})")};
}

Artifact artifact(const char* kind, std::int64_t step, const Json& more = Json::object()) {
  return {.analysis = "attention_rank",
          .name = std::string(kind) + " 1",
          .kind = kind,
          .step = step,
          .meta = more};
}

store::RunStore::Batch artifactsOf(std::int64_t step) {
  store::RunStore::Batch batch;
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) values.push_back(1.0 / (1 + i));
  const std::span<const double> all(values);
  Artifact spectrum = artifact(artifact_kind::kSpectrum, step, Json{{"image", 3}, {"layers", {0}}});
  setFloat64(spectrum, all.first(6), {1, 2, 3}, {"layer", "head", "value"});
  Artifact bins = artifact(artifact_kind::kReliability, step, Json{{"split", "test"}});
  setFloat64(bins, all.first(10), {2, 5}, {"bin", "field"});
  Artifact map = artifact(artifact_kind::kAttention, step, Json{{"split", "test"}});
  const std::vector<float> weights{1, 0, 0.5F, 0.5F, 0, 1, 0.25F, 0.75F};
  setFloat32(map, weights, {1, 2, 2, 2}, {"layer", "head", "query", "key"});
  Artifact table = artifact(artifact_kind::kTable, step);
  setJson(table, Json::parse(R"({"columns": ["a"], "rows": [[1], ["b"]]})"));
  batch.artifacts = {spectrum, bins, map, table};
  return batch;
}

store::RunStore::Batch pointsOf(std::int64_t from, std::int64_t to) {
  static const double kOdd[] = {std::nan(""), -0.0, std::numeric_limits<double>::infinity(), 1e308,
                                0.1};
  store::RunStore::Batch batch;
  for (std::int64_t step = from; step <= to; ++step) {
    const auto moment = static_cast<double>(step);
    batch.metrics.push_back(
        {step, moment / 9, moment / 31, {{"train/loss", kOdd[step % 5]}, {"test/top1", moment}}});
  }
  batch.events.push_back({to, "evaluation", "a split was evaluated", Json{{"split", "test"}}});
  batch.progress = ProgressRecord{to, 100, 1.5, 10, 0.5, 1000, 1 << 20, 60};
  return batch;
}

void train(store::RunStore& store, const fs::path& file, std::int64_t run) {
  const std::int64_t segment =
      store.openSegment(run, 0, store::thisWorker(), Json{{"device", "cpu"}, {"commit", "abc"}});
  store.append(run, segment, pointsOf(1, 30));  // packed when the next segment begins
  store.append(run, segment, artifactsOf(20));
  const std::string folder = "run-" + store.run(run).uuid;
  writeCheckpointFolder(
      store::filesFolder(file) / folder, 20, Json::object(),
      [](const fs::path& to) { std::ofstream(to / "state.json") << R"({"step": 20})"; });
  store::RunStore::Batch saved;
  saved.checkpoints.push_back(
      {.step = 20, .folder = folder + "/" + checkpointName(20), .bytes = 12, .isBest = true});
  store.append(run, segment, saved);
  store.setLogFile(run, folder + "/run.log");
  std::ofstream(store::filesFolder(file) / folder / "run.log") << "a line\n";
  store.setState(run, store::RunState::Interrupted, "pulled the plug");
  const std::int64_t next = store.openSegment(run, 20, store::thisWorker(), Json::object());
  store.append(run, next, pointsOf(21, 28));
  store.setState(run, store::RunState::Done);
  store.setNote(run, "a note: \xc3\xa4, \"b\"\nsecond line");
  store.setTags(run, {"keep", "paper"});
  store.setCurveNotes(run, {{"train/loss", 20, "resumed"}});
}

void fill(const fs::path& file) {
  store::RunStore store(file);
  const std::int64_t first = store.experiment("first", "title = 'first'");
  store::NewRun preTrain = newRun("pre-train"), fineTune = newRun("fine-tune");
  preTrain.seed = std::numeric_limits<std::uint64_t>::max();
  const std::int64_t one = store.addRuns(first, {preTrain}).front();
  fineTune.dependsOn = one;
  fineTune.init = Json{{"run", store.run(one).uuid}};
  const std::int64_t two = store.addRuns(first, {fineTune}).front();
  const std::int64_t three = store.addRuns(store.experiment("second", ""), {newRun("x")}).front();
  const std::int64_t gone = store.addRuns(first, {newRun("gone")}).front();
  train(store, file, one);
  store.append(three, store.openSegment(three, 0, store::thisWorker(), Json::object()),
               pointsOf(1, 5));
  store.setState(three, store::RunState::Failed, "no reason");
  store.deleteRun(gone);
  jobs::JobQueue(store).enqueue(std::vector{two, three}, {.priority = 2});
}

/// Types and NOT NULL are words of the schema's text: without them every column takes everything.
std::string loosened(const std::string& bytes) {
  MemoryDatabase database(bytes);
  database.run(
      "PRAGMA writable_schema = ON;"
      "UPDATE sqlite_schema SET sql = replace(replace(sql, 'NOT NULL', ''), 'STRICT, ', '') WHERE "
      "type = 'table';"
      "UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')') WHERE type = 'table'");
  return database.bytes();
}

DatabaseSeed seedOf(const char* name, const std::string& bytes) {
  DatabaseSeed seed{name, bytes, loosened(bytes), "", {}};
  if (seed.loose.empty()) throw StoreError(std::string("no loose form of ") + name);
  MemoryDatabase original(bytes);
  seed.columns = original.texts(
      "SELECT m.name || '|' || x.name FROM sqlite_schema m JOIN pragma_table_xinfo(m.name) x WHERE "
      "m.type = 'table' AND m.name NOT GLOB 'sqlite_*' AND m.name NOT IN ('numbers', "
      "'metric_kind') AND x.hidden = 0");
  for (const std::string& table : original.texts(
           "SELECT quote(name) || ',' || quote(sql) FROM sqlite_schema WHERE type = 'table' AND "
           "sql IS NOT NULL"))
    seed.restore += (seed.restore.empty() ? "(" : ",(") + table + ")";
  seed.restore =
      "PRAGMA writable_schema = ON; WITH was(name, text) AS (VALUES " + seed.restore +
      ") UPDATE sqlite_schema AS s SET sql = (SELECT text FROM was WHERE was.name = s.name) "
      "WHERE name IN (SELECT name FROM was)";
  MemoryDatabase restored(seed.loose);
  if (!restored.run(seed.restore)) throw StoreError(std::string("no way back to ") + name);
  return seed;
}

}  // namespace

MemoryDatabase::MemoryDatabase(const std::string& bytes) {
  sqlite3* handle = nullptr;
  sqlite3_open(":memory:", &handle);
  handle_ = handle;
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 1 << 20);
  auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size() + 65536));
  std::memcpy(copy, bytes.data(), bytes.size());
  if (bytes.size() > 19) copy[18] = copy[19] = 1;  // a file with a log cannot lie in memory
  sqlite3_deserialize(handle, "main", copy, static_cast<sqlite3_int64>(bytes.size()),
                      static_cast<sqlite3_int64>(bytes.size()) + 65536,
                      SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
  run("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; PRAGMA journal_mode = OFF");
}

MemoryDatabase::~MemoryDatabase() { sqlite3_close_v2(static_cast<sqlite3*>(handle_)); }

bool MemoryDatabase::run(const std::string& sql) {
  return sqlite3_exec(static_cast<sqlite3*>(handle_), sql.c_str(), nullptr, nullptr, nullptr) ==
         SQLITE_OK;
}

std::vector<std::string> MemoryDatabase::texts(const std::string& sql) {
  std::vector<std::string> found;
  sqlite3_stmt* row = nullptr;
  sqlite3_prepare_v2(static_cast<sqlite3*>(handle_), sql.c_str(), -1, &row, nullptr);
  while (sqlite3_step(row) == SQLITE_ROW) {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(row, 0));
    found.emplace_back(bytes != nullptr ? bytes : "",
                       static_cast<std::size_t>(sqlite3_column_bytes(row, 0)));
  }
  sqlite3_finalize(row);
  return found;
}

std::string MemoryDatabase::bytes() const {
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(static_cast<sqlite3*>(handle_), "main", &size, 0);
  if (bytes == nullptr) return {};
  std::string copy(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  return copy;
}

std::vector<DatabaseSeed> databaseSeeds(const fs::path& folder) {
  std::vector<DatabaseSeed> seeds;
  const fs::path here = folder / "seeds";
  const fs::path file = here / "lab.sqlite";
  fs::create_directories(here);
  fill(file);
  {
    MemoryDatabase memory(contentOf(file));
    memory.run(
        "INSERT INTO generated_image(run_id, segment, step, created_at, recipe, seed, width, "
        "height, sha256, png) VALUES (1, 0, 28, '2026-01-02T03:04:05.678Z', '{\"steps\":4}', "
        "7, 2, 1, 'ab', x'00ff'); INSERT INTO generated_text(run_id, segment, step, created_at, "
        "recipe, seed, prompt, text) VALUES (1, 0, 28, '2026-01-02T03:04:05.678Z', '{}', 7, 'a', "
        "'b c'); INSERT INTO run_dependency SELECT 2, 'aux', 'codec', uuid, 'latest' FROM run "
        "WHERE id = 1; DELETE FROM numbers WHERE n >= 300; VACUUM");
    std::ofstream(file, std::ios::binary | std::ios::trunc) << memory.bytes();
  }
  for (const std::string& problem : checkContents(file, store::CheckpointFiles::Verified))
    throw StoreError("the seed is not sound: " + problem);
  exportRuns(file, std::vector<std::int64_t>{1, 2, 3}, here / "three.vitrine",
             store::ExportFormat::Sqlite, store::ExportedCheckpoints::All);
  seeds.push_back(seedOf("database", contentOf(file)));
  {
    const fs::path small = here / "small.sqlite";
    std::ofstream(small, std::ios::binary) << seeds.front().main;
    sqlite3* handle = nullptr;
    sqlite3_open(small.c_str(), &handle);
    sqlite3_exec(handle, "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM", nullptr,
                 nullptr, nullptr);
    sqlite3_close(handle);
    seeds.push_back(seedOf("small_pages", contentOf(small)));
  }
  seeds.push_back(seedOf("export", contentOf(here / "three.vitrine")));
  seeds.push_back(seedOf("version_1", contentOf(fs::path(VITRINE_SOURCE_DIR) /
                                                "tests/core/store/released/version_1.sqlite")));
  fs::remove_all(here);
  return seeds;
}

}  // namespace vitrine::fuzz
