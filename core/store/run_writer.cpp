#include "core/store/run_writer.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/store/run_store.h"
#include "core/store/tables/dependencies.h"
#include "core/store/tables/generated_rows.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/run_changes.h"
#include "core/store/tables/run_results.h"
#include "core/store/tables/storable.h"

namespace vitrine::store {

namespace {

void bindParameter(Statement& row, int index, const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      row.bindNull(index);
      break;
    case Json::value_t::boolean:
      row.bind(index, value.get<bool>() ? 1 : 0);
      break;
    case Json::value_t::number_integer:
      row.bind(index, value.get<std::int64_t>());
      break;
    case Json::value_t::number_unsigned:
      bindSeed(row, index, value.get<std::uint64_t>());
      break;
    case Json::value_t::number_float:
      row.bind(index, value.get<double>());
      break;
    case Json::value_t::string:
      row.bind(index, value.get_ref<const std::string&>());
      break;
    default:
      row.bind(index, dumpJson(value));
  }
}

void addParameters(Database& database, std::int64_t run, const Json& config) {
  Statement row =
      database.prepare("INSERT OR REPLACE INTO run_parameter(run_id, key, value) VALUES (?, ?, ?)");
  for (const auto& [key, value] : flatten(config)) {
    row.bind(1, run).bind(2, key);
    bindParameter(row, 3, value);
    row.run();
    sqlite3_reset(row.handle());
  }
}

/// Stores a result that belongs to no segment. \param store  returns the id of the row
template <typename Result, typename Store>
std::int64_t addOne(Database& database, std::int64_t run, const Result& result, const char* remedy,
                    const Store& store) {
  const std::string why = whyUnstorable(result, database.mostRowBytes());
  if (!why.empty()) throw StoreError(why + "; " + remedy);
  return database.write([&] {
    static_cast<void>(stateOf(database, run));
    const std::int64_t id = store(database, run, 0, result, utcNow());
    touch(database, run);
    return id;
  });
}

}  // namespace

std::int64_t RunWriter::experiment(const std::string& title, const std::string& sourceText) {
  return database_->write([&] {
    Statement row = database_->prepare(
        "INSERT INTO experiment(title, source, created_at) VALUES (?, ?, ?) "
        "ON CONFLICT(title) DO UPDATE SET source = CASE excluded.source WHEN '' THEN source ELSE "
        "excluded.source END RETURNING id");
    const bool found = row.with(title, sourceText, utcNow()).step();
    const std::int64_t id = found ? row.integer(0) : 0;
    row.run();
    return id;
  });
}

std::vector<std::int64_t> RunWriter::addRuns(std::int64_t experimentId,
                                             const std::vector<NewRun>& runs) {
  Database& database = *database_;
  return database.write([&] {
    std::vector<std::int64_t> ids;
    for (const NewRun& run : runs) {
      std::int64_t dependsOn = run.dependsOn;
      if (dependsOn < 0) {
        const auto index = static_cast<std::size_t>(-(dependsOn + 1));
        if (index >= ids.size()) {
          throw StoreError("the new run '" + run.name + "' depends on number " +
                           std::to_string(index) + " of its list, which does not come before it");
        }
        dependsOn = ids[index];
      }
      {
        Statement row = database.prepare(
            "INSERT INTO run(uuid, experiment_id, variant, stage, name, seed, depends_on, state, "
            "created_at, "
            "change_sequence) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        row.with(newUuid(), experimentId, run.variant, run.stage, run.name);
        bindSeed(row, 6, run.seed);
        if (dependsOn == 0) {
          row.bindNull(7);
        } else {
          row.bind(7, dependsOn);
        }
        row.bind(8, toString(run.state)).bind(9, utcNow()).bind(10, nextChange(database));
        row.run();
      }
      const std::int64_t id = sqlite3_last_insert_rowid(database.handle());
      database.run(
          "INSERT INTO run_config(run_id, config, origins, init, selection) VALUES (?, ?, ?, "
          "?, ?)",
          id, dumpJson(run.config), dumpJson(run.origins), dumpJson(run.init),
          dumpJson(run.selection));
      addParameters(database, id, run.config);
      storeDependencies(database, id, run.dependencies);
      ids.push_back(id);
    }
    return ids;
  });
}

void RunWriter::completeConfig(std::int64_t run, const Json& config, const Json& origins,
                               const Json& selection, const EventRecord& event) {
  Database& database = *database_;
  database.write([&] {
    static_cast<void>(stateOf(database, run));
    if (lastSegment(database, run) > 0)
      throw StoreError(nameOf(run) + " has begun; its configuration stays as it is");
    database.run("UPDATE run_config SET config = ?, origins = ?, selection = ? WHERE run_id = ?",
                 dumpJson(config), dumpJson(origins), dumpJson(selection), run);
    database.run("DELETE FROM run_parameter WHERE run_id = ?", run);
    addParameters(database, run, config);
    vitrine::store::addEvent(database, run, 0, event);
    touch(database, run);
  });
}

void RunWriter::deleteRun(std::int64_t run) {
  Database& database = *database_;
  std::string uuid;
  database.write([&] {
    const RunRow row = readRun(database, run);
    uuid = row.uuid;
    refuseDeletion(database, row);
    deleteRows(database, row);
  });
  const auto folder = filesFolder(database.file()) / runFolderName(uuid);
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (error) {
    throw StoreError(nameOf(run) + " is deleted, but not its folder '" + folder.string() +
                     "': " + error.message());
  }
}

void RunWriter::append(std::int64_t run, std::int64_t segment, const Batch& batch) {
  appendBatch(*database_, run, segment, batch, utcNow());
}

void RunWriter::addEvent(std::int64_t run, const EventRecord& event) {
  Database& database = *database_;
  database.write([&] {
    static_cast<void>(stateOf(database, run));
    vitrine::store::addEvent(database, run, lastSegment(database, run), event);
    touch(database, run);
  });
}

std::int64_t RunWriter::addArtifact(std::int64_t run, const Artifact& artifact) {
  return addOne(*database_, run, artifact, "analyse fewer layers or images at once", storeArtifact);
}

std::int64_t RunWriter::addImage(std::int64_t run, const GeneratedImage& image) {
  return addOne(*database_, run, image, "make it smaller", storeImage);
}

std::int64_t RunWriter::addText(std::int64_t run, const GeneratedText& text) {
  return addOne(*database_, run, text, "make it shorter", storeText);
}

}  // namespace vitrine::store
