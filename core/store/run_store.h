// The experiment database, opened: its reader, its writer and what people note in it. One object
// per thread. The only SQLite of the project is below this header.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/store/annotations.h"
#include "core/store/run_reader.h"
#include "core/store/run_writer.h"

namespace vitrine::store {

/// `--db`, else $VITRINE_DB, else $XDG_DATA_HOME/vitrine/experiments.sqlite.
/// \throws ConfigError  neither these nor HOME are set
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path defaultDatabase();
/// `<name>.files` next to `database`: checkpoints and logs. Paths in rows are relative to it.
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path filesFolder(
    const std::filesystem::path& database);
/// The folder of one run below filesFolder(): its checkpoints and log.
[[nodiscard]] VITRINE_STORE_EXPORT std::string runFolderName(const std::string& uuid);
/// `relative` below `folder`; "" where it leads anywhere else: paths in a database may be hostile.
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path placeBelow(
    const std::filesystem::path& folder, const std::filesystem::path& relative);

enum class OpenMode {
  ReadWriteCreate,
  ReadWrite,  ///< \throws NotFoundError  there is no such file
  ReadOnly,
};

/// All three over one connection. A function that needs one of them takes that one.
class VITRINE_STORE_EXPORT RunStore : public RunReader, public RunWriter, public Annotations {
 public:
  /// Opens, checks application_id, schema version and schema, and migrates an older file.
  /// \throws StoreError  not ours, newer than this program, damaged: one sentence with the remedy
  explicit RunStore(const std::filesystem::path& file, OpenMode mode = OpenMode::ReadWriteCreate);
  RunStore(RunStore&&) noexcept = default;
  RunStore(const RunStore&) = delete;
  RunStore& operator=(const RunStore&) = delete;

  /// Time that a write waits for a process without progress, 5 s by default; up to twelve times as
  /// long where many write.
  void setPatience(std::chrono::milliseconds patience);
  /// integrity_check; empty means ok. Takes the mark of an I/O error away then.
  [[nodiscard]] std::vector<std::string> check();

 private:
  explicit RunStore(const std::shared_ptr<Database>& database);
};

/// The version of the SQLite that is linked, and whether it has the WAL-reset bug (3.7.0
/// to 3.51.2).
[[nodiscard]] VITRINE_STORE_EXPORT std::string sqliteVersion();
[[nodiscard]] VITRINE_STORE_EXPORT bool sqliteHasWalResetBug();
/// The version of the schema that this program writes.
[[nodiscard]] VITRINE_STORE_EXPORT int schemaVersion();

}  // namespace vitrine::store
