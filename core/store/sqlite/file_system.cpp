#include "core/store/sqlite/file_system.h"

#include <signal.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "core/base/user_folders.h"

namespace vitrine::store {

namespace {

/// From statfs(2) and linux/magic.h. FUSE is among them because sshfs and its kin are FUSE, and
/// what lies behind a FUSE mount cannot be told apart.
constexpr std::array<std::pair<std::uint32_t, const char*>, 18> kNetwork{{
    {0x6969, "NFS"},
    {0x517B, "SMB"},
    {0xFE534D42, "SMB"},
    {0xFF534D42, "CIFS"},
    {0x01021997, "9P"},
    {0x65735546, "FUSE, for example sshfs"},
    {0x00C36400, "Ceph"},
    {0x0BD00BD0, "Lustre"},
    {0x5346414F, "AFS"},
    {0x6B414653, "AFS"},
    {0x73757245, "Coda"},
    {0x564C, "NCP"},
    {0x47504653, "GPFS"},
    {0x19830326, "BeeGFS"},
    {0x20030528, "OrangeFS"},
    {0x01161970, "GFS2"},
    {0x7461636F, "OCFS2"},
    {0x786F4256, "a VirtualBox shared folder"},
}};

std::optional<std::uint32_t> askKernel(const std::filesystem::path& folder) {
  struct statfs status {};
  if (::statfs(folder.c_str(), &status) != 0) return std::nullopt;
  return static_cast<std::uint32_t>(status.f_type);
}

FileSystemProbe& probe() {
  static FileSystemProbe current = askKernel;
  return current;
}

}  // namespace

void setFileSystemProbe(FileSystemProbe replacement) {
  probe() = replacement ? std::move(replacement) : FileSystemProbe(askKernel);
}

std::string networkFileSystem(const std::filesystem::path& folder) {
  const std::optional<std::uint32_t> type = probe()(folder);
  for (const auto& [number, name] : kNetwork) {
    if (type == number) return name;
  }
  return "";
}

std::filesystem::path folderOfFile(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(file, error);
  const std::filesystem::path& known = error ? file : real;
  return known.has_parent_path() ? known.parent_path() : std::filesystem::path(".");
}

std::filesystem::path realFile(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_symlink(file, error)) return file;
  const std::filesystem::path real = std::filesystem::weakly_canonical(file, error);
  return error ? file : real;
}

std::optional<std::uint64_t> freeBytes(const std::filesystem::path& folder) {
  struct statvfs space {};
  if (::statvfs(folder.c_str(), &space) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
}

void removeUnfinishedFiles(const std::filesystem::path& file, const std::string& begin,
                           const std::string& mark) {
  namespace fs = std::filesystem;
  const std::string start = file.filename().string() + begin;
  std::error_code error;
  for (auto entry = fs::directory_iterator(fs::absolute(file).parent_path(), error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const std::size_t at = name.rfind(mark);
    if (!name.starts_with(start) || at == std::string::npos) continue;
    char* end = nullptr;
    const long pid = std::strtol(name.c_str() + at + mark.size(), &end, 10);
    if (*end != '\0' && *end != '-') continue;
    std::error_code ignored;
    if (pid > 0 && ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH)
      fs::remove_all(entry->path(), ignored);
  }
}

std::uint64_t bytesBelow(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::uint64_t bytes = 0;
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, error);
       !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code unknown;
    if (!entry->is_regular_file(unknown) || entry->is_symlink(unknown)) continue;
    const std::uintmax_t size = entry->file_size(unknown);
    if (!unknown) bytes += size;
  }
  return bytes;
}

std::filesystem::path cacheFolder() {
  const std::filesystem::path folder = userFolder(UserFolder::Cache);
  return folder.empty() ? "/tmp/.cache/vitrine" : folder;
}

}  // namespace vitrine::store
