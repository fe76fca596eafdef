// The file that serialises writers of one database: `<database>.gate`, locked with flock.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "core/files/posix_file.h"
#include "core/store_export.h"

namespace vitrine::store {

/// Never the database file itself: closing a second descriptor of that would drop SQLite's own
/// locks. The kernel frees the lock when its holder dies, however it dies.
class VITRINE_STORE_EXPORT WriterLock {
 public:
  /// Makes no file yet: one that turns out not to be a database is left alone.
  explicit WriterLock(const std::filesystem::path& database);

  /// Waits for the writers before it, at most `wait` for each and twelve times that for all.
  /// Returns false when it did not get the lock. Many that write briefly one after the other are
  /// not the same as one that hangs.
  /// \throws UnwritableError  the file cannot be made; ProtectedError: the user may not make it
  [[nodiscard]] bool lock(std::chrono::milliseconds wait);
  void unlock() noexcept;

 private:
  void open();
  [[nodiscard]] std::uint64_t entries() const noexcept;
  void countEntry() noexcept;

  std::filesystem::path file_;
  files::Descriptor descriptor_;
};

}  // namespace vitrine::store
