// A file or folder that appears under its name complete and durable, or not at all. Private to
// core/store.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/files/posix_file.h"

namespace vitrine::store {

/// Work goes to temporary(), a sibling of `target`; finish() gives it its name. A file that is not
/// finished is removed; of a process that was killed, by the next one for that target.
class NewFile {
 public:
  /// \throws RefusedError  `target` exists \throws NotFoundError  its folder does not
  explicit NewFile(std::filesystem::path target);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  [[nodiscard]] const std::filesystem::path& temporary() const noexcept { return temporary_; }
  /// Syncs the file, or every file in the folder, and renames.
  /// \throws RefusedError  `target` was made meanwhile
  /// \throws FileError
  void finish();

 private:
  std::filesystem::path target_, temporary_;
  bool isFinished_ = false;
};

/// Every file and folder below and including `folder`. \throws FileError
void syncTree(const std::filesystem::path& folder);

/// Appends to a file that must not exist before; buffered.
class Appender {
 public:
  /// \param named  the file in messages, "": `file`  \throws FileError
  explicit Appender(const std::filesystem::path& file, const std::filesystem::path& named = {});
  void write(std::string_view text);             ///< \throws FileError
  void write(std::span<const std::byte> bytes);  ///< \throws FileError
  void close();                                  ///< \throws FileError

 private:
  void flush();
  std::filesystem::path named_;
  std::string waiting_;
  files::Descriptor descriptor_;
};

}  // namespace vitrine::store
