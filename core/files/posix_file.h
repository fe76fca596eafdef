// File descriptors with errors that name the file. For the readers and writers of this room, and
// for the files that core/store and core/jobs keep next to a database.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "core/foundation_export.h"

namespace vitrine::files {

/// Closes on destruction. Not copyable.
class VITRINE_FOUNDATION_EXPORT Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  [[nodiscard]] int get() const noexcept { return fd_; }
  /// Closes now; the error a network file system reports only here is thrown. \throws FileError
  void close(const std::filesystem::path& file);

 private:
  int fd_ = -1;
};

/// "PATH: WHAT: No space left on device" as a FileError, from errno at the call.
[[noreturn]] VITRINE_FOUNDATION_EXPORT void throwSystemError(const std::filesystem::path& file,
                                                             const std::string& what);

/// A regular file, read only, and its size in bytes.
/// \throws FileError  it is missing, unreadable or not a regular file
[[nodiscard]] std::pair<Descriptor, std::uint64_t> openToRead(const std::filesystem::path& file);

/// Fills `out` from `offset`; returns how much there was, less than asked for at the end of the
/// file. \throws FileError
[[nodiscard]] std::size_t readAt(const Descriptor& fd, const std::filesystem::path& file,
                                 std::span<std::byte> out, std::uint64_t offset);

/// Creates or empties `file`. \param named  what a message calls it, where it is a temporary one
/// \throws FileError
[[nodiscard]] Descriptor openToWrite(const std::filesystem::path& file,
                                     const std::filesystem::path& named = {});
/// Creates `file`, which must not exist before, not even as a link. \throws FileError
[[nodiscard]] VITRINE_FOUNDATION_EXPORT Descriptor openNew(const std::filesystem::path& file);
/// \throws FileError  nothing is left unwritten otherwise
VITRINE_FOUNDATION_EXPORT void writeAll(const Descriptor& fd, const std::filesystem::path& file,
                                        std::span<const std::byte> bytes);
/// \throws FileError
void syncFile(const Descriptor& fd, const std::filesystem::path& file);
/// Makes renames and creations in `folder` ("": the current one) durable. \throws FileError
VITRINE_FOUNDATION_EXPORT void syncFolder(const std::filesystem::path& folder);
/// fsync of a file or folder by its name, which is not followed when it is a link.
/// \throws FileError
VITRINE_FOUNDATION_EXPORT void syncPath(const std::filesystem::path& path);

/// Whether `path` names the file that is open as `descriptor`: another process may have removed it
/// since, or put another file in its place.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT bool isStillAt(int descriptor,
                                                       const std::filesystem::path& path) noexcept;

/// Whether this errno says that the user may not write there: trying again does not help.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT bool isForbidden(int error) noexcept;

/// Text from outside for a message: quoted, printable ASCII only, at most 80 characters.
[[nodiscard]] std::string inQuotes(const std::string& text);

}  // namespace vitrine::files
