// SHA-256 (FIPS 180-4), for manifests and plugin files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "core/foundation_export.h"

namespace vitrine {

class VITRINE_FOUNDATION_EXPORT Sha256 {
 public:
  /// Both give the same digest.
  enum class Loop {
    Portable,
    Fastest,  ///< with the processor's own instructions, where it has them
  };
  explicit Sha256(Loop loop = Loop::Fastest) noexcept;
  void update(std::span<const std::byte> bytes) noexcept;
  /// Lower-case hexadecimal digest, 64 characters; the object is spent.
  [[nodiscard]] std::string finish() noexcept;

 private:
  void blocks(const std::uint8_t* data, std::size_t count) noexcept;
  void block(const std::uint8_t* data) noexcept;
  std::array<std::uint32_t, 8> state_;
  std::array<std::uint8_t, 64> buffer_{};
  std::uint64_t length_ = 0;  ///< bytes
  Loop loop_;
};

/// \throws FileError  the file cannot be read
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string sha256OfFile(const std::filesystem::path& file);
[[nodiscard]] VITRINE_FOUNDATION_EXPORT std::string sha256OfText(std::string_view text);

}  // namespace vitrine
