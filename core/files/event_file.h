// TensorBoard's event files: scalars and images, written and read without a protobuf library.
//
// A file is a row of records (TFRecord):
//
//     u64 length | u32 masked CRC-32C of those 8 bytes | length bytes | u32 masked CRC-32C of them
//
// little-endian, with masked(c) = rotate_right(c, 15) + 0xa282ead8. Each record is a protobuf
// message `Event` (tensorboard/compat/proto/event.proto, summary.proto, tensor.proto); the first
// says "brain.Event:2".
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/foundation_export.h"

namespace vitrine {

/// CRC-32C (Castagnoli), and as a record stores it.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::uint32_t crc32c(
    std::span<const std::byte> bytes) noexcept;
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::uint32_t maskedCrc32c(
    std::span<const std::byte> bytes) noexcept;

struct SummaryImage {
  std::int64_t height = 0, width = 0;
  std::int64_t channels = 3;       ///< 1 grey, 2 grey + alpha, 3 RGB, 4 RGBA
  std::vector<std::byte> encoded;  ///< PNG, or whatever the writer took
};

struct SummaryValue {
  std::string tag;
  double scalar = 0;                  ///< float32 in the file
  std::optional<SummaryImage> image;  ///< then `scalar` means nothing
};

struct SummaryEvent {
  double wallTime = 0;  ///< seconds since 1970, UTC
  std::int64_t step = 0;
  std::vector<SummaryValue> values;
};

/// Writes one event file, which is durable after close().
class VITRINE_FOUNDATION_EXPORT EventFileWriter {
 public:
  /// Makes or empties `file`, whose name must contain "tfevents" for TensorBoard to find it.
  /// \param wallTime  of the file, seconds since 1970
  /// \param named  the file in messages, "": `file`
  /// \throws FileError
  EventFileWriter(const std::filesystem::path& file, double wallTime,
                  const std::filesystem::path& named = {});
  ~EventFileWriter();
  EventFileWriter(const EventFileWriter&) = delete;
  EventFileWriter& operator=(const EventFileWriter&) = delete;

  void write(const SummaryEvent& event);  ///< \throws FileError
  void close();                           ///< \throws FileError

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads one event file of any origin, from the beginning. Nothing in it is trusted.
class VITRINE_FOUNDATION_EXPORT EventFileReader {
 public:
  /// \throws FileError  it cannot be read, or is not an event file (gzip, something else)
  explicit EventFileReader(const std::filesystem::path& file);
  ~EventFileReader();
  EventFileReader(const EventFileReader&) = delete;
  EventFileReader& operator=(const EventFileReader&) = delete;

  /// The next event that holds a scalar or an image; nothing at the end of what can be read.
  [[nodiscard]] std::optional<SummaryEvent> next();

  /// Records that were left out so far.
  struct Report {
    std::int64_t records = 0;                     ///< whole ones
    std::map<std::string, std::int64_t> skipped;  ///< kind ("histogram") -> how many
    std::vector<std::string> damage;              ///< sentences that name the offset; at most 20
    std::int64_t damagedRecords = 0;
    std::optional<std::uint64_t> cutAt;  ///< offset of an incomplete last record
  };
  [[nodiscard]] const Report& report() const noexcept;
  /// The bytes of the first record: with the file's name, what tells one file from another.
  [[nodiscard]] std::span<const std::byte> firstRecord() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vitrine
