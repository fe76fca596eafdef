// Small whole databases to start from when databases are broken.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace vitrine::fuzz {

struct DatabaseSeed {
  std::string name;
  std::string main;  ///< bytes of the file
  /// The same rows in tables that take any value: types and NOT NULL are left out of its schema.
  std::string loose;
  std::string restore;               ///< SQL that gives `loose` its schema back
  std::vector<std::string> columns;  ///< "table|column" of what may be changed
};

/// A database of the program with something in every table (pages of 4096 bytes), the same with
/// pages of 512 bytes, an export, and a file of version 1. Made in `folder`, where nothing is left.
/// \throws Error  they cannot be made, or what was made is not sound
[[nodiscard]] std::vector<DatabaseSeed> databaseSeeds(const std::filesystem::path& folder);

/// A connection to a database in memory that starts as `bytes`. Plain SQLite, nothing of ours.
class MemoryDatabase {
 public:
  explicit MemoryDatabase(const std::string& bytes);
  ~MemoryDatabase();
  MemoryDatabase(const MemoryDatabase&) = delete;
  MemoryDatabase& operator=(const MemoryDatabase&) = delete;

  /// \returns  whether SQLite took it; what it thinks of hostile values is not a finding
  bool run(const std::string& sql);
  /// The first column of all rows.
  [[nodiscard]] std::vector<std::string> texts(const std::string& sql);
  [[nodiscard]] void* handle() const noexcept { return handle_; }
  [[nodiscard]] std::string bytes() const;

 private:
  void* handle_ = nullptr;  // sqlite3*
};

}  // namespace vitrine::fuzz
