#include "core/files/checkpoint_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/base/read_json.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/files/posix_file.h"

namespace vitrine {

namespace fs = std::filesystem;

namespace {

constexpr const char* kManifest = "manifest.json";
constexpr int kManifestVersion = 1;
constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kTemporary = ".tmp-";

std::optional<std::int64_t> number(std::string_view digits) {
  const auto value = parseNumber<std::int64_t>(digits);
  return value && *value >= 0 ? value : std::nullopt;
}

/// The step of a finished folder's name.
std::optional<std::int64_t> stepOf(const std::string& name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const std::optional<std::int64_t> step = number(std::string_view(name).substr(kPrefix.size()));
  return step && checkpointName(*step) == name ? step : std::nullopt;
}

/// The process a temporary name belongs to: "step-000000500.tmp-1234" or "state.json.tmp-1234-7".
std::optional<std::int64_t> ownerOf(const std::string& name) {
  const std::size_t at = name.rfind(kTemporary);
  if (at == std::string::npos) return std::nullopt;
  std::string_view digits = std::string_view(name).substr(at + kTemporary.size());
  return number(digits.substr(0, digits.find('-')));
}

bool isAlive(std::int64_t pid) { return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH; }

std::uint64_t folderBytes(const fs::path& folder) {
  std::uint64_t total = 0;
  std::error_code ignored;  // a file that vanishes meanwhile counts as nothing
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, ignored)) {
    if (entry.is_regular_file(ignored)) total += entry.file_size(ignored);
  }
  return total;
}

/// Every regular file below `folder`, relative, sorted. \throws FileError  links, devices
std::vector<fs::path> filesOf(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_symlink() || !(entry.is_regular_file() || entry.is_directory())) {
      throw FileError(entry.path().string() +
                      " is neither a file nor a folder; a checkpoint holds nothing else");
    }
    if (entry.is_regular_file()) out.push_back(fs::relative(entry.path(), folder));
  }
  std::sort(out.begin(), out.end());
  return out;
}

void checkSpace(const fs::path& parent, const std::string& name, std::uint64_t last) {
  struct statvfs space {};
  if (::statvfs(parent.c_str(), &space) != 0)
    files::throwSystemError(parent, "cannot be asked for free space");
  const double available =
      static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize);
  const double needed = 1.2 * static_cast<double>(last);
  if (available < needed) {
    throw FileError("checkpoint " + name + " needs about " + formatBytes(needed) + ", but " +
                    parent.string() + " has " + formatBytes(available) + " free; make room there");
  }
}

/// \param named  what a message calls the file
void writeSynced(const fs::path& file, const std::string& text, const fs::path& named) {
  files::Descriptor fd = files::openToWrite(file, named);
  files::writeAll(fd, named, std::as_bytes(std::span(text.data(), text.size())));
  files::syncFile(fd, named);
  fd.close(named);
}

/// Makes `from` appear as `to`; a folder already there is whole until the moment it is replaced.
void moveIntoPlace(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return;
  if (errno != ENOTEMPTY && errno != EEXIST) files::throwSystemError(to, "cannot be put in place");
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) return;
  if (errno != EINVAL && errno != ENOSYS) files::throwSystemError(to, "cannot be replaced");
  // A file system without exchange: the old folder steps aside under a temporary name.
  const fs::path aside = from.string() + "-old";
  if (::rename(to.c_str(), aside.c_str()) != 0 || ::rename(from.c_str(), to.c_str()) != 0)
    files::throwSystemError(to, "cannot be replaced");
  std::error_code ignored;  // swept later if it stays
  fs::remove_all(aside, ignored);
}

/// Removes a folder or file at the end of its scope unless it is kept.
struct Removal {
  fs::path path;
  ~Removal() {
    std::error_code ignored;  // what cannot be removed is swept by the next listCheckpoints
    if (!path.empty()) fs::remove_all(path, ignored);
  }
};

}  // namespace

std::string checkpointName(std::int64_t step) {
  std::string digits = std::to_string(step);
  if (digits.size() < 9) digits.insert(0, 9 - digits.size(), '0');
  return std::string(kPrefix) + digits;
}

std::uint64_t writeCheckpointFolder(const fs::path& parent, std::int64_t step, const Json& facts,
                                    const std::function<void(const fs::path& folder)>& write) {
  const std::string name = checkpointName(step);
  const fs::path temporary = parent / (name + std::string(kTemporary) + std::to_string(::getpid()));
  try {
    fs::create_directories(parent);
    const std::vector<CheckpointFolder> before = listCheckpoints(parent);
    if (!before.empty()) checkSpace(parent, name, folderBytes(before.back().folder));

    fs::remove_all(temporary);
    const Removal removal{temporary};
    fs::create_directory(temporary);
    write(temporary);

    std::uint64_t total = 0;
    Json list = Json::array();
    for (const fs::path& relative : filesOf(temporary)) {
      const fs::path file = temporary / relative;
      const auto [fd, size] = files::openToRead(file);
      files::syncFile(fd, file);
      list.push_back(
          {{"name", relative.generic_string()}, {"bytes", size}, {"sha256", sha256OfFile(file)}});
      total += size;
    }
    Json manifest = {{"manifest_version", kManifestVersion}, {"step", step}};
    for (const auto& [key, value] : facts.items()) manifest[key] = value;
    manifest["step"] = step;
    manifest["files"] = std::move(list);
    const std::string text = manifest.dump(1) + "\n";
    writeSynced(temporary / kManifest, text, temporary / kManifest);
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(temporary)) {
      if (entry.is_directory()) files::syncFolder(entry.path());
    }
    files::syncFolder(temporary);
    moveIntoPlace(temporary, parent / name);
    files::syncFolder(parent);
    return total + text.size();
  } catch (const fs::filesystem_error& error) {
    throw FileError("checkpoint " + name + " cannot be written in " + parent.string() + ": " +
                    error.code().message());
  } catch (const FileError& error) {
    // Its files are written under a name that is gone when the message is read.
    std::string message = error.what();
    if (const auto at = message.find(temporary.string()); at != std::string::npos)
      message.replace(at, temporary.string().size(), (parent / name).string());
    throw FileError(message);
  }
}

std::string verifyCheckpointFolder(const fs::path& folder) {
  try {
    const Json manifest = readJson(readTextFile(folder / kManifest));
    if (manifest.is_discarded() || !manifest.is_object() || !manifest.contains("files") ||
        !manifest["files"].is_array()) {
      return "its manifest is damaged";
    }
    const Json version = manifest.value("manifest_version", Json());
    if (version != kManifestVersion) {
      return "its manifest has version " + version.dump() + "; this program reads " +
             std::to_string(kManifestVersion);
    }
    const std::optional<std::int64_t> step = stepOf(folder.filename().string());
    if (step && manifest.value("step", Json()) != *step) return "its manifest is of another step";
    std::vector<fs::path> listed;
    for (const Json& item : manifest["files"]) {
      const Json text = item.is_object() ? item.value("name", Json()) : Json();
      if (!text.is_string()) return "its manifest is damaged";
      const fs::path name = text.get<std::string>();
      if (name.empty() || name.is_absolute() ||
          std::find(name.begin(), name.end(), "..") != name.end()) {
        return "its manifest names a file outside the folder";
      }
      const fs::path file = folder / name;
      std::error_code missing;
      const std::uint64_t size = fs::file_size(file, missing);
      if (missing) return name.string() + " is missing";
      if (item.value("bytes", Json()) != size)
        return name.string() + " has another size than its manifest says";
      listed.push_back(name);
    }
    for (const fs::path& name : filesOf(folder)) {
      const bool isHidden = name.filename().string().starts_with(".");
      if (name != kManifest && !isHidden &&
          std::find(listed.begin(), listed.end(), name) == listed.end()) {
        return name.string() + " is not in its manifest";
      }
    }
    for (const Json& item : manifest["files"]) {
      const std::string name = item["name"].get<std::string>();
      if (item.value("sha256", Json()) != sha256OfFile(folder / name))
        return name + " differs from its checksum";
    }
    return "";
  } catch (const FileError& error) {
    return error.what();
  } catch (const fs::filesystem_error& error) {
    return error.what();
  }
}

std::vector<CheckpointFolder> listCheckpoints(const fs::path& parent) {
  std::vector<CheckpointFolder> out;
  std::error_code error;
  std::vector<fs::path> stale;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, error)) {
    const std::string name = entry.path().filename().string();
    if (const std::optional<std::int64_t> owner = ownerOf(name); owner && !isAlive(*owner)) {
      stale.push_back(entry.path());
    } else if (const std::optional<std::int64_t> step = stepOf(name);
               step && entry.is_directory(error)) {
      out.push_back({*step, entry.path()});
    }
  }
  for (const fs::path& path : stale) fs::remove_all(path, error);
  std::sort(out.begin(), out.end(),
            [](const CheckpointFolder& a, const CheckpointFolder& b) { return a.step < b.step; });
  return out;
}

std::optional<CheckpointFolder> newestCheckpoint(
    const fs::path& parent, const std::function<void(const std::string&)>& report) {
  return newestCheckpoint(listCheckpoints(parent), report);
}

std::optional<CheckpointFolder> newestCheckpoint(
    const std::vector<CheckpointFolder>& listed,
    const std::function<void(const std::string&)>& report) {
  for (auto it = listed.rbegin(); it != listed.rend(); ++it) {
    const std::string problem = verifyCheckpointFolder(it->folder);
    if (problem.empty()) return *it;
    if (report) report("checkpoint " + it->folder.string() + " is left out: " + problem);
  }
  return std::nullopt;
}

void writeFileAtomically(const fs::path& file, const std::string& text) {
  static std::atomic<unsigned> counter{0};
  const fs::path temporary = file.string() + std::string(kTemporary) + std::to_string(::getpid()) +
                             "-" + std::to_string(counter.fetch_add(1));
  const Removal removal{temporary};
  writeSynced(temporary, text, file);
  if (::rename(temporary.c_str(), file.c_str()) != 0)
    files::throwSystemError(file, "cannot be put in place");
  files::syncFolder(file.parent_path());
}

std::string readTextFile(const fs::path& file, std::uint64_t limit) {
  const auto [fd, size] = files::openToRead(file);
  const auto tooLarge = [&] {
    throw FileError(file.string() + " is larger than the limit of " + formatBytes(limit));
  };
  if (size > limit) tooLarge();
  // Files of /proc say size 0: read on until the end.
  std::string text(static_cast<std::size_t>(std::max<std::uint64_t>(size, 4096)), '\0');
  std::size_t done = 0;
  for (;;) {
    done += files::readAt(
        fd, file, std::as_writable_bytes(std::span(text.data() + done, text.size() - done)), done);
    if (done < text.size()) break;
    if (done > limit) tooLarge();
    text.resize(text.size() * 2);
  }
  if (done > limit) tooLarge();
  text.resize(done);
  return text;
}

}  // namespace vitrine
