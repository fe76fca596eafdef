#include "core/store/sqlite/schema.h"

#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/files/posix_file.h"
#include "core/store/sqlite/file_system.h"
#include "core/store/tables/rows.h"
#include "core/store/types.h"

namespace vitrine::store {

namespace {

/// (type, name) -> SQL of every object.
using Objects = std::map<std::pair<std::string, std::string>, std::string>;

std::string quotedFile(const Database& database) {
  std::string text(1, '\'');
  text += database.file().string();
  text += '\'';
  return text;
}

struct Close {
  void operator()(sqlite3* handle) const { sqlite3_close(handle); }
};
using Memory = std::unique_ptr<sqlite3, Close>;

/// Calls `use` with the columns of each row; NULL is an empty text.
template <typename Use>
void eachRow(sqlite3* handle, const std::string& sql, const Use& use) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    const std::string message = shown(sqlite3_errmsg(handle));
    throw StoreError("its schema cannot be read (" + message + ")");
  }
  bool isWhole = true;
  const auto text = [&](int column) {
    const bool isNull = sqlite3_column_type(statement, column) == SQLITE_NULL;
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
    isWhole = isWhole && (isNull || bytes != nullptr);  // or there was no memory for it
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
    return bytes == nullptr ? std::string() : std::string(bytes, size);
  };
  int code = SQLITE_OK;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) use(text);
  const std::string message = isWhole ? shown(sqlite3_errmsg(handle)) : "out of memory";
  sqlite3_finalize(statement);
  if (code != SQLITE_DONE || !isWhole)
    throw StoreError("its schema cannot be read (" + message + ")");
}

Objects objectsOf(sqlite3* handle) {
  Objects objects;
  eachRow(handle,
          "SELECT type, name, coalesce(sql, '') FROM sqlite_schema "
          "WHERE name NOT GLOB 'sqlite_stat*'",
          [&](const auto& text) {
            objects[{text(0), text(1)}] = text(2);
          });
  return objects;
}

std::string hashOf(const Objects& objects) {
  std::string all;
  for (const auto& [key, sql] : objects) {
    for (const std::string* part : {&key.first, &key.second, &sql}) all += *part + '\0';
  }
  return sha256OfText(all);
}

/// What `steps` make, made in memory.
Memory madeOf(std::span<const Migration> steps) {
  sqlite3* handle = nullptr;
  const int opened = sqlite3_open(":memory:", &handle);
  Memory memory(handle);
  if (opened != SQLITE_OK) {
    throw StoreError("the schema cannot be made in memory (" + std::string(sqlite3_errstr(opened)) +
                     ")");
  }
  for (const Migration& step : steps) {
    char* error = nullptr;
    if (sqlite3_exec(handle, std::string(step.sql).c_str(), nullptr, nullptr, &error) !=
        SQLITE_OK) {
      const std::string message = error != nullptr ? error : "";
      sqlite3_free(error);
      throw StoreError("migration " + std::to_string(step.version) + " is wrong: " + message);
    }
  }
  return memory;
}

Objects expectedObjects(std::span<const Migration> steps) { return objectsOf(madeOf(steps).get()); }

/// What an exported file may hold in addition.
const Objects& exportObjects() {
  static const Migration tables{0, exportTables()};
  static const Objects objects = expectedObjects({&tables, 1});
  return objects;
}

const Objects& expectedNow() {
  static const Objects objects = expectedObjects(migrations());
  return objects;
}

Objects actualObjects(Database& database) {
  try {
    return objectsOf(database.handle());
  } catch (const StoreError& error) {
    const int code = sqlite3_extended_errcode(database.handle());
    if ((code & 0xff) == SQLITE_NOMEM || (code & 0xff) == SQLITE_IOERR)
      database.fail(code, "reading the schema");
    throw StoreError(quotedFile(database) + " is damaged: " + error.what() + "; restore a backup");
  }
}

void compareObjects(const std::string& file, const Objects& actual, const Objects& expected) {
  for (const auto& [key, sql] : actual) {
    auto found = expected.find(key);
    if (found == expected.end()) {
      found = exportObjects().find(key);
      if (found != exportObjects().end() && found->second == sql) continue;
      throw StoreError(file + " holds the " + shown(key.first) + " '" + shown(key.second) +
                       "', which Vitrine did not make; remove it (DROP " + shown(key.first) +
                       ") if you trust the file, or restore a backup");
    }
    if (found->second != sql) {
      throw StoreError(file + ": the " + key.first + " '" + key.second +
                       "' is not as Vitrine made it; restore a backup");
    }
  }
  for (const auto& entry : expected) {
    if (actual.count(entry.first) == 0) {
      throw StoreError(file + " lacks the " + entry.first.first + " '" + entry.first.second +
                       "'; it is damaged or incomplete: restore a backup");
    }
  }
}

void insertMeta(Database& database, const char* key, const std::string& value) {
  database.run("INSERT INTO meta(key, value) VALUES (?, ?)", key, value);
}

/// Version of the finished database `file`, or -1.
std::int64_t versionOf(const std::filesystem::path& file) {
  try {
    return Database(file, Database::Access::Foreign).integer("PRAGMA user_version");
  } catch (const Error&) {
    return -1;
  }
}

/// A copy next to the file, there completely or not at all. Nothing when another process brings the
/// file up to date at the same time and was faster.
void backUp(Database& database, std::int64_t version) {
  namespace fs = std::filesystem;
  std::string stamp = utcNow().substr(0, 19);
  std::erase_if(stamp, [](char c) { return c == ':' || c == '-'; });
  const fs::path target =
      database.file().string() + "-v" + std::to_string(version) + "-" + stamp + ".bak";
  const fs::path temporary = target.string() + ".tmp-" + std::to_string(::getpid());
  std::error_code error;
  removeUnfinishedFiles(database.file(), "-v", ".bak.tmp-");
  fs::remove(temporary, error);
  sqlite3_limit(database.handle(), SQLITE_LIMIT_ATTACHED, 1);
  database.run("VACUUM INTO ?", temporary.string());
  sqlite3_limit(database.handle(), SQLITE_LIMIT_ATTACHED, 0);
  if (versionOf(temporary) == version) {
    files::syncPath(temporary);
    fs::create_hard_link(temporary, target, error);  // leaves one that is there alone
    if (error && !fs::exists(target)) fs::rename(temporary, target, error);
    files::syncFolder(fs::absolute(target).parent_path());
  }
  fs::remove(temporary, error);
}

/// A run whose process has ended does not keep a file from being brought up to date. No process
/// could open it any more to find that out.
void refuseWhileAlive(Database& database) {
  Statement statement = database.prepare(
      "SELECT id, worker_pid, worker_start, worker_boot, worker_host FROM run WHERE state IN "
      "('starting', 'running', 'pausing', 'stopping')");
  while (statement.step()) {
    const Worker worker{statement.integer(1), statement.text(2), statement.text(3),
                        statement.text(4)};
    if (worker.host == thisWorker().host && !isWorkerAlive(worker)) continue;
    throw RefusedError("'" + database.file().string() + "' must be brought up to date, but run " +
                       std::to_string(statement.integer(0)) + " is in progress" +
                       (worker.host == thisWorker().host ? "" : " on " + worker.host) +
                       "; wait for it or stop it");
  }
}

}  // namespace

std::string newestObjects() { return hashOf(expectedNow()); }

std::string_view exportTables() {
  return R"(CREATE TABLE exported_file (     -- a file of a run, below run-<uuid>/
  run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
  path TEXT NOT NULL,            -- step-000000500/model.safetensors, run.log
  part INTEGER NOT NULL,         -- from 0; every part but the last has 16 MiB
  data BLOB NOT NULL,
  PRIMARY KEY (run_id, path, part)
) STRICT;
CREATE TABLE exported_dependency (      -- a run that another one depends on and that is not in the file
  run_id INTEGER PRIMARY KEY REFERENCES run(id) ON DELETE CASCADE,
  uuid TEXT NOT NULL
) STRICT;
)";
}

void openSchema(Database& database, std::span<const Migration> steps) {
  const std::string file = quotedFile(database);
  const std::int64_t latest = steps.back().version;
  const bool isNewest = steps.data() == migrations().data() && steps.size() == migrations().size();
  const auto isEmpty = [&] { return database.integer("SELECT count(*) FROM sqlite_schema") == 0; };
  const auto identify = [&] {
    const std::int64_t application = database.integer("PRAGMA application_id");
    const std::int64_t version = database.integer("PRAGMA user_version");
    if (application == 0 && version == 0 && isEmpty()) return std::int64_t{0};
    if (application != kApplicationId) {
      throw StoreError(
          file + " is not a Vitrine database: it belongs to another program; choose another file");
    }
    if (version > latest) {
      throw StoreError(file + " has schema version " + std::to_string(version) +
                       ", this program knows up to " + std::to_string(latest) +
                       "; open it with a newer Vitrine");
    }
    return version;
  };

  // On one snapshot: another process may bring the file up to date between two looks.
  std::int64_t version = database.read([&] {
    const std::int64_t found = identify();
    if (found < latest && database.isReadOnly()) {
      throw StoreError(file + " has schema version " + std::to_string(found) +
                       ", this program needs " + std::to_string(latest) +
                       "; open it once for writing to bring it up to date");
    }
    if (found > 0 && found < latest)
      compareObjects(file, actualObjects(database),
                     expectedObjects(steps.first(static_cast<std::size_t>(found))));
    return found;
  });
  if (version > 0 && version < latest && !database.isScratch()) {
    refuseWhileAlive(database);
    backUp(database, version);
  }
  const auto useLog = [&] {
    const std::string mode = database.useLog();
    if (mode != "wal") {
      throw StoreError(file + " cannot use a write-ahead log here (journal mode is '" + mode +
                       "'); keep it on a local disk");
    }
  };
  const bool wantsLog = !database.isReadOnly() && !database.isScratch();
  if (version < latest) {
    if (version == 0 && wantsLog) useLog();
    database.write([&] {
      version = identify();  // another process may have done it meanwhile
      if (version >= latest) return;
      if (version > 0 && !database.isScratch()) refuseWhileAlive(database);
      for (const Migration& step : steps) {
        if (step.version > version) database.execute(std::string(step.sql).c_str());
      }
      if (version == 0) {
        insertMeta(database, "uuid", newUuid());
        insertMeta(database, "created_at", utcNow());
        insertMeta(database, "min_writer_version", "1");
        database.execute(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str());
      }
      database.execute(("PRAGMA user_version = " + std::to_string(latest)).c_str());
    });
  }
  // Objects of the newest version are known by their hash: only what differs is compared.
  const Objects actual = actualObjects(database);
  if (!isNewest) {
    compareObjects(file, actual, expectedObjects(steps));
  } else if (hashOf(actual) != kNewestObjects) {
    compareObjects(file, actual, expectedNow());
  }
  // A backup or an export that became a database has no log yet.
  if (wantsLog && version > 0 && database.text("PRAGMA journal_mode") != "wal") useLog();
}

}  // namespace vitrine::store
