// A file of records that can still be written when the disk is full. Its room is reserved, and when
// that is used up, it continues in a second file on another disk. Private to core/store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/store_export.h"

namespace vitrine::store {

struct SpoolOwner {
  std::string database, run;  ///< UUIDs
  std::int64_t segment = 0;
};

/// Held by one process at a time, which a lock on it shows.
class VITRINE_STORE_EXPORT SpoolFile {
 public:
  enum class Kind : std::uint8_t { Batch = 1, Ending = 2, Continued = 3 };
  struct Settings {
    std::uint64_t reserve = 4u << 20;  ///< bytes that are taken beforehand
    /// Folders in which it continues when its reserve is used up and its disk is full. Folders on
    /// the same disk are skipped.
    std::vector<std::filesystem::path> elsewhere;
  };
  /// Folders of this user that often lie on another disk than a database.
  [[nodiscard]] static Settings usualSettings();

  /// Makes and locks `folder`/run-<uuid>-<8 digits>.spool; a reserve that cannot be had is done
  /// without. \throws StoreError
  static std::unique_ptr<SpoolFile> create(const std::filesystem::path& folder,
                                           const SpoolOwner& owner, Settings settings);
  /// One that another process left. Nothing when a process holds it or it is gone meanwhile.
  /// \throws StoreError  it is not a spool, or damaged where it says whose it is
  static std::unique_ptr<SpoolFile> open(const std::filesystem::path& file);
  /// One that its process may be writing to, to read its content. \throws StoreError
  static std::unique_ptr<SpoolFile> look(const std::filesystem::path& file);
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  /// Durable when it returns true; otherwise as if nothing had happened.
  [[nodiscard]] bool add(Kind kind, std::span<const std::byte> payload);
  /// Records `first` to `end` - 1 in the order in which they were added. A file whose end was cut
  /// or damaged has those before that place.
  void each(std::uint64_t first, std::uint64_t end,
            const std::function<void(std::uint64_t index, Kind, std::span<const std::byte>)>& use);
  [[nodiscard]] std::uint64_t count() const noexcept { return records_.size(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept;
  /// The bytes of record `index` on disk.
  [[nodiscard]] std::uint64_t sizeOf(std::uint64_t index) const;

  /// Changes with clear(): the records of one id are stored at most once.
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] const SpoolOwner& owner() const noexcept { return owner_; }
  [[nodiscard]] const std::filesystem::path& file() const noexcept { return parts_[0].file; }
  /// Forgets all records, durably. \throws StoreError
  void clear();
  /// Removes the file. \returns  whether that is durable; otherwise it may be found again, with its
  ///         records
  bool remove() noexcept;

 private:
  struct Part {
    std::filesystem::path file;
    int descriptor = -1;
    std::uint64_t end = 0;       ///< where the next record goes
    std::uint64_t reserved = 0;  ///< bytes that the disk has promised
  };
  struct Record {
    std::size_t part;
    std::uint64_t offset;
    std::uint32_t length;
    Kind kind;
  };
  SpoolFile() = default;
  static std::unique_ptr<SpoolFile> openPart(const std::filesystem::path& file, int flags);
  void writeHeader(Part& part) const;
  static void readHeader(SpoolFile& spool, const Part& part);
  void scan();
  [[nodiscard]] bool put(Part& part, Kind kind, std::uint64_t index,
                         std::span<const std::byte> payload) const;
  [[nodiscard]] bool goElsewhere(std::uint64_t size);
  void dropSecond() noexcept;
  [[nodiscard]] std::uint32_t checksum(std::span<const std::byte> head,
                                       std::span<const std::byte> payload) const;

  Settings settings_;
  SpoolOwner owner_;
  std::string id_;
  std::vector<Part> parts_;
  std::vector<Record> records_;
  bool isNamed_ = false;  ///< its name is durable
};

}  // namespace vitrine::store
