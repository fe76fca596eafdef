#include "core/store/spool/spool_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/read_json.h"
#include "core/base/text.h"
#include "core/base/user_folders.h"
#include "core/files/event_file.h"
#include "core/files/posix_file.h"
#include "core/store/sqlite/file_system.h"

namespace vitrine::store {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kHeaderBytes = 512;
constexpr std::array<char, 8> kMagic{'V', 'i', 'T', 'r', 'S', 'p', 'o', '1'};
/// Kept free in the first file, for the record that says where it continues.
constexpr std::uint64_t kContinuedBytes = 8192;

/// In front of every record.
struct Head {
  std::uint32_t length = 0;  ///< of what follows
  std::uint32_t checksum = 0;
  std::uint64_t index = 0;
  std::uint32_t kind = 0;
  std::uint32_t unused = 0;
};
static_assert(sizeof(Head) == 24);

template <typename T>
std::span<const std::byte> bytesOf(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

bool writeAll(int descriptor, std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t put =
        ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return true;
}

bool readAll(int descriptor, std::span<std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

std::uint64_t fileBytes(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

/// Room from `offset` on. \returns  whether the disk has promised it
bool reserve(int descriptor, std::uint64_t offset, std::uint64_t size) {
  int code = EINTR;
  while (code == EINTR)
    code = ::posix_fallocate(descriptor, static_cast<off_t>(offset), static_cast<off_t>(size));
  return code == 0;
}

bool isOnSameDisk(const fs::path& a, const fs::path& b) {
  struct stat one {
  }, two{};
  return ::stat(a.c_str(), &one) != 0 || ::stat(b.c_str(), &two) != 0 || one.st_dev == two.st_dev;
}

/// In a folder that every user can write, another one may have made a file of a known name.
bool isFileOfSameOwner(int descriptor, int other) {
  struct stat one {
  }, two{};
  return ::fstat(descriptor, &one) == 0 && ::fstat(other, &two) == 0 && S_ISREG(one.st_mode) &&
         one.st_uid == two.st_uid;
}

[[noreturn]] void fail(const fs::path& file, const std::string& what) {
  throw StoreError("the side file '" + file.string() + "' " + what);
}

}  // namespace

SpoolFile::Settings SpoolFile::usualSettings() {
  Settings settings;
  if (fs::path folder = userFolder(UserFolder::State); !folder.empty())
    settings.elsewhere.push_back(std::move(folder));
  for (const char* folder : {"/var/tmp", "/tmp", "/dev/shm"})
    settings.elsewhere.emplace_back(folder);
  return settings;
}

std::unique_ptr<SpoolFile> SpoolFile::create(const fs::path& folder, const SpoolOwner& owner,
                                             Settings settings) {
  std::error_code error;
  fs::create_directories(folder, error);
  std::unique_ptr<SpoolFile> spool(new SpoolFile);
  spool->settings_ = std::move(settings);
  spool->owner_ = owner;
  spool->id_ = newUuid();
  Part part{.file = folder / ("run-" + owner.run + "-" + spool->id_.substr(0, 8) + ".spool")};
  part.descriptor =
      ::open(part.file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (part.descriptor < 0) fail(part.file, std::string("cannot be made: ") + std::strerror(errno));
  spool->parts_.push_back(part);
  const bool isMine = ::flock(part.descriptor, LOCK_EX | LOCK_NB) == 0;
  if (!isMine) {
    spool->remove();
    fail(part.file, "is locked by another process");
  }
  if (spool->settings_.reserve > 0 && reserve(part.descriptor, 0, spool->settings_.reserve))
    spool->parts_[0].reserved = spool->settings_.reserve;
  try {
    spool->writeHeader(spool->parts_[0]);
  } catch (const StoreError&) {
    spool->remove();
    throw;
  }
  return spool;
}

std::unique_ptr<SpoolFile> SpoolFile::openPart(const fs::path& file, int flags) {
  std::unique_ptr<SpoolFile> spool(new SpoolFile);
  Part part{.file = file, .descriptor = ::open(file.c_str(), flags | O_CLOEXEC | O_NOFOLLOW)};
  if (part.descriptor < 0 && errno == ENOENT) return nullptr;
  if (part.descriptor < 0) fail(file, std::string("cannot be opened: ") + std::strerror(errno));
  spool->parts_.push_back(part);
  return spool;
}

std::unique_ptr<SpoolFile> SpoolFile::look(const fs::path& file) {
  std::unique_ptr<SpoolFile> spool = openPart(file, O_RDONLY);
  if (!spool) return nullptr;
  readHeader(*spool, spool->parts_[0]);
  spool->scan();
  return spool;
}

std::unique_ptr<SpoolFile> SpoolFile::open(const fs::path& file) {
  std::unique_ptr<SpoolFile> spool = openPart(file, O_RDWR);
  if (!spool) return nullptr;
  const Part& part = spool->parts_[0];
  if (::flock(part.descriptor, LOCK_EX | LOCK_NB) != 0) return nullptr;
  if (!files::isStillAt(part.descriptor, file)) return nullptr;
  spool->parts_[0].reserved = fileBytes(part.descriptor);
  spool->isNamed_ = true;
  readHeader(*spool, spool->parts_[0]);
  spool->scan();
  return spool;
}

SpoolFile::~SpoolFile() {
  for (const Part& part : parts_) {
    if (part.descriptor >= 0) ::close(part.descriptor);
  }
}

void SpoolFile::writeHeader(Part& part) const {
  const Json facts = {
      {"id", id_}, {"database", owner_.database}, {"run", owner_.run}, {"segment", owner_.segment}};
  const std::string text = facts.dump();
  std::array<std::byte, kHeaderBytes> header{};
  const auto length = static_cast<std::uint32_t>(text.size());
  const std::uint32_t sum = crc32c(std::as_bytes(std::span(text.data(), text.size())));
  std::memcpy(header.data(), kMagic.data(), kMagic.size());
  std::memcpy(header.data() + 8, &length, sizeof length);
  std::memcpy(header.data() + 12, &sum, sizeof sum);
  std::memcpy(header.data() + 16, text.data(), text.size());
  if (!writeAll(part.descriptor, header, 0) || ::fdatasync(part.descriptor) != 0)
    fail(part.file, std::string("cannot be written: ") + std::strerror(errno));
  part.end = kHeaderBytes;
}

/// Fills id and owner of `spool` from `part`.
void SpoolFile::readHeader(SpoolFile& spool, const Part& part) {
  std::array<std::byte, kHeaderBytes> header{};
  if (!readAll(part.descriptor, header, 0) ||
      std::memcmp(header.data(), kMagic.data(), kMagic.size()) != 0) {
    fail(part.file, "is not one of Vitrine's");
  }
  std::uint32_t length = 0, sum = 0;
  std::memcpy(&length, header.data() + 8, sizeof length);
  std::memcpy(&sum, header.data() + 12, sizeof sum);
  const bool isWhole = length <= kHeaderBytes - 16 &&
                       crc32c(std::span<const std::byte>(header).subspan(16, length)) == sum;
  const Json facts =
      isWhole ? readJson({reinterpret_cast<const char*>(header.data()) + 16, length}) : Json();
  const auto text = [&](const char* key) -> std::string {
    const auto found = facts.is_object() ? facts.find(key) : facts.end();
    if (found == facts.end() || !found->is_string()) fail(part.file, "is damaged at its start");
    return found->get<std::string>();
  };
  spool.id_ = text("id");
  spool.owner_.database = text("database");
  spool.owner_.run = text("run");
  spool.owner_.segment = facts.value("segment", std::int64_t{0});
}

std::uint32_t SpoolFile::checksum(std::span<const std::byte> head,
                                  std::span<const std::byte> payload) const {
  // The id is in it: what an earlier use of the same room left behind is not a record.
  std::vector<std::byte> all;
  all.reserve(id_.size() + head.size() + payload.size());
  const auto id = std::as_bytes(std::span(id_.data(), id_.size()));
  for (const auto part : {std::span<const std::byte>(id), head, payload})
    all.insert(all.end(), part.begin(), part.end());
  return crc32c(all);
}

void SpoolFile::scan() {
  std::vector<std::byte> payload;
  std::uint64_t offset = kHeaderBytes;
  for (std::size_t at = 0; at < parts_.size();) {
    Part& part = parts_[at];
    part.end = offset;
    const std::uint64_t size = fileBytes(part.descriptor);
    Head head;
    if (offset + sizeof head > size ||
        !readAll(part.descriptor, std::as_writable_bytes(std::span(&head, 1)), offset)) {
      return;
    }
    const bool isPossible = head.index == records_.size() && head.kind >= 1 && head.kind <= 3 &&
                            head.length <= size - offset - sizeof head;
    if (!isPossible) return;
    payload.resize(head.length);
    if (!readAll(part.descriptor, payload, offset + sizeof head)) return;
    const std::uint32_t sum = std::exchange(head.checksum, 0u);
    if (checksum(bytesOf(head), payload) != sum) return;
    const auto kind = static_cast<Kind>(head.kind);
    if (kind == Kind::Continued) {
      if (at != 0) return;
      SpoolFile second;
      Part next{.file = std::string(reinterpret_cast<const char*>(payload.data()), payload.size())};
      next.descriptor = ::open(next.file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
      if (next.descriptor < 0) {
        fail(part.file, "continues in '" + next.file.string() + "', which cannot be opened: " +
                            std::strerror(errno) + "; put that file back");
      }
      second.parts_.push_back(next);
      if (!isFileOfSameOwner(next.descriptor, part.descriptor)) {
        fail(part.file, "continues in '" + next.file.string() +
                            "', which belongs to another user or is not a file; it is not read");
      }
      readHeader(second, next);
      if (second.id_ != id_)
        fail(part.file, "continues in '" + next.file.string() + "', which belongs to another one");
      second.parts_.clear();  // the descriptor is ours from here on
      next.reserved = fileBytes(next.descriptor);
      parts_.push_back(next);
      ++at;
      offset = kHeaderBytes;
      continue;
    }
    records_.push_back({at, offset + sizeof head, head.length, kind});
    offset += sizeof head + head.length;
  }
}

bool SpoolFile::put(Part& part, Kind kind, std::uint64_t index,
                    std::span<const std::byte> payload) const {
  Head head{.length = static_cast<std::uint32_t>(payload.size()),
            .index = index,
            .kind = static_cast<std::uint32_t>(kind)};
  head.checksum = checksum(bytesOf(head), payload);
  if (!writeAll(part.descriptor, bytesOf(head), part.end) ||
      !writeAll(part.descriptor, payload, part.end + sizeof head) ||
      ::fdatasync(part.descriptor) != 0) {
    return false;
  }
  part.end += sizeof head + payload.size();
  return true;
}

bool SpoolFile::goElsewhere(std::uint64_t size) {
  if (parts_.size() > 1) return false;
  for (const fs::path& folder : settings_.elsewhere) {
    std::error_code error;
    fs::create_directories(folder, error);
    const auto room = freeBytes(folder);
    if (!fs::is_directory(folder, error) || isOnSameDisk(folder, parts_[0].file) || !room ||
        *room < size + kHeaderBytes) {
      continue;
    }
    Part next{.file = fs::absolute(folder) / ("vitrine-" + id_ + ".spool")};
    next.descriptor =
        ::open(next.file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (next.descriptor < 0) continue;
    try {
      writeHeader(next);
      files::syncFolder(folder);
      const std::string name = next.file.string();
      if (reserve(next.descriptor, kHeaderBytes, size) &&
          put(parts_[0], Kind::Continued, records_.size(),
              std::as_bytes(std::span(name.data(), name.size())))) {
        next.reserved = kHeaderBytes + size;
        parts_.push_back(next);
        return true;
      }
    } catch (const Error&) {  // the next folder, perhaps
    }
    ::close(next.descriptor);
    fs::remove(next.file, error);
  }
  return false;
}

bool SpoolFile::add(Kind kind, std::span<const std::byte> payload) {
  const std::uint64_t size = sizeof(Head) + payload.size();
  if (payload.size() > std::uint64_t{UINT32_MAX}) return false;
  if (!isNamed_) {
    try {
      files::syncFolder(parts_[0].file.parent_path());
      isNamed_ = true;
    } catch (const Error&) {
      return false;
    }
  }
  const auto hasRoom = [&](Part& part) {
    const std::uint64_t slack = parts_.size() == 1 ? kContinuedBytes : 0;
    const std::uint64_t needed = part.end + size + slack;
    if (needed <= part.reserved) return true;
    if (!reserve(part.descriptor, part.end, size + slack)) return false;
    part.reserved = needed;
    return true;
  };
  if (!hasRoom(parts_.back()) && !goElsewhere(size)) return false;
  if (!put(parts_.back(), kind, records_.size(), payload)) {
    // A file system that writes every block again does not keep the promise of a reserve.
    if (!goElsewhere(size) || !put(parts_.back(), kind, records_.size(), payload)) return false;
  }
  const Part& part = parts_.back();
  records_.push_back({parts_.size() - 1, part.end - payload.size(),
                      static_cast<std::uint32_t>(payload.size()), kind});
  return true;
}

void SpoolFile::each(
    std::uint64_t first, std::uint64_t end,
    const std::function<void(std::uint64_t, Kind, std::span<const std::byte>)>& use) {
  std::vector<std::byte> payload;
  for (std::uint64_t i = first; i < std::min<std::uint64_t>(end, records_.size()); ++i) {
    const Record& record = records_[i];
    payload.resize(record.length);
    const Part& part = parts_[record.part];
    if (!readAll(part.descriptor, payload, record.offset))
      fail(part.file, std::string("cannot be read: ") + std::strerror(errno));
    use(i, record.kind, payload);
  }
}

std::uint64_t SpoolFile::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const Record& record : records_) sum += sizeof(Head) + record.length;
  return sum;
}

std::uint64_t SpoolFile::sizeOf(std::uint64_t index) const { return records_.at(index).length; }

void SpoolFile::dropSecond() noexcept {
  while (parts_.size() > 1) {
    ::close(parts_.back().descriptor);
    std::error_code error;
    fs::remove(parts_.back().file, error);
    parts_.pop_back();
  }
}

void SpoolFile::clear() {
  // The new header first: without it, a second file that is gone would be missed.
  id_ = newUuid();
  records_.clear();
  writeHeader(parts_[0]);
  dropSecond();
}

bool SpoolFile::remove() noexcept {
  std::error_code error;
  fs::remove(parts_[0].file, error);
  bool isGone = !error;
  try {
    files::syncFolder(parts_[0].file.parent_path());
  } catch (const Error&) {
    isGone = false;
  }
  if (isGone) dropSecond();  // without it, a file that is found again could not be read
  records_.clear();
  return isGone;
}

}  // namespace vitrine::store
