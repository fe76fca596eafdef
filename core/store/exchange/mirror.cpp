#include "core/store/exchange/mirror.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "core/store/exchange/mirror_tables.h"
#include "core/store/run_store.h"
#include "core/store/sqlite/schema.h"
#include "core/store/tables/rows.h"
#include "core/store/tables/run_changes.h"

namespace vitrine::store {

namespace {

constexpr std::int64_t kEverything = std::numeric_limits<std::int64_t>::max();
constexpr const char* kOf = "mirror_of";
constexpr const char* kChange = "mirror_change";
constexpr const char* kLeftOut = "left_out";  ///< bytes that were too many for a frame

bool belongsTo(const MirrorTable& table, std::int64_t run) {
  return (table.owner == std::string_view("0")) == (run == kSharedRows);
}

/// Of a value in a frame, with what says how long it is.
std::size_t bytesOf(const Statement& row, int column) {
  const int type = sqlite3_column_type(row.handle(), column);
  if (type != SQLITE_TEXT && type != SQLITE_BLOB) return 16;
  return static_cast<std::size_t>(sqlite3_column_bytes(row.handle(), column)) + 16;
}

/// The values of a row that is too large for a frame, without those that make it so.
Json rowWithout(const Statement& row, const std::vector<std::string>& columns) {
  Json cells = Json::array();
  std::size_t left = 0;
  for (int i = 0; i < static_cast<int>(columns.size()); ++i) {
    const std::size_t bytes = bytesOf(row, i);
    if (bytes <= MirrorSource::kPartBytes) {
      cells.push_back(cellOf(row, i));
    } else if (sqlite3_column_type(row.handle(), i) == SQLITE_TEXT) {
      // An object: many texts are JSON, and are read as that.
      cells.push_back(dumpJson({{kLeftOut, bytes - 16}}));
    } else {
      left += bytes - 16;
      cells.push_back(Json::binary(std::vector<std::uint8_t>{}));
    }
  }
  const auto meta = std::find(columns.begin(), columns.end(), "meta");
  if (left == 0 || meta == columns.end()) return cells;
  Json& text = cells[static_cast<std::size_t>(meta - columns.begin())];
  Json about = text.is_string() ? readJson(text.get_ref<const std::string&>()) : Json();
  if (!about.is_object()) about = Json::object();
  about[kLeftOut] = left;
  text = dumpJson(about);
  return cells;
}

std::string metaOf(Database& database, const char* key) {
  return database.text("SELECT value FROM meta WHERE key = ?", key);
}

void setMeta(Database& database, const char* key, const std::string& value) {
  database.run(
      "INSERT INTO meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = "
      "excluded.value",
      key, value);
}

/// Sends rows in parts of about a megabyte.
class PartSender {
 public:
  PartSender(const MirrorTable& table, const std::vector<std::string>& columns, bool isAgain,
             const std::function<bool(Json)>& part)
      : table_(table), columns_(columns), part_(part), isAgain_(isAgain) {}

  /// \returns  false when no more is wanted
  bool add(Json row, std::size_t bytes) {
    rows_.push_back(std::move(row));
    bytes_ += bytes;
    return bytes_ < MirrorSource::kPartBytes || flush();
  }
  bool flush() {
    if (rows_.empty() && !isAgain_) return true;
    Json part{{"table", table_.name}, {"columns", columns_}, {"again", isAgain_}};
    part["rows"] = std::exchange(rows_, Json::array());
    isAgain_ = false;
    bytes_ = 0;
    return part_(std::move(part));
  }

 private:
  const MirrorTable& table_;
  const std::vector<std::string>& columns_;
  const std::function<bool(Json)>& part_;
  Json rows_ = Json::array();
  std::size_t bytes_ = 0;
  bool isAgain_;
};

std::int64_t numberOf(const Json& object, const char* key, std::int64_t otherwise) {
  if (!object.is_object()) return otherwise;
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>()
                                                             : otherwise;
}

}  // namespace

MirrorSource::MirrorSource(const std::filesystem::path& database)
    : database_(std::make_unique<Database>(database, Database::Access::Read)) {
  openSchema(*database_);
}

MirrorSource::~MirrorSource() = default;

bool MirrorSource::copy(std::int64_t run, const Json& known,
                        const std::function<bool(Json)>& part) {
  Database& database = *database_;
  return database.read([&] {
    if (run != kSharedRows) static_cast<void>(stateOf(database, run));
    std::size_t sent = 0;
    bool arePointsMoved = false;
    for (const MirrorTable& table : mirrorTables()) {
      if (!belongsTo(table, run)) continue;
      const Json there = known.is_object() ? known.value(table.name, Json()) : Json();
      const bool grows = *table.key != '\0';
      // Those that were taken and still stand as they did are not sent again.
      std::int64_t from = -1;
      bool isAgain = false;
      if (grows) {
        from = numberOf(there, "last", -1);
        isAgain =
            (table.isPoints && arePointsMoved) ||
            standing(database, table, run, from) != Json{{"rows", numberOf(there, "rows", 0)},
                                                         {"last", from},
                                                         {"check", numberOf(there, "check", 0)}};
        if (isAgain) from = -1;
      } else {
        if (standing(database, table, run, kEverything).at("print") ==
            numberOf(there, "print", -1)) {
          continue;
        }
        isAgain = true;
        arePointsMoved = arePointsMoved || (table.movesPoints && numberOf(there, "print", -1) >= 0);
      }
      const std::vector<std::string> columns = writableColumns(database, table.name);
      Statement row = database.prepare(
          "SELECT " + columnList(columns) + " FROM " + table.name + " WHERE " + table.owner +
          " = ?" + (grows ? std::string(" AND ") + table.key + " > ? ORDER BY " + table.key : ""));
      row.bind(1, run);
      if (grows) row.bind(2, from);
      PartSender sender(table, columns, isAgain, part);
      // Only rows whose keys are all different can be continued from any of them.
      const bool mayCut = grows && table.key == std::string_view("id");
      while (row.step()) {
        std::size_t bytes = 0;
        for (int i = 0; i < static_cast<int>(columns.size()); ++i) bytes += bytesOf(row, i);
        Json cells = Json::array();
        if (bytes > rowBytes) {
          cells = rowWithout(row, columns);
          bytes = kPartBytes;  // about: the rest of it is small
        } else {
          for (int i = 0; i < static_cast<int>(columns.size()); ++i)
            cells.push_back(cellOf(row, i));
        }
        sent += bytes;
        if (!sender.add(std::move(cells), bytes)) return false;
        if (mayCut && sent > answerBytes) {
          sender.flush();
          return false;
        }
      }
      if (!sender.flush()) return false;
    }
    return true;
  });
}

Mirror::Mirror(const std::filesystem::path& file, const std::string& of) {
  const bool isNew = !std::filesystem::exists(file);
  if (!isNew) {
    const std::string now = mirrorOf(file);
    if (now != of) {
      throw RefusedError("'" + file.string() + "' is " +
                         (now.empty() ? std::string("a database of its own") : "a copy of " + now) +
                         ", not a copy of " + of + "; move it away");
    }
  }
  database_ =
      std::make_unique<Database>(file, isNew ? Database::Access::Create : Database::Access::Write);
  openSchema(*database_);
  // Runs come in any order, and those they depend on may never come.
  database_->execute("PRAGMA foreign_keys = OFF");
  // What a power cut takes with it is fetched again: nothing here is the only one of its kind.
  database_->execute("PRAGMA synchronous = NORMAL");
  if (isNew) {
    database_->write([&] {
      setMeta(*database_, kOf, of);
      clear();
    });
  }
}

Mirror::~Mirror() = default;

void Mirror::clear() {
  Database& database = *database_;
  database.write([&] {
    remove(database.integers("SELECT id FROM run"));
    for (const MirrorTable& table : mirrorTables())
      database.execute((std::string("DELETE FROM ") + table.name).c_str());
    setMeta(database, kChange, "0");
  });
}

std::int64_t Mirror::change() {
  return parseNumber<std::int64_t>(metaOf(*database_, kChange)).value_or(0);
}

void Mirror::setChange(std::int64_t change) {
  database_->write([&] { setMeta(*database_, kChange, std::to_string(change)); });
}

bool Mirror::begin(const std::string& uuid, std::int64_t changeThere) {
  return database_->write([&] {
    const bool isSame = metaOf(*database_, "uuid") == uuid && change() <= changeThere;
    if (isSame) return false;
    clear();
    setMeta(*database_, "uuid", uuid);
    return true;
  });
}

Json Mirror::known(std::int64_t run) {
  return database_->read([&] {
    Json known = Json::object();
    for (const MirrorTable& table : mirrorTables()) {
      if (belongsTo(table, run)) known[table.name] = standing(*database_, table, run, kEverything);
    }
    return known;
  });
}

void Mirror::take(std::int64_t run, std::span<const Json> parts) {
  Database& database = *database_;
  database.write([&] {
    for (const Json& part : parts) {
      const std::string name = part.value("table", "");
      const auto tables = mirrorTables();
      const auto table = std::find_if(tables.begin(), tables.end(),
                                      [&](const MirrorTable& one) { return one.name == name; });
      if (table == tables.end() || !belongsTo(*table, run))
        throw StoreError("the other machine sent rows of '" + shown(name) +
                         "', which is not a table");
      const auto ours = writableColumns(database, table->name);
      const auto columns = part.at("columns").get<std::vector<std::string>>();
      if (columns != ours) {
        throw StoreError("the other machine has other columns in '" + name +
                         "'; install the same version of Vitrine on both");
      }
      if (part.value("again", false))
        database.run("DELETE FROM " + name + " WHERE " + table->owner + " = ?", run);
      const auto owner = std::find(columns.begin(), columns.end(), table->owner);
      Statement insert =
          database.prepare("INSERT OR REPLACE INTO " + name + "(" + columnList(columns) +
                           ") VALUES (" + columnList(columns, "?") + ")");
      for (const Json& row : part.at("rows")) {
        if (!row.is_array() || row.size() != columns.size())
          throw StoreError("the other machine sent a row of '" + name + "' that is not a row");
        if (owner != columns.end() && row.at(owner - columns.begin()) != run)
          throw StoreError("the other machine sent a row of another run");
        for (std::size_t i = 0; i < columns.size(); ++i)
          bindCell(insert, static_cast<int>(i + 1), row[i]);
        insert.run();
        sqlite3_reset(insert.handle());
      }
    }
    if (run == kSharedRows) {
      if (!parts.empty()) static_cast<void>(nextChange(database));
      return;
    }
    // One that was deleted there may have been brought back.
    database.run("DELETE FROM deleted_run WHERE run_id = ?", run);
    // A readers' clock of its own, and a log that lies next to this file.
    database.run(
        "UPDATE run SET change_sequence = ?2, log_file = CASE WHEN log_file = '' THEN '' "
        "ELSE 'run-' || uuid || '/run.log' END WHERE id = ?1",
        run, nextChange(database));
  });
}

void Mirror::remove(std::span<const std::int64_t> runs) {
  Database& database = *database_;
  database.write([&] {
    for (const std::int64_t run : runs) {
      database.run(
          "INSERT OR REPLACE INTO deleted_run(run_id, uuid, deleted_at, change_sequence) "
          "SELECT id, uuid, ?2, ?3 FROM run WHERE id = ?1",
          run, utcNow(), nextChange(database));
      for (const MirrorTable& table : mirrorTables()) {
        if (!belongsTo(table, run)) continue;
        database.run(std::string("DELETE FROM ") + table.name + " WHERE " + table.owner + " = ?",
                     run);
      }
    }
  });
}

std::filesystem::path Mirror::logFile(std::int64_t run) {
  if (!database_->any("SELECT 1 FROM run WHERE id = ?", run)) return {};
  // Reading it checks that the UUID is one: it becomes a folder.
  const std::filesystem::path folder =
      filesFolder(database_->file()) / runFolderName(readRun(*database_, run).uuid);
  std::filesystem::create_directories(folder);
  return folder / "run.log";
}

std::string mirrorOf(const std::filesystem::path& file) {
  Database database(file, Database::Access::Read);
  openSchema(database);
  return metaOf(database, kOf);
}

}  // namespace vitrine::store
