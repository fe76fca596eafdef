// A folder of a test's own.
#pragma once

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

/// Where files are in memory, if there is such a place: for tests that sync a lot and are not about
/// disks.
[[nodiscard]] inline std::filesystem::path folderInMemory() {
  // Files there are memory that the machine has less: not where it is scarce, as in a container.
  constexpr std::uintmax_t kRoom = std::uintmax_t{1} << 30;
  return ::access("/dev/shm", W_OK) == 0 && freeRoom("/dev/shm") >= kRoom
             ? "/dev/shm"
             : std::filesystem::temp_directory_path();
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
