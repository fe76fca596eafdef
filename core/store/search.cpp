#include "core/store/search.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "core/base/cell_text.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/store/maintenance/run_check.h"
#include "core/store/run_store.h"
#include "core/store/sqlite/database.h"
#include "core/store/sqlite/file_system.h"
#include "core/store/sqlite/schema.h"
#include "core/store/tables/rows.h"

namespace vitrine::store {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kIndexId = 0x56695478;    // "ViTx"
constexpr std::int64_t kIndexVersion = 1;        // another one is thrown away
constexpr std::streamoff kIndexedLog = 4 << 20;  // bytes, the newest
constexpr std::array<const char*, 5> kColumns{"name", "note", "tags", "configuration", "log"};

constexpr const char* kSchema =
    "CREATE TABLE indexed(run_id INTEGER PRIMARY KEY, uuid TEXT, change INTEGER, log TEXT);"
    "CREATE VIRTUAL TABLE words USING fts5(name, note, tags, configuration, log, tokenize = "
    "\"unicode61 remove_diacritics 2\");";

/// The UUID of the database, which becomes the name of a file.
std::string nameOfIndex(Database& database) {
  const std::string uuid = uuidOf(database);
  if (uuid.size() != 36 || uuid.find_first_not_of("0123456789abcdef-") != std::string::npos) {
    throw StoreError("'" + database.file().string() + "' has '" + shown(uuid) +
                     "' for a UUID; the database is damaged: restore a backup");
  }
  return uuid;
}

/// The index as it is, or an empty one.
std::unique_ptr<Database> openIndex(const fs::path& file) {
  auto index = std::make_unique<Database>(file, Database::Access::Scratch);
  const bool isOurs = index->integer("PRAGMA application_id") == kIndexId &&
                      index->integer("PRAGMA user_version") == kIndexVersion;
  if (isOurs) return index;
  if (index->integer("SELECT count(*) FROM sqlite_schema") > 0)
    throw StoreError("'" + file.string() + "' is another version of the index");
  index->write([&] {
    index->execute(kSchema);
    index->execute(("PRAGMA application_id = " + std::to_string(kIndexId)).c_str());
    index->execute(("PRAGMA user_version = " + std::to_string(kIndexVersion)).c_str());
  });
  return index;
}

std::string configText(const std::string& config) {
  const Json values = readJson(config);
  if (values.is_discarded()) return {};
  std::string text;
  for (const auto& [key, value] : flatten(values)) text += key + " = " + plainText(value) + "\n";
  return text;
}

/// The newest part of a run's log.
std::string logText(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  if (!stream) return {};
  const std::streamoff size = stream.tellg();
  stream.seekg(size > kIndexedLog ? size - kIndexedLog : 0);
  std::ostringstream text;
  text << stream.rdbuf();
  return cleanUtf8(text.str());
}

/// Checks whether a log has grown without reading it.
std::string logState(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  if (error) return "";
  const auto time = fs::last_write_time(file, error);
  return std::to_string(size) + " " + std::to_string(time.time_since_epoch().count());
}

/// Takes in what changed since the last search.
void update(Database& database, Database& index) {
  struct Known {
    std::string uuid, log;
    std::int64_t change = 0;
  };
  std::map<std::int64_t, Known> known;
  index.each("SELECT run_id, uuid, change, log FROM indexed", [&](const Statement& row) {
    known[row.integer(0)] = {row.text(1), row.text(3), row.integer(2)};
  });
  const fs::path files = filesFolder(database.file());
  const auto forget = [&](std::int64_t run) {
    index.run("DELETE FROM words WHERE rowid = ?", run);
    index.run("DELETE FROM indexed WHERE run_id = ?", run);
  };
  index.write([&] {
    for (const RunRow& run : readRunsChanged(database, 0)) {
      std::error_code error;
      const bool hasLog = isPlainPath(run.logFile, runFolderName(run.uuid)) &&
                          fs::is_regular_file(files / run.logFile, error);
      const fs::path log = hasLog ? files / run.logFile : fs::path();
      const std::string state = hasLog ? logState(log) : "";
      const auto found = known.find(run.id);
      const bool isSame = found != known.end() && found->second.uuid == run.uuid &&
                          found->second.change == run.changeSequence && found->second.log == state;
      if (found != known.end()) known.erase(found);
      if (isSame) continue;
      forget(run.id);
      std::string tags, note = readNote(database, run.id), config;
      for (const std::string& tag : readTags(database, run.id)) tags += tag + "\n";
      for (const std::string& text :
           database.texts("SELECT text FROM curve_note WHERE run_id = ?", run.id))
        note += (note.empty() ? "" : "\n") + text;
      const std::string resolved =
          database.text("SELECT config FROM run_config WHERE run_id = ?", run.id);
      if (!resolved.empty()) config = configText(resolved);
      index.run(
          "INSERT INTO words(rowid, name, note, tags, configuration, log) VALUES (?, ?, ?, ?, "
          "?, ?)",
          run.id, run.experiment + "\n" + run.name + "\n" + run.variant + "\n" + run.stage, note,
          tags, config, hasLog ? logText(log) : std::string());
      index.run("INSERT INTO indexed(run_id, uuid, change, log) VALUES (?, ?, ?, ?)", run.id,
                run.uuid, run.changeSequence, state);
    }
    for (const auto& entry : known) forget(entry.first);  // deleted meanwhile
  });
}

/// Every word as a quoted prefix: nothing of FTS5's own language is left in it.
std::string matchOf(const std::string& words) {
  std::istringstream stream(words);
  std::string match;
  for (std::string word; stream >> word;) {
    std::string quoted;
    bool hasLetter = false;
    for (const char c : word) {
      if (c == '"') quoted += c;
      quoted += c;
      const auto byte = static_cast<unsigned char>(c);
      hasLetter |= byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                   (c >= 'A' && c <= 'Z');
    }
    if (hasLetter) match += (match.empty() ? "\"" : " AND \"") + quoted + "\" *";
  }
  return match;
}

std::vector<SearchHit> find(Database& index, const std::string& words, std::size_t limit) {
  const std::string match = matchOf(words);
  std::vector<SearchHit> hits;
  if (match.empty()) return hits;
  std::string snippets;
  for (std::size_t i = 0; i < kColumns.size(); ++i)
    snippets += ", snippet(words, " + std::to_string(i) + ", char(1), char(2), '...', 12)";
  Statement row = index.prepare("SELECT rowid" + snippets +
                                " FROM words WHERE words MATCH ? ORDER BY bm25(words, 10, 5, 5, 1, "
                                "0.5), rowid DESC LIMIT ?");
  row.with(match, static_cast<std::int64_t>(limit));
  while (row.step()) {
    SearchHit hit{.run = row.integer(0)};
    std::ptrdiff_t most = 0;
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      std::string text = row.text(static_cast<int>(i) + 1);
      const auto matches = std::count(text.begin(), text.end(), '\1');
      if (matches <= most) continue;
      most = matches;
      for (char& c : text) {
        if (c == '\1') {
          c = '[';
        } else if (c == '\2') {
          c = ']';
        } else if (static_cast<unsigned char>(c) < 0x20) {
          c = ' ';
        }
      }
      hit.where = kColumns[i];
      hit.text = cleanUtf8(text);
    }
    hits.push_back(std::move(hit));
  }
  return hits;
}

}  // namespace

fs::path searchFolder() { return cacheFolder() / "search"; }

std::vector<SearchHit> searchRuns(const fs::path& database, const std::string& words,
                                  std::size_t limit, const fs::path& folder) {
  Database from(database, Database::Access::Read);
  openSchema(from);
  std::error_code error;
  if (fs::create_directories(folder, error)) {
    // Logs may hold private text.
    fs::permissions(folder, fs::perms::owner_all, error);
  }
  if (error || !fs::is_directory(folder)) {
    throw StoreError("the folder '" + folder.string() + "' for the index cannot be made: " +
                     error.message() + "; set XDG_CACHE_HOME to one that can");
  }
  const fs::path file = folder / (nameOfIndex(from) + ".sqlite");
  const auto search = [&] {
    const std::unique_ptr<Database> index = openIndex(file);
    from.read([&] { update(from, *index); });
    return find(*index, words, limit);
  };
  try {
    return search();
  } catch (const StoreError&) {
    // Nothing is lost with it: once more, from nothing.
    for (const char* suffix : {"", "-journal", "-wal", "-shm"})
      fs::remove(file.string() + suffix, error);
    return search();
  }
}

}  // namespace vitrine::store
