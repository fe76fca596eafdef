// Safetensors, read strictly and written crash-safely. Knows no torch.
//
// A file is an 8-byte little-endian header length, a JSON header and one buffer without holes. The
// reader makes every check of the format's reference reader. It has more limits: header at most 16
// MiB, 1,000,000 tensors, rank 16, names of 1 KiB, JSON depth 8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/foundation_export.h"

namespace vitrine {

struct SafetensorsEntry {
  std::string name;
  std::string dtype;  ///< "F64" "F32" "F16" "BF16" "I64" "I32" "I16" "I8" "U8" "BOOL"
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  ///< bytes within the buffer
};

/// Bytes of one element, or 0 for a dtype we do not know.
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::size_t safetensorsElementSize(
    const std::string& dtype) noexcept;

/// An opened file whose header has passed every check. Tensor bytes are read with pread, never
/// mapped, so a file that is cut while open is an error and not a SIGBUS.
class VITRINE_FOUNDATION_EXPORT SafetensorsFile {
 public:
  /// \throws FileError  names the file, the tensor and the broken rule; pickles, zips and
  /// TorchScript are told by content
  explicit SafetensorsFile(const std::filesystem::path& file);
  ~SafetensorsFile();
  SafetensorsFile(SafetensorsFile&&) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) noexcept;

  [[nodiscard]] const std::vector<SafetensorsEntry>& entries() const noexcept;  ///< by offset
  [[nodiscard]] const SafetensorsEntry* find(const std::string& name) const noexcept;
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const noexcept;
  /// Reads one tensor's bytes. \throws FileError  cut file or I/O error  \pre out.size() == end -
  /// begin
  void read(const SafetensorsEntry& entry, std::span<std::byte> out) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct SafetensorsTensor {
  std::string name, dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;  ///< must live until the write returns
};

/// Writes and fsyncs `file` (no rename: callers write into a temporary folder, or use
/// writeFileAtomically's pattern). \throws FileError  out of space, no permission, ...
VITRINE_FOUNDATION_EXPORT void writeSafetensors(
    const std::filesystem::path& file, const std::vector<SafetensorsTensor>& tensors,
    const std::map<std::string, std::string>& metadata = {});

}  // namespace vitrine
