// Keeps the results of a run in a file next to the database while it cannot be written, mostly
// because the disk is full. They are stored later: in order, once, also by another process. Private
// to core/store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/store/run_writer.h"
#include "core/store/spool/spool_file.h"
#include "core/store/sqlite/database.h"
#include "core/store_export.h"

namespace vitrine::store {

/// `<name>.files/spool`
[[nodiscard]] VITRINE_STORE_EXPORT std::filesystem::path spoolFolder(
    const std::filesystem::path& database);
/// The side files of `database`.
[[nodiscard]] VITRINE_STORE_EXPORT std::vector<std::filesystem::path> spoolsOf(
    const std::filesystem::path& database);

/// The side file of one segment of a run, for as long as its process works on it. Its room is
/// taken when it is made, while there is some.
class VITRINE_STORE_EXPORT Spool {
 public:
  /// One that cannot be made is tried again when it is needed.
  Spool(Database& database, std::int64_t run, std::int64_t segment, SpoolFile::Settings settings);
  ~Spool();  ///< removes the file when nothing waits in it
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  /// Removes from `batch` the results that are durable in the file now. \returns  whether that is
  ///         all
  bool take(RunWriter::Batch& batch, const std::string& why);
  [[nodiscard]] bool isEmpty() const noexcept;
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  /// Stores all that waits. What was stored before an error is not stored again.
  /// \throws what RunWriter::append throws
  void store();

  /// Stores what processes left that are gone. Says what cannot be stored and keeps it.
  static void storeAll(Database& database);
  /// Within a process that cannot change the state of its run: next to the results that wait, when
  /// there are some. \returns  whether it is durable
  static bool takeEnding(Database& database, std::int64_t run, RunState to,
                         const std::string& reason);

 private:
  bool make();
  static void storeFile(Database& database, SpoolFile& file);
  static void forget(Database& database, const std::string& id) noexcept;

  Database& database_;
  std::int64_t run_, segment_;
  SpoolFile::Settings settings_;
  std::unique_ptr<SpoolFile> file_;
};

}  // namespace vitrine::store
