// A folder of a test's own.
#pragma once

#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace vitrine {

/// Bytes that are free there; 0 where that is not known.
[[nodiscard]] inline std::uintmax_t freeRoom(const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::space_info room = std::filesystem::space(folder, error);
  return error ? 0 : room.available;
}

/// Where files are in memory and programs among them can be started, if there is such a place.
[[nodiscard]] inline std::filesystem::path folderInMemory() {
  // Files there are memory that the machine has less: not where it is scarce, as in a container.
  constexpr std::uintmax_t kRoom = std::uintmax_t{1} << 30;
  struct statvfs status {};
  const bool isUsable = ::access("/dev/shm", W_OK) == 0 && ::statvfs("/dev/shm", &status) == 0 &&
                        (status.f_flag & ST_NOEXEC) == 0;
  return isUsable && freeRoom("/dev/shm") >= kRoom ? "/dev/shm"
                                                   : std::filesystem::temp_directory_path();
}

/// Where temporary files were before keepTemporaryFilesInMemory(): for tests that are about disks.
[[nodiscard]] inline const std::filesystem::path& folderOnDisk() {
  static const std::filesystem::path folder = std::filesystem::temp_directory_path();
  return folder;
}

/// Temporary files of this process and of those that it starts are in memory, unless TMPDIR is set:
/// a database syncs each commit, which takes milliseconds on a disk.
inline void keepTemporaryFilesInMemory() {
  static_cast<void>(folderOnDisk());  // as it is before the change
  ::setenv("TMPDIR", folderInMemory().c_str(), /*replace=*/0);
}

/// Made on construction, gone on destruction.
class TemporaryFolder {
 public:
  /// \throws std::system_error  no folder can be made in `parent`
  explicit TemporaryFolder(
      const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string name = (parent / "vitrine-test-XXXXXX").string();  // mkdtemp fills in the end
    if (::mkdtemp(name.data()) == nullptr)
      throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace vitrine
